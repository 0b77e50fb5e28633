//! Kills the real server with `kill -9` around the end of a rated match. Every match must be rated
//! exactly once. A rebuild from the rating ledger must reproduce all ratings bit for bit.

use std::path::Path;

use plyhouse_connection::Connection;
use plyhouse_matches::ratings::{LedgerRow, RatingKey};
use plyhouse_store::{
    RatingStep, RatingStore, SqliteInspector, SqliteStore, Store, StoreInspector, rebuild_ratings,
    run_rating_step, verify_ratings,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::process::Child;

use super::launch_server;
use crate::support::json_string;

/// Number of times the server is killed, unless the environment variable `RATED_KILLS` is set.
const DEFAULT_KILLS: usize = 8;

/// Number of matches per pair of players. The server rates at most thirty matches per day between
/// two players.
const MATCHES_PER_PAIR: usize = 8;

/// Opening moves of the matches. No opening is a rotation or reflection of another one. Each match
/// of a pair of players uses a different opening, because a repeated game might not be rated.
const OPENING_MOVES: [[&str; 2]; MATCHES_PER_PAIR] = [
    ["b2", "a1"],
    ["b2", "a2"],
    ["a1", "b2"],
    ["a1", "c3"],
    ["a1", "a2"],
    ["a1", "c1"],
    ["a2", "b2"],
    ["a2", "c2"],
];

/// Point in time at which the server is killed.
#[derive(Clone, Copy, Debug)]
enum KillPoint {
    /// Kills the server right after a player sent the resignation.
    ResignSent,
    /// Kills the server right after the server answered the resignation.
    ResignAnswered,
    /// Kills the server right after a client received the rating changes of the match.
    RatingReceived,
}

/// Client of one account, with at most one connection.
struct AccountClient {
    name: String,
    token: Option<String>,
    connection: Option<Connection>,
    last_request_id: u64,
}

impl AccountClient {
    fn new(name: String) -> Self {
        Self {
            name,
            token: None,
            connection: None,
            last_request_id: 0,
        }
    }

    fn connection(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("connected")
    }

    async fn send(&mut self, mut request: Value) -> u64 {
        self.last_request_id += 1;
        request["id"] = json!(self.last_request_id);
        let sent = self.connection().send_text(request.to_string()).await;
        sent.expect("the connection is open");
        self.last_request_id
    }

    async fn receive(&mut self) -> Value {
        let message = self.connection().receive_text().await;
        let message = message.expect("the connection is open");
        serde_json::from_str(&message).expect("JSON")
    }

    async fn receive_until(&mut self, predicate: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive().await;
            if predicate(&message) {
                return message;
            }
        }
    }

    async fn request(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        let answer = self.receive_until(|message| message["re"] == id).await;
        assert_ne!(answer["type"], "error", "{answer}");
        answer
    }

    /// Connects to the server. The first call registers the account, and later calls resume its
    /// session.
    async fn connect(&mut self, url: &str) {
        self.connection = Some(
            Connection::open(url)
                .await
                .expect("the server is listening"),
        );
        let hello = json!({"type": "hello", "name": self.name, "token": self.token});
        let welcome = self.request(hello).await;
        if self.token.replace(json_string(&welcome["token"])).is_none() {
            let register = json!({"type": "register", "name": self.name});
            self.request(register).await;
        } else {
            assert_eq!(welcome["resumed"], true, "{welcome}");
        }
    }
}

/// Plays a rated match and kills the server at the kill point. Returns the match id and whether the
/// server answered the resignation.
async fn play_rated_match_and_kill(
    [ann, bob]: [&mut AccountClient; 2],
    moves: [&str; 2],
    kill_point: KillPoint,
    mut server: Child,
) -> (String, bool) {
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let create = json!({"type": "create", "game": "tic-tac-toe", "rated": true, "clock": clock});
    let id = json_string(&ann.request(create).await["match"]);
    bob.request(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(moves) {
        let player = if ply == 0 { &mut *ann } else { &mut *bob };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        player.request(play).await;
    }
    let resign = json!({"type": "resign", "match": id});
    let is_answered = match kill_point {
        KillPoint::ResignSent => {
            bob.send(resign).await;
            false
        }
        KillPoint::ResignAnswered => {
            bob.request(resign).await;
            true
        }
        KillPoint::RatingReceived => {
            bob.request(resign).await;
            let is_rating =
                |message: &Value| message["type"] == "rating" && message["match"] == *id;
            ann.receive_until(is_rating).await;
            true
        }
    };
    server.start_kill().expect("the process is running");
    server.wait().await.expect("the process exits");
    (id, is_answered)
}

#[tokio::test]
async fn each_ended_match_is_rated_once_despite_kills() {
    let kills = std::env::var("RATED_KILLS");
    let kills = kills.map_or(DEFAULT_KILLS, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(3);
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let mut answered_ids = Vec::new();
    let mut accounts = ["ann", "bob"].map(|name| AccountClient::new(name.to_owned()));
    for kill in 0..kills {
        if kill % MATCHES_PER_PAIR == 0 {
            accounts = ["ann", "bob"].map(|name| AccountClient::new(format!("{name} {kill}")));
        }
        let (server, url) = launch_server(data).await;
        for account in &mut accounts {
            account.connect(&url).await;
        }
        let kill_point = [
            KillPoint::ResignSent,
            KillPoint::ResignAnswered,
            KillPoint::RatingReceived,
        ][rng.random_range(0..3)];
        let moves = OPENING_MOVES[kill % OPENING_MOVES.len()];
        let (id, is_answered) =
            play_rated_match_and_kill(accounts.each_mut(), moves, kill_point, server).await;
        answered_ids.extend(is_answered.then_some(id));
    }
    check_ratings(directory.path(), &answered_ids).await;
}

/// Rates the matches that are not yet rated, then checks the ledger and all ratings.
async fn check_ratings(directory: &Path, answered_ids: &[String]) {
    let store = SqliteStore::open(directory, None).expect("the store opens");
    let state = store.rating_progress().await.expect("readable");
    assert!(
        state.live.cursor > 0,
        "the servers have rated at least one match"
    );
    while !matches!(
        run_rating_step(&store, 0).await.expect("the step succeeds"),
        RatingStep::Idle(_)
    ) {}
    let rows = store.ledger(0, usize::MAX >> 1).await.expect("readable");
    let mut ids: Vec<String> = Vec::new();
    for (expected, (no, row)) in (1..).zip(&rows) {
        assert_eq!(*no, expected, "no ledger number is missing");
        if let LedgerRow::Game(game) = row {
            ids.push(game.match_id.to_string());
        }
    }
    let rated_count = ids.len();
    for id in answered_ids {
        assert!(ids.contains(id), "{id} has ended, but is not in the ledger");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rated_count, "a match has one ledger row");
    let inspector = SqliteInspector::open(directory).expect("the store opens");
    assert_eq!(inspector.integrity_faults(), Vec::<String>::new());

    let bits_before = load_rating_bits(&store).await;
    let game_count: u64 = bits_before.iter().map(|(_, _, games)| games).sum();
    assert_eq!(
        game_count,
        2 * rated_count as u64,
        "each match counts once for either"
    );
    let mut differences = Vec::new();
    let verified = verify_ratings(&store, &mut |difference| differences.push(difference)).await;
    assert_eq!(verified.expect("readable").0, rows.len() as u64);
    assert_eq!(differences, []);
    rebuild_ratings(&store).await.expect("the rebuild succeeds");
    assert_eq!(load_rating_bits(&store).await, bits_before);
    eprintln!(
        "{rated_count} matches were rated, of which {} were answered",
        answered_ids.len()
    );
}

/// Returns the exact bits of each rating. Each entry also has the number of games that the rating
/// is based on.
async fn load_rating_bits(store: &dyn Store) -> Vec<(RatingKey, [u64; 3], u64)> {
    let (mut ratings, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.ratings_after(cursor).await.expect("readable");
        let Some((end, _)) = page.last() else {
            return ratings;
        };
        cursor = Some(end.clone());
        let page = page.into_iter();
        ratings.extend(page.map(|(record, rated)| (record, rated.rating.bits(), rated.games)));
    }
}
