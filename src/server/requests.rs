//! One client: who it is, what it asks, and at what rate.
//!
//! It serves one request after the other: what it can it answers itself, and the rest it sends to the
//! match that is meant, with the duty to answer.

pub(crate) mod account;
mod analyse;
mod block;
mod create;
mod dispatch;
mod hint;
mod history;
mod profile;
mod resync;
mod welcome;

use std::sync::Arc;
use std::time::Instant;

use self::account::login::Credential;
use super::auth::names;
use super::auth::tokens;
use super::connection::handle::ConnectionHandle;
use super::connection::ip_limits::ConnectionPermit;
use super::connection::outbox::Outbox;
use super::connection::rate_limit::{Admission, RateLimit};
use super::connection::reply::Reply;
use super::connection::token_bucket::TokenBucket;
use super::context::clock::now;
use super::context::server_context::ServerContext;
use super::match_handle::PendingSend;
use super::players::block_check;
use super::players::registry;
use super::wire::error_replies::store_read_error;
use crate::matchmaking::participants;
use plyhouse_protocol::{
    AuthMode, ClientMessage, CloseCode, DecodeError, Decoded, ErrorCode, Hello, PlayerId,
    PlayerKind, PlayerName, Request, SessionKind, Token, WireError,
};
use plyhouse_store::{PlayerRecord, SessionRecord, TokenHash};
use tokio::sync::Semaphore;

/// A day in milliseconds.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// The malformed message that ends the connection.
const MALFORMED_MAX: u32 = 20;

/// One client, from its first message to the end of its connection. Dropping it says goodbye to
/// everything that it followed.
#[derive(Debug)]
pub struct Client {
    server: Arc<ServerContext>,
    connection: Arc<ConnectionHandle>,
    player: Option<Box<Player>>,
    rate_limit: RateLimit,
    permit: ConnectionPermit,
    /// What a session that begins here is of.
    kind: SessionKind,
    /// As whom a proxy knows the client, which alone decides then who it is.
    external: Option<String>,
    /// Whether one more hint may be looked for.
    hints: Arc<Semaphore>,
    /// When the request came that is being served.
    received_at: Instant,
    /// How many requests have come until now, that one among them.
    requests: u64,
    malformed: u32,
}

/// Who the client is, once it has been welcomed.
#[derive(Debug)]
struct Player {
    record: PlayerRecord,
    session: SessionRecord,
    token: Token,
    is_stored: bool,
    /// That it is known whom the player does not meet, from the welcome on.
    block_guard: Option<block_check::Known>,
}

/// How somebody comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoginKind {
    /// As a new guest.
    New,
    /// With the token of a session.
    Back,
    /// With one more session.
    WithMore,
}

impl Client {
    pub(super) fn new(
        server: Arc<ServerContext>,
        permit: ConnectionPermit,
        kind: SessionKind,
        external: Option<String>,
    ) -> Self {
        let peer = server.new_connection();
        let received_at = now();
        let settings = &server.settings;
        let bucket = TokenBucket::new(settings.requests_per_s, settings.burst, received_at);
        let rate = RateLimit::new(bucket);
        server.metrics.opened_connections.inc();
        server.metrics.connections.inc();
        tracing::debug!(connection = %peer.id, "connected");
        Self {
            server,
            connection: peer,
            player: None,
            rate_limit: rate,
            permit,
            kind,
            external,
            hints: Arc::new(Semaphore::new(hint::HINTS_MAX)),
            received_at,
            requests: 0,
            malformed: 0,
        }
    }

    /// Where the messages to this client come out.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        self.connection.outbox.clone()
    }

    /// Handles one text message of the client, which came at this instant. What comes of it goes
    /// through the outbox, the end of the connection included.
    pub async fn receive(&mut self, text: &str, received_at: Instant) {
        self.received_at = received_at;
        self.requests += 1;
        let Some((request, reply)) = self.read(text) else {
            return;
        };
        let is_hello = match &request {
            Ok(message) => matches!(message, ClientMessage::Hello(_)),
            Err(refused) => refused.is_hello,
        };
        if self.player.is_none() && !is_hello {
            let reply = Reply::unsolicited(self.outbox());
            Box::pin(self.greet(Hello::default(), reply)).await;
        }
        let pending: PendingSend<'_> = match request {
            Ok(ClientMessage::Hello(hello)) => Some(Box::pin(self.greet(*hello, reply))),
            Ok(message) => match &self.player {
                Some(player) => self.serve(player, message, reply),
                // Why has been told without being asked.
                None => {
                    reply.refuse(ErrorCode::Overloaded, "you are not welcomed yet: say hello");
                    None
                }
            },
            Err(refused) => {
                reply.error(refused.error);
                None
            }
        };
        if let Some(pending) = pending {
            pending.await;
        }
    }

    /// Reads a request and lets it in. `None` if that was the end of it, and it is answered.
    fn read(&mut self, text: &str) -> Option<(Result<ClientMessage, Box<DecodeError>>, Reply)> {
        let coming = match (&self.external, self.server.settings.accounts.wire_name()) {
            (Some(_), _) => AuthMode::Known,
            (None, Some(_)) => AuthMode::Freely,
            (None, None) => AuthMode::WithoutAccounts,
        };
        let decoded = Request::decode_as(text, coming);
        let message = decoded.as_ref().ok().map(|read| &read.request.message);
        self.server.metrics.count_request(message);
        let is_move = matches!(message, Some(ClientMessage::Move { .. }));
        let (re, ignored, request) = match decoded {
            Ok(Decoded { request, ignored }) => (request.id, ignored, Ok(request.message)),
            Err(refused) if refused.error.code == Some(ErrorCode::Malformed) => {
                self.malformed(&refused);
                return None;
            }
            Err(refused) => (refused.error.re, Vec::new(), Err(refused)),
        };
        let reply = Reply::new(self.outbox(), re).with_ignored_fields(ignored);
        let reply = self.admit(is_move, reply)?;
        Some((request, reply))
    }

    /// Takes note of a pong that came at this instant. Only one that answers a ping by which the server
    /// measures the line is not counted.
    pub fn ponged(&mut self, text: &[u8], at: Instant) {
        if !self.connection.outbox.ponged(text, at) {
            self.count_activity();
        }
    }

    /// Takes note of a ping or a pong: they count as requests, so that a stream of them is a flood.
    pub fn count_activity(&mut self) {
        let cost = self.cost();
        if matches!(self.judge(cost, now()), Admission::Close(_)) {
            self.connection.outbox.close(CloseCode::RateLimited);
        }
    }

    /// The connection has ended, closed by the server for this reason, or by its client.
    pub fn end(self, code: Option<CloseCode>) {
        self.server.metrics.count_closed(code);
        tracing::debug!(connection = %self.connection.id, code = code.map(CloseCode::number), "disconnected");
    }

    fn malformed(&mut self, refused: &DecodeError) {
        let reply = Reply::new(self.outbox(), refused.error.re);
        reply.error(refused.error.clone());
        self.malformed += 1;
        if self.malformed >= MALFORMED_MAX {
            self.connection.outbox.close(CloseCode::BrokenRules);
        }
    }

    /// For how many requests one counts.
    fn cost(&self) -> u32 {
        let settings = &self.server.settings;
        if self.connection.only_watches() {
            // Whatever was set, one is served now and then.
            settings.watching_cost.min(settings.burst).get()
        } else {
            1
        }
    }

    /// What becomes of one more request, which counts as much as `cost` says.
    fn judge(&mut self, cost: u32, now: Instant) -> Admission {
        let fruitless = self.connection.outbox.take_fruitless();
        if fruitless > 0 {
            self.rate_limit.charge(fruitless, now);
        }
        self.rate_limit.judge(cost, now)
    }

    /// Has somebody wait who asked for what is not there, if it is not the first time.
    async fn delay_wrong_guess(&self) {
        self.server
            .sleep_unless_stopping(self.permit.guessed(now()))
            .await;
    }

    /// Lets a request in, or answers that it comes too soon. A move counts once it is known to come to
    /// nothing: two who play as fast as they can are no flood.
    fn admit(&mut self, is_move: bool, reply: Reply) -> Option<Reply> {
        let cost = if is_move { 0 } else { self.cost() };
        let (retry_after, is_last) = match self.judge(cost, self.received_at) {
            Admission::Serve if self.server.is_stopping() => {
                reply.refuse(ErrorCode::ShuttingDown, "the server is about to stop");
                return None;
            }
            Admission::Serve if is_move => return Some(reply.for_move()),
            Admission::Serve => return Some(reply),
            Admission::Refuse(after) => (after, false),
            Admission::Close(after) => (after, true),
        };
        // Rounded up, so that a client that waits that long is served.
        let retry_after_ms = u64::try_from(retry_after.as_micros().div_ceil(1000)).ok();
        let error = WireError::new(ErrorCode::RateLimited, "too many requests");
        reply.error(WireError {
            retry_after_ms,
            ..error
        });
        if is_last {
            self.connection.outbox.close(CloseCode::RateLimited);
        }
        None
    }

    /// Answers hello.
    async fn greet(&mut self, hello: Hello, reply: Reply) {
        let is_beside = hello.beside == Some(true) || self.external.is_some();
        let Some(((), reply)) = reply.require(self.check_hello(&hello)) else {
            return;
        };
        // Before it is found out who that is: of two connections of a session the one stays that has said hello
        // later, however long the other is kept by the store.
        let Some((number, reply)) = reply.require(self.hello_number().await) else {
            return;
        };
        let before = self.server.players.changes();
        let identified = self.identify(hello).await;
        if let Some(((player, came), reply)) = reply.require(identified) {
            self.welcome(reply, player, came != LoginKind::New, (number, is_beside))
                .await;
            if came == LoginKind::WithMore {
                self.tell_begun();
            }
            self.recheck_connections(before).await;
        }
    }

    /// Refuses a hello of another version, and a second one.
    fn check_hello(&self, hello: &Hello) -> Result<(), WireError> {
        let is_other = |version| version != plyhouse_protocol::VERSION;
        if hello.protocol.is_some_and(is_other) {
            let message = "this server speaks another version of the protocol";
            let error = WireError::new(ErrorCode::UnsupportedProtocol, message);
            return Err(WireError {
                supported: Some([plyhouse_protocol::VERSION].into()),
                ..error
            });
        }
        if self.player.is_some() {
            return Err(WireError::new(
                ErrorCode::AlreadyWelcomed,
                "you have said hello already",
            ));
        }
        Ok(())
    }

    /// Finds out who says hello: a player who comes back, or a new guest.
    async fn identify(&self, hello: Hello) -> Result<(Player, LoginKind), WireError> {
        if let Some(external) = &self.external {
            return Ok((self.told_by_proxy(external).await?, LoginKind::Back));
        }
        if let Some(way) = Credential::of(&hello) {
            let mut player = self.come_back(&way, hello.label).await?;
            self.give_up_name(&mut player).await;
            return Ok((player, LoginKind::WithMore));
        }
        if let Some(token) = hello.token.clone().filter(tokens::is_key) {
            let player = self.by_key(token).await?;
            return Ok((player, LoginKind::Back));
        }
        if let Some(token) = hello.token {
            let is_guess = !self.server.tokens.has_issued(&token);
            if let Some(mut known) = self.known(token).await? {
                self.give_up_name(&mut known).await;
                return Ok((known, LoginKind::Back));
            }
            if is_guess {
                self.delay_wrong_guess().await;
            }
        }
        let is_named = hello.name.is_some();
        let name = shown(hello.name, || registry::guest_name(&self.server.rng))?;
        let label = shown(hello.label, || usual_label(self.kind))?;
        names::check(&name)?;
        let guest = self.guest(name, label);
        if is_named && !names::is_guests(&guest.record.name) {
            let likenesses = names::name_skeletons(&guest.record.name);
            self.check_free(&likenesses, guest.record.id).await?;
        }
        Ok((guest, LoginKind::New))
    }

    /// The player whose token this is.
    async fn known(&self, token: Token) -> Result<Option<Player>, WireError> {
        let hash = tokens::hash(&token);
        let (known, is_stored) = match self.server.players.guest(hash) {
            Some(guest) => (Some(guest), false),
            None => (self.stored(hash).await?, true),
        };
        Ok(known.map(|(record, session)| Player {
            record,
            session,
            token,
            is_stored,
            block_guard: None,
        }))
    }

    /// What the store knows of the session with this token.
    async fn stored(
        &self,
        token: TokenHash,
    ) -> Result<Option<(PlayerRecord, SessionRecord)>, WireError> {
        self.server
            .store
            .find_session(token)
            .await
            .map_err(|error| {
                tracing::error!(connection = %self.connection.id, %error, "session not read");
                store_read_error(&error)
            })
    }

    fn guest(&self, name: String, label: String) -> Player {
        let token = self.server.tokens.issue(&self.server.rng);
        let id = registry::new_player_id(&self.server.rng);
        Player {
            record: PlayerRecord {
                id,
                name,
                kind: PlayerKind::Guest,
            },
            session: self.new_session(id, &token, label),
            token,
            is_stored: false,
            block_guard: None,
        }
    }

    /// A session of this player that begins now.
    fn new_session(&self, player: PlayerId, token: &Token, label: String) -> SessionRecord {
        let now_ms = self.server.clock.now_ms();
        let token = tokens::hash(token);
        SessionRecord {
            token,
            id: tokens::session_id(token),
            player,
            label,
            kind: self.kind,
            created_ms: now_ms,
            last_used_day: now_ms / DAY_MS,
            from_recovery_key: false,
        }
    }
}

/// A text that is shown to people as names are, or else this one.
fn shown(text: Option<String>, or: impl FnOnce() -> String) -> Result<String, WireError> {
    let Some(text) = text else { return Ok(or()) };
    match text.parse::<PlayerName>() {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(bad) => Err(WireError::new(ErrorCode::BadName, bad.to_string())),
    }
}

/// What a session is called that nobody has named.
fn usual_label(kind: SessionKind) -> String {
    let label = match kind {
        SessionKind::Web => "browser",
        SessionKind::Cli | SessionKind::Key => "program",
    };
    label.to_owned()
}

impl Drop for Client {
    fn drop(&mut self) {
        // Nothing reads the outbox any more; what is still pushed into it is let go at once.
        self.connection.outbox.close(CloseCode::Normal);
        self.server.connection_registry.remove(self.connection.id);
        let connection = self.connection.id;
        self.server
            .lobby
            .with_subscriptions(|lists| lists.unwatch(connection));
        self.server.seek_list.unwatch(connection);
        self.server.metrics.connections.dec();
        let (server, peer) = (Arc::clone(&self.server), Arc::clone(&self.connection));
        let player = self.player.as_ref().map(|player| player.record.id);
        self.server.spawn(async move {
            let was_seeking = server.seeks.end_by_connection(peer.id);
            // Nobody follows anything before the welcome.
            let Some(player) = player else { return };
            if let Some(cluster) = server.cluster.as_ref().filter(|_| was_seeking) {
                cluster.end_seek(player).await;
            }
            server.players.disconnect(player, &peer);
            let followed = peer.subscriptions.close();
            participants::transfer_followed_matches(&server, player, &followed).await;
            for handle in followed {
                handle.unfollow(player, &peer.outbox).await;
            }
        });
    }
}
