//! Pairs those who wait for a rated match and have come to fit each other: how far apart they may be grows with
//! time. Where several servers pair through the store, each asks that again for those who wait with it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::matchmaking::pairing;

/// How often it is looked whether two fit by now.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks again and again while somebody waits so, until the server stops.
pub(crate) async fn widen(server: Arc<ServerContext>) {
    if server.cluster.is_some() {
        return;
    }
    let shutdown = server.shutdown.clone();
    let widening = async {
        loop {
            server.seeks.ranged().await;
            sleep(LOOK_EVERY).await;
            let pair = || {
                let now_ms = server.clock.now_ms();
                server.seeks.pair_waiting(now_ms, &server.block_cache)
            };
            while let Some([longest, other]) = pair() {
                pairing::pair(&server, &longest, Some(&other)).await;
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = widening => {}
    }
}
