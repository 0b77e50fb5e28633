//! Serves the operator's port: health, readiness, version, and metrics only.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::request_timeout::RequestTimeout;
use super::{ACCEPT_PAUSE, accept, health, serve_requests};
use plyhouse_server::Server;

/// Maximum number of connections served at a time. Further connections wait to be accepted.
const CONNECTIONS_MAX: usize = 64;

/// Maximum time for a connection, from its start to the end of the response.
const REQUEST_MAX: Duration = Duration::from_secs(10);

/// Serves the operator's requests until the future `over` completes, even while the server stops.
/// These connections do not count towards the server's limits.
pub async fn serve_admin(server: Server, listener: TcpListener, over: impl Future<Output = ()>) {
    let router = Arc::new(health::operator_routes(server));
    let mut requests = JoinSet::new();
    let mut over = std::pin::pin!(over);
    loop {
        let has_room = requests.len() < CONNECTIONS_MAX;
        tokio::select! {
            biased;
            () = &mut over => break,
            Some(_) = requests.join_next(), if !requests.is_empty() => {}
            accepted = accept(&listener), if has_room => match accepted {
                Ok((stream, from)) => {
                    let router = Arc::clone(&router);
                    requests.spawn(async move {
                        let patience = RequestTimeout::new(REQUEST_MAX);
                        let served = serve_requests(stream, Some(from), &patience, &router);
                        // Errors are ignored, because a client may disconnect before it receives
                        // the response.
                        let _ = timeout(REQUEST_MAX, served).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept admin connections; retrying");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    // All tasks must end before this function returns. Each task holds a clone of the server, and a
    // remaining clone would keep the store open.
    requests.shutdown().await;
}
