//! Databases that earlier versions have written: they open, nothing in them is lost, and their
//! matches go on.

use std::fs;

use plyhouse_store::SqliteStore;
use serde_json::{Value, json};

use crate::archive::{Client, lines, run};
use crate::socket::start;

/// Written by the second version of the tables: matches that ended by the rules, drawn, resigned,
/// aborted and abandoned, and live ones.
const DATABASE: &[u8] = include_bytes!("../data/store-2.db");

/// What `plyhouse export` printed of it then.
const EXPORTED: &str = include_str!("../data/store-2.jsonl");

/// The token of one of its guests, and her game of chess, in which she is to play her third move.
const ANN: &str = "D-yyWY6Kg3pPxFtLxG1u0U6wMp6dquPeP2T6ifgqyG0";
const CHESS: &str = "01a20507-82b2-74da-b2cf-5fb16b26bbd1";

/// The matches of hers that had begun and ended by then, the last first.
const PAST: [&str; 4] = [
    "01a20507-7ec0-763f-a9e9-34323ba76532",
    "01a20507-7d1e-7d12-8867-d1165f62a2b7",
    "01a20507-7ce6-7f04-b3f4-e3eaeacbcc0f",
    "01a20507-7cce-7062-b9ab-4585b760edff",
];

#[tokio::test]
async fn a_database_of_the_second_version_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    fs::write(directory.join("plyhouse.db"), DATABASE).expect("written");
    // Whoever only looks at it does not bring it up to date.
    drop(SqliteStore::open(directory, None).expect("it opens"));

    let then = EXPORTED.lines().map(serde_json::from_str);
    let mut then: Vec<Value> = then.collect::<Result<_, _>>().expect("JSON");
    // Nothing was rated then, and nobody told.
    then.iter_mut()
        .for_each(|then| then["rated"] = false.into());
    assert_eq!(lines(&run(directory, &["export"])), then);
    let verify = || {
        let verified = run(directory, &["verify"]);
        String::from_utf8(verified.stdout).expect("text")
    };
    let sound = "11 matches (5 live, 6 ended), 68 events, 3 players, 0 damages\n";
    assert_eq!(verify(), sound);

    let data = directory.to_str().expect("text");
    let (mut process, address) = start(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    let welcome = ann.ask(json!({"type": "hello", "token": ANN})).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    assert_eq!(welcome["following"].as_array().map(Vec::len), Some(5));
    let past = ann.ask(json!({"type": "history"})).await;
    let past = past["rows"].as_array().expect("a list").iter();
    let past: Vec<&str> = past
        .map(|row| row["match"].as_str().expect("an id"))
        .collect();
    assert_eq!(past, PAST, "what ended before is found");
    let explored = ann
        .ask(json!({"type": "explore", "game": "tic-tac-toe"}))
        .await;
    assert_eq!(explored["n"], 2, "{explored}");
    let play = json!({"type": "move", "match": CHESS, "ply": 4, "move": "f1b5"});
    assert_eq!(ann.ask(play).await["seq"], 8);
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
    assert_eq!(verify(), sound.replace("68 events", "69 events"));
}
