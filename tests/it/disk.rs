//! A disk that has no room left, under the real process: what is not kept is not told, and when there
//! is room again everything goes on.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The real server, whose files may not grow beyond a limit that can be lifted.
struct Limited {
    process: Child,
    address: String,
}

impl Limited {
    async fn start(directory: &Path, kib: Option<u32>) -> Self {
        let limit = kib.map_or("unlimited".to_owned(), |kib| (kib * 2).to_string());
        // A write beyond the limit then fails, instead of ending the process.
        let script = format!("trap '' XFSZ; ulimit -S -f {limit}; exec \"$0\" \"$@\"");
        let mut process = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_plyhouse")])
            .args([
                "--listen",
                "127.0.0.1:0",
                "--burst",
                "100000",
                "--live-matches",
                "100000",
                "--data",
            ])
            .arg(directory)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("started");
        let stderr = process.stderr.take().expect("piped");
        let mut lines = BufReader::new(stderr).lines();
        let address = loop {
            let line = timeout(PATIENCE, lines.next_line()).await.expect("in time");
            let line = line.expect("readable").expect("a line");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        // The log must find a reader for as long as the server lives.
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, address }
    }

    /// Kills the server and waits until it is dead: until then the directory is in use.
    async fn crash(mut self) {
        self.process.kill().await.expect("it runs");
    }

    async fn lift_the_limit(&self) {
        let pid = self.process.id().expect("it runs").to_string();
        let lifted = Command::new("prlimit")
            .args(["--pid", &pid, "--fsize=unlimited"])
            .status()
            .await;
        assert!(lifted.expect("prlimit is there").success());
    }

    /// Waits until the sign of health is this.
    async fn is_told(&self, status: &str) {
        let told = async {
            loop {
                let mut stream = TcpStream::connect(&self.address).await.expect("listening");
                let request = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
                stream.write_all(request.as_bytes()).await.expect("open");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.expect("readable");
                if answer.split(' ').nth(1) == Some(status) {
                    return;
                }
            }
        };
        timeout(PATIENCE, told).await.expect("in time");
    }

    async fn connect(&self) -> Client {
        let url = format!("ws://{}/ws", self.address);
        let connection = Connection::open(&url).await.expect("listening");
        Client {
            connection,
            next_id: 1,
        }
    }
}

struct Client {
    connection: Connection,
    next_id: u64,
}

impl Client {
    /// The answer to a request. What comes before it is passed over.
    async fn ask(&mut self, mut request: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        request["id"] = id.into();
        let text = request.to_string();
        self.connection.send_text(text).await.expect("open");
        loop {
            let text = timeout(PATIENCE, self.connection.receive_text()).await;
            let text = text.expect("in time").expect("open");
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["re"] == id {
                return message;
            }
        }
    }

    /// Creates a match and ends it at once; its id, or the refusal.
    async fn play_a_match(&mut self) -> Result<String, Value> {
        let create = json!({"type": "create", "game": "tic-tac-toe", "seats": ["me", "open"]});
        let created = self.ask(create).await;
        let Some(id) = created["match"].as_str() else {
            return Err(created);
        };
        let left = self.ask(json!({"type": "leave", "match": id})).await;
        if left["type"] == "ok" {
            Ok(id.to_owned())
        } else {
            Err(left)
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_survived() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Limited::start(directory.path(), Some(768)).await;
    let mut ann = server.connect().await;
    let welcome = ann.ask(json!({"type": "hello", "name": "ann"})).await;
    let seats = json!(["me", {"bot": "max"}]);
    let create = json!({"type": "create", "game": "tic-tac-toe", "seats": seats, "pace_ms": 1});
    let running = ann.ask(create).await;
    let running = running["match"].as_str().expect("created").to_owned();

    // The log that is written first is put into the database when it is full, so there is room for
    // more after the first refusal, but not for ever.
    let mut kept = Vec::new();
    let mut refused_in_a_row = 0;
    while refused_in_a_row < 20 {
        match ann.play_a_match().await {
            Ok(id) => {
                kept.push(id);
                refused_in_a_row = 0;
            }
            Err(refused) => {
                assert_eq!(refused["retryable"], true, "{refused}");
                refused_in_a_row += 1;
            }
        }
        assert!(kept.len() < 10_000, "the disk does not get full");
    }
    assert!(kept.len() > 10, "only {} matches", kept.len());
    server.is_told("503").await;
    let moved = json!({"type": "move", "match": running, "ply": 0, "move": "b2"});
    // A move takes less room than a match: it may find some, and is repeated below.
    let answer = ann.ask(moved.clone()).await;
    assert!(
        answer["type"] == "ok" || answer["code"] == "overloaded",
        "{answer}"
    );

    server.lift_the_limit().await;
    server.is_told("200").await;
    let went_on = timeout(PATIENCE, async {
        loop {
            let answer = ann.ask(moved.clone()).await;
            if answer["type"] == "ok" {
                return answer;
            }
            assert_eq!(answer["code"], "overloaded");
        }
    });
    assert_eq!(went_on.await.expect("in time")["seq"], 4);
    kept.push(ann.play_a_match().await.expect("there is room"));

    // All that was told is there after a crash, too.
    server.crash().await;
    let server = Limited::start(directory.path(), None).await;
    let mut ann = server.connect().await;
    let hello = json!({"type": "hello", "token": welcome["token"]});
    assert_eq!(ann.ask(hello).await["resumed"], true);
    let watch = |id: &str| json!({"type": "watch", "match": id});
    assert_eq!(ann.ask(watch(&running)).await["moves"][0], "b2");
    for id in kept {
        let seen = ann.ask(watch(&id)).await;
        assert_eq!(seen["status"], "ended", "{seen}");
        ann.ask(json!({"type": "leave", "match": id})).await;
    }
}
