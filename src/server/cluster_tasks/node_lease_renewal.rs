//! Renews the lease of this server.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{heartbeat, ownership_check};
use crate::cluster::Cluster;
use crate::context::clock_and_rng::now;
use crate::context::server_context::ServerContext;

/// Interval between renewals of the lease.
const RENEW_INTERVAL: Duration = Duration::from_millis(1250);

/// Renews the lease once. If the store cannot be written, the lease is not extended.
async fn renew_lease(server: &Arc<ServerContext>, cluster: &Arc<Cluster>) {
    let requested_at = now();
    match cluster.directory.renew_lease(cluster.node).await {
        Ok(nodes) => {
            if !cluster.lease.is_valid() {
                // Other servers may have taken over matches of this server while its lease was
                // expired. The ownership check must come before the renewal, because a valid lease
                // permits this server to act as an owner.
                ownership_check::check_ownership(server, cluster).await;
            }
            cluster.lease.renew(requested_at);
            let is_young = cluster.lease.is_recent();
            for node in cluster.nodes.update_alive(cluster.node, &nodes, is_young) {
                tracing::warn!(node = %node.0, "lease of another server expired");
                heartbeat::on_node_gone(server, cluster, node);
            }
            let others = i64::try_from(nodes.len().saturating_sub(1)).unwrap_or(i64::MAX);
            server.infra.metrics.cluster.nodes.set(others);
        }
        Err(error) => {
            server.infra.metrics.cluster.failed_renewals.inc();
            tracing::warn!(%error, "cannot renew the lease of this server");
        }
    }
}

/// Renews the lease until the server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        renew_lease(&server, &cluster).await;
        sleep(RENEW_INTERVAL).await;
    }
}
