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
const PATIENCE: Duration = Duration::from_secs(300);

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
pub(crate) fn calm() -> Settings {
    let never = Duration::from_secs(7 * 24 * 3600);
    Settings {
        lag_compensation: Duration::ZERO,
        ping_interval: never,
        idle_timeout: never,
        ..settings()
    }
}

/// Settings for tests that ask for more than any honest client.
pub(crate) fn boundless() -> Settings {
    let many = NonZeroU32::new(1_000_000).expect("not zero");
    Settings {
        requests_per_s: many,
        burst: many,
        matches_max: 500,
        ..settings()
    }
}

/// The text that a value is.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

/// A match that Ann makes and Bob joins, of these moves; unless they end it, Bob resigns.
pub(crate) async fn played(
    ann: &mut Player,
    bob: &mut Player,
    create: Value,
    moves: &[&str],
) -> String {
    let id = ann.create(create).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(moves) {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        assert_eq!(player.play(&id, ply, m).await["type"], "ok");
    }
    bob.ask(json!({"type": "resign", "match": id})).await;
    for player in [ann, bob] {
        player.drain().await;
    }
    id
}

/// Lets time pass. It is paused, so this takes no time of ours.
pub(crate) async fn pass(seconds: u64) {
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
        Self::counting(settings, store, &StoreMetrics::default())
    }

    /// A server with a store that counts what it writes.
    pub(crate) fn counting(
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
    pub(crate) async fn connect(&self) -> Player {
        self.connect_through(PIPE_BYTES).await
    }

    /// A connection over a pipe that holds so many bytes.
    pub(crate) async fn connect_through(&self, pipe_bytes: usize) -> Player {
        Self::upgraded(self.pipe(pipe_bytes, None)).await
    }

    /// A connection from this address.
    pub(crate) async fn connect_from(&self, from: IpAddr) -> Player {
        Self::upgraded(self.silent_from(from)).await
    }

    /// The near end of a connection.
    fn pipe(&self, pipe_bytes: usize, from: Option<IpAddr>) -> DuplexStream {
        let (near, far) = tokio::io::duplex(pipe_bytes);
        let transport = self.transport.clone();
        self.server
            .spawn(async move { transport.serve_stream(far, from).await });
        near
    }

    async fn upgraded(near: DuplexStream) -> Player {
        let connection = Connection::over(near, "ws://plyhouse.test/ws").await;
        Player::new(connection.expect("the server accepts"))
    }

    /// A connection that sends nothing at all.
    pub(crate) fn silent(&self) -> DuplexStream {
        self.pipe(PIPE_BYTES, None)
    }

    /// A connection from this address that sends nothing at all.
    pub(crate) fn silent_from(&self, from: IpAddr) -> DuplexStream {
        self.pipe(PIPE_BYTES, Some(from))
    }

    /// A connection that sends nothing at all, over a pipe that holds so many bytes.
    pub(crate) fn silent_through(&self, pipe_bytes: usize, from: IpAddr) -> DuplexStream {
        self.pipe(pipe_bytes, Some(from))
    }

    /// A player of this name.
    pub(crate) async fn player(&self, name: &str) -> Player {
        let mut player = self.connect().await;
        player.hello(json!({"name": name})).await;
        player
    }

    /// The same player over a new connection, by its token; and its welcome.
    pub(crate) async fn come_back(&self, token: &str) -> (Player, Value) {
        let mut player = self.connect().await;
        let welcome = player.hello(json!({"token": token})).await;
        (player, welcome)
    }

    /// Ann in seat 0 and Bob in seat 1 of a running match, both having seen it start.
    pub(crate) async fn pair(&self) -> (Player, Player, String) {
        self.pair_at("tic-tac-toe").await
    }

    /// Ann and Bob in a running match of this game.
    pub(crate) async fn pair_at(&self, game: &str) -> (Player, Player, String) {
        self.pair_with(json!({"game": game})).await
    }

    /// Ann and Bob in a running match on these terms.
    pub(crate) async fn pair_with(&self, create: Value) -> (Player, Player, String) {
        let (mut ann, mut bob) = (self.player("ann").await, self.player("bob").await);
        let id = ann.create(create).await;
        let snapshot = bob.ask(json!({"type": "join", "match": id})).await;
        assert_eq!(snapshot["status"], "running");
        ann.event("seated").await;
        ann.event("started").await;
        (ann, bob, id)
    }
}

/// A client: it keeps what comes between an answer and the next, and checks every message against
/// the schema.
pub(crate) struct Player {
    connection: Connection<DuplexStream>,
    next_id: u64,
    inbox: VecDeque<Value>,
    /// What has come, as it was written, if a test wants that.
    pub(crate) written: Option<Vec<String>>,
    pub(crate) welcome: Value,
}

impl Player {
    fn new(connection: Connection<DuplexStream>) -> Self {
        Self {
            connection,
            next_id: 1,
            inbox: VecDeque::new(),
            written: None,
            welcome: Value::Null,
        }
    }

    pub(crate) async fn hello(&mut self, fields: Value) -> Value {
        let answer = self.ask(with_type("hello", fields)).await;
        if answer["type"] == "welcome" {
            self.welcome = answer.clone();
        }
        answer
    }

    pub(crate) fn token(&self) -> String {
        text(&self.welcome["token"])
    }

    pub(crate) fn id(&self) -> &Value {
        &self.welcome["player"]["id"]
    }

    /// Creates a tic-tac-toe match and gives its id.
    pub(crate) async fn create(&mut self, fields: Value) -> String {
        let mut request = with_type("create", fields);
        request
            .as_object_mut()
            .expect("an object")
            .entry("game")
            .or_insert("tic-tac-toe".into());
        let snapshot = self.ask(request).await;
        assert_eq!(snapshot["type"], "match", "{snapshot}");
        text(&snapshot["match"])
    }

    pub(crate) async fn play(&mut self, id: &str, ply: u64, m: &str) -> Value {
        self.ask(json!({"type": "move", "match": id, "ply": ply, "move": m}))
            .await
    }

    /// Sends a request with a number and gives its answer. What comes before is kept.
    pub(crate) async fn ask(&mut self, request: Value) -> Value {
        check(&CLIENT, &request);
        self.ask_anything(request).await
    }

    /// Sends what need not be a request of the protocol, and gives its answer.
    pub(crate) async fn ask_anything(&mut self, request: Value) -> Value {
        let (_, mut came) = self.ask_and_hear(request).await;
        let answer = came.pop().expect("it ends with the answer");
        self.inbox.extend(came);
        answer
    }

    /// Sends a request, and gives it as it was sent and all that came, the answer last.
    pub(crate) async fn ask_and_hear(&mut self, mut request: Value) -> (Value, Vec<Value>) {
        let id = self.next_id;
        self.next_id += 1;
        request["id"] = id.into();
        self.send(&request.to_string()).await;
        let mut came: Vec<Value> = self.inbox.drain(..).collect();
        loop {
            let message = self.receive().await.expect("the connection stands");
            let is_answer = message["re"] == id;
            came.push(message);
            if is_answer {
                return (request, came);
            }
        }
    }

    /// Asks, and gives the code of the error that is the answer.
    pub(crate) async fn refused(&mut self, request: Value) -> String {
        let answer = self.ask(request.clone()).await;
        assert_eq!(answer["type"], "error", "{request} was answered {answer}");
        text(&answer["code"])
    }

    /// Sends a text as it is.
    pub(crate) async fn send(&mut self, text: &str) {
        self.connection
            .send_text(text.to_owned())
            .await
            .expect("the connection stands");
    }

    /// The next message that is no answer to [`ask`](Self::ask), in order.
    pub(crate) async fn next(&mut self) -> Value {
        match self.inbox.pop_front() {
            Some(message) => message,
            None => self.receive().await.expect("the connection stands"),
        }
    }

    /// The next message, which is of this type. Presence at a table, while it is played and afterwards,
    /// comes when it will and is passed over, unless it is what is waited for.
    #[track_caller]
    pub(crate) fn event(&mut self, kind: &str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            loop {
                let message = self.next().await;
                if message["type"] == kind {
                    return message;
                }
                let is_passed_over = message["type"] == "presence" || message["type"] == "rematch";
                assert!(is_passed_over, "{caller}: waited for {kind}: {message}");
            }
        }
    }

    /// Waits until presence is told that looks like this.
    pub(crate) async fn presence(&mut self, seats: Value, spectators: u64) {
        loop {
            let presence = self.event("presence").await;
            if presence["seats"] == seats && presence["spectators"] == spectators {
                return;
            }
        }
    }

    /// Every message that has come and was not looked at, when nothing more is under way.
    pub(crate) async fn drain(&mut self) -> Vec<Value> {
        // Everything that was sent before the pong has come before it.
        self.ask(json!({"type": "ping"})).await;
        self.inbox.drain(..).collect()
    }

    /// Waits for the end of the connection and gives the close code.
    pub(crate) async fn closed(&mut self) -> u16 {
        loop {
            match self.receive().await {
                Ok(message) => self.inbox.push_back(message),
                Err(ConnectionError::Closed { code, .. }) => return code,
                Err(error) => panic!("closed without a word: {error}"),
            }
        }
    }

    /// Sends a text, if the connection still takes it.
    pub(crate) async fn try_send(&mut self, text: &str) -> Result<(), ConnectionError> {
        self.connection.send_text(text.to_owned()).await
    }

    /// The close code, if the end of the connection has come by now.
    pub(crate) fn try_closed(&mut self) -> Option<u16> {
        loop {
            match self.connection.receive_text().now_or_never()? {
                Ok(_) => {}
                Err(ConnectionError::Closed { code, .. }) => return Some(code),
                Err(error) => panic!("closed without a word: {error}"),
            }
        }
    }

    pub(crate) async fn receive(&mut self) -> Result<Value, ConnectionError> {
        let text = timeout(PATIENCE, self.connection.receive_text())
            .await
            .expect("in time")?;
        let message = serde_json::from_str(&text).expect("JSON");
        check(&SERVER, &message);
        if let Some(written) = &mut self.written {
            written.push(text);
        }
        Ok(message)
    }
}

fn with_type(kind: &str, mut fields: Value) -> Value {
    fields["type"] = kind.into();
    fields
}

static CLIENT: LazyLock<Validator> =
    LazyLock::new(|| schema(include_str!("../../src/protocol/schema/client.json")));
static SERVER: LazyLock<Validator> =
    LazyLock::new(|| schema(include_str!("../../src/protocol/schema/server.json")));

/// The schema of what clients send.
pub(crate) fn client_schema() -> &'static Validator {
    &CLIENT
}

/// The schema of what the server sends.
pub(crate) fn server_schema() -> &'static Validator {
    &SERVER
}

fn schema(text: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(text).expect("JSON")).expect("a schema")
}

fn check(validator: &Validator, message: &Value) {
    if let Err(error) = validator.validate(message) {
        panic!("not by the schema: {message}: {error}");
    }
}
