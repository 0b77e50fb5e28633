//! Tests of databases from earlier versions: they are migrated without loss, and their matches
//! continue.

use std::fs;

use plyhouse_store::SqliteStore;
use serde_json::{Value, json};

use crate::export_command::{Client, json_lines, run_on_store};
use crate::real_sockets::start_server;

/// Database with schema version 2. It contains live matches and matches that ended by the rules, by
/// a draw, by resignation, by abort or by abandonment.
const DATABASE_V2: &[u8] = include_bytes!("../data/store-2.db");

/// Output of `plyhouse export` for the version 2 database, printed by the release that wrote the
/// database.
const EXPORT_V2: &str = include_str!("../data/store-2.jsonl");

/// Session token of the guest Ann. In the chess match [`CHESS_MATCH_ID`], she is to play her third
/// move.
const ANN_TOKEN: &str = "D-yyWY6Kg3pPxFtLxG1u0U6wMp6dquPeP2T6ifgqyG0";
const CHESS_MATCH_ID: &str = "01a20507-82b2-74da-b2cf-5fb16b26bbd1";

/// Matches of Ann that started and have ended, the latest first.
const ENDED_MATCH_IDS: [&str; 4] = [
    "01a20507-7ec0-763f-a9e9-34323ba76532",
    "01a20507-7d1e-7d12-8867-d1165f62a2b7",
    "01a20507-7ce6-7f04-b3f4-e3eaeacbcc0f",
    "01a20507-7cce-7062-b9ab-4585b760edff",
];

#[tokio::test]
async fn version_2_database_is_migrated_and_its_matches_continue() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    fs::write(directory.join("plyhouse.db"), DATABASE_V2).expect("written");
    // Read-only commands do not migrate the database, so the test opens the database first.
    drop(SqliteStore::open(directory, None).expect("the store opens"));

    let expected = EXPORT_V2.lines().map(serde_json::from_str);
    let mut expected: Vec<Value> = expected.collect::<Result<_, _>>().expect("JSON");
    // Schema version 2 had no rated matches and no `rated` field.
    expected
        .iter_mut()
        .for_each(|then| then["rated"] = false.into());
    assert_eq!(json_lines(&run_on_store(directory, &["export"])), expected);
    let verify = || {
        let verified = run_on_store(directory, &["verify"]);
        String::from_utf8(verified.stdout).expect("text")
    };
    let expected_summary = "11 matches (5 live, 6 ended), 68 events, 3 players, 0 damages\n";
    assert_eq!(verify(), expected_summary);

    let data = directory.to_str().expect("text");
    let (mut process, address) = start_server(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    let welcome = ann
        .request(json!({"type": "hello", "token": ANN_TOKEN}))
        .await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    assert_eq!(welcome["following"].as_array().map(Vec::len), Some(5));
    let ended = ann.request(json!({"type": "history"})).await;
    let ended = ended["rows"].as_array().expect("a list").iter();
    let ended: Vec<&str> = ended
        .map(|row| row["match"].as_str().expect("an id"))
        .collect();
    assert_eq!(ended, ENDED_MATCH_IDS, "ended matches are listed");
    let explored = ann
        .request(json!({"type": "explore", "game": "tic-tac-toe"}))
        .await;
    assert_eq!(explored["n"], 2, "{explored}");
    let play = json!({"type": "move", "match": CHESS_MATCH_ID, "ply": 4, "move": "f1b5"});
    assert_eq!(ann.request(play).await["seq"], 8);
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
    assert_eq!(verify(), expected_summary.replace("68 events", "69 events"));
}
