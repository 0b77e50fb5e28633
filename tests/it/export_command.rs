//! Tests of `plyhouse export` and `plyhouse verify`, with and without a running server.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use plyhouse_connection::Connection;
use serde_json::{Value, json};

use crate::real_sockets::start_server;

/// Runs the `plyhouse` command `args` on the store in `directory`.
pub(crate) fn run_on_store(directory: &Path, args: &[&str]) -> Output {
    store_command(directory, args)
        .output()
        .expect("the binary runs")
}

fn store_command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
    command.args(args).arg("--data").arg(directory);
    command
}

pub(crate) fn json_lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("text");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON")
}

/// WebSocket client for tests that run a server process.
pub(crate) struct Client(Connection);

impl Client {
    pub(crate) async fn connect(address: &str) -> Self {
        let url = format!("ws://{address}/ws");
        Self(Connection::open(&url).await.expect("listening"))
    }

    /// Sends a request and returns its answer. Panics if the answer is an error.
    pub(crate) async fn request(&mut self, mut request: Value) -> Value {
        request["id"] = 1.into();
        let sent = self.0.send_text(request.to_string()).await;
        sent.expect("open");
        loop {
            let text = self.0.receive_text().await.expect("open");
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["re"] == 1 {
                assert_ne!(message["type"], "error", "{message}");
                return message;
            }
        }
    }

    /// Creates a match against a bot and plays the client's first move.
    async fn start_bot_match(&mut self) -> Value {
        let seats = json!(["me", {"bot": "easy"}]);
        let create = json!({"type": "create", "game": "tic-tac-toe", "seats": seats});
        let created = self.request(create).await;
        let id = &created["match"];
        let play = json!({"type": "move", "match": id, "ply": 0, "move": "b2"});
        self.request(play).await;
        created
    }
}

/// Creates one ended match and two live matches, and then kills the server. Returns the snapshot
/// that the server sent at the creation of each match.
pub(crate) async fn create_store_with_three_matches(directory: &Path) -> Vec<Value> {
    let data = directory.to_str().expect("text");
    let (mut process, address) = start_server(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    ann.request(json!({"type": "hello", "name": "ann"})).await;
    let mut matches = Vec::new();
    for _ in 0..3 {
        matches.push(ann.start_bot_match().await);
    }
    ann.request(json!({"type": "resign", "match": matches[0]["match"]}))
        .await;
    for output in [
        run_on_store(directory, &["export"]),
        run_on_store(directory, &["verify"]),
    ] {
        assert!(output.status.success(), "while the server runs: {output:?}");
    }
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
    matches
}

pub(crate) fn execute_sql(directory: &Path, sql: &str) {
    let database = rusqlite::Connection::open(directory.join("plyhouse.db"));
    let changed = database.expect("the database opens").execute_batch(sql);
    changed.expect(sql);
}

#[tokio::test]
async fn export_prints_stored_matches() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let matches = create_store_with_three_matches(directory).await;
    let ids: Vec<&Value> = matches.iter().map(|created| &created["match"]).collect();

    let exported = json_lines(&run_on_store(directory, &["export"]));
    assert!(
        exported
            .iter()
            .map(|one| &one["id"])
            .eq(ids.iter().copied()),
        "{exported:#?}"
    );
    let first = &exported[0];
    assert_eq!(first["code"], matches[0]["code"]);
    assert_eq!(first["game"], "tic-tac-toe");
    assert_eq!(first["players"][0]["name"], "ann");
    assert_eq!(first["host"], first["players"][0]["id"]);
    let created_ms = first["created_ms"].as_u64().expect("a time");
    assert!(first["ended_ms"].as_u64() >= Some(created_ms), "{first}");
    assert!(exported[1]["ended_ms"].is_null());
    let events = first["events"].as_array().expect("a list");
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index + 1);
        assert!(event["at_ms"].as_u64() >= Some(created_ms), "{event}");
    }
    assert_eq!(events[0]["name"], "ann");
    assert_eq!(
        (&events[3]["type"], &events[3]["move"]),
        (&json!("moved"), &json!("b2"))
    );
    let end = events.last().expect("events");
    assert_eq!(
        (&end["winner"], &end["reason"]),
        (&json!(1), &json!("resignation"))
    );

    // `export` accepts match codes and match ids, and prints the matches in the order of its
    // arguments. `export` reports an unknown match and continues with the next argument.
    let code = matches[2]["code"].as_str().expect("a code").to_lowercase();
    let id = ids[1].as_str().expect("an id");
    let selected = run_on_store(directory, &["export", &code, "nowhere", id]);
    assert_eq!(selected.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&selected.stderr).into_owned();
    assert!(
        stderr.contains(r#"there is no match "nowhere""#),
        "{stderr}"
    );
    assert!(
        json_lines(&selected)
            .iter()
            .map(|one| &one["id"])
            .eq([ids[2], ids[1]])
    );

    // The export must not fail if the reader of its output closes the pipe early.
    let mut child = store_command(directory, &["export"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the process exits");
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn corrupt_match_is_reported_and_others_are_exported() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let matches = create_store_with_three_matches(directory).await;
    let intact = run_on_store(directory, &["verify"]);
    assert!(intact.status.success(), "{intact:?}");
    let stdout = String::from_utf8(intact.stdout).expect("text");
    assert!(
        stdout.starts_with("3 matches (2 live, 1 ended), "),
        "{stdout}"
    );
    assert!(
        stdout.ends_with(" events, 1 player, 0 faults\n"),
        "{stdout}"
    );

    execute_sql(
        directory,
        "UPDATE events SET event = '{}' WHERE seq = 4 AND match = (SELECT min(id) FROM matches)",
    );
    let corrupt_id = matches[0]["match"].as_str().expect("an id");
    let verified = run_on_store(directory, &["verify"]);
    assert_eq!(verified.status.code(), Some(1));
    let first = BufReader::new(&*verified.stdout).lines().next();
    let first = first.expect("a line").expect("text");
    assert!(
        first.contains(corrupt_id) && first.contains("event 4"),
        "{first}"
    );

    let exported = run_on_store(directory, &["export"]);
    assert_eq!(exported.status.code(), Some(1));
    assert_eq!(json_lines(&exported).len(), 2);
    let stderr = String::from_utf8_lossy(&exported.stderr).into_owned();
    assert!(stderr.contains(corrupt_id), "{stderr}");
}

#[test]
fn missing_store_is_reported_and_not_created() {
    let directory = tempfile::tempdir().expect("a directory");
    for command in ["export", "verify"] {
        let output = run_on_store(directory.path(), &[command]);
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("there is no store in"), "{stderr}");
        let output = run_on_store(Path::new(":memory:"), &[command]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert_eq!(
        directory
            .path()
            .read_dir()
            .expect("the directory exists")
            .count(),
        0
    );
}
