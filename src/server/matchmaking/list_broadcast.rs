//! Tells those who watch lists what has changed in them.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use super::list_subscriptions::Changes;
use crate::cluster_tasks::list_sync;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;

/// The least time between two messages about the same list.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells those who watch lists what has changed, until the server stops.
pub(crate) async fn tell(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let news = server.lobby.watched(|lists| Arc::clone(&lists.news));
    let telling = async {
        loop {
            news.notified().await;
            for changes in server.lobby.take_changes() {
                tell_list(&server, changes).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = telling => {}
    }
}

async fn tell_list(server: &ServerContext, mut changes: Changes) {
    let filter = changes.filter;
    if let Some(cluster) = &server.cluster {
        changes.total = list_sync::total(server, cluster, filter)
            .await
            .unwrap_or(changes.total);
    }
    let frame = encode(&changes.message());
    let mut after = Bound::Unbounded;
    loop {
        let watchers = server.lobby.watched(|lists| lists.watchers(filter, after));
        let Some(last) = watchers.last() else { return };
        after = Bound::Excluded(last.connection());
        for outbox in watchers {
            outbox.send(frame.clone());
        }
        tokio::task::yield_now().await;
    }
}
