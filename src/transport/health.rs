//! Routes for monitoring: health, readiness, version, and metrics.

use axum::extract::{Extension, FromRef, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::client_address::From;
use super::web;
use plyhouse_server::Server;

/// Content type of OpenMetrics, in the version that the metrics library writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Headers that proxies add to a request. If a request has any of these headers, the socket peer is
/// a proxy and not the client.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// Returns the routes that are open to all clients.
pub(super) fn public_routes<S>() -> axum::Router<S>
where
    S: Clone + Send + Sync + 'static,
    Server: FromRef<S>,
{
    axum::Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .route("/version", get(version))
}

/// Returns the public routes, and the metrics for clients on this machine.
pub(super) fn routes_with_local_metrics<S>() -> axum::Router<S>
where
    S: Clone + Send + Sync + 'static,
    Server: FromRef<S>,
{
    public_routes().route("/metrics", get(local_metrics))
}

/// Returns all monitoring routes, for a port that only the operator can reach.
pub(super) fn operator_routes(server: Server) -> axum::Router {
    public_routes()
        .route("/metrics", get(metrics))
        .fallback(async || web::not_found())
        .with_state(server)
}

/// Reports whether the server can currently store data.
async fn health(State(server): State<Server>) -> (StatusCode, &'static str) {
    if server.is_healthy() {
        (StatusCode::OK, "ok\n")
    } else {
        let text = "cannot write to the store\n";
        (StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

/// Reports whether load balancers should send clients to this server.
async fn readiness(State(server): State<Server>) -> (StatusCode, String) {
    let missing = server.unready_reasons();
    if missing.is_empty() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    let lines = missing.iter().map(|what| format!("{what}\n"));
    (StatusCode::SERVICE_UNAVAILABLE, lines.collect())
}

async fn version() -> Response {
    let (version, protocol) = (env!("CARGO_PKG_VERSION"), plyhouse_protocol::VERSION);
    let text = format!("{{\"version\":\"{version}\",\"protocol\":{protocol}}}\n");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn metrics(State(server): State<Server>) -> Response {
    let headers = [(header::CONTENT_TYPE, OPEN_METRICS)];
    (headers, server.metrics_text()).into_response()
}

async fn local_metrics(
    server: State<Server>,
    Extension(from): Extension<From>,
    headers: HeaderMap,
) -> Response {
    if is_local(from, &headers) {
        metrics(server).await
    } else {
        let text = "metrics are available from this machine only; see --admin-listen\n";
        (StatusCode::FORBIDDEN, text).into_response()
    }
}

/// Returns whether a request comes directly from this machine, not through a local proxy.
fn is_local(From(from): From, headers: &HeaderMap) -> bool {
    let is_loopback = from.is_some_and(|address| address.to_canonical().is_loopback());
    is_loopback && !PROXY_HEADERS.iter().any(|name| headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_served_to_local_requests_only() {
        let check = |address: &str, header: Option<&'static str>, expect| {
            let mut headers = HeaderMap::new();
            headers.insert("host", "127.0.0.1:7878".parse().unwrap());
            if let Some(header) = header {
                headers.insert(header, "203.0.113.7".parse().unwrap());
            }
            let from = From(Some(address.parse().unwrap()));
            let is_here = is_local(from, &headers);
            assert_eq!(is_here, expect, "{address} {header:?}");
        };
        check("127.0.0.1", None, true);
        check("127.8.9.1", None, true);
        check("::1", None, true);
        check("::ffff:127.0.0.1", None, true);
        check("203.0.113.7", None, false);
        check("192.168.0.2", None, false);
        check("::ffff:203.0.113.7", None, false);
        check("2001:db8::1", None, false);
        for header in PROXY_HEADERS {
            check("127.0.0.1", Some(header), false);
        }
        assert!(!is_local(From(None), &HeaderMap::new()));
    }
}
