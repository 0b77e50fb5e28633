//! Updates sessions, names and account deletions from the store after messages between servers were
//! lost. The check is repeated while a server is unreachable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{CloseCode, PlayerId, SessionId};
use plyhouse_store::{PlayerRecord, ReadError};
use tokio::time::sleep;

use crate::cluster::{Cluster, Packet};
use crate::connection::handle::ConnectionHandle;
use crate::context::identity::Identity;
use crate::context::server_context::ServerContext;
use crate::players::account_deletion;

/// Delay before a failed read from the store is repeated.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Interval between checks while a server is unreachable.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of sessions or players in one query.
const BATCH_SIZE: usize = 10_000;

/// Checks all connected players after messages were lost or while a server is unreachable, until
/// this server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        let has_lost_messages = tokio::select! {
            biased; // The fixed poll order keeps simulated runs reproducible.
            () = cluster.messages_lost.notified() => true,
            () = sleep(CHECK_INTERVAL) => false,
        };
        if has_lost_messages {
            for player in server.identity.players.online_players() {
                rebroadcast_connections(&server.identity, &cluster, player);
                refresh_name(&server, player).await;
            }
            while let Err(error) = close_ended_sessions(&server.identity, &cluster).await {
                tracing::warn!(%error, "cannot read sessions");
                sleep(RETRY_DELAY).await;
            }
        } else if cluster.has_unreachable_node() {
            if let Err(error) = close_ended_sessions(&server.identity, &cluster).await {
                tracing::warn!(%error, "cannot read sessions");
            }
            if let Err(error) = refresh_all_names(&server.identity, &cluster).await {
                tracing::warn!(%error, "cannot read names");
            }
            account_deletion::find_missed_deletions(&server).await;
        }
    }
}

/// Announces the player's connections on this server to the other servers again. Another server
/// closes connections that an announced connection replaces. If the other server finds that the
/// announced connection must close instead, it announces its own connections of the player.
fn rebroadcast_connections(identity: &Identity, cluster: &Cluster, player: PlayerId) {
    let connections = identity.players.connections(player);
    for precedence in connections.iter().filter_map(|peer| peer.precedence()) {
        cluster.broadcast(&Packet::PlayerConnected { player, precedence });
    }
}

/// Updates the player's name on this server from the store.
async fn refresh_name(server: &ServerContext, player: PlayerId) {
    let record = loop {
        match server.infra.store.player_by_id(player).await {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "cannot read a player"),
        }
        sleep(RETRY_DELAY).await;
    };
    if let Some(record) = record
        && server.identity.players.record(player) != Some(record.clone())
    {
        server.identity.players.update_record(&record);
    }
}

/// Updates the names of all connected players from the store.
async fn refresh_all_names(identity: &Identity, cluster: &Cluster) -> Result<(), ReadError> {
    // The known names are collected before the store is read, so that a rename during the read is
    // not overwritten.
    let connected = identity.players.online_players().into_iter();
    let known_records =
        connected.filter_map(|player| Some((player, identity.players.record(player)?)));
    let known_records: BTreeMap<PlayerId, PlayerRecord> = known_records.collect();
    let players: Vec<PlayerId> = known_records.keys().copied().collect();
    for batch in players.chunks(BATCH_SIZE) {
        for record in cluster.directory.current_players(batch.to_vec()).await? {
            let before = known_records.get(&record.id);
            if let Some(before) = before.filter(|before| **before != record) {
                identity.players.update_record_if_unchanged(before, &record);
            }
        }
    }
    Ok(())
}

/// Closes the connections on this server whose session has ended according to the store.
async fn close_ended_sessions(identity: &Identity, cluster: &Cluster) -> Result<(), ReadError> {
    // The connections are collected before the store is read. A later connection needs no check
    // here, because its `hello` checks the session.
    let mut connected: BTreeMap<(PlayerId, SessionId), Vec<Arc<ConnectionHandle>>> =
        BTreeMap::new();
    for player in identity.players.online_players() {
        // Guests who are not stored yet are skipped, because the store does not contain their
        // sessions.
        if identity.players.unstored_guest(player).is_some() {
            continue;
        }
        for connection in identity.players.all_connections(player) {
            if let Some(session) = connection.session() {
                let of_session = connected.entry((player, session));
                of_session.or_default().push(connection);
            }
        }
    }
    let sessions: Vec<(PlayerId, SessionId)> = connected.keys().copied().collect();
    let mut ended = BTreeSet::new();
    for batch in sessions.chunks(BATCH_SIZE) {
        ended.extend(cluster.directory.ended_sessions(batch.to_vec()).await?);
    }
    connected.retain(|(_, session), _| ended.contains(session));
    for connection in connected.values().flatten() {
        connection.outbox.close(CloseCode::SessionEnded);
    }
    Ok(())
}
