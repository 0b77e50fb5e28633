//! Matches by the clock, while the real process stands still, or dies.

use std::collections::VecDeque;
use std::time::Duration;

use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::launch_server;
use crate::real_sockets::send_signal;
use crate::support::json_string;

/// How long anybody waits for a message, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody who plays, and whom the server knows again.
struct Person {
    connection: Connection,
    asked: u64,
    /// What came before an answer that was waited for.
    inbox: VecDeque<Value>,
    token: String,
}

impl Person {
    async fn hello(url: &str, hello: Value) -> Self {
        let connection = Connection::open(url).await.expect("it listens");
        let mut person = Self {
            connection,
            asked: 0,
            inbox: VecDeque::new(),
            token: String::new(),
        };
        person.token = json_string(&person.ask(hello).await["token"]);
        person
    }

    async fn come(url: &str, name: &str) -> Self {
        Self::hello(url, json!({"type": "hello", "name": name})).await
    }

    /// The same person on a new connection, who is shown the match.
    async fn come_back(&self, url: &str) -> (Self, Value) {
        let mut back = Self::hello(url, json!({"type": "hello", "token": self.token})).await;
        let shown = back.told("match").await;
        (back, shown)
    }

    async fn receive(&mut self) -> Value {
        let text = timeout(PATIENCE, self.connection.receive_text()).await;
        let text = text.expect("in time").expect("the server lives");
        serde_json::from_str(&text).expect("JSON")
    }

    async fn send(&mut self, mut request: Value) -> u64 {
        self.asked += 1;
        request["id"] = self.asked.into();
        let sent = self.connection.send_text(request.to_string()).await;
        sent.expect("the connection stands");
        self.asked
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["re"] == id {
                assert_ne!(message["type"], "error", "{message}");
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    async fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        self.answer(id).await
    }

    /// The next message of this type.
    async fn told(&mut self, kind: &str) -> Value {
        loop {
            let message = match self.inbox.pop_front() {
                Some(message) => message,
                None => self.receive().await,
            };
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Plays, and gives the event.
    async fn play(&mut self, id: &str, ply: u64, m: &str) -> Value {
        self.ask(a_move(id, ply, m)).await;
        self.told("moved").await
    }
}

fn a_move(id: &str, ply: u64, m: &str) -> Value {
    json!({"type": "move", "match": id, "ply": ply, "move": m})
}

/// Ann and Bob play chess with so much time, and have played their free plies.
async fn begun(url: &str, main_ms: u64) -> (Person, Person, String) {
    let (mut ann, mut bob) = (
        Person::come(url, "ann").await,
        Person::come(url, "bob").await,
    );
    let clock = json!({"kind": "fischer", "main_ms": main_ms, "increment_ms": 2000});
    let create = json!({"type": "create", "game": "chess", "clock": clock});
    let id = json_string(&ann.ask(create).await["match"]);
    bob.ask(json!({"type": "join", "match": id})).await;
    ann.play(&id, 0, "e2e4").await;
    bob.told("moved").await;
    // What Bob has is not looked at, so it is to last.
    let more = json!({"type": "give_time", "match": id, "ms": 60_000});
    ann.ask(more).await;
    bob.play(&id, 1, "e7e5").await;
    ann.told("moved").await;
    (ann, bob, id)
}

#[tokio::test]
async fn a_process_that_stood_still_flags_nobody() {
    let directory = tempfile::tempdir().expect("a directory");
    let (process, url) = launch_server(directory.path().to_str().expect("text")).await;
    let (mut ann, mut bob, id) = begun(&url, 2000).await;

    send_signal(&process, "STOP").await;
    // She is in time, but nobody reads it.
    let sent = ann.send(a_move(&id, 2, "g1f3")).await;
    sleep(Duration::from_secs(5)).await;
    send_signal(&process, "CONT").await;

    ann.answer(sent).await;
    let moved = bob.told("moved").await;
    assert_eq!(moved["move"], "g1f3");
    let left = 2000 - moved["spent_ms"].as_u64().expect("a number") + 2000;
    assert_eq!(moved["left_ms"], json!([left, 62_000]));
    assert_eq!(bob.play(&id, 3, "b8c6").await["turn"], 0);
}

#[tokio::test]
async fn a_turn_that_is_cut_short_has_its_time_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let (mut process, url) = launch_server(data).await;
    let (mut ann, mut bob, id) = begun(&url, 60_000).await;
    ann.play(&id, 2, "g1f3").await;
    bob.told("moved").await;
    let before = bob.play(&id, 3, "b8c6").await["left_ms"].clone();
    loop {
        let shown = ann.ask(json!({"type": "watch", "match": id})).await;
        assert_eq!(shown["left_ms"], before);
        if shown["turn_ms"].as_u64() >= Some(50) {
            break;
        }
    }
    die(&mut process).await;

    let (_process, url) = launch_server(data).await;
    let times = |told: &Value| json!([told["left_ms"], told["turn_ms"], told["stands"]]);
    let (mut bob, shown) = bob.come_back(&url).await;
    assert_eq!(times(&shown), json!([before, 0, true]));
    let (mut ann, _) = ann.come_back(&url).await;
    let goes_on = bob.told("clock").await;
    assert_eq!(times(&goes_on), json!([before, 0, false]));
    let moved = ann.play(&id, 4, "f1b5").await;
    let spent = moved["spent_ms"].as_u64().expect("a number");
    let left = before[0].as_u64().expect("a number") - spent + 2000;
    assert_eq!(moved["left_ms"], json!([left, before[1]]));
}

/// Kills the server, and waits for its end.
async fn die(process: &mut Child) {
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}
