//! Tests of TLS: matches over `wss`, certificate changes while the server runs, untrusted
//! certificates, and clients that use the wrong protocol for a port.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_connection::{Connection, ConnectionError, TlsRoots};
use plyhouse_server::Settings;
use plyhouse_transport::{Tls, Transport};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStderr};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::real_sockets::{UPGRADE_REQUEST, exchange_until_close, plyhouse_command, send_signal};
use crate::support::{TestServer, settings, settings_without_limits};

/// Maximum time to wait for the server. The value allows for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Certificate authority for tests.
pub(crate) struct CertificateAuthority(CertifiedIssuer<'static, KeyPair>);

impl CertificateAuthority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a random key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a valid certificate"))
    }

    pub(crate) fn trust(&self) -> TlsRoots {
        TlsRoots::from_pem(self.0.pem().as_bytes()).expect("a certificate")
    }

    /// Issues a certificate for `name` and writes the certificate and its key to `files`.
    pub(crate) fn issue_certificate(&self, name: &str, files: &CertificateFiles) {
        self.issue_certificate_until(name, 2100, files);
    }

    fn issue_certificate_until(&self, name: &str, year: i32, files: &CertificateFiles) {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a random key");
        let certificate = params
            .signed_by(&key, &self.0)
            .expect("a valid certificate");
        fs::write(&files.certificate, certificate.pem()).expect("writable");
        fs::write(&files.key, key.serialize_pem()).expect("writable");
    }
}

/// Files with the certificate and the key of a server.
pub(crate) struct CertificateFiles {
    _temp_dir: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

impl CertificateFiles {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        Self {
            _temp_dir: folder,
            certificate,
            key,
        }
    }

    pub(crate) fn load(&self) -> Tls {
        Tls::read(self.certificate.clone(), self.key.clone()).expect("a valid certificate")
    }
}

/// Starts a TLS server in the test process. Returns the server's `host:port`.
pub(crate) async fn start_tls_server(settings: Settings, tls: Tls) -> String {
    let server = TestServer::start(settings).server;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener
        .local_addr()
        .expect("the listener is bound")
        .to_string();
    let transport = Transport::with(server.clone(), Some(tls), true);
    server.spawn(async move { transport.serve(listener).await });
    address
}

/// Server process and its log.
struct ServerProcess {
    process: Child,
    address: String,
    log: Lines<BufReader<ChildStderr>>,
}

impl ServerProcess {
    async fn start(files: &CertificateFiles) -> Self {
        let text = |path: &Path| path.to_str().expect("text").to_owned();
        let (certificate, key) = (text(&files.certificate), text(&files.key));
        let tls = ["--tls-cert", &certificate, "--tls-key", &key];
        let mut process = plyhouse_command(&tls)
            .args(["--listen", "127.0.0.1:0"])
            .spawn()
            .expect("the process starts");
        let log = BufReader::new(process.stderr.take().expect("stderr is piped")).lines();
        let mut server = Self {
            process,
            address: String::new(),
            log,
        };
        let first = server.wait_for_log_line("listening on ").await;
        server.address = first.replace("listening on ", "");
        server
    }

    /// Waits for a log line that contains `text`.
    async fn wait_for_log_line(&mut self, text: &str) -> String {
        loop {
            let line = timeout(TIMEOUT, self.log.next_line()).await;
            let line = line.expect("in time").expect("readable");
            let line = line.unwrap_or_else(|| panic!("not logged: {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    async fn connect(&self, trust: &TlsRoots) -> Result<TlsClient, ConnectionError> {
        let url = format!("wss://{}/ws", self.address);
        Connection::open_with_roots(&url, trust)
            .await
            .map(TlsClient)
    }
}

struct TlsClient(Connection);

impl TlsClient {
    /// Sends a request and returns its answer.
    async fn request(&mut self, mut request: Value) -> Value {
        request["id"] = 1.into();
        let sent = self.0.send_text(request.to_string()).await;
        sent.expect("the connection is open");
        loop {
            let message = self.next_message().await;
            if message["re"] == 1 {
                return message;
            }
        }
    }

    async fn next_message(&mut self) -> Value {
        let text = timeout(TIMEOUT, self.0.receive_text()).await;
        serde_json::from_str(&text.expect("in time").expect("the connection is open"))
            .expect("JSON")
    }

    async fn play_move(&mut self, id: &str, ply: usize, m: &str) {
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        assert_eq!(self.request(play).await["type"], "ok", "{m}");
    }
}

/// After a certificate change, new connections get the new certificate. If the new certificate is
/// unusable, the server keeps the old one.
#[tokio::test]
async fn match_continues_while_certificate_is_replaced() {
    let [old, new] = ["old", "new"].map(CertificateAuthority::new);
    let files = CertificateFiles::new();
    old.issue_certificate("127.0.0.1", &files);
    let mut server = ServerProcess::start(&files).await;
    let mut ann = server
        .connect(&old.trust())
        .await
        .expect("the certificate is trusted");
    let mut bob = server
        .connect(&old.trust())
        .await
        .expect("the certificate is trusted");
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let id = ann.request(create).await["code"].clone();
    let id = id.as_str().expect("a code");
    bob.request(json!({"type": "join", "match": id})).await;
    ann.play_move(id, 0, "a1").await;

    new.issue_certificate("127.0.0.1", &files);
    send_signal(&server.process, "HUP").await;
    server.wait_for_log_line("certificate reloaded").await;
    let refused = server
        .connect(&old.trust())
        .await
        .err()
        .expect("the certificate is rejected");
    let why = "the server's certificate is not trusted: unknown issuer";
    assert!(refused.to_string().starts_with(why), "{refused}");
    let mut cat = server
        .connect(&new.trust())
        .await
        .expect("the certificate is trusted");
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(cat.request(watch).await["ply"], 1);
    for (ply, m) in [(1, "b1"), (2, "a2"), (3, "b2"), (4, "a3")] {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play_move(id, ply, m).await;
    }
    while cat.next_message().await["type"] != "ended" {}

    // The new key does not belong to the certificate.
    fs::write(
        &files.key,
        KeyPair::generate().expect("a random key").serialize_pem(),
    )
    .expect("writable");
    send_signal(&server.process, "HUP").await;
    let error_line = server.wait_for_log_line("keeping the old one").await;
    assert!(error_line.contains("ERROR"), "{error_line}");
    server
        .connect(&new.trust())
        .await
        .expect("the certificate is still trusted");

    send_signal(&server.process, "TERM").await;
    let closed = loop {
        match timeout(TIMEOUT, ann.0.receive_text())
            .await
            .expect("in time")
        {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(
        matches!(closed, ConnectionError::Closed { code: 1001, .. }),
        "{closed}"
    );
    let status = timeout(TIMEOUT, server.process.wait())
        .await
        .expect("in time");
    assert!(status.expect("the process exited").success());
}

#[tokio::test]
async fn unreadable_certificate_is_reported_and_stops_startup() {
    let missing_files = [
        "--tls-cert",
        "/nonexistent/cert.pem",
        "--tls-key",
        "/nonexistent/key.pem",
    ];
    let output = plyhouse_command(&missing_files)
        .output()
        .await
        .expect("the process starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("cannot read /nonexistent/cert.pem: No such file"),
        "{stderr}"
    );
}

#[tokio::test]
async fn certificate_errors_state_the_reason() {
    let (ours, other) = (
        CertificateAuthority::new("ours"),
        CertificateAuthority::new("other"),
    );
    let check = async |files: &CertificateFiles, trust: &TlsRoots, expect: &str| {
        let url = format!(
            "wss://{}/ws",
            start_tls_server(settings(), files.load()).await
        );
        let error = Connection::open_with_roots(&url, trust)
            .await
            .expect_err("the certificate is rejected");
        assert_eq!(
            error.to_string(),
            format!("the server's certificate is not trusted: {expect}")
        );
    };
    let files = CertificateFiles::new();
    ours.issue_certificate("127.0.0.1", &files);
    check(&files, &other.trust(), "unknown issuer").await;
    check(&files, &TlsRoots::default(), "unknown issuer").await;
    ours.issue_certificate("elsewhere.example", &files);
    check(&files, &ours.trust(), "issued for another host").await;
    ours.issue_certificate_until("127.0.0.1", 2001, &files);
    check(&files, &ours.trust(), "expired").await;
}

#[tokio::test]
async fn plaintext_and_tls_mismatch_is_reported() {
    let (ours, files) = (CertificateAuthority::new("ours"), CertificateFiles::new());
    ours.issue_certificate("127.0.0.1", &files);
    let address = start_tls_server(settings(), files.load()).await;
    let get = exchange_until_close(&address, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n").await;
    assert!(get.starts_with("HTTP/1.1 400 "), "{get}");
    assert!(
        get.ends_with("this port speaks TLS: use https:// or wss://\n"),
        "{get}"
    );
    // If the input is neither TLS nor HTTP, the server sends at most a TLS alert and closes the
    // connection.
    let nonsense = exchange_until_close(&address, "\u{1}nonsense").await;
    assert!(nonsense.len() < 10, "{nonsense:?}");

    let url = format!("ws://{address}/ws");
    let error = Connection::open(&url)
        .await
        .expect_err("the handshake fails");
    assert_eq!(error.to_string(), "HTTP error: 400 Bad Request");

    let plain = TestServer::start(settings()).server;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!(
        "wss://{}/ws",
        listener.local_addr().expect("the listener is bound")
    );
    let transport = Transport::new(plain.clone());
    plain.spawn(async move { transport.serve(listener).await });
    let error = Connection::open_with_roots(&url, &ours.trust())
        .await
        .expect_err("the server does not speak TLS");
    assert!(matches!(error, ConnectionError::NoTls), "{error:?}");
}

/// The handshake timeout limits the total time of the TLS handshake and the first request.
#[tokio::test]
async fn incomplete_handshake_times_out() {
    let (ours, files) = (CertificateAuthority::new("ours"), CertificateFiles::new());
    ours.issue_certificate("127.0.0.1", &files);
    let quick = Settings {
        handshake_timeout: Duration::from_millis(500),
        ..settings()
    };
    let address = start_tls_server(quick, files.load()).await;
    assert_eq!(exchange_until_close(&address, "").await, "");
    // The input is the header of a TLS record. The client never sends the record's body.
    assert_eq!(
        exchange_until_close(&address, "\u{16}\u{3}\u{1}\u{2}\0").await,
        ""
    );
    assert_eq!(
        exchange_over_tls(&address, &ours, "GET / HTTP/1.1\r\n").await,
        ""
    );
}

/// Over TLS, only an `https` origin counts as the server's own origin.
#[tokio::test]
async fn websocket_from_http_origin_is_refused_over_tls() {
    let (ours, files) = (CertificateAuthority::new("ours"), CertificateFiles::new());
    ours.issue_certificate("127.0.0.1", &files);
    let address = start_tls_server(settings(), files.load()).await;
    let page = "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    let page = exchange_over_tls(&address, &ours, page).await;
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    let from = async |scheme: &str| {
        // The request is followed by a close frame, so that the server closes the connection after
        // its answer.
        let request = format!("{UPGRADE_REQUEST}Origin: {scheme}://HOST\r\n\r\n");
        let goodbye = "\u{88}\u{80}\0\0\0\0";
        let answer = exchange_over_tls(&address, &ours, &(request + goodbye)).await;
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(from("https").await, "101");
    assert_eq!(from("http").await, "403");
}

/// The client sends all requests before it reads any answer, so the socket buffers become full. The
/// server must hold the encrypted answers until the client reads.
#[tokio::test]
async fn slow_reader_receives_all_answers() {
    const MATCHES: usize = 100;
    const LISTS: usize = 300;
    let (ours, files) = (CertificateAuthority::new("ours"), CertificateFiles::new());
    ours.issue_certificate("127.0.0.1", &files);
    let many = Settings {
        live_matches_per_player: MATCHES,
        following_max: MATCHES,
        ..settings_without_limits()
    };
    let address = start_tls_server(many, files.load()).await;
    let url = format!("wss://{address}/ws");
    let ann = Connection::open_with_roots(&url, &ours.trust()).await;
    let mut ann = TlsClient(ann.expect("the certificate is trusted"));
    for _ in 0..MATCHES {
        let create = json!({"type": "create", "game": "tic-tac-toe"});
        assert_eq!(ann.request(create).await["type"], "match");
    }
    for number in 0..LISTS {
        let list = json!({"type": "list", "id": 1000 + number, "limit": MATCHES});
        ann.0
            .send_text(list.to_string())
            .await
            .expect("the connection is open");
    }
    for number in 0..LISTS {
        let answer = ann.next_message().await;
        assert_eq!(answer["re"], 1000 + number);
        assert_eq!(answer["matches"].as_array().map(Vec::len), Some(MATCHES));
    }
}

/// Sends a request over TLS and returns everything that the server sends until it closes the
/// connection.
async fn exchange_over_tls(
    address: &str,
    authority: &CertificateAuthority,
    request: &str,
) -> String {
    let mut stream = connect_tls(address, authority, &["http/1.1"]).await;
    // Each character of the request represents one byte. The test sends these bytes instead of the
    // UTF-8 encoding.
    let request: Vec<u8> = request
        .replace("HOST", address)
        .chars()
        .map(char_to_byte)
        .collect();
    stream
        .write_all(&request)
        .await
        .expect("the connection is open");
    let mut answer = Vec::new();
    // A server that closes the connection during the handshake sends no `close_notify`, so read
    // errors are ignored.
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut answer))
        .await
        .expect("in time");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Opens a TLS connection that offers the ALPN protocols `protocols` in order of preference.
pub(crate) async fn connect_tls(
    address: &str,
    authority: &CertificateAuthority,
    protocols: &[&str],
) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect("a certificate");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("supported protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let stream = TcpStream::connect(address)
        .await
        .expect("the server is listening");
    let name = ServerName::try_from("127.0.0.1").expect("a name");
    let connector = TlsConnector::from(Arc::new(config));
    connector
        .connect(name, stream)
        .await
        .expect("the certificate is trusted")
}

fn char_to_byte(c: char) -> u8 {
    u8::try_from(c).expect("a byte")
}
