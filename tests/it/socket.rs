//! Real sockets and the real process: what HTTP answers, raw frames, and signals. Written from the
//! RFCs, without the library that the server uses.

use std::process::Stdio;
use std::time::Duration;

use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_server::Settings;
use plyhouse_transport::Transport;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::support::{TestServer, settings};

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server in process on a port of its own; its `host:port`.
pub(crate) async fn listen(settings: Settings) -> String {
    let server = TestServer::start(settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let spawner = server.server.clone();
    spawner.spawn(async move { Transport::new(server.server.clone()).serve(listener).await });
    address
}

/// Sends a text, and gives all that comes until the server closes.
pub(crate) async fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("listening");
    stream
        .write_all(request.replace("HOST", address).as_bytes())
        .await
        .expect("open");
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("in time")
        .expect("readable");
    // What is packed is no text; its head is.
    String::from_utf8_lossy(&answer).into_owned()
}

async fn status(address: &str, request: &str) -> String {
    let answer = exchange(address, request).await;
    answer
        .split(' ')
        .nth(1)
        .unwrap_or_else(|| panic!("{request:?}: {answer:?}"))
        .to_owned()
}

/// A handshake, to which headers may be added.
pub(crate) const UPGRADE: &str = "GET /ws HTTP/1.1\r\nHost: HOST\r\nConnection: keep-alive, Upgrade\r\n\
    Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn http_answers() {
    let address = listen(settings()).await;
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{more}\r\n")
    };
    assert_eq!(status(&address, &get("/healthz", "")).await, "200");
    assert_eq!(status(&address, &get("/nothing", "")).await, "404");

    let required = exchange(&address, &get("/ws", "")).await.to_lowercase();
    assert!(required.starts_with("http/1.1 426 "), "{required}");
    assert!(required.contains("upgrade: websocket"), "{required}");
    let old = UPGRADE.replace("Version: 13", "Version: 8") + "\r\n";
    assert_eq!(status(&address, &old).await, "426");
    let keyless = UPGRADE.replace("Sec-WebSocket-Key", "X") + "\r\n";
    assert_eq!(status(&address, &keyless).await, "400");
    let posted = UPGRADE.replace("GET", "POST") + "\r\n";
    assert_eq!(status(&address, &posted).await, "405");
    let nowhere = UPGRADE.replace("Host: HOST\r\n", "") + "\r\n";
    assert_eq!(status(&address, &nowhere).await, "400");
    let twice = UPGRADE.replace("Host: HOST\r\n", "Host: HOST\r\nHost: HOST\r\n") + "\r\n";
    assert_eq!(status(&address, &twice).await, "400");
    assert_eq!(status(&address, "nonsense\r\n\r\n").await, "400");
}

/// The page is the same wherever it opens a match, is sent packed and only once, and may load
/// nothing from elsewhere.
#[tokio::test]
async fn the_page_is_served() {
    let address = listen(settings()).await;
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{more}\r\n")
    };
    let page = exchange(&address, &get("/", "")).await;
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(page.contains("content-type: text/html"), "{page}");
    assert!(
        page.contains("default-src 'none'; script-src 'self'"),
        "{page}"
    );
    let body = |answer: &str| answer.split_once("\r\n\r\n").expect("a head").1.to_owned();
    let at_match = exchange(&address, &get("/m/K7QM2P", "")).await;
    assert_eq!(body(&at_match), body(&page));
    let with_slash = exchange(&address, &get("/m/K7QM2P/", "")).await;
    assert!(with_slash.starts_with("HTTP/1.1 200 "), "{with_slash}");
    // What spells no text leads nowhere, as the page tells by itself.
    for path in ["/m/%E0%A4%A", "/player/%E0%A4%A"] {
        let told = exchange(&address, &get(path, "")).await;
        assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
        assert_eq!(body(&told), body(&page));
    }
    for path in ["/games", "/leaders", "/pair", "/setup", "/you"] {
        let place = exchange(&address, &get(path, "")).await;
        assert!(place.starts_with("HTTP/1.1 200 "), "{place}");
        assert_eq!(body(&place), body(&page));
    }
    // An address that is none opens the page, too, which says so; whatever the browser knows.
    let nothing = exchange(&address, &get("/nothing", "If-None-Match: *\r\n")).await;
    assert!(nothing.starts_with("HTTP/1.1 404 "), "{nothing}");
    assert_eq!(body(&nothing), body(&page));

    // What it asks for has its version in its address, and is kept for good.
    let linked = page
        .split("src=\"")
        .find(|link| link.contains("/main.js"))
        .expect("a script");
    let linked = linked.split('"').next().expect("an address");
    let script = exchange(&address, &get(linked, "")).await;
    assert!(
        script.contains("cache-control: public, max-age=31536000, immutable"),
        "{script}"
    );
    assert!(page.contains("cache-control: no-cache"), "{page}");

    let script = exchange(&address, &get("/web/main.js", "")).await;
    assert!(script.contains("cache-control: no-cache"), "{script}");
    assert!(script.contains("content-type: text/javascript"), "{script}");
    let tag = script.split("etag: ").nth(1).expect("a tag");
    let tag = tag.split("\r\n").next().expect("a line");
    let known = format!("If-None-Match: {tag}\r\n");
    let again = exchange(&address, &get("/web/main.js", &known)).await;
    assert!(again.starts_with("HTTP/1.1 304 "), "{again}");
    assert_eq!(body(&again), "");
    // A packed file is another one.
    let packed = format!("Accept-Encoding: gzip\r\n{known}");
    assert_eq!(status(&address, &get("/web/main.js", &packed)).await, "200");

    for path in [
        "/web/",
        "/web/nothing.js",
        "/web/../package.json",
        "/m/",
        "/m/a/b",
    ] {
        assert_eq!(status(&address, &get(path, "")).await, "404", "{path}");
    }
    let posted = "POST / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    assert_eq!(status(&address, posted).await, "405");
}

/// While the page is being written it comes from a directory, and nothing else does.
#[tokio::test]
async fn the_page_is_served_from_a_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let inside = folder.path().join("web");
    std::fs::create_dir(&inside).expect("writable");
    std::fs::write(folder.path().join("secret.js"), "secret").expect("writable");
    std::fs::write(inside.join("index.html"), "one").expect("writable");
    let address = listen(Settings {
        web: Some(inside.clone()),
        ..settings()
    })
    .await;
    let get =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
    assert!(exchange(&address, &get("/")).await.ends_with("\r\n\r\none"));
    std::fs::write(inside.join("index.html"), "two").expect("writable");
    assert!(
        exchange(&address, &get("/m/K7QM2P"))
            .await
            .ends_with("\r\n\r\ntwo")
    );
    for path in [
        "/web/../secret.js",
        "/web/%2e%2e/secret.js",
        "/web/..%2fsecret.js",
    ] {
        assert_eq!(status(&address, &get(path)).await, "404", "{path}");
    }
}

#[tokio::test]
async fn pages_of_others_are_refused() {
    let listed = vec!["https://play.example.org".to_owned()];
    let address = listen(Settings {
        origins: listed,
        ..settings()
    })
    .await;
    let from = |origin: &str| format!("{UPGRADE}Origin: {origin}\r\n\r\n");
    assert_eq!(status(&address, &from("https://evil.example")).await, "403");
    assert_eq!(status(&address, &from("null")).await, "403");
    for origin in ["http://HOST", "https://play.example.org"] {
        let mut raw = Raw::open(&address, &format!("Origin: {origin}\r\n")).await;
        raw.send(Raw::TEXT, br#"{"type":"ping","id":1}"#).await;
        assert!(raw.text().await.contains(r#""type":"welcome""#));
    }
}

#[tokio::test]
async fn the_subprotocol_is_chosen_when_it_is_offered() {
    let address = listen(settings()).await;
    let header = "sec-websocket-protocol: plyhouse.v1";
    let offers = "Sec-WebSocket-Protocol: chat, plyhouse.v1\r\n";
    assert!(
        Raw::open(&address, offers)
            .await
            .head
            .to_lowercase()
            .contains(header)
    );
    assert!(
        !Raw::open(&address, "")
            .await
            .head
            .to_lowercase()
            .contains("sec-websocket-protocol")
    );
}

/// One limit covers a client that sends nothing and one that sends half a request.
#[tokio::test]
async fn who_does_not_finish_a_request_is_closed() {
    let quick = Settings {
        handshake_timeout: Duration::from_millis(200),
        ..settings()
    };
    let address = listen(quick).await;
    assert_eq!(exchange(&address, "").await, "");
    assert_eq!(
        exchange(&address, "GET /ws HTTP/1.1\r\nHost: x\r\n").await,
        ""
    );
}

#[tokio::test]
async fn broken_frames_close_with_their_code() {
    let address = listen(settings()).await;
    let cases: [(&str, u8, &[u8], u16); 5] = [
        ("binary", Raw::BINARY, b"{}", 1003),
        ("not UTF-8", Raw::TEXT, b"\xff\xfe", 1007),
        ("too large", Raw::TEXT, &[b' '; 8193], 1009),
        ("a reserved opcode", 0x83, b"", 1002),
        ("a continuation of nothing", 0x80, b"", 1002),
    ];
    for (what, opcode, payload, expect) in cases {
        let mut raw = Raw::open(&address, "").await;
        raw.send(opcode, payload).await;
        assert_eq!(raw.closed().await, expect, "{what}");
    }
    // Fragments that are too large together; the rest of them must not eat the close frame.
    let mut raw = Raw::open(&address, "").await;
    raw.send(0x01, &[b' '; 8000]).await;
    for _ in 0..100 {
        raw.send(0x00, &[b' '; 8000]).await;
    }
    assert_eq!(raw.closed().await, 1009);
}

#[tokio::test]
async fn a_close_is_echoed() {
    let address = listen(settings()).await;
    let mut raw = Raw::open(&address, "").await;
    raw.send(0x88, &1000u16.to_be_bytes()).await;
    assert_eq!(raw.closed().await, 1000);
}

#[tokio::test]
async fn one_too_many_is_told_that_the_server_is_full() {
    let address = listen(Settings {
        connections_max: 1,
        ..settings()
    })
    .await;
    let first = Raw::open(&address, "").await;
    let mut second = Raw::open(&address, "").await;
    assert_eq!(second.closed().await, 1013);
    drop(first);
    // The place of the first is free as soon as the server has noticed.
    loop {
        let mut third = Raw::open(&address, "").await;
        third.send(Raw::TEXT, br#"{"type":"ping","id":1}"#).await;
        let (opcode, _) = third.frame().await;
        if opcode == Raw::TEXT {
            break;
        }
    }
}

/// A whole match against the real process, which then is told to stop.
#[tokio::test]
async fn the_real_server_serves_and_stops() {
    let (mut process, address) = start(&[]).await;
    let url = format!("ws://{address}/ws");
    let mut ann = Connection::open(&url).await.expect("listening");
    let create = json!({"type": "create", "id": 1, "game": "tic-tac-toe",
        "seats": [{"bot": "max"}, {"bot": "easy"}]});
    ann.send_text(create.to_string()).await.expect("open");
    loop {
        let message = timeout(PATIENCE, ann.receive_text())
            .await
            .expect("in time")
            .expect("open");
        let message: serde_json::Value = serde_json::from_str(&message).expect("JSON");
        assert_ne!(message["type"], "error");
        if message["type"] == "ended" || message["status"] == "ended" {
            assert_ne!(message["outcome"]["winner"], 1);
            break;
        }
    }
    // One that has connected and said nothing must not hold the server back.
    let _silent = TcpStream::connect(&address).await.expect("listening");
    signal(&process, "TERM").await;
    let closed = loop {
        match timeout(PATIENCE, ann.receive()).await.expect("in time") {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(
        matches!(closed, ConnectionError::Closed { code: 1001, .. }),
        "{closed}"
    );
    let status = timeout(Duration::from_secs(10), process.wait())
        .await
        .expect("in ten seconds");
    assert!(status.expect("waited for").success());
    assert!(
        TcpStream::connect(&address).await.is_err(),
        "nothing listens any more"
    );
}

#[tokio::test]
async fn an_interrupt_stops_it_as_well() {
    let folder = tempfile::tempdir().expect("a directory");
    // It makes the directories that are not there yet.
    let data = folder.path().join("not/there");
    let data = data.to_str().expect("it is a text");
    let (mut process, _) = start(&["--data", data]).await;
    signal(&process, "INT").await;
    let status = timeout(Duration::from_secs(10), process.wait())
        .await
        .expect("in ten seconds");
    assert!(status.expect("waited for").success());
}

#[tokio::test]
async fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let output = command(&["--listen", &address])
        .output()
        .await
        .expect("started");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains(&address) && !told.contains("listening on"),
        "{told}"
    );
    let output = command(&["--no-such-option"])
        .output()
        .await
        .expect("started");
    assert_eq!(output.status.code(), Some(2));
}

/// The real binary with these options.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
    command
        .args(args)
        .env("PLYHOUSE_DATA", ":memory:")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// The real server on free ports, and where it listens to players and to its operator.
pub(crate) async fn start_with_admin(args: &[&str]) -> (Child, String, String) {
    let mut process = command(args)
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(process.stderr.take().expect("piped")).lines();
    let mut address = async |before: &str| {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("in time");
        let line = line.expect("readable").expect("a line");
        line.strip_prefix(before).expect(&line).to_owned()
    };
    let (public, admin) = (address("listening on ").await, address("metrics on ").await);
    // The log must find a reader for as long as the server lives.
    #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (process, public, admin)
}

/// The first lines that a server writes to stderr, up to the one of its log that says that it is ready.
async fn first_lines(command: &mut Command) -> Vec<String> {
    let mut process = command.spawn().expect("started");
    let mut lines = BufReader::new(process.stderr.take().expect("piped")).lines();
    let mut read = Vec::new();
    loop {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("in time");
        let line = line.expect("readable");
        let line = line.unwrap_or_else(|| panic!("it has ended: {read:?}"));
        let is_ready = line.contains("\"ready\"");
        read.push(line);
        if is_ready {
            return read;
        }
    }
}

#[tokio::test]
async fn the_url_to_open_is_printed() {
    let lines = first_lines(command(&[]).args(["--listen", "0.0.0.0:0"])).await;
    let port = lines[0]
        .strip_prefix("listening on 0.0.0.0:")
        .expect(&lines[0]);
    assert_eq!(
        lines[1],
        format!("open http://127.0.0.1:{port} in a browser")
    );
}

/// Scripts and service files often set a variable to nothing in order to unset it.
#[tokio::test]
async fn empty_environment_variables_count_as_absent() {
    let mut command = command(&[]);
    for name in [
        "PLYHOUSE_DATABASE",
        "PLYHOUSE_NATS",
        "PLYHOUSE_CLUSTER",
        "PLYHOUSE_BURST",
        "PLYHOUSE_LOG",
        "PLYHOUSE_LOG_FORMAT",
        "PLYHOUSE_TLS_CERT",
        "PLYHOUSE_TLS_KEY",
        "PLYHOUSE_KEEP_ENDED",
        "PLYHOUSE_NO_SUCH_SETTING",
    ] {
        command.env(name, "");
    }
    let lines = first_lines(command.args(["--listen", "127.0.0.1:0"])).await;
    assert!(lines[0].starts_with("listening on 127.0.0.1:"), "{lines:?}");
    let unknown = lines.iter().any(|line| line.contains("no such setting"));
    assert!(!unknown, "{lines:?}");
    let output = Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .arg("move-store")
        .env("PLYHOUSE_FROM", "")
        .env("PLYHOUSE_TO", "sqlite:/nowhere")
        .output()
        .await
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("required arguments"), "{said}");
}

/// The real server on a free port, and where it listens.
pub(crate) async fn start(args: &[&str]) -> (Child, String) {
    started(command(args).args(["--listen", "127.0.0.1:0"])).await
}

/// The real server, as this starts it, and where it listens.
pub(crate) async fn started(command: &mut Command) -> (Child, String) {
    let mut process = command.spawn().expect("started");
    let stderr = process.stderr.take().expect("piped");
    let mut lines = BufReader::new(stderr).lines();
    let first = timeout(PATIENCE, lines.next_line())
        .await
        .expect("in time")
        .expect("readable");
    let first = first.expect("a line");
    let address = first
        .strip_prefix("listening on ")
        .expect(&first)
        .to_owned();
    // The log must find a reader for as long as the server lives.
    #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (process, address)
}

/// Sends a signal to a process of ours.
pub(crate) async fn signal(process: &Child, name: &str) {
    let id = process.id().expect("alive").to_string();
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &id])
        .status()
        .await;
    assert!(sent.expect("kill is there").success());
}

/// A WebSocket of RFC 6455, by hand.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    head: String,
}

impl Raw {
    pub(crate) const TEXT: u8 = 0x81;
    const BINARY: u8 = 0x82;
    const CLOSE: u8 = 0x88;

    pub(crate) async fn open(address: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.expect("listening");
        let request = format!("{UPGRADE}{headers}\r\n").replace("HOST", address);
        stream.write_all(request.as_bytes()).await.expect("open");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let byte = timeout(PATIENCE, stream.read_u8()).await.expect("in time");
            head.push(byte.expect("open"));
        }
        let head = String::from_utf8(head).expect("text");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        // The example of RFC 6455, section 1.3.
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        Self { stream, head }
    }

    /// Sends a masked frame. The server may have closed already.
    pub(crate) async fn send(&mut self, first_byte: u8, payload: &[u8]) {
        let mut frame = vec![first_byte];
        match u8::try_from(payload.len()) {
            Ok(short @ 0..126) => frame.push(0x80 | short),
            Ok(_) | Err(_) => {
                frame.push(0x80 | 126);
                let len = u16::try_from(payload.len()).expect("a short payload");
                frame.extend(len.to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload as it is.
        frame.extend([0; 4]);
        frame.extend(payload);
        let _ = self.stream.write_all(&frame).await;
    }

    pub(crate) async fn frame(&mut self) -> (u8, Vec<u8>) {
        let read = async {
            let first_byte = self.stream.read_u8().await?;
            let len = match self.stream.read_u8().await? {
                126 => usize::from(self.stream.read_u16().await?),
                short => usize::from(short),
            };
            let mut payload = vec![0; len];
            self.stream.read_exact(&mut payload).await?;
            std::io::Result::Ok((first_byte, payload))
        };
        timeout(PATIENCE, read)
            .await
            .expect("in time")
            .expect("a frame")
    }

    pub(crate) async fn text(&mut self) -> String {
        let (first_byte, payload) = self.frame().await;
        assert_eq!(first_byte, Self::TEXT);
        String::from_utf8(payload).expect("UTF-8")
    }

    /// The code of the close frame, before which anything may come.
    pub(crate) async fn closed(&mut self) -> u16 {
        loop {
            let (first_byte, payload) = self.frame().await;
            if first_byte == Self::CLOSE {
                return u16::from_be_bytes([payload[0], payload[1]]);
            }
        }
    }
}
