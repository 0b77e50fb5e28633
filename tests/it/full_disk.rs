//! Tests a server process on a full disk. The server confirms only stored changes, and resumes
//! writing when space is available again.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Maximum time to wait for the server. The value allows for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Server process that runs with a limit on the size of its files. A test can remove this limit
/// while the process runs.
struct FileLimitedServer {
    process: Child,
    address: String,
}

impl FileLimitedServer {
    async fn start(directory: &Path, limit_kib: Option<u32>) -> Self {
        let limit = limit_kib.map_or("unlimited".to_owned(), |kib| (kib * 2).to_string());
        // With `SIGXFSZ` ignored, a write beyond the limit fails instead of ending the process.
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
            .expect("the process starts");
        let stderr = process.stderr.take().expect("piped");
        let mut lines = BufReader::new(stderr).lines();
        let address = loop {
            let line = timeout(TIMEOUT, lines.next_line())
                .await
                .expect("before the timeout");
            let line = line.expect("readable").expect("a line");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        // This task reads the server's log output so that the pipe never fills up.
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, address }
    }

    /// Kills the server and waits for its exit, because the server uses the data directory until
    /// then.
    async fn kill(mut self) {
        self.process.kill().await.expect("the process is running");
    }

    async fn lift_file_limit(&self) {
        let pid = self
            .process
            .id()
            .expect("the process is running")
            .to_string();
        let status = Command::new("prlimit")
            .args(["--pid", &pid, "--fsize=unlimited"])
            .status()
            .await;
        assert!(status.expect("prlimit is installed").success());
    }

    /// Waits until `/healthz` returns the HTTP status `status`.
    async fn wait_for_health_status(&self, status: &str) {
        let poll_health = async {
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
        timeout(TIMEOUT, poll_health)
            .await
            .expect("before the timeout");
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
    /// Sends a request and returns its answer. Skips all messages that arrive before the answer.
    async fn request(&mut self, mut request: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        request["id"] = id.into();
        let text = request.to_string();
        self.connection.send_text(text).await.expect("open");
        loop {
            let text = timeout(TIMEOUT, self.connection.receive_text()).await;
            let text = text.expect("before the timeout").expect("open");
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["re"] == id {
                return message;
            }
        }
    }

    /// Creates a match and ends it immediately. Returns the match id or the server's refusal.
    async fn play_match(&mut self) -> Result<String, Value> {
        let create = json!({"type": "create", "game": "tic-tac-toe", "seats": ["me", "open"]});
        let created = self.request(create).await;
        let Some(id) = created["match"].as_str() else {
            return Err(created);
        };
        let answer = self.request(json!({"type": "leave", "match": id})).await;
        if answer["type"] == "ok" {
            Ok(id.to_owned())
        } else {
            Err(answer)
        }
    }
}

#[tokio::test]
async fn full_disk_is_reported_and_loses_no_acknowledged_match() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = FileLimitedServer::start(directory.path(), Some(768)).await;
    let mut ann = server.connect().await;
    let welcome = ann.request(json!({"type": "hello", "name": "ann"})).await;
    let seats = json!(["me", {"bot": "max"}]);
    let create = json!({"type": "create", "game": "tic-tac-toe", "seats": seats, "pace_ms": 1});
    let created = ann.request(create).await;
    let running_id = created["match"].as_str().expect("created").to_owned();

    // SQLite copies the contents of the write-ahead log to the database when the log is full. Some
    // writes therefore still succeed after the server has refused the first match.
    let mut stored_ids = Vec::new();
    let mut refused_in_a_row = 0;
    while refused_in_a_row < 20 {
        match ann.play_match().await {
            Ok(id) => {
                stored_ids.push(id);
                refused_in_a_row = 0;
            }
            Err(refused) => {
                assert_eq!(refused["retryable"], true, "{refused}");
                refused_in_a_row += 1;
            }
        }
        assert!(stored_ids.len() < 10_000, "the disk does not get full");
    }
    assert!(stored_ids.len() > 10, "only {} matches", stored_ids.len());
    server.wait_for_health_status("503").await;
    let play = json!({"type": "move", "match": running_id, "ply": 0, "move": "b2"});
    // Storing a move needs less space than storing a match, so the server may still accept the
    // move. The test sends the move again after it has lifted the file size limit.
    let answer = ann.request(play.clone()).await;
    assert!(
        answer["type"] == "ok" || answer["code"] == "overloaded",
        "{answer}"
    );

    server.lift_file_limit().await;
    server.wait_for_health_status("200").await;
    let retry_until_accepted = timeout(TIMEOUT, async {
        loop {
            let answer = ann.request(play.clone()).await;
            if answer["type"] == "ok" {
                return answer;
            }
            assert_eq!(answer["code"], "overloaded");
        }
    });
    assert_eq!(
        retry_until_accepted.await.expect("before the timeout")["seq"],
        4
    );
    stored_ids.push(ann.play_match().await.expect("the disk has space again"));

    // After a crash, all confirmed changes are still in the store.
    server.kill().await;
    let server = FileLimitedServer::start(directory.path(), None).await;
    let mut ann = server.connect().await;
    let hello = json!({"type": "hello", "token": welcome["token"]});
    assert_eq!(ann.request(hello).await["resumed"], true);
    let watch = |id: &str| json!({"type": "watch", "match": id});
    assert_eq!(ann.request(watch(&running_id)).await["moves"][0], "b2");
    for id in stored_ids {
        let snapshot = ann.request(watch(&id)).await;
        assert_eq!(snapshot["status"], "ended", "{snapshot}");
        ann.request(json!({"type": "leave", "match": id})).await;
    }
}
