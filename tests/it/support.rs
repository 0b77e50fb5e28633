//! Test harness: a server in the test process, and players that use the JSON protocol.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::FutureExt;
use jsonschema::Validator;
use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_server::{SearchMode, Server, Settings};
use plyhouse_store::{MemoryStore, Store, StoreMetrics};
use plyhouse_transport::Transport;
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::time::timeout;

/// This timeout is longer than any wait in the protocol. With paused time, it takes no real time.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(300);

/// Capacity of a pipe, similar to the capacity of socket buffers.
const PIPE_BYTES: usize = 64 * 1024;

/// Returns the default settings for tests. Bots search on the test's thread, and random values are
/// reproducible.
pub(crate) fn settings() -> Settings {
    Settings {
        search: SearchMode::Inline,
        seed: Some(7),
        // All matches have an absence limit of one minute, so most tests need not set a limit.
        abandon_after: Some(Duration::from_secs(60)),
        ..Settings::default()
    }
}

/// Returns settings with a ping interval of one week, so that test clients need not answer pings.
/// The settings also disable lag compensation.
pub(crate) fn settings_without_pings() -> Settings {
    let never = Duration::from_secs(7 * 24 * 3600);
    Settings {
        lag_compensation: Duration::ZERO,
        ping_interval: never,
        idle_timeout: never,
        ..settings()
    }
}

/// Returns settings with high request limits, for tests that send more requests than a normal
/// client.
pub(crate) fn settings_without_limits() -> Settings {
    let many = NonZeroU32::new(1_000_000).expect("not zero");
    Settings {
        requests_per_s: many,
        burst: many,
        matches_max: 500,
        ..settings()
    }
}

/// Returns the string in `value`. Panics if `value` is not a string.
pub(crate) fn json_string(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a string: {value}"))
        .to_owned()
}

/// Plays a match that Ann creates and Bob joins. Bob resigns unless the moves end the match.
/// Returns the match id.
pub(crate) async fn play_match_to_end(
    ann: &mut TestPlayer,
    bob: &mut TestPlayer,
    create: Value,
    moves: &[&str],
) -> String {
    let id = ann.create_match(create).await;
    bob.request(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(moves) {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
    }
    bob.request(json!({"type": "resign", "match": id})).await;
    for player in [ann, bob] {
        player.drain_messages().await;
    }
    id
}

/// Sleeps for `seconds`. With paused time, the sleep takes no real time.
pub(crate) async fn advance_time(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Server in the test process.
pub(crate) struct TestServer {
    pub(crate) server: Server,
    pub(crate) transport: Transport,
}

impl TestServer {
    pub(crate) fn start(settings: Settings) -> Self {
        Self::with_store(settings, Arc::new(MemoryStore::default()))
    }

    pub(crate) fn with_store(settings: Settings, store: Arc<dyn Store>) -> Self {
        Self::with_metrics(settings, store, &StoreMetrics::default())
    }

    /// Starts a server that exports the metrics of its store.
    pub(crate) fn with_metrics(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
    ) -> Self {
        let started = Server::start(settings, store, metrics);
        let server = started.expect("inline search starts no threads");
        let transport = Transport::new(server.clone());
        Self { server, transport }
    }

    /// Opens a WebSocket without sending `hello`.
    pub(crate) async fn connect(&self) -> TestPlayer {
        self.connect_with_pipe(PIPE_BYTES).await
    }

    /// Opens a WebSocket over a pipe with a capacity of `pipe_bytes`.
    pub(crate) async fn connect_with_pipe(&self, pipe_bytes: usize) -> TestPlayer {
        Self::upgrade_to_websocket(self.open_pipe(pipe_bytes, None)).await
    }

    /// Opens a WebSocket from the address `from`.
    pub(crate) async fn connect_from(&self, from: IpAddr) -> TestPlayer {
        Self::upgrade_to_websocket(self.connect_raw_from(from)).await
    }

    /// Opens a pipe to the server and returns the client end.
    fn open_pipe(&self, pipe_bytes: usize, from: Option<IpAddr>) -> DuplexStream {
        let (near, far) = tokio::io::duplex(pipe_bytes);
        let transport = self.transport.clone();
        self.server
            .spawn(async move { transport.serve_stream(far, from).await });
        near
    }

    async fn upgrade_to_websocket(near: DuplexStream) -> TestPlayer {
        let connection = Connection::open_over_stream(near, "ws://plyhouse.test/ws").await;
        TestPlayer::new(connection.expect("the server accepts"))
    }

    /// Opens a connection without sending anything.
    pub(crate) fn connect_raw(&self) -> DuplexStream {
        self.open_pipe(PIPE_BYTES, None)
    }

    /// Opens a connection from the address `from` without sending anything.
    pub(crate) fn connect_raw_from(&self, from: IpAddr) -> DuplexStream {
        self.open_pipe(PIPE_BYTES, Some(from))
    }

    /// Opens a connection over a pipe with a capacity of `pipe_bytes`, without sending anything.
    pub(crate) fn connect_raw_with_pipe(&self, pipe_bytes: usize, from: IpAddr) -> DuplexStream {
        self.open_pipe(pipe_bytes, Some(from))
    }

    /// Connects a player with this name.
    pub(crate) async fn connect_player(&self, name: &str) -> TestPlayer {
        let mut player = self.connect().await;
        player.send_hello(json!({"name": name})).await;
        player
    }

    /// Connects with the token of a session. Returns the connection and its `welcome` message.
    pub(crate) async fn resume_session(&self, token: &str) -> (TestPlayer, Value) {
        let mut player = self.connect().await;
        let welcome = player.send_hello(json!({"token": token})).await;
        (player, welcome)
    }

    /// Starts a tic-tac-toe match with Ann in seat 0 and Bob in seat 1. Both players have received
    /// the start of the match.
    pub(crate) async fn start_match(&self) -> (TestPlayer, TestPlayer, String) {
        self.start_match_of("tic-tac-toe").await
    }

    /// Starts a match of `game` between Ann and Bob.
    pub(crate) async fn start_match_of(&self, game: &str) -> (TestPlayer, TestPlayer, String) {
        self.start_match_with(json!({"game": game})).await
    }

    /// Starts a match between Ann and Bob from a `create` request with these fields.
    pub(crate) async fn start_match_with(&self, create: Value) -> (TestPlayer, TestPlayer, String) {
        let (mut ann, mut bob) = (
            self.connect_player("ann").await,
            self.connect_player("bob").await,
        );
        let id = ann.create_match(create).await;
        let snapshot = bob.request(json!({"type": "join", "match": id})).await;
        assert_eq!(snapshot["status"], "running");
        ann.expect_event("seated").await;
        ann.expect_event("started").await;
        (ann, bob, id)
    }
}

/// Test client that checks every message against the schema and queues messages that arrive before
/// an answer.
pub(crate) struct TestPlayer {
    connection: Connection<DuplexStream>,
    next_id: u64,
    inbox: VecDeque<Value>,
    /// Text of all received messages, if the test records them.
    pub(crate) raw_messages: Option<Vec<String>>,
    pub(crate) welcome: Value,
}

impl TestPlayer {
    fn new(connection: Connection<DuplexStream>) -> Self {
        Self {
            connection,
            next_id: 1,
            inbox: VecDeque::new(),
            raw_messages: None,
            welcome: Value::Null,
        }
    }

    pub(crate) async fn send_hello(&mut self, fields: Value) -> Value {
        let answer = self.request(with_type("hello", fields)).await;
        if answer["type"] == "welcome" {
            self.welcome = answer.clone();
        }
        answer
    }

    pub(crate) fn token(&self) -> String {
        json_string(&self.welcome["token"])
    }

    pub(crate) fn id(&self) -> &Value {
        &self.welcome["player"]["id"]
    }

    /// Creates a match and returns its id. The default game is tic-tac-toe.
    pub(crate) async fn create_match(&mut self, fields: Value) -> String {
        let mut request = with_type("create", fields);
        request
            .as_object_mut()
            .expect("an object")
            .entry("game")
            .or_insert("tic-tac-toe".into());
        let snapshot = self.request(request).await;
        assert_eq!(snapshot["type"], "match", "{snapshot}");
        json_string(&snapshot["match"])
    }

    pub(crate) async fn play_move(&mut self, id: &str, ply: u64, m: &str) -> Value {
        self.request(json!({"type": "move", "match": id, "ply": ply, "move": m}))
            .await
    }

    /// Sends a request with a new id and returns its answer. Messages that arrive before the answer
    /// are queued.
    pub(crate) async fn request(&mut self, request: Value) -> Value {
        assert_matches_schema(&CLIENT_SCHEMA, &request);
        self.request_unchecked(request).await
    }

    /// Like [`request`](Self::request), but without checking the request against the schema.
    pub(crate) async fn request_unchecked(&mut self, request: Value) -> Value {
        let (_, mut messages) = self.request_and_collect(request).await;
        let answer = messages.pop().expect("the answer comes last");
        self.inbox.extend(messages);
        answer
    }

    /// Sends a request. Returns the request with its id, and all messages up to and including the
    /// answer.
    pub(crate) async fn request_and_collect(&mut self, mut request: Value) -> (Value, Vec<Value>) {
        let id = self.next_id;
        self.next_id += 1;
        request["id"] = id.into();
        self.send_text(&request.to_string()).await;
        let mut messages: Vec<Value> = self.inbox.drain(..).collect();
        loop {
            let message = self.receive().await.expect("the connection is open");
            let is_answer = message["re"] == id;
            messages.push(message);
            if is_answer {
                return (request, messages);
            }
        }
    }

    /// Sends a request and returns the code of the error in the answer. Panics if the answer is not
    /// an error.
    pub(crate) async fn expect_error(&mut self, request: Value) -> String {
        let answer = self.request(request.clone()).await;
        assert_eq!(answer["type"], "error", "{request} was answered {answer}");
        json_string(&answer["code"])
    }

    /// Sends a text message unchanged.
    pub(crate) async fn send_text(&mut self, text: &str) {
        self.connection
            .send_text(text.to_owned())
            .await
            .expect("the connection is open");
    }

    /// Returns the next queued or received message. The queue does not contain the answers that
    /// [`request`](Self::request) has returned.
    pub(crate) async fn next_message(&mut self) -> Value {
        match self.inbox.pop_front() {
            Some(message) => message,
            None => self.receive().await.expect("the connection is open"),
        }
    }

    /// Returns the next message, which must be of type `kind`. Other messages of the types
    /// `presence` and `rematch` are skipped, because their timing varies.
    #[track_caller]
    pub(crate) fn expect_event(&mut self, kind: &str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            loop {
                let message = self.next_message().await;
                if message["type"] == kind {
                    return message;
                }
                let is_skipped = message["type"] == "presence" || message["type"] == "rematch";
                assert!(is_skipped, "{caller}: expected {kind}: {message}");
            }
        }
    }

    /// Waits for a `presence` message with these values in the fields `seats` and `spectators`.
    pub(crate) async fn wait_for_presence(&mut self, seats: Value, spectators: u64) {
        loop {
            let presence = self.expect_event("presence").await;
            if presence["seats"] == seats && presence["spectators"] == spectators {
                return;
            }
        }
    }

    /// Waits until the server has sent its pending messages, and returns all messages that the test
    /// has not read.
    pub(crate) async fn drain_messages(&mut self) -> Vec<Value> {
        // The server answers the ping after it has sent all earlier messages.
        self.request(json!({"type": "ping"})).await;
        self.inbox.drain(..).collect()
    }

    /// Waits until the connection ends and returns the close code.
    pub(crate) async fn wait_for_close(&mut self) -> u16 {
        loop {
            match self.receive().await {
                Ok(message) => self.inbox.push_back(message),
                Err(ConnectionError::Closed { code, .. }) => return code,
                Err(error) => panic!("closed without a close frame: {error}"),
            }
        }
    }

    /// Sends a text message, or returns an error if the connection is closed.
    pub(crate) async fn try_send_text(&mut self, text: &str) -> Result<(), ConnectionError> {
        self.connection.send_text(text.to_owned()).await
    }

    /// Returns the close code if the connection has already ended.
    pub(crate) fn try_close_code(&mut self) -> Option<u16> {
        loop {
            match self.connection.receive_text().now_or_never()? {
                Ok(_) => {}
                Err(ConnectionError::Closed { code, .. }) => return Some(code),
                Err(error) => panic!("closed without a close frame: {error}"),
            }
        }
    }

    pub(crate) async fn receive(&mut self) -> Result<Value, ConnectionError> {
        let text = timeout(RECEIVE_TIMEOUT, self.connection.receive_text())
            .await
            .expect("in time")?;
        let message = serde_json::from_str(&text).expect("JSON");
        assert_matches_schema(&SERVER_SCHEMA, &message);
        if let Some(raw_messages) = &mut self.raw_messages {
            raw_messages.push(text);
        }
        Ok(message)
    }
}

fn with_type(kind: &str, mut fields: Value) -> Value {
    fields["type"] = kind.into();
    fields
}

static CLIENT_SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| compile_schema(include_str!("../../src/protocol/schema/client.json")));
static SERVER_SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| compile_schema(include_str!("../../src/protocol/schema/server.json")));

/// Returns the schema of messages from clients.
pub(crate) fn client_schema() -> &'static Validator {
    &CLIENT_SCHEMA
}

/// Returns the schema of messages from the server.
pub(crate) fn server_schema() -> &'static Validator {
    &SERVER_SCHEMA
}

fn compile_schema(text: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(text).expect("JSON")).expect("a schema")
}

fn assert_matches_schema(validator: &Validator, message: &Value) {
    if let Err(error) = validator.validate(message) {
        panic!("message violates the schema: {message}: {error}");
    }
}
