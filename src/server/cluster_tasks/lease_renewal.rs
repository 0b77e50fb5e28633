//! Keeps this server's lease.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{heartbeat, ownership_check};
use crate::context::clock::now;
use crate::context::server_context::ServerContext;

/// How often the lease is renewed.
const RENEW_INTERVAL: Duration = Duration::from_millis(1250);

/// Renews the lease once, if the store does.
async fn renew_lease(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let requested_at = now();
    match cluster.directory.renew_lease(cluster.node).await {
        Ok(nodes) => {
            if !cluster.lease.is_valid() {
                // What was this server's may be another's by now: first that is looked up.
                ownership_check::check_ownership(server).await;
            }
            cluster.lease.renew(requested_at);
            let is_young = cluster.lease.is_recent();
            for node in cluster.nodes.update_alive(cluster.node, &nodes, is_young) {
                tracing::warn!(node = %node.0, "the lease of another server expired");
                heartbeat::on_node_gone(server, node);
            }
            let others = nodes.len().saturating_sub(1);
            let others = i64::try_from(others).unwrap_or(i64::MAX);
            server.metrics.cluster.nodes.set(others);
        }
        Err(error) => {
            server.metrics.cluster.failed_renewals.inc();
            tracing::warn!(%error, "cannot renew the lease");
        }
    }
}

/// Keeps the lease until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let renewing = async {
        loop {
            renew_lease(&server).await;
            sleep(RENEW_INTERVAL).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = renewing => {}
    }
}
