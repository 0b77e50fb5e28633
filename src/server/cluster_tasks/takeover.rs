//! Takes over the matches and the unfinished account deletions of servers that are gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use plyhouse_store::cluster_directory::LEASE_DURATION;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::context::server_context::ServerContext;
use crate::matchmaking::cluster_match_loading;
use crate::players::account_deletion;

/// Checks regularly for abandoned matches and account deletions until the server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    let mut deleted_players = BTreeSet::new();
    loop {
        // The delay between two checks is random, so that the servers do not all check at the
        // same time.
        let jitter = u32::from_be_bytes(server.infra.rng.random_bytes()) % 1000;
        cluster_match_loading::take_over_abandoned(&server, &cluster).await;
        account_deletion::resume_stale_deletions(&server, &mut deleted_players).await;
        sleep(LEASE_DURATION / 2 + LEASE_DURATION * jitter / 1000).await;
    }
}
