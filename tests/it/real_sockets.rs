//! Tests over real sockets and with a server process: HTTP responses, raw WebSocket frames and
//! signals. The tests build raw requests and frames according to the RFCs, without the server's
//! libraries.

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

/// Maximum time to wait for the server. The value allows for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a server in the test process on a free port. Returns the server's `host:port`.
pub(crate) async fn start_in_process(settings: Settings) -> String {
    let server = TestServer::start(settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener
        .local_addr()
        .expect("the listener is bound")
        .to_string();
    let spawner = server.server.clone();
    spawner.spawn(async move { Transport::new(server.server.clone()).serve(listener).await });
    address
}

/// Sends a request and returns everything that the server sends until it closes the connection. The
/// placeholder `HOST` in the request is replaced with the address.
pub(crate) async fn exchange_until_close(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address)
        .await
        .expect("the server is listening");
    stream
        .write_all(request.replace("HOST", address).as_bytes())
        .await
        .expect("the connection is open");
    let mut answer = Vec::new();
    timeout(TIMEOUT, stream.read_to_end(&mut answer))
        .await
        .expect("in time")
        .expect("readable");
    // The response head is valid UTF-8. A compressed body may contain other bytes.
    String::from_utf8_lossy(&answer).into_owned()
}

async fn response_status(address: &str, request: &str) -> String {
    let answer = exchange_until_close(address, request).await;
    answer
        .split(' ')
        .nth(1)
        .unwrap_or_else(|| panic!("{request:?}: {answer:?}"))
        .to_owned()
}

/// Upgrade request without the final empty line, so that tests can append headers.
pub(crate) const UPGRADE_REQUEST: &str = "GET /ws HTTP/1.1\r\nHost: HOST\r\nConnection: keep-alive, Upgrade\r\n\
    Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn invalid_http_requests_get_error_status() {
    let address = start_in_process(settings()).await;
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{more}\r\n")
    };
    assert_eq!(response_status(&address, &get("/healthz", "")).await, "200");
    assert_eq!(response_status(&address, &get("/nothing", "")).await, "404");

    let required = exchange_until_close(&address, &get("/ws", ""))
        .await
        .to_lowercase();
    assert!(required.starts_with("http/1.1 426 "), "{required}");
    assert!(required.contains("upgrade: websocket"), "{required}");
    let old = UPGRADE_REQUEST.replace("Version: 13", "Version: 8") + "\r\n";
    assert_eq!(response_status(&address, &old).await, "426");
    let keyless = UPGRADE_REQUEST.replace("Sec-WebSocket-Key", "X") + "\r\n";
    assert_eq!(response_status(&address, &keyless).await, "400");
    let posted = UPGRADE_REQUEST.replace("GET", "POST") + "\r\n";
    assert_eq!(response_status(&address, &posted).await, "405");
    let without_host = UPGRADE_REQUEST.replace("Host: HOST\r\n", "") + "\r\n";
    assert_eq!(response_status(&address, &without_host).await, "400");
    let two_hosts =
        UPGRADE_REQUEST.replace("Host: HOST\r\n", "Host: HOST\r\nHost: HOST\r\n") + "\r\n";
    assert_eq!(response_status(&address, &two_hosts).await, "400");
    assert_eq!(response_status(&address, "nonsense\r\n\r\n").await, "400");
}

/// Every path of the web application returns the same page.
#[tokio::test]
async fn page_is_served_with_caching_and_security_headers() {
    let address = start_in_process(settings()).await;
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{more}\r\n")
    };
    let page = exchange_until_close(&address, &get("/", "")).await;
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(page.contains("content-type: text/html"), "{page}");
    assert!(
        page.contains("default-src 'none'; script-src 'self'"),
        "{page}"
    );
    let body = |answer: &str| answer.split_once("\r\n\r\n").expect("a head").1.to_owned();
    let at_match = exchange_until_close(&address, &get("/m/K7QM2P", "")).await;
    assert_eq!(body(&at_match), body(&page));
    let with_slash = exchange_until_close(&address, &get("/m/K7QM2P/", "")).await;
    assert!(with_slash.starts_with("HTTP/1.1 200 "), "{with_slash}");
    // A path with invalid percent-encoding also returns the page, which reports the error.
    for path in ["/m/%E0%A4%A", "/player/%E0%A4%A"] {
        let response = exchange_until_close(&address, &get(path, "")).await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        assert_eq!(body(&response), body(&page));
    }
    for path in ["/games", "/leaders", "/pair", "/setup", "/you"] {
        let answer = exchange_until_close(&address, &get(path, "")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(body(&answer), body(&page));
    }
    // An unknown path returns the page with status 404, even if the request has `If-None-Match`.
    let nothing = exchange_until_close(&address, &get("/nothing", "If-None-Match: *\r\n")).await;
    assert!(nothing.starts_with("HTTP/1.1 404 "), "{nothing}");
    assert_eq!(body(&nothing), body(&page));

    // The URLs of scripts contain a version, so browsers can cache them permanently.
    let linked = page
        .split("src=\"")
        .find(|link| link.contains("/main.js"))
        .expect("a script");
    let linked = linked.split('"').next().expect("an address");
    let script = exchange_until_close(&address, &get(linked, "")).await;
    assert!(
        script.contains("cache-control: public, max-age=31536000, immutable"),
        "{script}"
    );
    assert!(page.contains("cache-control: no-cache"), "{page}");

    let script = exchange_until_close(&address, &get("/web/main.js", "")).await;
    assert!(script.contains("cache-control: no-cache"), "{script}");
    assert!(script.contains("content-type: text/javascript"), "{script}");
    let tag = script.split("etag: ").nth(1).expect("a tag");
    let tag = tag.split("\r\n").next().expect("a line");
    let known = format!("If-None-Match: {tag}\r\n");
    let again = exchange_until_close(&address, &get("/web/main.js", &known)).await;
    assert!(again.starts_with("HTTP/1.1 304 "), "{again}");
    assert_eq!(body(&again), "");
    // The compressed version of the file has a different entity tag.
    let packed = format!("Accept-Encoding: gzip\r\n{known}");
    assert_eq!(
        response_status(&address, &get("/web/main.js", &packed)).await,
        "200"
    );

    for path in [
        "/web/",
        "/web/nothing.js",
        "/web/../package.json",
        "/m/",
        "/m/a/b",
    ] {
        assert_eq!(
            response_status(&address, &get(path, "")).await,
            "404",
            "{path}"
        );
    }
    let posted = "POST / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    assert_eq!(response_status(&address, posted).await, "405");
}

/// During development, the server reads the page from a directory at each request.
#[tokio::test]
async fn page_is_served_only_from_the_configured_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let inside = folder.path().join("web");
    std::fs::create_dir(&inside).expect("writable");
    std::fs::write(folder.path().join("secret.js"), "secret").expect("writable");
    std::fs::write(inside.join("index.html"), "one").expect("writable");
    let address = start_in_process(Settings {
        web: Some(inside.clone()),
        ..settings()
    })
    .await;
    let get =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
    assert!(
        exchange_until_close(&address, &get("/"))
            .await
            .ends_with("\r\n\r\none")
    );
    std::fs::write(inside.join("index.html"), "two").expect("writable");
    assert!(
        exchange_until_close(&address, &get("/m/K7QM2P"))
            .await
            .ends_with("\r\n\r\ntwo")
    );
    for path in [
        "/web/../secret.js",
        "/web/%2e%2e/secret.js",
        "/web/..%2fsecret.js",
    ] {
        assert_eq!(response_status(&address, &get(path)).await, "404", "{path}");
    }
}

#[tokio::test]
async fn websocket_from_foreign_origin_is_refused() {
    let listed = vec!["https://play.example.org".to_owned()];
    let address = start_in_process(Settings {
        origins: listed,
        ..settings()
    })
    .await;
    let from = |origin: &str| format!("{UPGRADE_REQUEST}Origin: {origin}\r\n\r\n");
    assert_eq!(
        response_status(&address, &from("https://evil.example")).await,
        "403"
    );
    assert_eq!(response_status(&address, &from("null")).await, "403");
    for origin in ["http://HOST", "https://play.example.org"] {
        let mut raw = RawWebSocket::connect(&address, &format!("Origin: {origin}\r\n")).await;
        raw.send_frame(RawWebSocket::TEXT, br#"{"type":"ping","id":1}"#)
            .await;
        assert!(raw.read_text().await.contains(r#""type":"welcome""#));
    }
}

#[tokio::test]
async fn offered_subprotocol_is_selected() {
    let address = start_in_process(settings()).await;
    let header = "sec-websocket-protocol: plyhouse.v1";
    let offers = "Sec-WebSocket-Protocol: chat, plyhouse.v1\r\n";
    assert!(
        RawWebSocket::connect(&address, offers)
            .await
            .response_head
            .to_lowercase()
            .contains(header)
    );
    assert!(
        !RawWebSocket::connect(&address, "")
            .await
            .response_head
            .to_lowercase()
            .contains("sec-websocket-protocol")
    );
}

/// After the handshake timeout, the server disconnects a client that has sent nothing or only a
/// part of a request.
#[tokio::test]
async fn incomplete_request_times_out() {
    let quick = Settings {
        handshake_timeout: Duration::from_millis(200),
        ..settings()
    };
    let address = start_in_process(quick).await;
    assert_eq!(exchange_until_close(&address, "").await, "");
    assert_eq!(
        exchange_until_close(&address, "GET /ws HTTP/1.1\r\nHost: x\r\n").await,
        ""
    );
}

#[tokio::test]
async fn invalid_frames_close_with_matching_code() {
    let address = start_in_process(settings()).await;
    let cases: [(&str, u8, &[u8], u16); 5] = [
        ("binary", RawWebSocket::BINARY, b"{}", 1003),
        ("not UTF-8", RawWebSocket::TEXT, b"\xff\xfe", 1007),
        ("too large", RawWebSocket::TEXT, &[b' '; 8193], 1009),
        ("a reserved opcode", 0x83, b"", 1002),
        ("a continuation of nothing", 0x80, b"", 1002),
    ];
    for (what, opcode, payload, expect) in cases {
        let mut raw = RawWebSocket::connect(&address, "").await;
        raw.send_frame(opcode, payload).await;
        assert_eq!(raw.read_close_code().await, expect, "{what}");
    }
    // The total size of these fragments exceeds the message size limit. The server must deliver the
    // close frame although further fragments arrive.
    let mut raw = RawWebSocket::connect(&address, "").await;
    raw.send_frame(0x01, &[b' '; 8000]).await;
    for _ in 0..100 {
        raw.send_frame(0x00, &[b' '; 8000]).await;
    }
    assert_eq!(raw.read_close_code().await, 1009);
}

#[tokio::test]
async fn close_frame_is_echoed() {
    let address = start_in_process(settings()).await;
    let mut raw = RawWebSocket::connect(&address, "").await;
    raw.send_frame(0x88, &1000u16.to_be_bytes()).await;
    assert_eq!(raw.read_close_code().await, 1000);
}

#[tokio::test]
async fn connection_over_limit_closes_with_1013() {
    let address = start_in_process(Settings {
        connections_max: 1,
        ..settings()
    })
    .await;
    let first = RawWebSocket::connect(&address, "").await;
    let mut second = RawWebSocket::connect(&address, "").await;
    assert_eq!(second.read_close_code().await, 1013);
    drop(first);
    // The slot of the first connection becomes free when the server detects that the client has
    // closed the connection.
    loop {
        let mut third = RawWebSocket::connect(&address, "").await;
        third
            .send_frame(RawWebSocket::TEXT, br#"{"type":"ping","id":1}"#)
            .await;
        let (opcode, _) = third.read_frame().await;
        if opcode == RawWebSocket::TEXT {
            break;
        }
    }
}

#[tokio::test]
async fn server_process_plays_match_and_stops_on_sigterm() {
    let (mut process, address) = start_server(&[]).await;
    let url = format!("ws://{address}/ws");
    let mut ann = Connection::open(&url)
        .await
        .expect("the server is listening");
    let create = json!({"type": "create", "id": 1, "game": "tic-tac-toe",
        "seats": [{"bot": "max"}, {"bot": "easy"}]});
    ann.send_text(create.to_string())
        .await
        .expect("the connection is open");
    loop {
        let message = timeout(TIMEOUT, ann.receive_text())
            .await
            .expect("in time")
            .expect("the connection is open");
        let message: serde_json::Value = serde_json::from_str(&message).expect("JSON");
        assert_ne!(message["type"], "error");
        if message["type"] == "ended" || message["status"] == "ended" {
            assert_ne!(message["outcome"]["winner"], 1);
            break;
        }
    }
    // A connection without a request must not delay the shutdown.
    let _silent = TcpStream::connect(&address)
        .await
        .expect("the server is listening");
    send_signal(&process, "TERM").await;
    let closed = loop {
        match timeout(TIMEOUT, ann.receive()).await.expect("in time") {
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
        .expect("exits within ten seconds");
    assert!(status.expect("the process exited").success());
    assert!(
        TcpStream::connect(&address).await.is_err(),
        "the port is closed"
    );
}

#[tokio::test]
async fn server_process_creates_data_folder_and_stops_on_sigint() {
    let folder = tempfile::tempdir().expect("a directory");
    // The server creates the data directory and its missing parents.
    let data = folder.path().join("not/there");
    let data = data.to_str().expect("a UTF-8 path");
    let (mut process, _) = start_server(&["--data", data]).await;
    send_signal(&process, "INT").await;
    let status = timeout(Duration::from_secs(10), process.wait())
        .await
        .expect("exits within ten seconds");
    assert!(status.expect("the process exited").success());
}

#[tokio::test]
async fn occupied_port_is_reported_with_exit_code_1() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener
        .local_addr()
        .expect("the listener is bound")
        .to_string();
    let output = plyhouse_command(&["--listen", &address])
        .output()
        .await
        .expect("the process starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains(&address) && !stderr.contains("listening on"),
        "{stderr}"
    );
    let output = plyhouse_command(&["--no-such-option"])
        .output()
        .await
        .expect("the process starts");
    assert_eq!(output.status.code(), Some(2));
}

/// Returns a command that runs the binary with these options.
pub(crate) fn plyhouse_command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
    command
        .args(args)
        .env("PLYHOUSE_DATA", ":memory:")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts a server process on free ports. Returns the process, its public address and its admin
/// address.
pub(crate) async fn start_server_with_admin(args: &[&str]) -> (Child, String, String) {
    let mut process = plyhouse_command(args)
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .spawn()
        .expect("the process starts");
    let mut lines = BufReader::new(process.stderr.take().expect("stderr is piped")).lines();
    let mut address = async |before: &str| {
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("in time");
        let line = line.expect("readable").expect("a line");
        line.strip_prefix(before).expect(&line).to_owned()
    };
    let (public, admin) = (address("listening on ").await, address("metrics on ").await);
    // This task reads the server's log output so that the pipe never fills up.
    #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (process, public, admin)
}

/// Starts a server and returns the first lines of its stderr, up to the log entry `ready`.
async fn read_startup_lines(command: &mut Command) -> Vec<String> {
    let mut process = command.spawn().expect("the process starts");
    let mut lines = BufReader::new(process.stderr.take().expect("stderr is piped")).lines();
    let mut read = Vec::new();
    loop {
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("in time");
        let line = line.expect("readable");
        let line = line.unwrap_or_else(|| panic!("the process exited early: {read:?}"));
        let is_ready = line.contains("\"ready\"");
        read.push(line);
        if is_ready {
            return read;
        }
    }
}

#[tokio::test]
async fn url_to_open_is_printed() {
    let lines = read_startup_lines(plyhouse_command(&[]).args(["--listen", "0.0.0.0:0"])).await;
    let port = lines[0]
        .strip_prefix("listening on 0.0.0.0:")
        .expect(&lines[0]);
    assert_eq!(
        lines[1],
        format!(
            "open http://127.0.0.1:{port} in a browser; on other machines, use this machine's address"
        )
    );
}

/// Scripts and service files often unset a variable by assigning an empty value.
#[tokio::test]
async fn empty_environment_variables_count_as_absent() {
    let mut command = plyhouse_command(&[]);
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
    let lines = read_startup_lines(command.args(["--listen", "127.0.0.1:0"])).await;
    assert!(lines[0].starts_with("listening on 127.0.0.1:"), "{lines:?}");
    let unknown = lines
        .iter()
        .any(|line| line.contains("unknown environment variable"));
    assert!(!unknown, "{lines:?}");
    let output = Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .arg("move-store")
        .env("PLYHOUSE_FROM", "")
        .env("PLYHOUSE_TO", "sqlite:/nowhere")
        .output()
        .await
        .expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("required arguments"), "{stderr}");
}

/// Starts a server process on a free port. Returns the process and its address.
pub(crate) async fn start_server(args: &[&str]) -> (Child, String) {
    spawn_server(plyhouse_command(args).args(["--listen", "127.0.0.1:0"])).await
}

/// Starts the server with `command`. Returns the process and its address.
pub(crate) async fn spawn_server(command: &mut Command) -> (Child, String) {
    let mut process = command.spawn().expect("the process starts");
    let stderr = process.stderr.take().expect("stderr is piped");
    let mut lines = BufReader::new(stderr).lines();
    let first = timeout(TIMEOUT, lines.next_line())
        .await
        .expect("in time")
        .expect("readable");
    let first = first.expect("a line");
    let address = first
        .strip_prefix("listening on ")
        .expect(&first)
        .to_owned();
    // This task reads the server's log output so that the pipe never fills up.
    #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (process, address)
}

/// Sends a signal to a child process.
pub(crate) async fn send_signal(process: &Child, name: &str) {
    let id = process.id().expect("the process is running").to_string();
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &id])
        .status()
        .await;
    assert!(sent.expect("kill is installed").success());
}

/// Minimal WebSocket client according to RFC 6455, written without a library.
pub(crate) struct RawWebSocket {
    pub(crate) stream: TcpStream,
    response_head: String,
}

impl RawWebSocket {
    pub(crate) const TEXT: u8 = 0x81;
    const BINARY: u8 = 0x82;
    const CLOSE: u8 = 0x88;

    pub(crate) async fn connect(address: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address)
            .await
            .expect("the server is listening");
        let request = format!("{UPGRADE_REQUEST}{headers}\r\n").replace("HOST", address);
        stream
            .write_all(request.as_bytes())
            .await
            .expect("the connection is open");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let byte = timeout(TIMEOUT, stream.read_u8()).await.expect("in time");
            head.push(byte.expect("the connection is open"));
        }
        let head = String::from_utf8(head).expect("text");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        // The expected header value is from the example in RFC 6455, section 1.3.
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        Self {
            stream,
            response_head: head,
        }
    }

    /// Sends a masked frame. Errors are ignored, because the server may have closed the connection.
    pub(crate) async fn send_frame(&mut self, first_byte: u8, payload: &[u8]) {
        let mut frame = vec![first_byte];
        match u8::try_from(payload.len()) {
            Ok(short @ 0..126) => frame.push(0x80 | short),
            Ok(_) | Err(_) => {
                frame.push(0x80 | 126);
                let len = u16::try_from(payload.len()).expect("a short payload");
                frame.extend(len.to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload unchanged.
        frame.extend([0; 4]);
        frame.extend(payload);
        let _ = self.stream.write_all(&frame).await;
    }

    pub(crate) async fn read_frame(&mut self) -> (u8, Vec<u8>) {
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
        timeout(TIMEOUT, read)
            .await
            .expect("in time")
            .expect("a frame")
    }

    pub(crate) async fn read_text(&mut self) -> String {
        let (first_byte, payload) = self.read_frame().await;
        assert_eq!(first_byte, Self::TEXT);
        String::from_utf8(payload).expect("UTF-8")
    }

    /// Skips all frames before the close frame and returns the close code.
    pub(crate) async fn read_close_code(&mut self) -> u16 {
        loop {
            let (first_byte, payload) = self.read_frame().await;
            if first_byte == Self::CLOSE {
                return u16::from_be_bytes([payload[0], payload[1]]);
            }
        }
    }
}
