//! HTTP/2: who gets it, what it serves, and what one connection may take.

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

use crate::support::{TestServer, pass, settings};
use crate::tls::{Authority, Files, listen, secret};

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of the server, where no test asks for another.
const HOST: &str = "house.test";

/// A client, and its connection, which goes on in a task.
struct Browser {
    requests: SendRequest<Bytes>,
    connection: JoinSet<Result<(), h2::Error>>,
}

impl Browser {
    /// Speaks over a stream.
    async fn open(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        Self::with(&client::Builder::new(), stream).await
    }

    async fn with(
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

    /// Speaks to a server in process.
    async fn at(server: &TestServer) -> Self {
        Self::open(pipe(server)).await
    }

    /// Asks for something once the server lets it.
    async fn ask(&mut self, request: Request<()>) -> Result<ResponseFuture, h2::Error> {
        poll_fn(|context| self.requests.poll_ready(context)).await?;
        let (answer, _body) = self.requests.send_request(request, true)?;
        Ok(answer)
    }

    /// What an address has.
    async fn get(&mut self, path: &str) -> Result<(StatusCode, String), h2::Error> {
        let answer = self.ask(get(HOST, path)).await?.await?;
        Ok((answer.status(), read(answer).await?))
    }

    /// How the connection ends, after how long.
    async fn ended(&mut self) -> (Result<(), h2::Error>, Duration) {
        let begin = Instant::now();
        let ended = timeout(3 * PATIENCE, self.connection.join_next()).await;
        let ended = ended.expect("in time").expect("one").expect("no panic");
        (ended, begin.elapsed())
    }
}

fn get(host: &str, path: &str) -> Request<()> {
    let request = Request::get(format!("https://{host}{path}"));
    request.body(()).expect("a request")
}

/// The other end of a pipe over which a server in process speaks HTTP/2.
fn pipe(server: &TestServer) -> tokio::io::DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let transport = server.transport.clone();
    let serving = async move { transport.serve_http2(far, None).await };
    server.server.spawn(serving);
    near
}

async fn read(answer: Response<RecvStream>) -> Result<String, h2::Error> {
    let mut body = answer.into_body();
    let mut text = Vec::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        text.extend(part);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Why connections came to nothing, by the server's own count.
fn dropped(server: &TestServer, cause: &str) -> u64 {
    let series = format!("plyhouse_connections_dropped_total{{cause=\"{cause}\"}} ");
    let metrics = server.server.metrics_text();
    let count = metrics.lines().find_map(|line| line.strip_prefix(&series));
    count.expect("counted").parse().expect("a number")
}

/// Who offers HTTP/2 gets the page by it; who does not, or offers nothing, has HTTP/1.1, by which alone there are
/// WebSockets.
#[tokio::test]
async fn the_page_comes_by_http2_and_matches_by_http1() {
    let (ours, files) = (Authority::new("ours"), Files::new());
    ours.certify("127.0.0.1", &files);
    let address = listen(settings(), files.tls()).await;
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1", "h2"], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&[], None),
    ] {
        let stream = secret(&address, &ours, offered).await;
        let agreed = stream.get_ref().1.alpn_protocol();
        assert_eq!(agreed, chosen.map(str::as_bytes), "{offered:?}");
    }

    let mut ann = Connection::open_trusting(&format!("wss://{address}/ws"), &ours.trust())
        .await
        .expect("believed");
    let create = json!({"type": "create", "id": 1, "game": "chess"});
    ann.send_text(create.to_string()).await.expect("open");
    let code = loop {
        let text = timeout(PATIENCE, ann.receive_text())
            .await
            .expect("in time");
        let message: Value = serde_json::from_str(&text.expect("open")).expect("JSON");
        if message["re"] == 1 {
            break message["code"].as_str().expect("a code").to_owned();
        }
    };

    let mut browser = Browser::open(secret(&address, &ours, &["h2", "http/1.1"]).await).await;
    let path = format!("/m/{code}");
    let answer = browser.ask(get(&address, &path)).await.expect("open");
    let answer = answer.await.expect("answered");
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.headers().contains_key(header::CONNECTION));
    let page = read(answer).await.expect("whole");
    // As whom the browser has called it.
    let about = format!("<meta property=\"og:url\" content=\"https://{address}{path}\" />");
    assert!(page.contains(&about), "{page}");
}

/// There is no WebSocket here, and whoever asks for one is told where there is.
#[tokio::test(start_paused = true)]
async fn websockets_are_elsewhere() {
    let server = TestServer::start(settings());
    let mut browser = Browser::at(&server).await;
    let (status, told) = browser.get("/ws").await.expect("answered");
    assert_eq!(status, StatusCode::UPGRADE_REQUIRED);
    assert_eq!(told, "open a WebSocket by HTTP/1.1\n");
    assert!(!browser.requests.is_extended_connect_protocol_enabled());
    assert_eq!(browser.get("/healthz").await.expect("answered").1, "ok\n");
}

/// The page's files come all at once; so many at a time as the server has said, while those beyond wait with the
/// client.
#[tokio::test(start_paused = true)]
async fn many_are_served_at_once() {
    let server = TestServer::start(settings());
    let mut browser = Browser::at(&server).await;
    let (_, page) = browser.get("/").await.expect("answered");
    assert_eq!(browser.requests.current_max_send_streams(), 32);
    let files: Vec<&str> = page
        .split('"')
        .filter(|part| part.starts_with("/web/"))
        .collect();
    assert!(files.len() > 5, "{page}");
    let asked = files.iter().cycle().take(100).map(|file| {
        let requests = browser.requests.clone();
        async move {
            let (answer, _body) = requests
                .ready()
                .await?
                .send_request(get(HOST, file), true)?;
            read(answer.await?).await
        }
    });
    for (file, text) in files.iter().cycle().zip(join_all(asked).await) {
        assert!(!text.expect("whole").is_empty(), "{file}");
    }
    // A body that nobody reads has little room.
    poll_fn(|context| browser.requests.poll_ready(context))
        .await
        .expect("open");
    let posted = Request::post(format!("https://{HOST}/"))
        .body(())
        .expect("a request");
    let (answer, mut body) = browser.requests.send_request(posted, false).expect("open");
    body.reserve_capacity(1_000_000);
    assert!(body.capacity() <= 16 * 1024, "{}", body.capacity());
    let answer = answer.await.expect("answered");
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test(start_paused = true)]
async fn heads_have_a_bound() {
    let server = TestServer::start(settings());
    let mut browser = Browser::at(&server).await;
    for (bytes, status) in [
        (8 * 1024, StatusCode::OK),
        (20 * 1024, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    ] {
        let mut request = get(HOST, "/healthz");
        let long = "x".repeat(bytes).parse().expect("a value");
        request.headers_mut().insert(header::COOKIE, long);
        let answer = browser.ask(request).await.expect("open");
        assert_eq!(answer.await.expect("answered").status(), status);
    }
}

/// A connection is not kept for long, and its end is told beforehand.
#[tokio::test(start_paused = true)]
async fn who_has_asked_is_let_go_of_soon() {
    let server = TestServer::start(settings());
    let mut browser = Browser::at(&server).await;
    browser.get("/").await.expect("answered");
    let (ended, after) = browser.ended().await;
    ended.expect("without a fault");
    assert_eq!(after.as_secs(), 3);
    // One that asks later is answered, too.
    let mut late = Browser::at(&server).await;
    pass(5).await;
    late.get("/").await.expect("answered");
    let (ended, after) = late.ended().await;
    ended.expect("without a fault");
    assert!(after < Duration::from_secs(1), "{after:?}");
    assert_eq!(dropped(&server, "slow_request"), 0);
}

/// Whoever asks nothing has as long as any other request; whoever does not read the answers, as long as six
/// connections by HTTP/1.1.
#[tokio::test(start_paused = true)]
async fn who_does_not_get_on_is_closed() {
    let server = TestServer::start(settings());
    let seconds = server.server.settings().handshake_timeout.as_secs();
    let mut silent = Browser::at(&server).await;
    let (_, after) = silent.ended().await;
    assert_eq!(after.as_secs(), seconds);
    assert_eq!(dropped(&server, "slow_request"), 1);

    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let mut unread = Browser::with(&builder, pipe(&server)).await;
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(unread.ask(get(HOST, "/")).await.expect("open"));
    }
    let (_, after) = unread.ended().await;
    assert_eq!(after.as_secs(), 6 * seconds);
    assert_eq!(dropped(&server, "slow_request"), 2);
}

/// Whoever asks without end, or takes back what was asked (rapid reset), has to come again.
#[tokio::test(start_paused = true)]
async fn who_floods_is_let_go() {
    let server = TestServer::start(settings());
    let mut busy = Browser::at(&server).await;
    let mut answered = 0;
    while busy.get("/healthz").await.is_ok() {
        answered += 1;
        assert!(answered < 5000);
    }
    assert_eq!(answered, 1000);
    assert_eq!(dropped(&server, "broken_request"), 1);

    let mut fickle = Browser::at(&server).await;
    let mut asked = 0;
    while let Ok(answer) = fickle.ask(get(HOST, "/healthz")).await {
        // It goes out, and what is dropped is taken back.
        yield_now().await;
        drop(answer);
        asked += 1;
        assert!(asked < 5000);
    }
    assert_eq!(dropped(&server, "broken_request"), 2);
    // Nobody else notices.
    let mut other = Browser::at(&server).await;
    assert_eq!(other.get("/healthz").await.expect("answered").1, "ok\n");
}

/// A server that stops waits for nobody.
#[tokio::test(start_paused = true)]
async fn a_server_that_stops_ends_them_all() {
    let server = TestServer::start(settings());
    let mut builder = client::Builder::new();
    builder.initial_window_size(0);
    let mut unread = Browser::with(&builder, pipe(&server)).await;
    let answer = unread.ask(get(HOST, "/")).await.expect("open");
    assert_eq!(answer.await.expect("begun").status(), StatusCode::OK);
    let (stop, ended) = (pin!(server.server.stop()), pin!(unread.ended()));
    match select(stop, ended).await {
        Either::Left(((), ended)) => drop(ended.await),
        Either::Right((_, stop)) => stop.await,
    }
}
