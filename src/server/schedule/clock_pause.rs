//! Pauses the clocks of all matches while the store refuses writes, and resumes them afterwards.
//! Without this task, only matches whose own writes were refused would pause.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::sleep;

use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;

/// How often to check whether the store accepts writes again.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of matches that are notified concurrently. A match that waits for the store does
/// not delay the others.
const CONCURRENT_SENDS_MAX: usize = 256;

/// Pauses the clocks each time the store refuses writes. Runs until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    loop {
        let since = server.infra.store_health.wait_for_refusal().await;
        // If this server can store events again, only the matches whose writes were refused
        // have paused. The other matches on this server need not pause.
        if !is_store_writable(&server.infra) {
            broadcast_to_matches(&server, &Control::StoreUnavailable { since }).await;
        }
        sleep(CHECK_INTERVAL).await;
        while !is_store_writable(&server.infra) {
            sleep(CHECK_INTERVAL).await;
        }
        broadcast_to_matches(&server, &Control::StoreAvailable).await;
    }
}

/// Returns whether this server can store events.
fn is_store_writable(infra: &Infrastructure) -> bool {
    infra.may_store_events() && infra.store.is_healthy()
}

/// Sends a signal to every match on this server and waits for all answers.
pub(crate) async fn broadcast_to_matches(server: &ServerContext, control: &Control) {
    let handles = stream::iter(server.matches.lobby.all());
    let sends = handles.for_each_concurrent(CONCURRENT_SENDS_MAX, |handle| {
        let control = control.clone();
        async move { handle.notify(control, &server.infra.metrics).await }
    });
    sends.await;
}
