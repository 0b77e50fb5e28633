//! Serves HTTP/2 to clients that negotiate it during the TLS handshake. WebSockets require
//! HTTP/1.1.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{HeaderValue, header};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::client_address::From;
use super::request_timeout::RequestTimeout;
use super::{HEAD_BYTES_MAX, KEEP_ALIVE};
use plyhouse_server::Server;

/// Maximum number of concurrent requests on a connection. The server refuses further requests. The
/// page sends fewer than ten requests at a time. A browser that reaches the maximum delays its
/// requests.
const STREAMS_MAX: u32 = 32;

/// Number of HTTP/1.1 connections that a browser would open instead of one HTTP/2 connection. Each
/// HTTP/1.1 connection would have its own timeout. The timeout of the HTTP/2 connection is
/// therefore multiplied by this number.
const CONNECTIONS: u32 = 6;

/// Maximum number of requests on a connection. A client that cancels requests at once to send more
/// (rapid reset, CVE-2023-44487) must reconnect. A browser sends about thirty requests before
/// [`KEEP_ALIVE`] is over.
const REQUESTS_MAX: usize = 1000;

/// Size of a request body's flow-control window, in bytes. The server reads no request bodies.
const BODY_BYTES_MAX: u32 = 16 * 1024;

/// Size of a connection's flow-control window, in bytes. The value is the minimum that HTTP/2
/// allows (RFC 9113, section 6.9.2).
const BODIES_BYTES_MAX: u32 = 65_535;

/// Maximum size of the send buffer of a response, in bytes.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

/// Reasons why a connection ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// All requests were answered.
    Completed,
    /// The client sent more than [`REQUESTS_MAX`] requests.
    TooManyRequests,
}

/// Accepts new requests for the duration [`KEEP_ALIVE`], and then only answers the pending
/// requests.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    from: Option<IpAddr>,
    patience: &RequestTimeout,
    router: &axum::Router,
    server: &Server,
) -> hyper::Result<ConnectionEnd> {
    let keep_alive_until = Instant::now() + KEEP_ALIVE;
    let requests = AtomicUsize::new(0);
    let [first_request, too_many] = [(); 2].map(|()| CancellationToken::new());
    let router = TowerToHyperService::new(router.clone());
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        match requests.fetch_add(1, Ordering::Relaxed) {
            0 => {
                first_request.cancel();
                patience.renew_for(CONNECTIONS);
            }
            REQUESTS_MAX => too_many.cancel(),
            _ => {}
        }
        name_host(&mut request);
        request.extensions_mut().insert(From(from));
        request.extensions_mut().insert(patience.clone());
        router.call(request)
    });
    let tasks = Tasks(server.clone());
    let mut connection = pin!(
        http2::Builder::new(tasks)
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX.try_into().unwrap_or(u32::MAX))
            .initial_stream_window_size(BODY_BYTES_MAX)
            .initial_connection_window_size(BODIES_BYTES_MAX)
            .max_send_buf_size(RESPONSE_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut keep_alive_end = pin!(async {
        sleep_until(keep_alive_until).await;
        // If the client has not sent a request yet, the connection stays open until the first
        // request.
        first_request.cancelled().await;
    });
    let mut is_leaving = false;
    loop {
        tokio::select! {
            biased;
            () = too_many.cancelled() => return Ok(ConnectionEnd::TooManyRequests),
            served = connection.as_mut() => return served.map(|()| ConnectionEnd::Completed),
            () = &mut keep_alive_end, if !is_leaving => {
                is_leaving = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Copies the `:authority` of the request into the `Host` header, as in HTTP/1.1.
fn name_host(request: &mut hyper::Request<Incoming>) {
    let Some(authority) = request.uri().authority() else {
        return;
    };
    if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
        request.headers_mut().insert(header::HOST, host);
    }
}

/// Spawns the tasks that serve requests. The server waits for these tasks when it stops. The tasks
/// end with their connection.
#[derive(Clone)]
struct Tasks(Server);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
