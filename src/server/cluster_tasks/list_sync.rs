//! Match lists of a cluster. Owners store the list entries of their matches and broadcast changes
//! to all servers, because clients of any server may watch a list.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{ErrorCode, ListedMatch, MatchId, MatchRef, WireError};
use plyhouse_store::cluster_directory::{MatchListQuery, MatchListing};
use tokio::time::sleep;

use crate::cluster::{Cluster, Packet};
use crate::context::clock_and_rng::to_millis;
use crate::context::infrastructure::Infrastructure;
use crate::context::matches::Matches;
use crate::context::server_context::ServerContext;
use crate::matchmaking::list_subscriptions::ListFilter;
use crate::matchmaking::lobby::unknown_cursor_error;
use crate::matchmaking::match_loading;

/// Minimum time between two writes of list entries. It is also the maximum delay before a changed
/// entry is published.
const WRITE_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum number of list entries in one packet.
const LISTINGS_PER_PACKET: usize = 256;

/// Lists the matches in the cluster that fit the filter, newest first. Returns the number of these
/// matches, and one page of at most `limit` matches. If `after` is given, the page begins after the
/// match that `after` identifies.
pub(crate) async fn list_matches(
    server: &ServerContext,
    cluster: &Cluster,
    filter: ListFilter,
    after: Option<MatchRef>,
    limit: usize,
) -> Result<(u64, Vec<ListedMatch>), WireError> {
    let after = match after {
        None => None,
        Some(after) => {
            let id = match_loading::resolve_match_id(&server.infra, after).await;
            Some(id.map_err(read_error)?.ok_or_else(unknown_cursor_error)?)
        }
    };
    let query = list_query(&server.infra, filter, after, limit);
    let listed = cluster.directory.list_matches(query).await;
    let listed = listed.map_err(read_error)?;
    let summaries = listed.summaries.iter();
    let listings = summaries.filter_map(|summary| parse_listing(summary));
    // For a match on this server, the list entry in memory is newer than the stored entry.
    let fresh = |listing: ListedMatch| {
        let handle = server.matches.lobby.find(MatchRef::Id(listing.match_id));
        handle.map_or(listing, |handle| handle.summary().listing())
    };
    Ok((listed.total, listings.map(fresh).collect()))
}

/// Returns the number of matches in the cluster that fit the filter. Returns `None` if the store
/// cannot be read.
pub(crate) async fn count_matches(
    infra: &Infrastructure,
    cluster: &Cluster,
    filter: ListFilter,
) -> Option<u64> {
    let query = list_query(infra, filter, None, 0);
    Some(cluster.directory.list_matches(query).await.ok()?.total)
}

fn list_query(
    infra: &Infrastructure,
    filter: ListFilter,
    after: Option<MatchId>,
    limit: usize,
) -> MatchListQuery {
    let linger_ms = to_millis(infra.settings.linger);
    MatchListQuery {
        game: filter.game.map(str::to_owned),
        status: filter.status,
        after,
        ended_since_ms: infra.clock.now_ms().saturating_sub(linger_ms),
        limit,
    }
}

fn read_error(error: impl std::fmt::Display) -> WireError {
    tracing::error!(%error, "cannot read a list of matches");
    let message = "cannot read the list of matches; try again shortly";
    WireError::new(ErrorCode::Overloaded, message)
}

fn parse_listing(summary: &str) -> Option<ListedMatch> {
    serde_json::from_str(summary)
        .inspect_err(|error| tracing::error!(%error, "stored listing is invalid"))
        .ok()
}

/// Stores and broadcasts changed list entries of this server's matches until the server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        let changed = cluster.changed_listings.take_changed().await;
        if !publish_listings(&server.matches, &cluster, &changed).await {
            cluster.changed_listings.mark_changed(changed);
        }
        sleep(WRITE_INTERVAL).await;
    }
}

/// Stores and broadcasts the list entries of the changed matches. Returns `false` if the store
/// cannot be written.
async fn publish_listings(
    matches: &Matches,
    cluster: &Cluster,
    changed: &BTreeSet<MatchId>,
) -> bool {
    let ids = changed.iter();
    let handles = ids.filter_map(|id| matches.lobby.find(MatchRef::Id(*id)));
    let listings: Vec<ListedMatch> = handles.map(|handle| handle.summary().listing()).collect();
    let rows = listings.iter().map(|listing| MatchListing {
        id: listing.match_id,
        status: listing.status,
        listed: true,
        summary: serde_json::to_string(listing).expect("a listing serializes to JSON"),
    });
    if let Err(error) = cluster.directory.update_summaries(rows.collect()).await {
        tracing::warn!(%error, "cannot store changed listings");
        return false;
    }
    for batch in listings.chunks(LISTINGS_PER_PACKET) {
        cluster.broadcast(&Packet::ListingsChanged(batch.to_vec()));
    }
    apply_listings(matches, listings);
    true
}

/// Applies changed list entries to the lists that clients of this server watch.
pub(super) fn apply_listings(matches: &Matches, listings: Vec<ListedMatch>) {
    matches.lobby.with_subscriptions(|lists| {
        for listing in listings {
            lists.record_listing(listing);
        }
    });
}
