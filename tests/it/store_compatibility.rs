//! Tests with stores that an earlier release wrote. Commands print the same output as that release.
//! Servers send the same answers and continue the matches. `tests/data/fixtures/README.md`
//! describes the fixture files.

#[path = "../../src/store/postgres/tests/server.rs"]
#[allow(dead_code, reason = "the tests of the store need more of it")]
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::export_command::Client;
use crate::real_sockets::{exchange_until_close, start_server};

/// Fields that differ between runs of a server on the same store.
const VOLATILE_FIELDS: [&str; 8] = [
    "re",
    "turn_ms",
    "first_move_ms",
    "due_ms",
    "stands",
    "seen_day",
    "connected",
    "spectators",
];

/// Fields of the `welcome` message that come from the store.
const STORED_WELCOME_FIELDS: [&str; 6] = [
    "player",
    "token",
    "session",
    "resumed",
    "following",
    "challenges",
];

/// Fixture files that contain command output. Each entry pairs the file's suffix with the arguments
/// of the command.
const COMMAND_OUTPUTS: [(&str, &[&str]); 8] = [
    ("export.jsonl", &["export"]),
    ("export.pgn", &["export", "--format", "pgn"]),
    ("export.pdn", &["export", "--format", "pdn"]),
    ("export.sgf", &["export", "--format", "sgf"]),
    ("export.txt", &["export", "--format", "txt"]),
    ("verify.txt", &["verify"]),
    ("account-list.txt", &["account", "list"]),
    ("ratings-verify.txt", &["ratings", "verify"]),
];

fn fixture_path(name: &str) -> PathBuf {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures");
    Path::new(fixtures).join(name)
}

fn read_fixture(name: &str) -> String {
    std::fs::read_to_string(fixture_path(name)).expect(name)
}

fn read_json_fixture(name: &str) -> Value {
    serde_json::from_str(&read_fixture(name)).expect(name)
}

/// Copy of a fixture that a test can change.
struct FixtureCopy {
    /// Fixture name, either `sqlite` or `postgres`.
    name: &'static str,
    /// Command-line options that select the store.
    store_args: Vec<String>,
    _temp_dir: Option<TempDir>,
}

impl FixtureCopy {
    fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("plyhouse.db");
        std::fs::copy(fixture_path("sqlite.db"), file).expect("copied");
        let data = directory.path().to_str().expect("text").to_owned();
        Self {
            name: "sqlite",
            store_args: vec!["--data".to_owned(), data],
            _temp_dir: Some(directory),
        }
    }

    /// Returns `None` if PostgreSQL is not installed.
    fn postgres() -> Option<Self> {
        let database = create_database()?;
        let dump = fixture_path("postgres.sql");
        run_psql(&database, &["-f", dump.to_str().expect("text")]);
        Some(Self {
            name: "postgres",
            store_args: vec!["--database".to_owned(), database_url(&database)],
            _temp_dir: None,
        })
    }

    fn run_command(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
        let output = command.args(args).args(&self.store_args).output();
        output.expect("the binary runs")
    }

    fn fixture_name(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    fn read_facts(&self) -> Value {
        read_json_fixture(&format!("{}.json", self.name))
    }

    async fn start_server(&self) -> (tokio::process::Child, String) {
        let store = self.store_args.iter().map(String::as_str);
        // Logging is off, because the first line of stderr must contain the server's address.
        let options = ["--log", "off", "--burst", "1000"];
        start_server(&store.chain(options).collect::<Vec<_>>()).await
    }
}

fn postgres_port() -> Option<u16> {
    Some(server::shared_server()?.port)
}

fn database_url(database: &str) -> String {
    let port = postgres_port().expect("PostgreSQL is running");
    format!("postgres://plyhouse@127.0.0.1:{port}/{database}")
}

fn create_database() -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    postgres_port()?;
    let name = format!("f{}", NEXT.fetch_add(1, Ordering::Relaxed));
    run_psql("postgres", &["-c", &format!("CREATE DATABASE {name}")]);
    Some(name)
}

fn run_psql(database: &str, args: &[&str]) {
    let programs = server::PostgresPrograms::find().expect("PostgreSQL is installed");
    let output = Command::new(programs.0.join("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", &database_url(database)])
        .args(args)
        .output()
        .expect("psql");
    assert!(output.status.success(), "{output:?}");
}

/// Asserts that a command succeeded, and returns its stdout.
fn stdout_of(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn check_command_outputs(fixture: &FixtureCopy) {
    for (end, args) in COMMAND_OUTPUTS {
        let now = stdout_of(fixture.run_command(args));
        assert_eq!(now, read_fixture(&fixture.fixture_name(end)), "{args:?}");
    }
}

#[test]
fn command_output_for_sqlite_store_is_unchanged() {
    check_command_outputs(&FixtureCopy::sqlite());
}

#[test]
fn command_output_for_postgres_store_is_unchanged() {
    if let Some(copied) = FixtureCopy::postgres() {
        check_command_outputs(&copied);
    }
}

/// Moves the SQLite fixture to another store and checks that the export of the new store equals the
/// fixture's export.
fn check_move_store(to: &str, options: [&str; 2]) {
    let from = FixtureCopy::sqlite();
    let source_dir = from.store_args[1].as_str();
    let moved = Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .args(["move-store", "--from", &format!("sqlite:{source_dir}")])
        .args(["--to", to])
        .output();
    let output = stdout_of(moved.expect("the binary runs"));
    let (first_line, _) = output.split_once('\n').expect("lines");
    let expected = read_fixture("sqlite-move-store.txt");
    let (first, rest) = expected.split_once('\n').expect("lines");
    assert_eq!(first_line.replace(source_dir, "FROM"), first);
    let counts = rest.strip_prefix("TO").expect("the target store");
    assert!(output.ends_with(counts), "{output}");
    let mut export = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
    let exported = export.arg("export").args(options).output();
    let exported = stdout_of(exported.expect("the binary runs"));
    assert_eq!(exported, read_fixture("sqlite-export.jsonl"));
}

#[test]
fn sqlite_store_moves_to_sqlite() {
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("to");
    let to = to.to_str().expect("text");
    check_move_store(&format!("sqlite:{to}"), ["--data", to]);
}

#[test]
fn sqlite_store_moves_to_postgres() {
    if let Some(database) = create_database() {
        let to = database_url(&database);
        check_move_store(&to, ["--database", &to]);
    }
}

fn without_volatile_fields(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_stable = |key: &str| !VOLATILE_FIELDS.contains(&key);
            let fields = fields.iter().filter(|(key, _)| is_stable(key));
            fields
                .map(|(key, value)| (key.clone(), without_volatile_fields(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(without_volatile_fields).collect(),
        other => other.clone(),
    }
}

async fn check_server_replies(fixture: &FixtureCopy) {
    let (mut process, host) = fixture.start_server().await;
    let downloads = read_json_fixture(&fixture.fixture_name("downloads.json"));
    for (path, expected) in downloads.as_object().expect("an object") {
        let facts = fixture.read_facts();
        let token = facts["players"]["dora"]["token"].as_str().expect("text");
        // The request uses HTTP/1.0, so that the response is not chunked.
        let request =
            format!("GET {path} HTTP/1.0\r\nHost: HOST\r\nAuthorization: Bearer {token}\r\n\r\n");
        let answer = exchange_until_close(&host, &request).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(" 200 "), "{path}: {head}");
        assert_eq!(body, expected.as_str().expect("text"), "{path}");
    }

    let answers = read_json_fixture(&fixture.fixture_name("answers.json"));
    let mut ann = Client::connect(&host).await;
    let token = fixture.read_facts()["players"]["ann"]["token"].clone();
    for exchange in answers.as_array().expect("a list") {
        let (request, expected) = (&exchange["request"], &exchange["answer"]);
        if request["type"] == "hello" {
            let welcome = ann.request(json!({"type": "hello", "token": token})).await;
            for field in STORED_WELCOME_FIELDS {
                let (now, then) = (
                    without_volatile_fields(&welcome[field]),
                    without_volatile_fields(&expected[field]),
                );
                assert_eq!(now, then, "{field} of welcome");
            }
        } else {
            let actual = ann.request(request.clone()).await;
            assert_eq!(
                without_volatile_fields(&actual),
                without_volatile_fields(expected),
                "{request}"
            );
        }
    }
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}

#[tokio::test]
async fn server_replies_for_sqlite_store_are_unchanged() {
    check_server_replies(&FixtureCopy::sqlite()).await;
}

#[tokio::test]
async fn server_replies_for_postgres_store_are_unchanged() {
    if let Some(copied) = FixtureCopy::postgres() {
        check_server_replies(&copied).await;
    }
}

/// Logs in as `player` with the credentials in `hello`.
async fn log_in(host: &str, hello: Value, player: &Value) -> Client {
    let mut client = Client::connect(host).await;
    let mut request = hello;
    request["type"] = "hello".into();
    let welcome = client.request(request).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    assert_eq!(welcome["player"]["id"], player["id"], "{welcome}");
    client
}

/// Plays the first legal move and returns the sequence number of its event.
async fn play_first_legal_move(client: &mut Client, id: &Value) -> u64 {
    let snapshot = client.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["turn"], snapshot["you"], "{snapshot}");
    let (ply, m) = (&snapshot["ply"], &snapshot["legal"][0]);
    let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
    let answer = client.request(play).await;
    answer["seq"].as_u64().expect("the number of an event")
}

async fn check_matches_continue(fixture: &FixtureCopy) {
    let facts = fixture.read_facts();
    let (players, live) = (&facts["players"], &facts["live"]);
    let (mut process, host) = fixture.start_server().await;
    let token = |name: &str| json!({"token": players[name]["token"]});
    let mut ann = log_in(&host, token("ann"), &players["ann"]).await;
    let mut bob = log_in(&host, token("bob"), &players["bob"]).await;
    let mut lea = log_in(&host, token("lea"), &players["lea"]).await;

    for name in ["running", "days", "delayed", "byo-yomi"] {
        let first = match name {
            "byo-yomi" => play_first_legal_move(&mut bob, &live[name]).await,
            _ => play_first_legal_move(&mut ann, &live[name]).await,
        };
        let second = match name {
            "byo-yomi" => play_first_legal_move(&mut ann, &live[name]).await,
            _ => play_first_legal_move(&mut bob, &live[name]).await,
        };
        assert_eq!(second, first + 1, "{name}");
    }
    play_first_legal_move(&mut lea, &live["dormant"]).await;
    for name in ["stood-in", "open", "challenge"] {
        let join = json!({"type": "join", "match": live[name]});
        let snapshot = bob.request(join).await;
        assert_eq!(
            (&snapshot["status"], &snapshot["you"]),
            (&json!("running"), &json!(1)),
            "{name}"
        );
    }
    if fixture.name == "postgres" {
        let mut ron = log_in(&host, token("ron"), &players["ron"]).await;
        play_first_legal_move(&mut ron, &live["taken over"]).await;
    }
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");

    let verify_output = stdout_of(fixture.run_command(&["verify"]));
    assert!(verify_output.ends_with(" 0 faults\n"), "{verify_output}");
    let expected = read_fixture(&fixture.fixture_name("verify.txt"));
    let matches = |text: &str| text.split_once(" matches").map(|(n, _)| n.to_owned());
    assert_eq!(matches(&verify_output), matches(&expected));
    let ratings_output = stdout_of(fixture.run_command(&["ratings", "verify"]));
    assert!(
        ratings_output.ends_with(" 0 differences\n"),
        "{ratings_output}"
    );
}

#[tokio::test]
async fn matches_of_sqlite_store_continue() {
    check_matches_continue(&FixtureCopy::sqlite()).await;
}

#[tokio::test]
async fn matches_of_postgres_store_continue() {
    if let Some(copied) = FixtureCopy::postgres() {
        check_matches_continue(&copied).await;
    }
}

async fn check_credentials(fixture: &FixtureCopy) {
    let facts = fixture.read_facts();
    let (mut process, host) = fixture.start_server().await;
    let [ann, bob] = ["ann", "bob"].map(|name| &facts["players"][name]);
    for hello in [
        json!({"token": facts["web_token"]}),
        json!({"token": facts["recovered_token"]}),
        json!({"token": facts["key"]}),
        json!({"recovery": facts["recovery_key"]}),
        json!({"name": "ann", "password": facts["passwords"]["ann"]}),
    ] {
        log_in(&host, hello, ann).await;
    }
    let renamed = json!({"name": "bobby", "password": facts["passwords"]["bob"]});
    log_in(&host, renamed, bob).await;
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}

#[tokio::test]
async fn credentials_of_sqlite_store_are_accepted() {
    check_credentials(&FixtureCopy::sqlite()).await;
}

#[tokio::test]
async fn credentials_of_postgres_store_are_accepted() {
    if let Some(copied) = FixtureCopy::postgres() {
        check_credentials(&copied).await;
    }
}
