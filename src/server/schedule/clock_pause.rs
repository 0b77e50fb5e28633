//! Sees to it that all clocks stand while the store refuses, and not only those of whoever has noticed; and
//! that they go on.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::sleep;

use crate::context::server_context::ServerContext;
use crate::match_handle::command::MatchRequest;

/// How often the store is asked whether it is well again.
const LOOK: Duration = Duration::from_secs(1);

/// How many matches are told at the same time: one may wait for the store itself.
const TOLD_AT_ONCE: usize = 256;

/// Has all clocks stand from when the store refuses until it keeps things again, until the server stops.
pub(crate) async fn watch(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        loop {
            let since = server.store_health.wait().await;
            // What was refused to one match alone concerns no other.
            if !is_well(&server) {
                tell_all(&server, &MatchRequest::StoreRefuses { since }).await;
            }
            sleep(LOOK).await;
            while !is_well(&server) {
                sleep(LOOK).await;
            }
            tell_all(&server, &MatchRequest::StoreAccepts).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

/// Whether this server has its matches kept. One that may have lost them keeps nothing of them.
fn is_well(server: &ServerContext) -> bool {
    let may_act = (server.cluster.as_ref()).is_none_or(|cluster| cluster.may_act());
    may_act && server.store.is_healthy()
}

/// Tells every match that is served here something.
pub(crate) async fn tell_all(server: &ServerContext, request: &MatchRequest) {
    let handles = stream::iter(server.lobby.all());
    let told = handles.for_each_concurrent(TOLD_AT_ONCE, |handle| {
        let request = request.clone();
        async move { handle.tell(request, &server.metrics).await }
    });
    told.await;
}
