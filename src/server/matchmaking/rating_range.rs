//! Pairs those who wait for a rated match and have come to fit each other: how far apart they may be grows with
//! time. Where several servers pair through the store, each asks that again for those who wait with it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::matchmaking::pairing;

/// How often it is looked whether two fit by now.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks again and again while somebody waits so, until the server stops.
pub(crate) async fn pair_widened_seeks(server: Arc<ServerContext>) {
    if server.cluster.is_some() {
        return;
    }
    let shutdown = server.shutdown.clone();
    let pair_loop = async {
        loop {
            server.seeks.wait_for_ranged_seek().await;
            sleep(CHECK_INTERVAL).await;
            let pair = || {
                let now_ms = server.clock.now_ms();
                server.seeks.pair_widened(now_ms, &server.block_cache)
            };
            while let Some([longest, other]) = pair() {
                pairing::create_paired_match(&server, &longest, Some(&other)).await;
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = pair_loop => {}
    }
}
