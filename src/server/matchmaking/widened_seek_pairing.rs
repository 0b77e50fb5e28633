//! Pairs waiting rated seeks whose rating ranges have widened enough to include each other. In a
//! cluster, seeks are paired through the store instead, and each server retries its own seeks.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::matchmaking::paired_match_creation;

/// Interval between two checks for seeks that can be paired.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Pairs seeks with rating ranges until the server stops. Returns at once in a cluster.
pub(crate) async fn pair_widened_seeks(server: Arc<ServerContext>) {
    if server.infra.cluster.is_some() {
        return;
    }
    loop {
        server.matchmaking.seeks.wait_for_ranged_seek().await;
        sleep(CHECK_INTERVAL).await;
        let pair = || {
            let (seeks, blocks) = (&server.matchmaking.seeks, &server.identity.block_cache);
            seeks.pair_widened(server.infra.clock.now_ms(), blocks)
        };
        while let Some([longest, other]) = pair() {
            paired_match_creation::create_paired_match(&server, &longest, Some(&other)).await;
        }
    }
}
