//! Sends the list of open seeks to the connections that watch it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use plyhouse_protocol::{PlayerId, Seekers, ServerMessage, WireError};
use tokio::time::Instant;

use super::seek_list::{OfGame, PAUSE, SeekSnapshot};
use crate::cluster_tasks::matchmaking;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Frame;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;

/// Who looks for somebody to play, as this player sees it.
pub(crate) async fn shown_to(
    server: &ServerContext,
    game: OfGame,
    player: PlayerId,
) -> Result<Seekers, WireError> {
    let sought = sought(server, game).await?;
    let shown = sought.shown_to(player, &server.block_cache.apart(player));
    Ok(Arc::unwrap_or_clone(shown))
}

/// Tells a connection that has begun to watch.
pub(crate) async fn tell_now(
    server: &ServerContext,
    connection: ConnectionId,
    game: OfGame,
    player: PlayerId,
) {
    // What cannot be read now is told later.
    if let Ok(sought) = sought(server, game).await {
        let shown = sought.shown_to(player, &server.block_cache.apart(player));
        let seekers = &server.seek_list;
        seekers.tell(connection, game, shown, message);
    }
}

/// Tells those who watch what has changed, until the server stops.
pub(crate) async fn tell(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let telling = async {
        loop {
            server.seek_list.watched().await;
            tokio::time::sleep(PAUSE).await;
            tell_all(&server).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = telling => {}
    }
}

async fn tell_all(server: &ServerContext) {
    let mut all = BTreeMap::new();
    for game in server.seek_list.games() {
        if let Ok(sought) = sought(server, game).await {
            all.insert(game, (sought, None));
        }
    }
    let mut after = Bound::Unbounded;
    loop {
        let some = server.seek_list.some(after);
        let Some((last, ..)) = some.last() else {
            return;
        };
        after = Bound::Excluded(*last);
        for (connection, game, player) in some {
            let Some((sought, frame)) = all.get_mut(&game) else {
                continue;
            };
            let shown = sought.shown_to(player, &server.block_cache.apart(player));
            let is_common = Arc::ptr_eq(&shown, &sought.to_all);
            // What all may see is written once.
            server
                .seek_list
                .tell(connection, game, shown, |shown| match is_common {
                    true => frame.get_or_insert_with(|| message(shown)).clone(),
                    false => message(shown),
                });
        }
        tokio::task::yield_now().await;
    }
}

fn message(shown: &Seekers) -> Frame {
    encode(&ServerMessage::Seekers(shown.clone()))
}

/// What waits; in a cluster as it was at most a moment ago.
async fn sought(server: &ServerContext, game: OfGame) -> Result<Arc<SeekSnapshot>, WireError> {
    let now = Instant::now();
    let sought = match &server.cluster {
        None => server.seeks.sought(game),
        Some(cluster) => match server.seek_list.fresh(game, now) {
            Some(sought) => return Ok(sought),
            None => matchmaking::sought(cluster, game).await?,
        },
    };
    Ok(server.seek_list.know(game, now, sought))
}
