//! Lists of the matches of all servers. What they show is kept in the store by the owners of the matches,
//! and told to all servers, some of whose clients may watch a list.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{ErrorCode, Listing, MatchId, MatchRef, WireError};
use plyhouse_store::directory::{Shown, Wanted};
use tokio::time::sleep;

use crate::cluster::{Cluster, Packet};
use crate::context::server_context::ServerContext;
use crate::matchmaking::list_subscriptions::Filter;

/// The least time between two writes of what lists show. A match is shown that late at most.
const PAUSE: Duration = Duration::from_millis(250);

/// How many matches are told of in one message.
const TOLD_AT_ONCE: usize = 256;

/// The listed matches of all servers that fit, newest first, from the one after `after` on; and how
/// many fit in all.
pub(crate) async fn list(
    server: &ServerContext,
    cluster: &Cluster,
    filter: Filter,
    after: Option<MatchRef>,
    limit: usize,
) -> Result<(u64, Vec<Listing>), WireError> {
    let unknown = || {
        let message = "that match is forgotten; begin again";
        WireError::new(ErrorCode::UnknownMatch, message)
    };
    let after = match after {
        None => None,
        Some(MatchRef::Id(id)) => Some(id),
        Some(MatchRef::Code(code)) => {
            let found = server.store.by_code(code).await.map_err(unreadable)?;
            Some(found.ok_or_else(unknown)?)
        }
        Some(MatchRef::Nothing) => return Err(unknown()),
    };
    let listed = cluster.directory.list(wanted(server, filter, after, limit));
    let listed = listed.await.map_err(unreadable)?;
    let cards = listed.cards.iter().filter_map(|card| read(card));
    // What is served here is known better.
    let fresh = |listing: Listing| {
        let handle = server.lobby.find(MatchRef::Id(listing.match_id));
        handle.map_or(listing, |handle| handle.card().listing())
    };
    Ok((listed.total, cards.map(fresh).collect()))
}

/// How many listed matches of all servers fit.
pub(crate) async fn total(
    server: &ServerContext,
    cluster: &Cluster,
    filter: Filter,
) -> Option<u64> {
    let listed = cluster
        .directory
        .list(wanted(server, filter, None, 0))
        .await;
    Some(listed.ok()?.total)
}

fn wanted(server: &ServerContext, filter: Filter, after: Option<MatchId>, limit: usize) -> Wanted {
    let linger_ms = u64::try_from(server.settings.linger.as_millis()).unwrap_or(u64::MAX);
    Wanted {
        game: filter.game.map(str::to_owned),
        status: filter.status,
        after,
        ended_since_ms: server.clock.now_ms().saturating_sub(linger_ms),
        limit,
    }
}

fn unreadable(error: impl std::fmt::Display) -> WireError {
    tracing::error!(%error, "a list is not read");
    WireError::new(ErrorCode::Overloaded, "the list cannot be read now")
}

fn read(card: &str) -> Option<Listing> {
    serde_json::from_str(card)
        .inspect_err(|error| tracing::error!(%error, "what a list shows makes no sense"))
        .ok()
}

/// Keeps in the store what lists show of the matches that are decided here, and tells all servers, until
/// this one stops.
pub(crate) async fn show(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let showing = async {
        while let Some(cluster) = &server.cluster {
            let changed = cluster.lists.take().await;
            if !show_now(&server, cluster, &changed).await {
                cluster.lists.changed(changed);
            }
            sleep(PAUSE).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = showing => {}
    }
}

/// False if the store has not kept it.
async fn show_now(server: &ServerContext, cluster: &Cluster, changed: &BTreeSet<MatchId>) -> bool {
    let handles = changed
        .iter()
        .map(|id| server.lobby.find(MatchRef::Id(*id)));
    let listings: Vec<Listing> = handles
        .flatten()
        .map(|handle| handle.card().listing())
        .collect();
    let shown = listings.iter().map(|listing| Shown {
        id: listing.match_id,
        status: listing.status,
        listed: true,
        card: serde_json::to_string(listing).expect("a listing is plain data"),
    });
    if let Err(error) = cluster.directory.show(shown.collect()).await {
        tracing::warn!(%error, "lists are not kept");
        return false;
    }
    for some in listings.chunks(TOLD_AT_ONCE) {
        cluster.send_all(&Packet::Shown(some.to_vec()));
    }
    on_shown(server, listings);
    true
}

/// Takes note of what lists show now of matches of whatever server.
pub(super) fn on_shown(server: &ServerContext, listings: Vec<Listing>) {
    server.lobby.watched(|lists| {
        for listing in listings {
            lists.shown(listing);
        }
    });
}
