//! Health, readiness and version, who may see the metrics, and `plyhouse health`.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_store::Store;
use plyhouse_transport::{Transport, serve_admin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::failing::{FailingStore, UNAVAILABLE};
use crate::socket::{command, exchange, start_with_admin};
use crate::support::{TestServer, settings};

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

async fn port() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    (listener, address)
}

/// The server's port.
async fn open(server: &TestServer, transport: Transport) -> String {
    let (listener, address) = port().await;
    server
        .server
        .spawn(async move { transport.serve(listener).await });
    address
}

/// The operator's port, which outlives the server's own end as it does in the process.
async fn open_admin(server: &TestServer) -> String {
    let (listener, address) = port().await;
    let serving = serve_admin(server.server.clone(), listener, std::future::pending());
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(serving);
    address
}

fn get(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{more}\r\n")
}

async fn status(address: &str, path: &str) -> u16 {
    let answer = exchange(address, &get(path, "")).await;
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    status.unwrap_or_else(|| panic!("{path}: {answer:?}"))
}

#[tokio::test]
async fn the_server_shows_its_signs() {
    let server = TestServer::start(settings());
    let address = open(&server, Transport::new(server.server.clone())).await;
    for path in ["/healthz", "/readyz"] {
        let answer = exchange(&address, &get(path, "")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
    }
    let version = exchange(&address, &get("/version", "")).await;
    assert!(
        version.contains("content-type: application/json"),
        "{version}"
    );
    let body = version.split("\r\n\r\n").nth(1).expect("a body");
    let version: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let expect = serde_json::json!({"version": env!("CARGO_PKG_VERSION"), "protocol": 1});
    assert_eq!(version, expect);
    let metrics = exchange(&address, &get("/metrics", "")).await;
    let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(metrics.contains(kind), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
}

#[tokio::test]
async fn metrics_are_for_this_machine_alone() {
    let server = TestServer::start(settings());
    let address = open(&server, Transport::new(server.server.clone())).await;
    assert_eq!(status(&address, "/metrics").await, 200);
    // A proxy on this machine passes on what others ask.
    let passed_on = get("/metrics", "X-Forwarded-For: 203.0.113.7\r\n");
    let refused = exchange(&address, &passed_on).await;
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    assert!(!refused.contains("plyhouse_"), "{refused}");
    // Whoever has no address of this machine is a stranger.
    let mut stranger = server.silent();
    let asked = get("/metrics", "").replace("HOST", "plyhouse.test");
    stranger.write_all(asked.as_bytes()).await.expect("open");
    let mut answer = String::new();
    let read = timeout(PATIENCE, stranger.read_to_string(&mut answer)).await;
    read.expect("in time").expect("text");
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

/// With a port of the operator's own, the public one shows no metrics, and that one nothing else.
#[tokio::test]
async fn the_operator_may_have_a_port() {
    let server = TestServer::start(settings());
    let public = Transport::with(server.server.clone(), None, false);
    let public = open(&server, public).await;
    let admin = open_admin(&server).await;
    for path in ["/healthz", "/readyz", "/version"] {
        assert_eq!(status(&public, path).await, 200, "{path}");
        assert_eq!(status(&admin, path).await, 200, "{path}");
    }
    assert_eq!(status(&public, "/metrics").await, 404);
    assert_eq!(status(&admin, "/metrics").await, 200);
    for path in ["/", "/ws", "/web/main.js"] {
        assert_eq!(status(&admin, path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn a_store_that_fails_is_seen() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let address = open(&server, Transport::new(server.server.clone())).await;
    store.set(UNAVAILABLE);
    assert_eq!(status(&address, "/healthz").await, 503);
    assert_eq!(status(&address, "/readyz").await, 503);
    let metrics = exchange(&address, &get("/metrics", "")).await;
    assert!(metrics.contains("\nplyhouse_store_well 0\n"), "{metrics}");
}

/// Who is about to go is well, but is to be given nothing to do.
#[tokio::test]
async fn a_server_that_stops_is_not_ready() {
    let server = TestServer::start(settings());
    let admin = open_admin(&server).await;
    server.server.stop().await;
    assert!(!server.server.is_ready());
    assert_eq!(status(&admin, "/readyz").await, 503);
    assert_eq!(status(&admin, "/healthz").await, 200);
    assert_eq!(status(&admin, "/metrics").await, 200);
}

/// Runs `plyhouse health` against this, and gives its status and what it said.
async fn health(url: &str) -> (Option<i32>, String) {
    let running = command(&["health", "--url", url]).output();
    let output = timeout(PATIENCE, running).await.expect("in time");
    let output = output.expect("started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[tokio::test]
async fn a_container_asks_for_health() {
    let (_process, public, admin) = start_with_admin(&[]).await;
    for address in [&public, &admin] {
        for path in ["/healthz", "/readyz"] {
            let url = format!("http://{address}{path}");
            assert_eq!(health(&url).await, (Some(0), String::new()), "{url}");
        }
    }
    let (code, said) = health(&format!("http://{admin}/nothing")).await;
    assert!(code == Some(1) && said.contains(" 404"), "{code:?}: {said}");
    assert_eq!(status(&public, "/metrics").await, 404);
    assert_eq!(status(&admin, "/metrics").await, 200);

    let store = Arc::new(FailingStore::default());
    let sick = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    store.set(UNAVAILABLE);
    let sick = open(&sick, Transport::new(sick.server.clone())).await;
    let (code, said) = health(&format!("http://{sick}/healthz")).await;
    let reason = "503 Service Unavailable";
    assert!(
        code == Some(1) && !said.contains(reason),
        "{code:?}: {said}"
    );
    assert!(
        said.contains("503: the store cannot keep anything now"),
        "{said}"
    );
}

#[tokio::test]
async fn who_does_not_answer_is_not_healthy() {
    // It accepts, and never says a word.
    let (silent, address) = port().await;
    let (code, said) = health(&format!("http://{address}/healthz")).await;
    assert!(
        code == Some(1) && said.contains("no answer in time"),
        "{code:?}: {said}"
    );
    drop(silent);
    let (code, said) = health(&format!("http://{address}/healthz")).await;
    assert!(
        code == Some(1) && said.contains("does not answer"),
        "{code:?}: {said}"
    );
    for nonsense in ["https://127.0.0.1/healthz", "nonsense", "/healthz"] {
        assert_eq!(health(nonsense).await.0, Some(2), "{nonsense}");
    }
}
