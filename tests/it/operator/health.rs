//! Tests of the health, readiness and version endpoints. They also cover the access to the metrics
//! and the command `plyhouse health`.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_store::Store;
use plyhouse_transport::{Transport, serve_admin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::fault_injecting_store::{FailingStore, UNAVAILABLE};
use crate::real_sockets::{exchange_until_close, plyhouse_command, start_server_with_admin};
use crate::support::{TestServer, settings};

/// Time limit for each wait in a test, generous enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn bind_free_port() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener
        .local_addr()
        .expect("the listener is bound")
        .to_string();
    (listener, address)
}

/// Starts to serve the public port in the background and returns its address.
async fn serve_public(server: &TestServer, transport: Transport) -> String {
    let (listener, address) = bind_free_port().await;
    server
        .server
        .spawn(async move { transport.serve(listener).await });
    address
}

/// Starts to serve the admin port in the background and returns its address. As in the real
/// process, the port stays open after the server has stopped.
async fn serve_admin_port(server: &TestServer) -> String {
    let (listener, address) = bind_free_port().await;
    let serving = serve_admin(server.server.clone(), listener, std::future::pending());
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(serving);
    address
}

fn get_request(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{headers}\r\n")
}

async fn get_status(address: &str, path: &str) -> u16 {
    let answer = exchange_until_close(address, &get_request(path, "")).await;
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    status.unwrap_or_else(|| panic!("{path}: {answer:?}"))
}

#[tokio::test]
async fn health_version_and_metrics_endpoints_respond() {
    let server = TestServer::start(settings());
    let address = serve_public(&server, Transport::new(server.server.clone())).await;
    for path in ["/healthz", "/readyz"] {
        let answer = exchange_until_close(&address, &get_request(path, "")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
    }
    let version = exchange_until_close(&address, &get_request("/version", "")).await;
    assert!(
        version.contains("content-type: application/json"),
        "{version}"
    );
    let body = version.split("\r\n\r\n").nth(1).expect("a body");
    let version: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let expect = serde_json::json!({"version": env!("CARGO_PKG_VERSION"), "protocol": 1});
    assert_eq!(version, expect);
    let metrics = exchange_until_close(&address, &get_request("/metrics", "")).await;
    let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(metrics.contains(kind), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
}

#[tokio::test]
async fn metrics_are_served_only_to_localhost() {
    let server = TestServer::start(settings());
    let address = serve_public(&server, Transport::new(server.server.clone())).await;
    assert_eq!(get_status(&address, "/metrics").await, 200);
    // `X-Forwarded-For` shows that a proxy on this machine forwards a request from another machine.
    let forwarded = get_request("/metrics", "X-Forwarded-For: 203.0.113.7\r\n");
    let refused = exchange_until_close(&address, &forwarded).await;
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    assert!(!refused.contains("plyhouse_"), "{refused}");
    // A client whose address is unknown counts as remote.
    let mut remote = server.connect_raw();
    let request = get_request("/metrics", "").replace("HOST", "plyhouse.test");
    remote
        .write_all(request.as_bytes())
        .await
        .expect("the connection is open");
    let mut answer = String::new();
    let read = timeout(TIMEOUT, remote.read_to_string(&mut answer)).await;
    read.expect("in time").expect("text");
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

/// With an admin port, the public port serves no metrics. The admin port serves no pages and no
/// WebSocket connections.
#[tokio::test]
async fn admin_port_serves_metrics_instead_of_public_port() {
    let server = TestServer::start(settings());
    let public = Transport::with(server.server.clone(), None, false);
    let public = serve_public(&server, public).await;
    let admin = serve_admin_port(&server).await;
    for path in ["/healthz", "/readyz", "/version"] {
        assert_eq!(get_status(&public, path).await, 200, "{path}");
        assert_eq!(get_status(&admin, path).await, 200, "{path}");
    }
    assert_eq!(get_status(&public, "/metrics").await, 404);
    assert_eq!(get_status(&admin, "/metrics").await, 200);
    for path in ["/", "/ws", "/web/main.js"] {
        assert_eq!(get_status(&admin, path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn failing_store_makes_health_checks_fail() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let address = serve_public(&server, Transport::new(server.server.clone())).await;
    store.set_mode(UNAVAILABLE);
    assert_eq!(get_status(&address, "/healthz").await, 503);
    assert_eq!(get_status(&address, "/readyz").await, 503);
    let metrics = exchange_until_close(&address, &get_request("/metrics", "")).await;
    assert!(metrics.contains("\nplyhouse_store_well 0\n"), "{metrics}");
}

#[tokio::test]
async fn stopping_server_is_healthy_but_not_ready() {
    let server = TestServer::start(settings());
    let admin = serve_admin_port(&server).await;
    server.server.stop().await;
    assert!(!server.server.is_ready());
    assert_eq!(get_status(&admin, "/readyz").await, 503);
    assert_eq!(get_status(&admin, "/healthz").await, 200);
    assert_eq!(get_status(&admin, "/metrics").await, 200);
}

/// Runs `plyhouse health` on a URL and returns its exit code and its stderr.
async fn run_health_command(url: &str) -> (Option<i32>, String) {
    let running = plyhouse_command(&["health", "--url", url]).output();
    let output = timeout(TIMEOUT, running).await.expect("in time");
    let output = output.expect("the process starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

#[tokio::test]
async fn health_command_reports_endpoint_status() {
    let (_process, public, admin) = start_server_with_admin(&[]).await;
    for address in [&public, &admin] {
        for path in ["/healthz", "/readyz"] {
            let url = format!("http://{address}{path}");
            assert_eq!(
                run_health_command(&url).await,
                (Some(0), String::new()),
                "{url}"
            );
        }
    }
    let (code, stderr) = run_health_command(&format!("http://{admin}/nothing")).await;
    assert!(
        code == Some(1) && stderr.contains(" 404"),
        "{code:?}: {stderr}"
    );
    assert_eq!(get_status(&public, "/metrics").await, 404);
    assert_eq!(get_status(&admin, "/metrics").await, 200);

    let store = Arc::new(FailingStore::default());
    let unhealthy = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    store.set_mode(UNAVAILABLE);
    let unhealthy = serve_public(&unhealthy, Transport::new(unhealthy.server.clone())).await;
    let (code, stderr) = run_health_command(&format!("http://{unhealthy}/healthz")).await;
    let reason = "503 Service Unavailable";
    assert!(
        code == Some(1) && !stderr.contains(reason),
        "{code:?}: {stderr}"
    );
    assert!(
        stderr.contains("503: cannot write to the store"),
        "{stderr}"
    );
}

#[tokio::test]
async fn health_command_fails_without_answer() {
    // The port accepts connections but never answers.
    let (silent, address) = bind_free_port().await;
    let (code, stderr) = run_health_command(&format!("http://{address}/healthz")).await;
    assert!(
        code == Some(1) && stderr.contains("timed out after 3 s"),
        "{code:?}: {stderr}"
    );
    drop(silent);
    let (code, stderr) = run_health_command(&format!("http://{address}/healthz")).await;
    assert!(
        code == Some(1) && stderr.contains("no response from http://"),
        "{code:?}: {stderr}"
    );
    for nonsense in ["https://127.0.0.1/healthz", "nonsense", "/healthz"] {
        assert_eq!(run_health_command(nonsense).await.0, Some(2), "{nonsense}");
    }
}
