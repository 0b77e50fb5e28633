//! What servers have left undone that are gone: their matches are served here, and whom they were forgetting is
//! forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;

use plyhouse_store::cluster_directory::LEASE_DURATION;
use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::matchmaking::ownership;
use crate::players::account_deletion;

/// Looks for it again and again, until the server stops.
pub(super) async fn run(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let taking_over = async {
        let mut deleted_players = BTreeSet::new();
        loop {
            // So that not all servers look at the same time.
            let jitter = u32::from_be_bytes(server.rng.random_bytes()) % 1000;
            ownership::take_over_abandoned(&server).await;
            account_deletion::resume_stale_deletions(&server, &mut deleted_players).await;
            sleep(LEASE_DURATION / 2 + LEASE_DURATION * jitter / 1000).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = taking_over => {}
    }
}
