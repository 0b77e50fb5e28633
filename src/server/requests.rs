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
const MALFORMED_MESSAGES_MAX: u32 = 20;

/// One client, from its first message to the end of its connection. Dropping it says goodbye to
/// everything that it followed.
#[derive(Debug)]
pub struct Client {
    server: Arc<ServerContext>,
    connection: Arc<ConnectionHandle>,
    player: Option<Box<Player>>,
    rate_limit: RateLimit,
    connection_permit: ConnectionPermit,
    /// What a session that begins here is of.
    session_kind: SessionKind,
    /// As whom a proxy knows the client, which alone decides then who it is.
    proxy_user: Option<String>,
    /// Whether one more hint may be looked for.
    hint_permits: Arc<Semaphore>,
    /// When the request came that is being served.
    received_at: Instant,
    /// How many requests have come until now, that one among them.
    request_count: u64,
    malformed_count: u32,
}

/// Who the client is, once it has been welcomed.
#[derive(Debug)]
struct Player {
    record: PlayerRecord,
    session: SessionRecord,
    token: Token,
    is_stored: bool,
    /// That it is known whom the player does not meet, from the welcome on.
    block_guard: Option<block_check::BlockGuard>,
}

/// How somebody comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoginKind {
    /// As a new guest.
    NewGuest,
    /// With the token of a session.
    Resumed,
    /// With one more session.
    NewSession,
}

impl Client {
    pub(super) fn new(
        server: Arc<ServerContext>,
        connection_permit: ConnectionPermit,
        session_kind: SessionKind,
        proxy_user: Option<String>,
    ) -> Self {
        let connection = server.new_connection();
        let received_at = now();
        let settings = &server.settings;
        let bucket = TokenBucket::new(settings.requests_per_s, settings.burst, received_at);
        let rate_limit = RateLimit::new(bucket);
        server.metrics.opened_connections.inc();
        server.metrics.connections.inc();
        tracing::debug!(connection = %connection.id, "connected");
        Self {
            server,
            connection,
            player: None,
            rate_limit,
            connection_permit,
            session_kind,
            proxy_user,
            hint_permits: Arc::new(Semaphore::new(hint::HINTS_MAX)),
            received_at,
            request_count: 0,
            malformed_count: 0,
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
        self.request_count += 1;
        let Some((request, reply)) = self.decode_and_admit(text) else {
            return;
        };
        let is_hello = match &request {
            Ok(message) => matches!(message, ClientMessage::Hello(_)),
            Err(refused) => refused.is_hello,
        };
        if self.player.is_none() && !is_hello {
            let reply = Reply::unsolicited(self.outbox());
            Box::pin(self.handle_hello(Hello::default(), reply)).await;
        }
        let pending: PendingSend<'_> = match request {
            Ok(ClientMessage::Hello(hello)) => Some(Box::pin(self.handle_hello(*hello, reply))),
            Ok(message) => match &self.player {
                Some(player) => self.serve_request(player, message, reply),
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
    fn decode_and_admit(
        &mut self,
        text: &str,
    ) -> Option<(Result<ClientMessage, Box<DecodeError>>, Reply)> {
        let auth_mode = match (&self.proxy_user, self.server.settings.accounts.wire_name()) {
            (Some(_), _) => AuthMode::ProxyAuthenticated,
            (None, Some(_)) => AuthMode::AllMethods,
            (None, None) => AuthMode::GuestOnly,
        };
        let decoded = Request::decode_as(text, auth_mode);
        let message = decoded.as_ref().ok().map(|read| &read.request.message);
        self.server.metrics.count_request(message);
        let is_move = matches!(message, Some(ClientMessage::Move { .. }));
        let (re, ignored, request) = match decoded {
            Ok(Decoded { request, ignored }) => (request.id, ignored, Ok(request.message)),
            Err(refused) if refused.error.code == Some(ErrorCode::Malformed) => {
                self.reject_malformed(&refused);
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
    pub fn receive_pong(&mut self, text: &[u8], at: Instant) {
        if !self.connection.outbox.receive_pong(text, at) {
            self.count_activity();
        }
    }

    /// Takes note of a ping or a pong: they count as requests, so that a stream of them is a flood.
    pub fn count_activity(&mut self) {
        let cost = self.request_cost();
        if matches!(self.check_rate_limit(cost, now()), Admission::Close(_)) {
            self.connection.outbox.close(CloseCode::RateLimited);
        }
    }

    /// The connection has ended, closed by the server for this reason, or by its client.
    pub fn end(self, code: Option<CloseCode>) {
        self.server.metrics.count_closed(code);
        tracing::debug!(connection = %self.connection.id, code = code.map(CloseCode::number), "disconnected");
    }

    fn reject_malformed(&mut self, decode_error: &DecodeError) {
        let reply = Reply::new(self.outbox(), decode_error.error.re);
        reply.error(decode_error.error.clone());
        self.malformed_count += 1;
        if self.malformed_count >= MALFORMED_MESSAGES_MAX {
            self.connection.outbox.close(CloseCode::ProtocolViolation);
        }
    }

    /// For how many requests one counts.
    fn request_cost(&self) -> u32 {
        let settings = &self.server.settings;
        if self.connection.is_spectating_only() {
            // Whatever was set, one is served now and then.
            settings.watching_cost.min(settings.burst).get()
        } else {
            1
        }
    }

    /// What becomes of one more request, which counts as much as `cost` says.
    fn check_rate_limit(&mut self, cost: u32, now: Instant) -> Admission {
        let rejected_moves = self.connection.outbox.take_rejected_moves();
        if rejected_moves > 0 {
            self.rate_limit.charge(rejected_moves, now);
        }
        self.rate_limit.admit(cost, now)
    }

    /// Has somebody wait who asked for what is not there, if it is not the first time.
    async fn delay_wrong_guess(&self) {
        self.server
            .sleep_unless_stopping(self.connection_permit.count_wrong_guess(now()))
            .await;
    }

    /// Lets a request in, or answers that it comes too soon. A move counts once it is known to come to
    /// nothing: two who play as fast as they can are no flood.
    fn admit(&mut self, is_move: bool, reply: Reply) -> Option<Reply> {
        let cost = if is_move { 0 } else { self.request_cost() };
        let (retry_after, is_last) = match self.check_rate_limit(cost, self.received_at) {
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
    async fn handle_hello(&mut self, hello: Hello, reply: Reply) {
        let keeps_other_connections =
            hello.keep_connections == Some(true) || self.proxy_user.is_some();
        let Some(((), reply)) = reply.require(self.check_hello(&hello)) else {
            return;
        };
        // Before it is found out who that is: of two connections of a session the one stays that has said hello
        // later, however long the other is kept by the store.
        let Some((hello_number, reply)) = reply.require(self.next_hello_number().await) else {
            return;
        };
        let changes_before = self.server.players.identity_change_count();
        let identified = self.identify_player(hello).await;
        if let Some(((player, login_kind), reply)) = reply.require(identified) {
            self.send_welcome(
                reply,
                player,
                login_kind != LoginKind::NewGuest,
                (hello_number, keeps_other_connections),
            )
            .await;
            if login_kind == LoginKind::NewSession {
                self.notify_session_started();
            }
            self.recheck_connections(changes_before).await;
        }
    }

    /// Refuses a hello of another version, and a second one.
    fn check_hello(&self, hello: &Hello) -> Result<(), WireError> {
        let is_unsupported = |version| version != plyhouse_protocol::VERSION;
        if hello.protocol.is_some_and(is_unsupported) {
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
    async fn identify_player(&self, hello: Hello) -> Result<(Player, LoginKind), WireError> {
        if let Some(external) = &self.proxy_user {
            return Ok((self.log_in_proxy_user(external).await?, LoginKind::Resumed));
        }
        if let Some(credential) = Credential::from_hello(&hello) {
            let mut player = self.log_in(&credential, hello.label).await?;
            self.replace_taken_guest_name(&mut player).await;
            return Ok((player, LoginKind::NewSession));
        }
        if let Some(token) = hello.token.clone().filter(tokens::is_api_key) {
            let player = self.find_by_api_key(token).await?;
            return Ok((player, LoginKind::Resumed));
        }
        if let Some(token) = hello.token {
            let is_guess = !self.server.tokens.has_issued(&token);
            if let Some(mut player) = self.find_player_by_token(token).await? {
                self.replace_taken_guest_name(&mut player).await;
                return Ok((player, LoginKind::Resumed));
            }
            if is_guess {
                self.delay_wrong_guess().await;
            }
        }
        let has_name = hello.name.is_some();
        let name =
            parse_display_text(hello.name, || registry::random_guest_name(&self.server.rng))?;
        let label = parse_display_text(hello.label, || default_label(self.session_kind))?;
        names::check_not_reserved(&name)?;
        let guest = self.new_guest(name, label);
        if has_name && !names::is_generated_guest_name(&guest.record.name) {
            let skeletons = names::name_skeletons(&guest.record.name);
            self.check_name_available(&skeletons, guest.record.id)
                .await?;
        }
        Ok((guest, LoginKind::NewGuest))
    }

    /// The player whose token this is.
    async fn find_player_by_token(&self, token: Token) -> Result<Option<Player>, WireError> {
        let hash = tokens::hash_token(&token);
        let (identity, is_stored) = match self.server.players.find_guest_by_token(hash) {
            Some(guest) => (Some(guest), false),
            None => (self.find_stored_session(hash).await?, true),
        };
        Ok(identity.map(|(record, session)| Player {
            record,
            session,
            token,
            is_stored,
            block_guard: None,
        }))
    }

    /// What the store knows of the session with this token.
    async fn find_stored_session(
        &self,
        token: TokenHash,
    ) -> Result<Option<(PlayerRecord, SessionRecord)>, WireError> {
        self.server
            .store
            .find_session(token)
            .await
            .map_err(|error| {
                tracing::error!(connection = %self.connection.id, %error, "cannot read a session");
                store_read_error(&error)
            })
    }

    fn new_guest(&self, name: String, label: String) -> Player {
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
        let token = tokens::hash_token(token);
        SessionRecord {
            token,
            id: tokens::derive_session_id(token),
            player,
            label,
            kind: self.session_kind,
            created_ms: now_ms,
            last_used_day: now_ms / DAY_MS,
            from_recovery_key: false,
        }
    }
}

/// A text that is shown to people as names are, or else this one.
fn parse_display_text(
    text: Option<String>,
    default_text: impl FnOnce() -> String,
) -> Result<String, WireError> {
    let Some(text) = text else {
        return Ok(default_text());
    };
    match text.parse::<PlayerName>() {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(bad) => Err(WireError::new(ErrorCode::BadName, bad.to_string())),
    }
}

/// What a session is called that nobody has named.
fn default_label(kind: SessionKind) -> String {
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
        let connection_id = self.connection.id;
        self.server
            .lobby
            .with_subscriptions(|lists| lists.unwatch(connection_id));
        self.server.seek_list.unwatch(connection_id);
        self.server.metrics.connections.dec();
        let (server, connection) = (Arc::clone(&self.server), Arc::clone(&self.connection));
        let player = self.player.as_ref().map(|player| player.record.id);
        self.server.spawn(async move {
            let was_seeking = server.seeks.end_by_connection(connection.id);
            // Nobody follows anything before the welcome.
            let Some(player) = player else { return };
            if let Some(cluster) = server.cluster.as_ref().filter(|_| was_seeking) {
                cluster.end_seek(player).await;
            }
            server.players.disconnect(player, &connection);
            let followed = connection.subscriptions.close();
            participants::transfer_followed_matches(&server, player, &followed).await;
            for handle in followed {
                handle.unfollow(player, &connection.outbox).await;
            }
        });
    }
}
