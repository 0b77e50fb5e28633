//! Tells those who watch lists what has changed in them.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use super::cluster_tasks::listing;
use super::encode::encode;
use super::shared::ServerContext;
use super::watched_lists::Changes;

/// The least time between two messages about the same list.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells those who watch lists what has changed, until the server stops.
pub(super) async fn tell(server: Arc<ServerContext>) {
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
        changes.total = listing::total(server, cluster, filter)
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
