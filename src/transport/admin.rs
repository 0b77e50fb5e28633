//! The operator's port: it shows what the server is and does, and nothing of what it serves.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{ACCEPT_PAUSE, accept, serve_requests, signs};
use plyhouse_server::Server;

/// How many may ask at once. Who comes then waits to be accepted until another has been answered.
const CONNECTIONS_MAX: usize = 64;

/// How long one may take to ask and to read the answer.
const REQUEST_MAX: Duration = Duration::from_secs(10);

/// Answers the operator's requests until `over` is done: apart from the connections of the server
/// and its bounds, and while the server stops, too.
pub async fn serve_admin(server: Server, listener: TcpListener, over: impl Future<Output = ()>) {
    let router = Arc::new(signs::for_operators(server));
    let mut requests = JoinSet::new();
    let mut over = std::pin::pin!(over);
    loop {
        let has_room = requests.len() < CONNECTIONS_MAX;
        tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            () = &mut over => break,
            Some(_) = requests.join_next(), if !requests.is_empty() => {}
            accepted = accept(&listener), if has_room => match accepted {
                Ok((stream, from)) => {
                    let router = Arc::clone(&router);
                    requests.spawn(async move {
                        let served = serve_requests(stream, Some(from), &router);
                        // Who asks may go when they like.
                        let _ = timeout(REQUEST_MAX, served).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept the operator's connections now");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    // Each holds the server.
    requests.shutdown().await;
}
