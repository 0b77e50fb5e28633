//! Clocks of matches while the real server process is stopped or killed.

use std::collections::VecDeque;
use std::time::Duration;

use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::launch_server;
use crate::real_sockets::send_signal;
use crate::support::json_string;

/// Maximum wait for a message, generous enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A player's client with the token to resume its session.
struct PlayerClient {
    connection: Connection,
    last_request_id: u64,
    /// Messages that arrived while the client waited for the answer to a request.
    inbox: VecDeque<Value>,
    token: String,
}

impl PlayerClient {
    async fn log_in(url: &str, hello: Value) -> Self {
        let connection = Connection::open(url)
            .await
            .expect("the server is listening");
        let mut client = Self {
            connection,
            last_request_id: 0,
            inbox: VecDeque::new(),
            token: String::new(),
        };
        client.token = json_string(&client.request(hello).await["token"]);
        client
    }

    async fn connect_guest(url: &str, name: &str) -> Self {
        Self::log_in(url, json!({"type": "hello", "name": name})).await
    }

    /// Resumes the session on a new connection. Returns the client and the snapshot of its match.
    async fn reconnect(&self, url: &str) -> (Self, Value) {
        let mut client = Self::log_in(url, json!({"type": "hello", "token": self.token})).await;
        let snapshot = client.receive_event("match").await;
        (client, snapshot)
    }

    async fn receive(&mut self) -> Value {
        let text = timeout(TIMEOUT, self.connection.receive_text()).await;
        let text = text.expect("in time").expect("the connection is open");
        serde_json::from_str(&text).expect("JSON")
    }

    async fn send(&mut self, mut request: Value) -> u64 {
        self.last_request_id += 1;
        request["id"] = self.last_request_id.into();
        let sent = self.connection.send_text(request.to_string()).await;
        sent.expect("the connection is open");
        self.last_request_id
    }

    async fn receive_answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["re"] == id {
                assert_ne!(message["type"], "error", "{message}");
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    async fn request(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        self.receive_answer(id).await
    }

    /// Returns the next message of type `kind` and skips the messages before it.
    async fn receive_event(&mut self, kind: &str) -> Value {
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

    /// Plays a move and returns its `moved` event.
    async fn play_move(&mut self, id: &str, ply: u64, m: &str) -> Value {
        self.request(move_request(id, ply, m)).await;
        self.receive_event("moved").await
    }
}

fn move_request(id: &str, ply: u64, m: &str) -> Value {
    json!({"type": "move", "match": id, "ply": ply, "move": m})
}

/// Starts a chess match between Ann and Bob. `main_ms` is the main time of the clock. Plays the
/// first ply of each player, which uses no clock time.
async fn start_chess_after_free_plies(
    url: &str,
    main_ms: u64,
) -> (PlayerClient, PlayerClient, String) {
    let (mut ann, mut bob) = (
        PlayerClient::connect_guest(url, "ann").await,
        PlayerClient::connect_guest(url, "bob").await,
    );
    let clock = json!({"kind": "fischer", "main_ms": main_ms, "increment_ms": 2000});
    let create = json!({"type": "create", "game": "chess", "clock": clock});
    let id = json_string(&ann.request(create).await["match"]);
    bob.request(json!({"type": "join", "match": id})).await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.receive_event("moved").await;
    // Ann gives Bob 60 seconds of extra time, so that his clock does not run out during a test.
    let give_time = json!({"type": "give_time", "match": id, "ms": 60_000});
    ann.request(give_time).await;
    bob.play_move(&id, 1, "e7e5").await;
    ann.receive_event("moved").await;
    (ann, bob, id)
}

#[tokio::test]
async fn process_stall_does_not_flag_player_who_moved_in_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let (process, url) = launch_server(directory.path().to_str().expect("text")).await;
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&url, 2000).await;

    send_signal(&process, "STOP").await;
    // Ann sends the move in time, but the stopped server process cannot read it for five seconds.
    // Ann must not lose on time.
    let request_id = ann.send(move_request(&id, 2, "g1f3")).await;
    sleep(Duration::from_secs(5)).await;
    send_signal(&process, "CONT").await;

    ann.receive_answer(request_id).await;
    let moved = bob.receive_event("moved").await;
    assert_eq!(moved["move"], "g1f3");
    let left_ms = 2000 - moved["spent_ms"].as_u64().expect("a number") + 2000;
    assert_eq!(moved["left_ms"], json!([left_ms, 62_000]));
    assert_eq!(bob.play_move(&id, 3, "b8c6").await["turn"], 0);
}

#[tokio::test]
async fn turn_interrupted_by_kill_restarts_with_full_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let (mut process, url) = launch_server(data).await;
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&url, 60_000).await;
    ann.play_move(&id, 2, "g1f3").await;
    bob.receive_event("moved").await;
    let before = bob.play_move(&id, 3, "b8c6").await["left_ms"].clone();
    loop {
        let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
        assert_eq!(snapshot["left_ms"], before);
        if snapshot["turn_ms"].as_u64() >= Some(50) {
            break;
        }
    }
    kill_and_wait(&mut process).await;

    let (_process, url) = launch_server(data).await;
    let time_fields =
        |message: &Value| json!([message["left_ms"], message["turn_ms"], message["stands"]]);
    let (mut bob, snapshot) = bob.reconnect(&url).await;
    assert_eq!(time_fields(&snapshot), json!([before, 0, true]));
    let (mut ann, _) = ann.reconnect(&url).await;
    let clock_event = bob.receive_event("clock").await;
    assert_eq!(time_fields(&clock_event), json!([before, 0, false]));
    let moved = ann.play_move(&id, 4, "f1b5").await;
    let spent_ms = moved["spent_ms"].as_u64().expect("a number");
    let left_ms = before[0].as_u64().expect("a number") - spent_ms + 2000;
    assert_eq!(moved["left_ms"], json!([left_ms, before[1]]));
}

async fn kill_and_wait(process: &mut Child) {
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}
