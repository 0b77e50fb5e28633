//! What was told of sessions, of names and of those who were forgotten is made up for: once messages were lost, and all the
//! time while some server does not hear.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{CloseCode, PlayerId, SessionId};
use plyhouse_store::{PlayerRecord, ReadError};
use tokio::time::sleep;

use crate::cluster::{Cluster, Packet};
use crate::connection::handle::ConnectionHandle;
use crate::context::server_context::ServerContext;
use crate::players::account_deletion;

/// When the store is asked again that could not be read.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How often the store is asked while some server does not hear this one.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How many sessions are asked for at once.
const AT_ONCE: usize = 10_000;

/// Looks at all who are connected whenever messages may have been lost, until this server stops.
pub(super) async fn watch(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        let Some(cluster) = &server.cluster else {
            return;
        };
        loop {
            let has_missed = tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = cluster.may_have_missed.notified() => true,
                () = sleep(LOOK_EVERY) => false,
            };
            if has_missed {
                for player in server.players.everybody_connected() {
                    tell_again(&server, cluster, player);
                    call_again(&server, player).await;
                }
                while let Err(error) = end_ended(&server, cluster).await {
                    tracing::warn!(%error, "sessions not read");
                    sleep(AGAIN_AFTER).await;
                }
            } else if cluster.may_miss_somebody() {
                if let Err(error) = end_ended(&server, cluster).await {
                    tracing::warn!(%error, "sessions not read");
                }
                if let Err(error) = call_all_again(&server, cluster).await {
                    tracing::warn!(%error, "names not read");
                }
                account_deletion::look(&server).await;
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

/// Tells all of the player's connections here: whoever has one because of which they end says so then.
fn tell_again(server: &ServerContext, cluster: &Cluster, player: PlayerId) {
    let peers = server.players.peers(player);
    for standing in peers.iter().filter_map(|peer| peer.standing()) {
        cluster.send_all(&Packet::Connected { player, standing });
    }
}

/// Tells the player's connections here how the player is called, if that is news.
async fn call_again(server: &ServerContext, player: PlayerId) {
    let record = loop {
        match server.store.player_by_id(player).await {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "a player is not read"),
        }
        sleep(AGAIN_AFTER).await;
    };
    if let Some(record) = record
        && server.players.record(player) != Some(record.clone())
    {
        server.players.call(&record);
    }
}

/// Tells everybody's connections here how they are called, if that is news.
async fn call_all_again(server: &ServerContext, cluster: &Cluster) -> Result<(), ReadError> {
    // Before the store is read: what is told here meanwhile is newer.
    let everybody = server.players.everybody_connected().into_iter();
    let known = everybody.filter_map(|player| Some((player, server.players.record(player)?)));
    let known: BTreeMap<PlayerId, PlayerRecord> = known.collect();
    let asked: Vec<PlayerId> = known.keys().copied().collect();
    for some in asked.chunks(AT_ONCE) {
        for record in cluster.directory.called(some.to_vec()).await? {
            let before = known.get(&record.id);
            if let Some(before) = before.filter(|before| **before != record) {
                server.players.call_after(before, &record);
            }
        }
    }
    Ok(())
}

/// Closes the connections here whose session the store does not know any more.
async fn end_ended(server: &ServerContext, cluster: &Cluster) -> Result<(), ReadError> {
    // Before the store is read: of who comes later the session is read by the hello.
    let mut connected: BTreeMap<(PlayerId, SessionId), Vec<Arc<ConnectionHandle>>> =
        BTreeMap::new();
    for player in server.players.everybody_connected() {
        // The store has not known of everybody.
        if server.players.unstored(player).is_some() {
            continue;
        }
        for peer in server.players.peers(player) {
            if let Some(session) = peer.session() {
                connected.entry((player, session)).or_default().push(peer);
            }
        }
    }
    let asked: Vec<(PlayerId, SessionId)> = connected.keys().copied().collect();
    let mut ended = BTreeSet::new();
    for some in asked.chunks(AT_ONCE) {
        ended.extend(cluster.directory.ended(some.to_vec()).await?);
    }
    let has_ended = |session: &SessionId| ended.contains(session);
    for ((_, session), peers) in connected {
        for peer in peers.iter().filter(|_| has_ended(&session)) {
            peer.outbox.close(CloseCode::Ended);
        }
    }
    Ok(())
}
