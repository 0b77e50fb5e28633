//! Keeps this server's lease.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{heartbeat, ownership_check};
use crate::context::clock::now;
use crate::context::server_context::ServerContext;

/// How often the lease is renewed.
const RENEW_EVERY: Duration = Duration::from_millis(1250);

/// Renews the lease once, if the store does.
async fn renew(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let asked_at = now();
    match cluster.directory.renew(cluster.node).await {
        Ok(nodes) => {
            if !cluster.lease.holds() {
                // What was this server's may be another's by now: first that is looked up.
                ownership_check::look(server).await;
            }
            cluster.lease.renewed(asked_at);
            let is_young = cluster.lease.is_young();
            for node in cluster.nodes.renewed(cluster.node, &nodes, is_young) {
                tracing::warn!(node = %node.0, "a server is gone");
                heartbeat::after_gone(server, node);
            }
            let others = nodes.len().saturating_sub(1);
            let others = i64::try_from(others).unwrap_or(i64::MAX);
            server.metrics.cluster.nodes.set(others);
        }
        Err(error) => {
            server.metrics.cluster.unrenewed.inc();
            tracing::warn!(%error, "the lease is not renewed");
        }
    }
}

/// Keeps the lease until the server stops.
pub(crate) async fn keep(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let keeping = async {
        loop {
            renew(&server).await;
            sleep(RENEW_EVERY).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = keeping => {}
    }
}
