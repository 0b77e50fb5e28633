//! Broadcasts match list changes to the connections that watch the lists.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use super::list_subscriptions::ListChanges;
use crate::cluster_tasks::list_sync;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;

/// Minimum time between two broadcasts of changes to the same match list.
const BROADCAST_INTERVAL: Duration = Duration::from_secs(1);

/// Broadcasts match list changes to the connections that watch the lists, until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    let lobby = &server.matches.lobby;
    let changed = lobby.with_subscriptions(|lists| Arc::clone(&lists.changed));
    loop {
        changed.notified().await;
        for changes in lobby.take_changes() {
            broadcast_changes(&server, changes).await;
        }
        tokio::time::sleep(BROADCAST_INTERVAL).await;
    }
}

async fn broadcast_changes(server: &ServerContext, mut changes: ListChanges) {
    let filter = changes.filter;
    if let Some(cluster) = &server.infra.cluster {
        changes.total = list_sync::count_matches(&server.infra, cluster, filter)
            .await
            .unwrap_or(changes.total);
    }
    let frame = encode(&changes.into_message());
    let mut after = Bound::Unbounded;
    loop {
        let lobby = &server.matches.lobby;
        let watchers = lobby.with_subscriptions(|lists| lists.watchers_after(filter, after));
        let Some(last) = watchers.last() else { return };
        after = Bound::Excluded(last.connection());
        for outbox in watchers {
            outbox.send(frame.clone());
        }
        tokio::task::yield_now().await;
    }
}
