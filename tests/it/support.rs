//! A server in process, and players who speak to it in the JSON of the protocol's page.

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

/// Longer than anything the protocol makes a client wait for. Paused time passes it at once.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(300);

/// What a pipe holds, as a socket's buffers would.
const PIPE_BYTES: usize = 64 * 1024;

/// The settings of tests: nothing runs outside the test's own thread, and chance is repeatable.
pub(crate) fn settings() -> Settings {
    Settings {
        search: SearchMode::Inline,
        seed: Some(7),
        // A minute for all matches, so that most tests need not say how long it takes.
        abandon_after: Some(Duration::from_secs(60)),
        ..Settings::default()
    }
}

/// Settings by which nobody need answer a ping: neither is a connection idle, nor is its line measured.
pub(crate) fn settings_without_pings() -> Settings {
    let never = Duration::from_secs(7 * 24 * 3600);
    Settings {
        lag_compensation: Duration::ZERO,
        ping_interval: never,
        idle_timeout: never,
        ..settings()
    }
}

/// Settings for tests that ask for more than any honest client.
pub(crate) fn settings_without_limits() -> Settings {
    let many = NonZeroU32::new(1_000_000).expect("not zero");
    Settings {
        requests_per_s: many,
        burst: many,
        matches_max: 500,
        ..settings()
    }
}

/// The text that a value is.
pub(crate) fn json_string(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a string: {value}"))
        .to_owned()
}

/// A match that Ann makes and Bob joins, of these moves; unless they end it, Bob resigns.
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

/// Lets time pass. It is paused, so this takes no time of ours.
pub(crate) async fn advance_time(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// A server in process.
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

    /// A server with a store that counts what it writes.
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

    /// A connection that has not said hello.
    pub(crate) async fn connect(&self) -> TestPlayer {
        self.connect_with_pipe(PIPE_BYTES).await
    }

    /// A connection over a pipe that holds so many bytes.
    pub(crate) async fn connect_with_pipe(&self, pipe_bytes: usize) -> TestPlayer {
        Self::upgrade_to_websocket(self.open_pipe(pipe_bytes, None)).await
    }

    /// A connection from this address.
    pub(crate) async fn connect_from(&self, from: IpAddr) -> TestPlayer {
        Self::upgrade_to_websocket(self.connect_raw_from(from)).await
    }

    /// The near end of a connection.
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

    /// A connection that sends nothing at all.
    pub(crate) fn connect_raw(&self) -> DuplexStream {
        self.open_pipe(PIPE_BYTES, None)
    }

    /// A connection from this address that sends nothing at all.
    pub(crate) fn connect_raw_from(&self, from: IpAddr) -> DuplexStream {
        self.open_pipe(PIPE_BYTES, Some(from))
    }

    /// A connection that sends nothing at all, over a pipe that holds so many bytes.
    pub(crate) fn connect_raw_with_pipe(&self, pipe_bytes: usize, from: IpAddr) -> DuplexStream {
        self.open_pipe(pipe_bytes, Some(from))
    }

    /// A player of this name.
    pub(crate) async fn connect_player(&self, name: &str) -> TestPlayer {
        let mut player = self.connect().await;
        player.send_hello(json!({"name": name})).await;
        player
    }

    /// The same player over a new connection, by its token; and its welcome.
    pub(crate) async fn resume_session(&self, token: &str) -> (TestPlayer, Value) {
        let mut player = self.connect().await;
        let welcome = player.send_hello(json!({"token": token})).await;
        (player, welcome)
    }

    /// Ann in seat 0 and Bob in seat 1 of a running match, both having seen it start.
    pub(crate) async fn start_match(&self) -> (TestPlayer, TestPlayer, String) {
        self.start_match_of("tic-tac-toe").await
    }

    /// Ann and Bob in a running match of this game.
    pub(crate) async fn start_match_of(&self, game: &str) -> (TestPlayer, TestPlayer, String) {
        self.start_match_with(json!({"game": game})).await
    }

    /// Ann and Bob in a running match on these terms.
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

/// A client: it keeps what comes between an answer and the next, and checks every message against
/// the schema.
pub(crate) struct TestPlayer {
    connection: Connection<DuplexStream>,
    next_id: u64,
    inbox: VecDeque<Value>,
    /// What has come, as it was written, if a test wants that.
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

    /// Creates a tic-tac-toe match and gives its id.
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

    /// Sends a request with a number and gives its answer. What comes before is kept.
    pub(crate) async fn request(&mut self, request: Value) -> Value {
        assert_matches_schema(&CLIENT_SCHEMA, &request);
        self.request_unchecked(request).await
    }

    /// Sends what need not be a request of the protocol, and gives its answer.
    pub(crate) async fn request_unchecked(&mut self, request: Value) -> Value {
        let (_, mut messages) = self.request_and_collect(request).await;
        let answer = messages.pop().expect("the answer comes last");
        self.inbox.extend(messages);
        answer
    }

    /// Sends a request, and gives it as it was sent and all that came, the answer last.
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

    /// Asks, and gives the code of the error that is the answer.
    pub(crate) async fn expect_error(&mut self, request: Value) -> String {
        let answer = self.request(request.clone()).await;
        assert_eq!(answer["type"], "error", "{request} was answered {answer}");
        json_string(&answer["code"])
    }

    /// Sends a text as it is.
    pub(crate) async fn send_text(&mut self, text: &str) {
        self.connection
            .send_text(text.to_owned())
            .await
            .expect("the connection is open");
    }

    /// The next message that is no answer to [`ask`](Self::ask), in order.
    pub(crate) async fn next_message(&mut self) -> Value {
        match self.inbox.pop_front() {
            Some(message) => message,
            None => self.receive().await.expect("the connection is open"),
        }
    }

    /// The next message, which is of this type. Presence at a table, while it is played and afterwards,
    /// comes when it will and is passed over, unless it is what is waited for.
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

    /// Waits until presence is told that looks like this.
    pub(crate) async fn wait_for_presence(&mut self, seats: Value, spectators: u64) {
        loop {
            let presence = self.expect_event("presence").await;
            if presence["seats"] == seats && presence["spectators"] == spectators {
                return;
            }
        }
    }

    /// Every message that has come and was not looked at, when nothing more is under way.
    pub(crate) async fn drain_messages(&mut self) -> Vec<Value> {
        // Everything that was sent before the pong has come before it.
        self.request(json!({"type": "ping"})).await;
        self.inbox.drain(..).collect()
    }

    /// Waits for the end of the connection and gives the close code.
    pub(crate) async fn wait_for_close(&mut self) -> u16 {
        loop {
            match self.receive().await {
                Ok(message) => self.inbox.push_back(message),
                Err(ConnectionError::Closed { code, .. }) => return code,
                Err(error) => panic!("closed without a close frame: {error}"),
            }
        }
    }

    /// Sends a text, if the connection still takes it.
    pub(crate) async fn try_send_text(&mut self, text: &str) -> Result<(), ConnectionError> {
        self.connection.send_text(text.to_owned()).await
    }

    /// The close code, if the end of the connection has come by now.
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

/// The schema of what clients send.
pub(crate) fn client_schema() -> &'static Validator {
    &CLIENT_SCHEMA
}

/// The schema of what the server sends.
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
