//! The real server, killed (`kill -9`) between the end of a rated match and its rating: whatever had come of that,
//! each match is rated once, and the same follows from the ledger, bit for bit.

use std::path::Path;

use plyhouse_connection::Connection;
use plyhouse_matches::ratings::{LedgerRow, RatingKey};
use plyhouse_store::{
    RatingStep, SqliteInspector, SqliteStore, Store, StoreInspector, rebuild_ratings,
    run_rating_step, verify_ratings,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::process::Child;

use super::launch_server;
use crate::support::json_string;

/// How often the server is killed, unless `RATED_KILLS` says otherwise.
const KILLS: usize = 8;

/// After so many matches two others go on: between the same two no more than thirty a day count.
const OF_TWO: usize = 8;

/// Beginnings that are not the same on any board: one for each match of two, lest one does not count.
const LINES: [[&str; 2]; OF_TWO] = [
    ["b2", "a1"],
    ["b2", "a2"],
    ["a1", "b2"],
    ["a1", "c3"],
    ["a1", "a2"],
    ["a1", "c1"],
    ["a2", "b2"],
    ["a2", "c2"],
];

/// When the server dies.
#[derive(Clone, Copy, Debug)]
enum When {
    /// As soon as the end is asked for.
    Asked,
    /// As soon as that is answered.
    Answered,
    /// As soon as it has been told what the match has changed.
    Rated,
}

/// An account with one connection.
struct Account {
    name: String,
    token: Option<String>,
    line: Option<Connection>,
    asked: u64,
}

impl Account {
    fn new(name: String) -> Self {
        Self {
            name,
            token: None,
            line: None,
            asked: 0,
        }
    }

    fn line(&mut self) -> &mut Connection {
        self.line.as_mut().expect("connected")
    }

    async fn send(&mut self, mut request: Value) -> u64 {
        self.asked += 1;
        request["id"] = json!(self.asked);
        let sent = self.line().send_text(request.to_string()).await;
        sent.expect("the server lives");
        self.asked
    }

    async fn next(&mut self) -> Value {
        let message = self.line().receive_text().await;
        let message = message.expect("the server lives");
        serde_json::from_str(&message).expect("JSON")
    }

    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if is_it(&message) {
                return message;
            }
        }
    }

    async fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        let answer = self.until(|message| message["re"] == id).await;
        assert_ne!(answer["type"], "error", "{answer}");
        answer
    }

    /// Comes back as the account, which is made the first time.
    async fn connect(&mut self, url: &str) {
        self.line = Some(Connection::open(url).await.expect("the server listens"));
        let hello = json!({"type": "hello", "name": self.name, "token": self.token});
        let welcome = self.ask(hello).await;
        if self.token.replace(json_string(&welcome["token"])).is_none() {
            let register = json!({"type": "register", "name": self.name});
            self.ask(register).await;
        } else {
            assert_eq!(welcome["resumed"], true, "{welcome}");
        }
    }
}

/// Plays a rated match up to its end, at which the server dies. Tells which it was, and whether its end was
/// answered.
async fn round(
    [ann, bob]: [&mut Account; 2],
    line: [&str; 2],
    when: When,
    mut server: Child,
) -> (String, bool) {
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let create = json!({"type": "create", "game": "tic-tac-toe", "rated": true, "clock": clock});
    let id = json_string(&ann.ask(create).await["match"]);
    bob.ask(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(line) {
        let player = if ply == 0 { &mut *ann } else { &mut *bob };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        player.ask(play).await;
    }
    let resign = json!({"type": "resign", "match": id});
    let is_answered = match when {
        When::Asked => {
            bob.send(resign).await;
            false
        }
        When::Answered => {
            bob.ask(resign).await;
            true
        }
        When::Rated => {
            bob.ask(resign).await;
            let is_it = |message: &Value| message["type"] == "rating" && message["match"] == *id;
            ann.until(is_it).await;
            true
        }
    };
    server.start_kill().expect("it runs");
    server.wait().await.expect("it ends");
    (id, is_answered)
}

#[tokio::test]
async fn each_match_is_rated_once() {
    let kills = std::env::var("RATED_KILLS");
    let kills = kills.map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(3);
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let mut answered = Vec::new();
    let mut two = ["ann", "bob"].map(|name| Account::new(name.to_owned()));
    for kill in 0..kills {
        if kill % OF_TWO == 0 {
            two = ["ann", "bob"].map(|name| Account::new(format!("{name} {kill}")));
        }
        let (server, url) = launch_server(data).await;
        for account in &mut two {
            account.connect(&url).await;
        }
        let when = [When::Asked, When::Answered, When::Rated][rng.random_range(0..3)];
        let line = LINES[kill % LINES.len()];
        let (id, is_answered) = round(two.each_mut(), line, when, server).await;
        answered.extend(is_answered.then_some(id));
    }
    check(directory.path(), &answered).await;
}

/// Looks at what is kept, and has what is left rated.
async fn check(directory: &Path, answered: &[String]) {
    let store = SqliteStore::open(directory, None).expect("it opens");
    let state = store.rating_progress().await.expect("readable");
    assert!(state.live.cursor > 0, "servers have rated something");
    while !matches!(
        run_rating_step(&store, 0).await.expect("it can be made"),
        RatingStep::Idle(_)
    ) {}
    let rows = store.ledger(0, usize::MAX >> 1).await.expect("readable");
    let mut ids: Vec<String> = Vec::new();
    for (expected, (no, row)) in (1..).zip(&rows) {
        assert_eq!(*no, expected, "no number is missing");
        if let LedgerRow::Game(game) = row {
            ids.push(game.match_id.to_string());
        }
    }
    let numbered = ids.len();
    for id in answered {
        assert!(ids.contains(id), "{id} has ended, and has no number");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), numbered, "a match has one number");
    let archive = SqliteInspector::open(directory).expect("it opens");
    assert_eq!(archive.integrity_faults(), Vec::<String>::new());

    let before = bits(&store).await;
    let games: u64 = before.iter().map(|(_, _, games)| games).sum();
    assert_eq!(
        games,
        2 * numbered as u64,
        "each match counts once for either"
    );
    let mut differences = Vec::new();
    let verified = verify_ratings(&store, &mut |difference| differences.push(difference)).await;
    assert_eq!(verified.expect("readable").0, rows.len() as u64);
    assert_eq!(differences, []);
    rebuild_ratings(&store).await.expect("it can be");
    assert_eq!(bits(&store).await, before);
    eprintln!(
        "{numbered} matches were rated, of which {} were answered",
        answered.len()
    );
}

/// All ratings, bit for bit.
async fn bits(store: &dyn Store) -> Vec<(RatingKey, [u64; 3], u64)> {
    let (mut all, mut last) = (Vec::new(), None);
    loop {
        let page = store.ratings_after(last).await.expect("readable");
        let Some((end, _)) = page.last() else {
            return all;
        };
        last = Some(end.clone());
        let page = page.into_iter();
        all.extend(page.map(|(record, rated)| (record, rated.rating.bits(), rated.games)));
    }
}
