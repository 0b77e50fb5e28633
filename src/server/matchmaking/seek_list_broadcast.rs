//! Sends the list of open seeks to the connections that watch it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use plyhouse_protocol::{PlayerId, SeekList, ServerMessage, WireError};
use tokio::time::Instant;

use super::seek_list::{BROADCAST_INTERVAL, GameFilter, SeekSnapshot};
use crate::cluster_tasks::matchmaking;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Frame;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;

/// Returns the open seeks that the player may see.
pub(crate) async fn seekers_visible_to(
    server: &ServerContext,
    game: GameFilter,
    player: PlayerId,
) -> Result<SeekList, WireError> {
    let snapshot = current_snapshot(server, game).await?;
    Ok(Arc::unwrap_or_clone(visible_seeks(
        server, &snapshot, player,
    )))
}

fn visible_seeks(
    server: &ServerContext,
    snapshot: &SeekSnapshot,
    player: PlayerId,
) -> Arc<SeekList> {
    let blocked = server.identity.block_cache.unpairable_with(player);
    snapshot.visible_to(player, &blocked)
}

/// Sends the current seek list to a connection that has started to watch the list.
pub(crate) async fn send_initial_list(
    server: &ServerContext,
    connection: ConnectionId,
    game: GameFilter,
    player: PlayerId,
) {
    // If the snapshot cannot be read, a later broadcast sends the list.
    if let Ok(snapshot) = current_snapshot(server, game).await {
        let shown = visible_seeks(server, &snapshot, player);
        let seekers = &server.matchmaking.seek_list;
        seekers.send_if_changed(connection, game, shown, encode_seekers);
    }
}

/// Sends changed seek lists to the connections that watch them, until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    loop {
        server.matchmaking.seek_list.wait_for_watcher().await;
        tokio::time::sleep(BROADCAST_INTERVAL).await;
        broadcast_seekers(&server).await;
    }
}

async fn broadcast_seekers(server: &ServerContext) {
    let seek_list = &server.matchmaking.seek_list;
    let mut all = BTreeMap::new();
    for game in seek_list.watched_games() {
        if let Ok(snapshot) = current_snapshot(server, game).await {
            all.insert(game, (snapshot, None));
        }
    }
    let mut after = Bound::Unbounded;
    loop {
        let batch = seek_list.watchers_after(after);
        let Some((last, ..)) = batch.last() else {
            return;
        };
        after = Bound::Excluded(*last);
        for (connection, game, player) in batch {
            let Some((snapshot, frame)) = all.get_mut(&game) else {
                continue;
            };
            let shown = visible_seeks(server, snapshot, player);
            let is_common = Arc::ptr_eq(&shown, &snapshot.unfiltered);
            // The list without hidden seeks is encoded only once for all connections that receive
            // it.
            seek_list.send_if_changed(connection, game, shown, |shown| match is_common {
                true => frame.get_or_insert_with(|| encode_seekers(shown)).clone(),
                false => encode_seekers(shown),
            });
        }
        tokio::task::yield_now().await;
    }
}

fn encode_seekers(shown: &SeekList) -> Frame {
    encode(&ServerMessage::Seekers(shown.clone()))
}

/// Returns a snapshot of the open seeks. In a cluster, the snapshot may be up to one second old.
async fn current_snapshot(
    server: &ServerContext,
    game: GameFilter,
) -> Result<Arc<SeekSnapshot>, WireError> {
    let now = Instant::now();
    let seek_list = &server.matchmaking.seek_list;
    let snapshot = match &server.infra.cluster {
        None => server.matchmaking.seeks.snapshot(game),
        Some(cluster) => match seek_list.cached_snapshot(game, now) {
            Some(snapshot) => return Ok(snapshot),
            None => matchmaking::read_snapshot(cluster, game).await?,
        },
    };
    Ok(seek_list.cache_snapshot(game, now, snapshot))
}
