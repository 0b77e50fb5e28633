//! Tests of HTTP/2: protocol selection, responses and limits per connection.

use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, Response, StatusCode, header};
use futures::future::{Either, join_all, poll_fn, select};
use h2::RecvStream;
use h2::client::{self, ResponseFuture, SendRequest};
use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, timeout};

use crate::support::{TestServer, advance_time, settings};
use crate::tls::{CertificateAuthority, CertificateFiles, connect_tls, start_tls_server};

/// Maximum time to wait for the server. The value allows for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Default host name of the requests.
const HOST: &str = "house.test";

/// HTTP/2 client whose connection runs in a background task.
struct Http2Client {
    requests: SendRequest<Bytes>,
    connection: JoinSet<Result<(), h2::Error>>,
}

impl Http2Client {
    /// Performs the HTTP/2 handshake over `stream`.
    async fn connect(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        Self::connect_with_builder(&client::Builder::new(), stream).await
    }

    async fn connect_with_builder(
        builder: &client::Builder,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (requests, connection) = builder.handshake(stream).await.expect("written");
        let mut connections = JoinSet::new();
        connections.spawn(connection);
        Self {
            requests,
            connection: connections,
        }
    }

    /// Connects to a server in the test process.
    async fn connect_to(server: &TestServer) -> Self {
        Self::connect(open_http2_pipe(server)).await
    }

    /// Sends a request as soon as the server permits another stream.
    async fn send_request(&mut self, request: Request<()>) -> Result<ResponseFuture, h2::Error> {
        poll_fn(|context| self.requests.poll_ready(context)).await?;
        let (answer, _body) = self.requests.send_request(request, true)?;
        Ok(answer)
    }

    /// Sends a GET request and returns the status and the body.
    async fn get(&mut self, path: &str) -> Result<(StatusCode, String), h2::Error> {
        let answer = self.send_request(get_request(HOST, path)).await?.await?;
        Ok((answer.status(), read_body(answer).await?))
    }

    /// Waits until the connection ends. Returns the result of the connection and the time waited.
    async fn wait_for_end(&mut self) -> (Result<(), h2::Error>, Duration) {
        let begin = Instant::now();
        let ended = timeout(3 * TIMEOUT, self.connection.join_next()).await;
        let ended = ended
            .expect("in time")
            .expect("a joined task")
            .expect("no panic");
        (ended, begin.elapsed())
    }
}

fn get_request(host: &str, path: &str) -> Request<()> {
    let request = Request::get(format!("https://{host}{path}"));
    request.body(()).expect("a request")
}

/// Opens an in-memory connection on which the server speaks HTTP/2, and returns the client's end.
fn open_http2_pipe(server: &TestServer) -> tokio::io::DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let transport = server.transport.clone();
    let serving = async move { transport.serve_http2(far, None).await };
    server.server.spawn(serving);
    near
}

async fn read_body(answer: Response<RecvStream>) -> Result<String, h2::Error> {
    let mut body = answer.into_body();
    let mut text = Vec::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        text.extend(part);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the number of connections dropped for `cause`, from the server's metrics.
fn dropped_connections(server: &TestServer, cause: &str) -> u64 {
    let series = format!("plyhouse_connections_dropped_total{{cause=\"{cause}\"}} ");
    let metrics = server.server.metrics_text();
    let count = metrics.lines().find_map(|line| line.strip_prefix(&series));
    count.expect("a metric").parse().expect("a number")
}

#[tokio::test]
async fn alpn_selects_http2_for_page_and_http1_for_websocket() {
    let (ours, files) = (CertificateAuthority::new("ours"), CertificateFiles::new());
    ours.issue_certificate("127.0.0.1", &files);
    let address = start_tls_server(settings(), files.load()).await;
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1", "h2"], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&[], None),
    ] {
        let stream = connect_tls(&address, &ours, offered).await;
        let agreed = stream.get_ref().1.alpn_protocol();
        assert_eq!(agreed, chosen.map(str::as_bytes), "{offered:?}");
    }

    let mut ann = Connection::open_with_roots(&format!("wss://{address}/ws"), &ours.trust())
        .await
        .expect("the certificate is trusted");
    let create = json!({"type": "create", "id": 1, "game": "chess"});
    ann.send_text(create.to_string())
        .await
        .expect("the connection is open");
    let code = loop {
        let text = timeout(TIMEOUT, ann.receive_text()).await.expect("in time");
        let message: Value =
            serde_json::from_str(&text.expect("the connection is open")).expect("JSON");
        if message["re"] == 1 {
            break message["code"].as_str().expect("a code").to_owned();
        }
    };

    let mut browser =
        Http2Client::connect(connect_tls(&address, &ours, &["h2", "http/1.1"]).await).await;
    let path = format!("/m/{code}");
    let answer = browser
        .send_request(get_request(&address, &path))
        .await
        .expect("the connection is open");
    let answer = answer.await.expect("a response");
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.headers().contains_key(header::CONNECTION));
    let page = read_body(answer).await.expect("a complete body");
    // The `og:url` tag of the page contains the address that the browser requested.
    let url_tag = format!("<meta property=\"og:url\" content=\"https://{address}{path}\" />");
    assert!(page.contains(&url_tag), "{page}");
}

#[tokio::test(start_paused = true)]
async fn websocket_over_http2_is_refused_with_426() {
    let server = TestServer::start(settings());
    let mut browser = Http2Client::connect_to(&server).await;
    let (status, body) = browser.get("/ws").await.expect("a response");
    assert_eq!(status, StatusCode::UPGRADE_REQUIRED);
    assert_eq!(body, "WebSocket connections require HTTP/1.1\n");
    assert!(!browser.requests.is_extended_connect_protocol_enabled());
    assert_eq!(browser.get("/healthz").await.expect("a response").1, "ok\n");
}

/// The client delays requests when it has reached the stream limit that the server announced.
#[tokio::test(start_paused = true)]
async fn concurrent_streams_are_bounded_at_32() {
    let server = TestServer::start(settings());
    let mut browser = Http2Client::connect_to(&server).await;
    let (_, page) = browser.get("/").await.expect("a response");
    assert_eq!(browser.requests.current_max_send_streams(), 32);
    let files: Vec<&str> = page
        .split('"')
        .filter(|part| part.starts_with("/web/"))
        .collect();
    assert!(files.len() > 5, "{page}");
    let responses = files.iter().cycle().take(100).map(|file| {
        let requests = browser.requests.clone();
        async move {
            let (answer, _body) = requests
                .ready()
                .await?
                .send_request(get_request(HOST, file), true)?;
            read_body(answer.await?).await
        }
    });
    for (file, text) in files.iter().cycle().zip(join_all(responses).await) {
        assert!(!text.expect("a complete body").is_empty(), "{file}");
    }
    // The server does not read request bodies, so it grants only a small flow-control window for
    // them.
    poll_fn(|context| browser.requests.poll_ready(context))
        .await
        .expect("the connection is open");
    let posted = Request::post(format!("https://{HOST}/"))
        .body(())
        .expect("a request");
    let (answer, mut body) = browser
        .requests
        .send_request(posted, false)
        .expect("the connection is open");
    body.reserve_capacity(1_000_000);
    assert!(body.capacity() <= 16 * 1024, "{}", body.capacity());
    let answer = answer.await.expect("a response");
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test(start_paused = true)]
async fn oversized_headers_are_refused_with_431() {
    let server = TestServer::start(settings());
    let mut browser = Http2Client::connect_to(&server).await;
    for (bytes, status) in [
        (8 * 1024, StatusCode::OK),
        (20 * 1024, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    ] {
        let mut request = get_request(HOST, "/healthz");
        let long = "x".repeat(bytes).parse().expect("a value");
        request.headers_mut().insert(header::COOKIE, long);
        let answer = browser
            .send_request(request)
            .await
            .expect("the connection is open");
        assert_eq!(answer.await.expect("a response").status(), status);
    }
}

#[tokio::test(start_paused = true)]
async fn idle_connection_closes_shortly_after_last_request() {
    let server = TestServer::start(settings());
    let mut browser = Http2Client::connect_to(&server).await;
    browser.get("/").await.expect("a response");
    let (ended, after) = browser.wait_for_end().await;
    ended.expect("a clean close");
    assert_eq!(after.as_secs(), 3);
    // The server must still answer a first request that arrives five seconds after the connection
    // was opened.
    let mut late = Http2Client::connect_to(&server).await;
    advance_time(5).await;
    late.get("/").await.expect("a response");
    let (ended, after) = late.wait_for_end().await;
    ended.expect("a clean close");
    assert!(after < Duration::from_secs(1), "{after:?}");
    assert_eq!(dropped_connections(&server, "slow_request"), 0);
}

/// The server closes a client that sends no requests after the handshake timeout. It closes a
/// client that reads no responses after six times the handshake timeout.
#[tokio::test(start_paused = true)]
async fn stalled_connections_are_closed() {
    let server = TestServer::start(settings());
    let seconds = server.server.settings().handshake_timeout.as_secs();
    let mut silent = Http2Client::connect_to(&server).await;
    let (_, after) = silent.wait_for_end().await;
    assert_eq!(after.as_secs(), seconds);
    assert_eq!(dropped_connections(&server, "slow_request"), 1);

    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let mut stalled = Http2Client::connect_with_builder(&builder, open_http2_pipe(&server)).await;
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(
            stalled
                .send_request(get_request(HOST, "/"))
                .await
                .expect("the connection is open"),
        );
    }
    let (_, after) = stalled.wait_for_end().await;
    assert_eq!(after.as_secs(), 6 * seconds);
    assert_eq!(dropped_connections(&server, "slow_request"), 2);
}

#[tokio::test(start_paused = true)]
async fn request_floods_and_rapid_resets_close_the_connection() {
    let server = TestServer::start(settings());
    let mut flooding = Http2Client::connect_to(&server).await;
    let mut answered = 0;
    while flooding.get("/healthz").await.is_ok() {
        answered += 1;
        assert!(answered < 5000);
    }
    assert_eq!(answered, 1000);
    assert_eq!(dropped_connections(&server, "broken_request"), 1);

    let mut resetting = Http2Client::connect_to(&server).await;
    let mut requests = 0;
    while let Ok(answer) = resetting.send_request(get_request(HOST, "/healthz")).await {
        // `yield_now` gives the client's background task time to send the request. Dropping the
        // pending response then resets the stream.
        yield_now().await;
        drop(answer);
        requests += 1;
        assert!(requests < 5000);
    }
    assert_eq!(dropped_connections(&server, "broken_request"), 2);
    // After the server has dropped abusive connections, it must still serve other connections.
    let mut other = Http2Client::connect_to(&server).await;
    assert_eq!(other.get("/healthz").await.expect("a response").1, "ok\n");
}

/// The shutdown of the server does not wait for a client that reads no responses.
#[tokio::test(start_paused = true)]
async fn shutdown_closes_http2_connections() {
    let server = TestServer::start(settings());
    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let mut stalled = Http2Client::connect_with_builder(&builder, open_http2_pipe(&server)).await;
    let answer = stalled
        .send_request(get_request(HOST, "/"))
        .await
        .expect("the connection is open");
    assert_eq!(answer.await.expect("a response").status(), StatusCode::OK);
    let (stop, ended) = (pin!(server.server.stop()), pin!(stalled.wait_for_end()));
    match select(stop, ended).await {
        Either::Left(((), ended)) => drop(ended.await),
        Either::Right((_, stop)) => stop.await,
    }
}
