//! Sees to it that all clocks stand while the store refuses, and not only those of whoever has noticed; and
//! that they go on.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;

/// How often the store is asked whether it is well again.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How many matches are told at the same time: one may wait for the store itself.
const CONCURRENT_SENDS_MAX: usize = 256;

/// Has all clocks stand from when the store refuses until it keeps things again, until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        loop {
            let since = server.store_health.wait_for_refusal().await;
            // What was refused to one match alone concerns no other.
            if !is_store_writable(&server) {
                broadcast_to_matches(&server, &Control::StoreUnavailable { since }).await;
            }
            sleep(CHECK_INTERVAL).await;
            while !is_store_writable(&server) {
                sleep(CHECK_INTERVAL).await;
            }
            broadcast_to_matches(&server, &Control::StoreAvailable).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

/// Whether this server has its matches kept. One that may have lost them keeps nothing of them.
fn is_store_writable(server: &ServerContext) -> bool {
    let may_act = (server.cluster.as_ref()).is_none_or(|cluster| cluster.has_valid_lease());
    may_act && server.store.is_healthy()
}

/// Tells every match that is served here something.
pub(crate) async fn broadcast_to_matches(server: &ServerContext, control: &Control) {
    let handles = stream::iter(server.lobby.all());
    let sends = handles.for_each_concurrent(CONCURRENT_SENDS_MAX, |handle| {
        let control = control.clone();
        async move { handle.notify(control, &server.metrics).await }
    });
    sends.await;
}
