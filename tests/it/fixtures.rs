//! Stores that an earlier release filled: commands print them, and servers serve and continue them, as that release
//! did. `tests/data/fixtures/README.md` describes the files.

#[path = "../../src/store/postgres/tests/server.rs"]
#[allow(dead_code, reason = "the tests of the store need more of it")]
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::archive::Client;
use crate::socket::{exchange, start};

/// Values that differ from one run of a server to the next on the same store.
const VOLATILE: [&str; 8] = [
    "re",
    "turn_ms",
    "first_move_ms",
    "due_ms",
    "stands",
    "seen_day",
    "connected",
    "spectators",
];

/// The fields of `welcome` that come from the store.
const STORED: [&str; 6] = [
    "player",
    "token",
    "session",
    "resumed",
    "following",
    "challenges",
];

/// What commands print: the end of the name of a file, and the arguments.
const PRINTED: [(&str, &[&str]); 8] = [
    ("export.jsonl", &["export"]),
    ("export.pgn", &["export", "--format", "pgn"]),
    ("export.pdn", &["export", "--format", "pdn"]),
    ("export.sgf", &["export", "--format", "sgf"]),
    ("export.txt", &["export", "--format", "txt"]),
    ("verify.txt", &["verify"]),
    ("account-list.txt", &["account", "list"]),
    ("ratings-verify.txt", &["ratings", "verify"]),
];

fn place(name: &str) -> PathBuf {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures");
    Path::new(fixtures).join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(place(name)).expect(name)
}

fn parsed(name: &str) -> Value {
    serde_json::from_str(&read(name)).expect(name)
}

/// A copy of a fixture, which a test may change.
struct Copied {
    /// The fixture: `sqlite` or `postgres`.
    name: &'static str,
    /// The options that name the store.
    store: Vec<String>,
    _directory: Option<TempDir>,
}

impl Copied {
    fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("plyhouse.db");
        std::fs::copy(place("sqlite.db"), file).expect("copied");
        let data = directory.path().to_str().expect("text").to_owned();
        Self {
            name: "sqlite",
            store: vec!["--data".to_owned(), data],
            _directory: Some(directory),
        }
    }

    /// `None` if PostgreSQL is not installed.
    fn postgres() -> Option<Self> {
        let database = empty_database()?;
        let dump = place("postgres.sql");
        psql(&database, &["-f", dump.to_str().expect("text")]);
        Some(Self {
            name: "postgres",
            store: vec!["--database".to_owned(), address(&database)],
            _directory: None,
        })
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
        let output = command.args(args).args(&self.store).output();
        output.expect("the binary runs")
    }

    fn file(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    fn facts(&self) -> Value {
        parsed(&format!("{}.json", self.name))
    }

    async fn serve(&self) -> (tokio::process::Child, String) {
        let store = self.store.iter().map(String::as_str);
        // The first line of stderr names the port: nothing of the log may come before it.
        let options = ["--log", "off", "--burst", "1000"];
        start(&store.chain(options).collect::<Vec<_>>()).await
    }
}

fn port() -> Option<u16> {
    Some(server::shared_server()?.port)
}

fn address(database: &str) -> String {
    let port = port().expect("PostgreSQL runs");
    format!("postgres://plyhouse@127.0.0.1:{port}/{database}")
}

fn empty_database() -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    port()?;
    let name = format!("f{}", NEXT.fetch_add(1, Ordering::Relaxed));
    psql("postgres", &["-c", &format!("CREATE DATABASE {name}")]);
    Some(name)
}

fn psql(database: &str, args: &[&str]) {
    let programs = server::PostgresPrograms::find().expect("PostgreSQL is installed");
    let done = Command::new(programs.0.join("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", &address(database)])
        .args(args)
        .output()
        .expect("psql");
    assert!(done.status.success(), "{done:?}");
}

/// What a command printed, if it succeeded.
fn printed(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn check_printed(copied: &Copied) {
    for (end, args) in PRINTED {
        let now = printed(copied.run(args));
        assert_eq!(now, read(&copied.file(end)), "{args:?}");
    }
}

#[test]
fn commands_print_the_sqlite_fixture_as_the_release_did() {
    check_printed(&Copied::sqlite());
}

#[test]
fn commands_print_the_postgres_fixture_as_the_release_did() {
    if let Some(copied) = Copied::postgres() {
        check_printed(&copied);
    }
}

/// Moves the SQLite fixture, and checks that nothing is printed of the other store that is not of the fixture.
fn check_moved(to: &str, options: [&str; 2]) {
    let from = Copied::sqlite();
    let from_place = from.store[1].as_str();
    let moved = Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .args(["move-store", "--from", &format!("sqlite:{from_place}")])
        .args(["--to", to])
        .output();
    let said = printed(moved.expect("the binary runs"));
    let (before, _) = said.split_once('\n').expect("lines");
    let expected = read("sqlite-move-store.txt");
    let (first, rest) = expected.split_once('\n').expect("lines");
    assert_eq!(before.replace(from_place, "FROM"), first);
    let counts = rest.strip_prefix("TO").expect("the other store");
    assert!(said.ends_with(counts), "{said}");
    let mut export = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
    let exported = export.arg("export").args(options).output();
    let exported = printed(exported.expect("the binary runs"));
    assert_eq!(exported, read("sqlite-export.jsonl"));
}

#[test]
fn the_sqlite_fixture_moves_to_sqlite() {
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("to");
    let to = to.to_str().expect("text");
    check_moved(&format!("sqlite:{to}"), ["--data", to]);
}

#[test]
fn the_sqlite_fixture_moves_to_postgres() {
    if let Some(database) = empty_database() {
        let to = address(&database);
        check_moved(&to, ["--database", &to]);
    }
}

/// A value without what differs from run to run.
fn settled(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let stays = |key: &str| !VOLATILE.contains(&key);
            let fields = fields.iter().filter(|(key, _)| stays(key));
            fields
                .map(|(key, value)| (key.clone(), settled(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(settled).collect(),
        other => other.clone(),
    }
}

async fn check_served(copied: &Copied) {
    let (mut process, host) = copied.serve().await;
    let downloads = parsed(&copied.file("downloads.json"));
    for (path, then) in downloads.as_object().expect("an object") {
        let facts = copied.facts();
        let token = facts["players"]["dora"]["token"].as_str().expect("text");
        // An answer to this version is not cut into chunks.
        let request =
            format!("GET {path} HTTP/1.0\r\nHost: HOST\r\nAuthorization: Bearer {token}\r\n\r\n");
        let answer = exchange(&host, &request).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(" 200 "), "{path}: {head}");
        assert_eq!(body, then.as_str().expect("text"), "{path}");
    }

    let answers = parsed(&copied.file("answers.json"));
    let mut ann = Client::connect(&host).await;
    let token = copied.facts()["players"]["ann"]["token"].clone();
    for asked in answers.as_array().expect("a list") {
        let (request, then) = (&asked["request"], &asked["answer"]);
        if request["type"] == "hello" {
            let welcome = ann.ask(json!({"type": "hello", "token": token})).await;
            for field in STORED {
                let (now, then) = (settled(&welcome[field]), settled(&then[field]));
                assert_eq!(now, then, "{field} of welcome");
            }
        } else {
            let now = ann.ask(request.clone()).await;
            assert_eq!(settled(&now), settled(then), "{request}");
        }
    }
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}

#[tokio::test]
async fn a_server_serves_the_sqlite_fixture_as_the_release_did() {
    check_served(&Copied::sqlite()).await;
}

#[tokio::test]
async fn a_server_serves_the_postgres_fixture_as_the_release_did() {
    if let Some(copied) = Copied::postgres() {
        check_served(&copied).await;
    }
}

/// A player who comes back by whatever the player has.
async fn come_back(host: &str, hello: Value, player: &Value) -> Client {
    let mut client = Client::connect(host).await;
    let mut request = hello;
    request["type"] = "hello".into();
    let welcome = client.ask(request).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    assert_eq!(welcome["player"]["id"], player["id"], "{welcome}");
    client
}

/// Plays the first move that is legal.
async fn play_on(client: &mut Client, id: &Value) -> u64 {
    let shown = client.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["turn"], shown["you"], "{shown}");
    let (ply, m) = (&shown["ply"], &shown["legal"][0]);
    let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
    let answer = client.ask(play).await;
    answer["seq"].as_u64().expect("the number of an event")
}

async fn check_continued(copied: &Copied) {
    let facts = copied.facts();
    let (players, live) = (&facts["players"], &facts["live"]);
    let (mut process, host) = copied.serve().await;
    let token = |name: &str| json!({"token": players[name]["token"]});
    let mut ann = come_back(&host, token("ann"), &players["ann"]).await;
    let mut bob = come_back(&host, token("bob"), &players["bob"]).await;
    let mut lea = come_back(&host, token("lea"), &players["lea"]).await;

    for name in ["running", "days", "delayed", "byo-yomi"] {
        let first = match name {
            "byo-yomi" => play_on(&mut bob, &live[name]).await,
            _ => play_on(&mut ann, &live[name]).await,
        };
        let second = match name {
            "byo-yomi" => play_on(&mut ann, &live[name]).await,
            _ => play_on(&mut bob, &live[name]).await,
        };
        assert_eq!(second, first + 1, "{name}");
    }
    play_on(&mut lea, &live["dormant"]).await;
    for name in ["stood-in", "open", "challenge"] {
        let join = json!({"type": "join", "match": live[name]});
        let shown = bob.ask(join).await;
        assert_eq!(
            (&shown["status"], &shown["you"]),
            (&json!("running"), &json!(1)),
            "{name}"
        );
    }
    if copied.name == "postgres" {
        let mut ron = come_back(&host, token("ron"), &players["ron"]).await;
        play_on(&mut ron, &live["taken over"]).await;
    }
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");

    let verified = printed(copied.run(&["verify"]));
    assert!(verified.ends_with(" 0 damages\n"), "{verified}");
    let then = read(&copied.file("verify.txt"));
    let matches = |text: &str| text.split_once(" matches").map(|(n, _)| n.to_owned());
    assert_eq!(matches(&verified), matches(&then));
    let rated = printed(copied.run(&["ratings", "verify"]));
    assert!(rated.ends_with(" 0 differences\n"), "{rated}");
}

#[tokio::test]
async fn matches_of_the_sqlite_fixture_go_on() {
    check_continued(&Copied::sqlite()).await;
}

#[tokio::test]
async fn matches_of_the_postgres_fixture_go_on() {
    if let Some(copied) = Copied::postgres() {
        check_continued(&copied).await;
    }
}

async fn check_secrets(copied: &Copied) {
    let facts = copied.facts();
    let (mut process, host) = copied.serve().await;
    let [ann, bob] = ["ann", "bob"].map(|name| &facts["players"][name]);
    for hello in [
        json!({"token": facts["web_token"]}),
        json!({"token": facts["recovered_token"]}),
        json!({"token": facts["key"]}),
        json!({"recovery": facts["recovery_key"]}),
        json!({"name": "ann", "password": facts["passwords"]["ann"]}),
    ] {
        come_back(&host, hello, ann).await;
    }
    let renamed = json!({"name": "bobby", "password": facts["passwords"]["bob"]});
    come_back(&host, renamed, bob).await;
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}

#[tokio::test]
async fn secrets_of_the_sqlite_fixture_are_accepted() {
    check_secrets(&Copied::sqlite()).await;
}

#[tokio::test]
async fn secrets_of_the_postgres_fixture_are_accepted() {
    if let Some(copied) = Copied::postgres() {
        check_secrets(&copied).await;
    }
}
