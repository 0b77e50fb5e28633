//! TLS: matches over wss, certificates that change while the server runs, those that are not
//! believed, and ports where the other side speaks something else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_connection::{Connection, ConnectionError, Trust};
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

use crate::socket::{UPGRADE, command, exchange, signal};
use crate::support::{TestServer, boundless, settings};

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody who says who servers are.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("chance");
        Self(CertifiedIssuer::self_signed(params, key).expect("sound"))
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust::only(self.0.pem().as_bytes()).expect("a certificate")
    }

    /// Writes a certificate for this name, and its key.
    pub(crate) fn certify(&self, name: &str, files: &Files) {
        self.certify_until(name, 2100, files);
    }

    fn certify_until(&self, name: &str, year: i32, files: &Files) {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("chance");
        let certificate = params.signed_by(&key, &self.0).expect("sound");
        fs::write(&files.certificate, certificate.pem()).expect("writable");
        fs::write(&files.key, key.serialize_pem()).expect("writable");
    }
}

/// Where a server finds its certificate.
pub(crate) struct Files {
    _folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        Self {
            _folder: folder,
            certificate,
            key,
        }
    }

    pub(crate) fn tls(&self) -> Tls {
        Tls::read(self.certificate.clone(), self.key.clone()).expect("sound")
    }
}

/// A server in process that speaks TLS; its `host:port`.
pub(crate) async fn listen(settings: Settings, tls: Tls) -> String {
    let server = TestServer::start(settings).server;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let transport = Transport::with(server.clone(), Some(tls), true);
    server.spawn(async move { transport.serve(listener).await });
    address
}

/// The real server, and what it logs.
struct Real {
    process: Child,
    address: String,
    log: Lines<BufReader<ChildStderr>>,
}

impl Real {
    async fn start(files: &Files) -> Self {
        let text = |path: &Path| path.to_str().expect("text").to_owned();
        let (certificate, key) = (text(&files.certificate), text(&files.key));
        let tls = ["--tls-cert", &certificate, "--tls-key", &key];
        let mut process = command(&tls)
            .args(["--listen", "127.0.0.1:0"])
            .spawn()
            .expect("started");
        let log = BufReader::new(process.stderr.take().expect("piped")).lines();
        let mut real = Self {
            process,
            address: String::new(),
            log,
        };
        let first = real.says("listening on ").await;
        real.address = first.replace("listening on ", "");
        real
    }

    /// Waits for a line of the log that has this in it.
    async fn says(&mut self, what: &str) -> String {
        loop {
            let line = timeout(PATIENCE, self.log.next_line()).await;
            let line = line.expect("in time").expect("readable");
            let line = line.unwrap_or_else(|| panic!("never said {what:?}"));
            if line.contains(what) {
                return line;
            }
        }
    }

    async fn connect(&self, trust: &Trust) -> Result<Player, ConnectionError> {
        let url = format!("wss://{}/ws", self.address);
        Connection::open_trusting(&url, trust).await.map(Player)
    }
}

struct Player(Connection);

impl Player {
    /// Asks, and gives the answer.
    async fn ask(&mut self, mut request: Value) -> Value {
        request["id"] = 1.into();
        let sent = self.0.send_text(request.to_string()).await;
        sent.expect("open");
        loop {
            let message = self.next().await;
            if message["re"] == 1 {
                return message;
            }
        }
    }

    async fn next(&mut self) -> Value {
        let text = timeout(PATIENCE, self.0.receive_text()).await;
        serde_json::from_str(&text.expect("in time").expect("open")).expect("JSON")
    }

    async fn play(&mut self, id: &str, ply: usize, m: &str) {
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        assert_eq!(self.ask(play).await["type"], "ok", "{m}");
    }
}

/// A match over TLS goes on while the certificate changes; whoever comes later sees the new one. One
/// that cannot be used changes nothing.
#[tokio::test]
async fn a_match_is_played_while_the_certificate_changes() {
    let (old, new, files) = (Authority::new("old"), Authority::new("new"), Files::new());
    old.certify("127.0.0.1", &files);
    let mut real = Real::start(&files).await;
    let mut ann = real.connect(&old.trust()).await.expect("believed");
    let mut bob = real.connect(&old.trust()).await.expect("believed");
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let id = ann.ask(create).await["code"].clone();
    let id = id.as_str().expect("a code");
    bob.ask(json!({"type": "join", "match": id})).await;
    ann.play(id, 0, "a1").await;

    new.certify("127.0.0.1", &files);
    signal(&real.process, "HUP").await;
    real.says("read anew").await;
    let refused = real.connect(&old.trust()).await.err().expect("it is gone");
    let why = "the server's certificate is not believed: it is signed by nobody";
    assert!(refused.to_string().starts_with(why), "{refused}");
    let mut cat = real.connect(&new.trust()).await.expect("believed");
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(cat.ask(watch).await["ply"], 1);
    for (ply, m) in [(1, "b1"), (2, "a2"), (3, "b2"), (4, "a3")] {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play(id, ply, m).await;
    }
    while cat.next().await["type"] != "ended" {}

    // The key of another certificate.
    fs::write(
        &files.key,
        KeyPair::generate().expect("chance").serialize_pem(),
    )
    .expect("writable");
    signal(&real.process, "HUP").await;
    let told = real.says("the old one stays").await;
    assert!(told.contains("ERROR"), "{told}");
    real.connect(&new.trust()).await.expect("still believed");

    signal(&real.process, "TERM").await;
    let closed = loop {
        match timeout(PATIENCE, ann.0.receive_text())
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
    let status = timeout(PATIENCE, real.process.wait())
        .await
        .expect("in time");
    assert!(status.expect("waited for").success());
}

/// A server does not start with what it cannot show.
#[tokio::test]
async fn a_certificate_that_cannot_be_read_is_told() {
    let nowhere = [
        "--tls-cert",
        "/nonexistent/cert.pem",
        "--tls-key",
        "/nonexistent/key.pem",
    ];
    let output = command(&nowhere).output().await.expect("started");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("cannot read /nonexistent/cert.pem: No such file"),
        "{told}"
    );
}

/// Why a server is not believed.
#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let check = async |files: &Files, trust: &Trust, expect: &str| {
        let url = format!("wss://{}/ws", listen(settings(), files.tls()).await);
        let error = Connection::open_trusting(&url, trust)
            .await
            .expect_err("not believed");
        assert_eq!(
            error.to_string(),
            format!("the server's certificate is not believed: {expect}")
        );
    };
    let files = Files::new();
    ours.certify("127.0.0.1", &files);
    check(
        &files,
        &other.trust(),
        "it is signed by nobody who is trusted here",
    )
    .await;
    check(
        &files,
        &Trust::default(),
        "it is signed by nobody who is trusted here",
    )
    .await;
    ours.certify("elsewhere.example", &files);
    check(&files, &ours.trust(), "it is another server's").await;
    ours.certify_until("127.0.0.1", 2001, &files);
    check(&files, &ours.trust(), "it has expired").await;
}

/// Who speaks TLS where none is, or none where it is, hears of it.
#[tokio::test]
async fn who_speaks_something_else_is_told() {
    let (ours, files) = (Authority::new("ours"), Files::new());
    ours.certify("127.0.0.1", &files);
    let address = listen(settings(), files.tls()).await;
    let get = exchange(&address, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n").await;
    assert!(get.starts_with("HTTP/1.1 400 "), "{get}");
    assert!(
        get.ends_with("this port speaks TLS: use https:// or wss://\n"),
        "{get}"
    );
    // Neither TLS nor HTTP: closed, and TLS says that it has understood nothing.
    let nonsense = exchange(&address, "\u{1}nonsense").await;
    assert!(nonsense.len() < 10, "{nonsense:?}");

    let url = format!("ws://{address}/ws");
    let error = Connection::open(&url).await.expect_err("no TLS");
    assert_eq!(error.to_string(), "HTTP error: 400 Bad Request");

    let plain = TestServer::start(settings()).server;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("wss://{}/ws", listener.local_addr().expect("bound"));
    let transport = Transport::new(plain.clone());
    plain.spawn(async move { transport.serve(listener).await });
    let error = Connection::open_trusting(&url, &ours.trust())
        .await
        .expect_err("none there");
    assert!(matches!(error, ConnectionError::NoTls), "{error:?}");
}

/// TLS has no time of its own: the limit covers it and the request together.
#[tokio::test]
async fn who_does_not_finish_is_closed() {
    let (ours, files) = (Authority::new("ours"), Files::new());
    ours.certify("127.0.0.1", &files);
    let quick = Settings {
        handshake_timeout: Duration::from_millis(500),
        ..settings()
    };
    let address = listen(quick, files.tls()).await;
    assert_eq!(exchange(&address, "").await, "");
    // The head of a record that is never sent.
    assert_eq!(exchange(&address, "\u{16}\u{3}\u{1}\u{2}\0").await, "");
    assert_eq!(
        secret_exchange(&address, &ours, "GET / HTTP/1.1\r\n").await,
        ""
    );
}

/// Over TLS only a page that came over TLS is the server's own.
#[tokio::test]
async fn pages_without_tls_are_refused() {
    let (ours, files) = (Authority::new("ours"), Files::new());
    ours.certify("127.0.0.1", &files);
    let address = listen(settings(), files.tls()).await;
    let page = "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    let page = secret_exchange(&address, &ours, page).await;
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    let from = async |scheme: &str| {
        // It says goodbye at once, so that the exchange has an end.
        let request = format!("{UPGRADE}Origin: {scheme}://HOST\r\n\r\n");
        let goodbye = "\u{88}\u{80}\0\0\0\0";
        let answer = secret_exchange(&address, &ours, &(request + goodbye)).await;
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(from("https").await, "101");
    assert_eq!(from("http").await, "403");
}

/// Whoever reads late gets everything, although what TLS has made secret may have to wait: more is
/// answered here than any socket holds.
#[tokio::test]
async fn who_reads_late_is_told_everything() {
    const MATCHES: usize = 100;
    const LISTS: usize = 300;
    let (ours, files) = (Authority::new("ours"), Files::new());
    ours.certify("127.0.0.1", &files);
    let many = Settings {
        live_matches_per_player: MATCHES,
        following_max: MATCHES,
        ..boundless()
    };
    let address = listen(many, files.tls()).await;
    let url = format!("wss://{address}/ws");
    let ann = Connection::open_trusting(&url, &ours.trust()).await;
    let mut ann = Player(ann.expect("believed"));
    for _ in 0..MATCHES {
        let create = json!({"type": "create", "game": "tic-tac-toe"});
        assert_eq!(ann.ask(create).await["type"], "match");
    }
    for number in 0..LISTS {
        let list = json!({"type": "list", "id": 1000 + number, "limit": MATCHES});
        ann.0.send_text(list.to_string()).await.expect("open");
    }
    for number in 0..LISTS {
        let answer = ann.next().await;
        assert_eq!(answer["re"], 1000 + number);
        assert_eq!(answer["matches"].as_array().map(Vec::len), Some(MATCHES));
    }
}

/// Sends a text over TLS, by hand, and gives all that comes until the server closes.
async fn secret_exchange(address: &str, authority: &Authority, request: &str) -> String {
    let mut stream = secret(address, authority, &["http/1.1"]).await;
    // What stands for bytes is no UTF-8 where it is sent.
    let request: Vec<u8> = request.replace("HOST", address).chars().map(byte).collect();
    stream.write_all(&request).await.expect("open");
    let mut answer = Vec::new();
    // A server that closes in mid-handshake takes no leave.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("in time");
    String::from_utf8_lossy(&answer).into_owned()
}

/// A connection over TLS for one of these protocols, the first being liked best.
pub(crate) async fn secret(
    address: &str,
    authority: &Authority,
    protocols: &[&str],
) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect("a certificate");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("known")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let stream = TcpStream::connect(address).await.expect("listening");
    let name = ServerName::try_from("127.0.0.1").expect("a name");
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream).await.expect("believed")
}

fn byte(c: char) -> u8 {
    u8::try_from(c).expect("a byte")
}
