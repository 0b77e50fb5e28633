//! The network: WebSocket and HTTP on one port. It knows connections and texts, and no match.

mod handshakes;
mod http;
mod origin;
mod web;
mod websocket;

use std::io;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use self::handshakes::Handshakes;
use crate::server::Server;

/// The longest head of a request. A handshake has a few hundred bytes, a browser's with cookies a
/// few thousand.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long nothing is accepted after the operating system could not accept: most often there are
/// no descriptors left, and some will be given back soon.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Brings connections to a server. Clones bring them to the same server.
#[derive(Clone, Debug)]
pub struct Transport {
    server: Server,
    router: axum::Router,
    handshakes: Handshakes,
}

impl Transport {
    /// A way to this server.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let router = http::router(server.clone());
        Self {
            server,
            router,
            handshakes: Handshakes::default(),
        }
    }

    /// Accepts connections until the server is told to stop.
    pub async fn serve(&self, listener: TcpListener) {
        loop {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = self.server.shutdown().cancelled() => return,
                () = self.accept(&listener) => {}
            }
        }
    }

    /// Accepts one connection and serves it in a task of its own.
    async fn accept(&self, listener: &TcpListener) {
        match accept(listener).await {
            Ok(stream) => {
                let transport = self.clone();
                self.server
                    .spawn(async move { transport.serve_stream(stream).await });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections now");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Serves one HTTP request. One that becomes a WebSocket goes on in a task of its own.
    pub async fn serve_stream(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let place = self
            .handshakes
            .enter(tokio::time::Instant::now().into_std());
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            served = connection => {
                if let Err(error) = served {
                    tracing::debug!(%error, "request failed");
                }
            }
            // One limit for all of it: a client that sends nothing, or half a request, or does not
            // read the answer is gone at the same time.
            () = sleep(self.server.settings().handshake_timeout) => {
                tracing::debug!("request took too long");
            }
            () = place.lost() => tracing::debug!("request gave way to a newer one"),
            () = self.server.shutdown().cancelled() => {}
        }
    }
}

async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    // A move is small and should leave at once.
    stream.set_nodelay(true)?;
    Ok(stream)
}
