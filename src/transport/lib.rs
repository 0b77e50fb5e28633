//! Network layer: WebSocket and HTTP on one port, optionally over TLS. This crate handles
//! connections and text messages, but has no knowledge of matches.

mod board_images;
mod client_address;
mod game_downloads;
mod health;
mod http2;
mod http_routes;
mod monitoring_port;
mod opengraph;
mod origin;
mod pending_handshakes;
mod personal_data;
mod proxy_user;
mod request_timeout;
mod shared_websocket;
mod throttled_stream;
mod tls;
mod web;
mod websocket_connection;

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until};

use self::client_address::From;
pub use self::monitoring_port::serve_admin;
use self::pending_handshakes::Handshakes;
use self::request_timeout::RequestTimeout;
pub use self::tls::{Tls, TlsError};
use plyhouse_server::{DropReason, Server};

/// Maximum size of a request head, in bytes. A WebSocket handshake has a few hundred bytes, and a
/// browser request with cookies has a few thousand.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Duration for which a connection accepts further requests. A browser fetches the files of the
/// page over a few connections. The value is much shorter than `handshake_timeout`, so that enough
/// time remains for the last response.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// Delay before the server accepts connections again after a failure. The usual cause is a lack of
/// file descriptors, and other connections soon release some.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections for a server. Clones share the server and its limits.
#[derive(Clone, Debug)]
pub struct Transport {
    server: Server,
    router: axum::Router,
    handshakes: Handshakes,
    tls: Option<Tls>,
}

impl Transport {
    /// Creates a transport for plain HTTP that shows the metrics to clients on this machine.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self::with(server, None, true)
    }

    /// Creates a transport. With `tls`, the transport accepts only TLS connections. With
    /// `shows_metrics`, clients on this machine can read the metrics.
    #[must_use]
    pub fn with(server: Server, tls: Option<Tls>, shows_metrics: bool) -> Self {
        let monitoring_routes = if shows_metrics {
            health::routes_with_local_metrics()
        } else {
            health::public_routes()
        };
        let router = http_routes::router(monitoring_routes, server.clone(), tls.is_some());
        Self {
            server,
            router,
            handshakes: Handshakes::default(),
            tls,
        }
    }

    /// Accepts connections until the server shuts down.
    pub async fn serve(&self, listener: TcpListener) {
        loop {
            tokio::select! {
                biased;
                () = self.server.shutdown().cancelled() => return,
                () = self.accept(&listener) => {}
            }
        }
    }

    /// Accepts a connection and serves it in a separate task.
    async fn accept(&self, listener: &TcpListener) {
        match accept(listener).await {
            Ok((stream, from)) => {
                let transport = self.clone();
                self.server
                    .spawn(async move { transport.serve_socket(stream, from).await });
            }
            Err(error) => {
                self.server
                    .count_dropped_connection(DropReason::NotAccepted);
                tracing::warn!(%error, "cannot accept connections; retrying");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Serves an accepted socket, with a TLS handshake if TLS is configured.
    async fn serve_socket(&self, stream: TcpStream, from: IpAddr) {
        let from = Some(from);
        let Some(tls) = &self.tls else {
            return self.serve_stream(stream, from).await;
        };
        let patience = self.request_timeout();
        let served = async {
            match tls.accept_tls(stream).await {
                Ok(Some(stream)) if tls::is_for_http2(&stream) => {
                    self.answer_http2(stream, from, &patience).await;
                }
                Ok(Some(stream)) => self.serve_http1(stream, from, &patience).await,
                Ok(None) => {
                    self.server
                        .count_dropped_connection(DropReason::TlsHandshake);
                    tracing::debug!(?from, "plain HTTP request on the TLS port");
                }
                Err(error) => {
                    self.server
                        .count_dropped_connection(DropReason::TlsHandshake);
                    tracing::debug!(?from, %error, "TLS handshake failed");
                }
            }
        };
        self.within_limits(from, &patience, served).await;
    }

    /// Serves HTTP/1.1 requests on a connection, with a timeout. A connection that becomes a
    /// WebSocket continues in a separate task. `from` is the address of the peer, if known.
    pub async fn serve_stream(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        from: Option<IpAddr>,
    ) {
        let patience = self.request_timeout();
        let served = self.serve_http1(stream, from, &patience);
        self.within_limits(from, &patience, served).await;
    }

    /// Serves HTTP/2 requests. HTTP/2 requests cannot become WebSockets.
    pub async fn serve_http2(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        from: Option<IpAddr>,
    ) {
        let patience = self.request_timeout();
        let served = self.answer_http2(stream, from, &patience);
        self.within_limits(from, &patience, served).await;
    }

    fn request_timeout(&self) -> RequestTimeout {
        RequestTimeout::new(self.server.settings().handshake_timeout)
    }

    /// Serves a connection that is not a WebSocket yet. Stops if the connection times out, if a
    /// newer connection evicts it, or if the server shuts down.
    async fn within_limits(
        &self,
        from: Option<IpAddr>,
        patience: &RequestTimeout,
        served: impl Future<Output = ()>,
    ) {
        let place = self.handshakes.enter(Instant::now().into_std());
        tokio::select! {
            biased;
            () = served => {}
            // A single timeout covers a client that sends nothing, sends half a request, or does
            // not read the response.
            () = patience.expired() => {
                self.server.count_dropped_connection(DropReason::SlowRequest);
                tracing::debug!(?from, "request timed out");
            }
            () = place.lost() => {
                self.server.count_dropped_connection(DropReason::Displaced);
                tracing::debug!(?from, "connection evicted by a newer one");
            }
            () = self.server.shutdown().cancelled() => {}
        }
    }

    async fn serve_http1(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        from: Option<IpAddr>,
        patience: &RequestTimeout,
    ) {
        if let Err(error) = serve_requests(stream, from, patience, &self.router).await {
            self.server
                .count_dropped_connection(DropReason::BrokenRequest);
            tracing::debug!(?from, %error, "request failed");
        }
    }

    async fn answer_http2(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        from: Option<IpAddr>,
        patience: &RequestTimeout,
    ) {
        let served = http2::serve(stream, from, patience, &self.router, &self.server).await;
        match served {
            Ok(http2::ConnectionEnd::Completed) => {}
            Ok(http2::ConnectionEnd::TooManyRequests) => {
                self.server
                    .count_dropped_connection(DropReason::BrokenRequest);
                tracing::debug!(?from, "too many requests on one connection");
            }
            Err(error) => {
                self.server
                    .count_dropped_connection(DropReason::BrokenRequest);
                tracing::debug!(?from, %error, "connection failed");
            }
        }
    }
}

/// Serves HTTP/1.1 requests until [`KEEP_ALIVE`] is over and the last response is sent.
async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    from: Option<IpAddr>,
    patience: &RequestTimeout,
    router: &axum::Router,
) -> hyper::Result<()> {
    let keep_alive_until = Instant::now() + KEEP_ALIVE;
    let requests = AtomicUsize::new(0);
    let router = TowerToHyperService::new(router.clone());
    let service = service_fn(|mut request: hyper::Request<_>| {
        request.extensions_mut().insert(From(from));
        request.extensions_mut().insert(patience.clone());
        requests.fetch_add(1, Ordering::Relaxed);
        let answer = router.call(request);
        async move {
            match answer.await {
                Ok(answer) if Instant::now() >= keep_alive_until => {
                    Ok(http_routes::last(answer).await)
                }
                other => other,
            }
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
    );
    tokio::select! {
        biased;
        served = connection.as_mut() => return served,
        () = sleep_until(keep_alive_until) => {}
    }
    // If the client has not sent a request yet, the connection stays open until the first request.
    if requests.load(Ordering::Relaxed) > 0 {
        connection.as_mut().graceful_shutdown();
    }
    connection.await
}

async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, IpAddr)> {
    let (stream, from) = listener.accept().await?;
    // Nagle's algorithm is disabled, because a small move message must be sent without waiting for
    // more data.
    stream.set_nodelay(true)?;
    Ok((stream, from.ip()))
}
