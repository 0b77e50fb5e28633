//! A client: its identity, its requests and its rate limit.
//!
//! A [`Client`] handles one request at a time. It answers the request itself or forwards the
//! request to the match, together with the pending reply.

pub(crate) mod account;
mod analyse;
mod block;
mod create_and_seek;
mod dispatch;
mod hint;
mod history_and_stats;
mod profile;
mod registration;
mod resync_from_store;
mod welcome;

use std::sync::Arc;
use std::time::Instant;

use self::account::login::Credential;
use self::registration::Registration;
use super::auth::names;
use super::auth::tokens;
use super::connection::handle::ConnectionHandle;
use super::connection::ip_limits::ConnectionPermit;
use super::connection::outbox::Outbox;
use super::connection::rate_limit::{Admission, RateLimit};
use super::connection::reply::Reply;
use super::connection::token_bucket::TokenBucket;
use super::context::clock_and_rng::now;
use super::context::server_context::ServerContext;
use super::match_handle::PendingSend;
use super::players::registry;
use super::settings::AccountPolicy;
use super::wire::error_replies::{retry_error, store_read_error};
use crate::matchmaking::participant_subscriptions;
use plyhouse_protocol::{
    AuthMode, ClientMessage, CloseCode, DecodeError, Decoded, ErrorCode, Hello, PlayerId,
    PlayerKind, PlayerName, Request, SessionKind, Token, WireError,
};
use plyhouse_store::{PlayerRecord, SessionRecord, Store, TokenHash};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

const DAY_MS: u64 = 24 * 3600 * 1000;

/// Maximum number of malformed messages on a connection. At this number, the server closes the
/// connection.
const MALFORMED_MESSAGES_MAX: u32 = 20;

/// The server's representation of a connected client. Dropping the value unfollows all matches that
/// the client follows.
#[derive(Debug)]
pub struct Client {
    server: Arc<ServerContext>,
    connection: Arc<ConnectionHandle>,
    player: Option<Box<Player>>,
    /// Registration of the connection with the player, set together with `player`.
    registration: Option<Registration>,
    rate_limit: RateLimit,
    connection_permit: ConnectionPermit,
    /// Session kind of all sessions that this client starts.
    session_kind: SessionKind,
    /// User name from a trusted proxy. If the name is given, the server identifies the client by
    /// this name only.
    proxy_user: Option<String>,
    /// Limits the concurrent hint searches of this client.
    hint_permits: Arc<Semaphore>,
    /// Time at which the current request was received.
    received_at: Instant,
    /// Number of requests so far, including the current one.
    request_count: u64,
    malformed_count: u32,
}

/// Identity of a client that has been welcomed.
#[derive(Debug)]
struct Player {
    record: PlayerRecord,
    session: SessionRecord,
    token: Token,
    is_stored: bool,
}

/// How a client has logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoginKind {
    /// The client logged in as a new guest.
    NewGuest,
    /// The client resumed an existing session or is a proxy user.
    Resumed,
    /// The client started a new session of an existing player.
    NewSession,
}

impl Client {
    pub(super) fn new(
        server: Arc<ServerContext>,
        connection_permit: ConnectionPermit,
        session_kind: SessionKind,
        proxy_user: Option<String>,
    ) -> Self {
        let connection = server.identity.new_connection(&server.infra);
        let received_at = now();
        let settings = &server.infra.settings;
        let bucket = TokenBucket::new(settings.requests_per_s, settings.burst, received_at);
        let rate_limit = RateLimit::new(bucket);
        server.infra.metrics.opened_connections.inc();
        server.infra.metrics.connections.inc();
        tracing::debug!(connection = %connection.id, "connected");
        Self {
            server,
            connection,
            player: None,
            registration: None,
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

    fn store(&self) -> &dyn Store {
        self.server.store()
    }

    /// Returns the outbox of this client.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        self.connection.outbox.clone()
    }

    /// Handles a text message that was received at `received_at`. Replies and the closing of the
    /// connection go through the outbox.
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
        if matches!(
            request,
            Ok(ClientMessage::Create(_) | ClientMessage::Join { .. })
        ) {
            // Many matches may begin at the same time, and each takes as long as several moves. The
            // moves that have already arrived are served first.
            yield_now().await;
        }
        let pending: PendingSend<'_> = match request {
            Ok(ClientMessage::Hello(hello)) => Some(Box::pin(self.handle_hello(*hello, reply))),
            Ok(message) => match &self.player {
                Some(player) => self.serve_request(player, message, reply),
                // The implicit `hello` has failed and its error was already sent, so the request
                // itself is refused.
                None => {
                    let message = "you are not logged in: send `hello` first";
                    reply.refuse(ErrorCode::Overloaded, message);
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

    /// Decodes a request and applies the rate limit. Returns `None` if the request has already been
    /// answered.
    fn decode_and_admit(
        &mut self,
        text: &str,
    ) -> Option<(Result<ClientMessage, Box<DecodeError>>, Reply)> {
        let auth_mode = match self.server.infra.settings.accounts {
            _ if self.proxy_user.is_some() => AuthMode::ProxyAuthenticated,
            AccountPolicy::Open | AccountPolicy::Invite => AuthMode::AllMethods,
            AccountPolicy::Off => AuthMode::GuestOnly,
        };
        let decoded = Request::decode_as(text, auth_mode);
        let message = decoded.as_ref().ok().map(|read| &read.request.message);
        self.server.infra.metrics.count_request(message);
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

    /// Records a pong that was received at `at`. A pong counts as a request unless it answers a
    /// ping that measures the round-trip time.
    pub fn receive_pong(&mut self, text: &[u8], at: Instant) {
        if !self.connection.outbox.receive_pong(text, at) {
            self.count_activity();
        }
    }

    /// Counts a ping or a pong as a request for the rate limit. Too many pings and pongs therefore
    /// close the connection.
    pub fn count_activity(&mut self) {
        let cost = self.request_cost();
        if matches!(self.check_rate_limit(cost, now()), Admission::Close(_)) {
            self.connection.outbox.close(CloseCode::RateLimited);
        }
    }

    /// Records the end of the connection. `code` is `None` if the client closed it.
    pub fn end(self, code: Option<CloseCode>) {
        self.server.infra.metrics.count_closed(code);
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

    /// Returns the cost of a request that is charged against the rate limit.
    fn request_cost(&self) -> u32 {
        let settings = &self.server.infra.settings;
        if self.connection.is_spectating_only() {
            // The cost is capped at the burst size, because a more expensive request would never be
            // admitted.
            settings.watching_cost.min(settings.burst).get()
        } else {
            1
        }
    }

    /// Applies the rate limit to a request of this cost. Rejected moves since the last call are
    /// charged first.
    fn check_rate_limit(&mut self, cost: u32, now: Instant) -> Admission {
        let rejected_moves = self.connection.outbox.take_rejected_moves();
        if rejected_moves > 0 {
            self.rate_limit.charge(rejected_moves, now);
        }
        self.rate_limit.admit(cost, now)
    }

    /// Counts a wrong code, name or token as a wrong guess, and delays the reply if this address
    /// has guessed too often.
    async fn delay_wrong_guess(&self) {
        let delay = self.connection_permit.count_wrong_guess(now());
        self.server.infra.sleep_unless_stopping(delay).await;
    }

    /// Admits a request or replies with an error. An accepted move is free, so fast play never
    /// exceeds the limit. A rejected move is charged later.
    fn admit(&mut self, is_move: bool, reply: Reply) -> Option<Reply> {
        let cost = if is_move { 0 } else { self.request_cost() };
        let (retry_after, is_last) = match self.check_rate_limit(cost, self.received_at) {
            Admission::Serve if self.server.infra.tasks.is_stopping() => {
                reply.refuse(ErrorCode::ShuttingDown, "the server is shutting down");
                return None;
            }
            Admission::Serve if is_move => return Some(reply.for_move()),
            Admission::Serve => return Some(reply),
            Admission::Refuse(after) => (after, false),
            Admission::Close(after) => (after, true),
        };
        let (code, message) = (ErrorCode::RateLimited, "too many requests");
        reply.error(retry_error(code, message, retry_after));
        if is_last {
            self.connection.outbox.close(CloseCode::RateLimited);
        }
        None
    }

    /// Handles a `hello` message.
    async fn handle_hello(&mut self, hello: Hello, reply: Reply) {
        let keeps_other_connections =
            hello.keep_connections == Some(true) || self.proxy_user.is_some();
        let Some(((), reply)) = reply.require(self.check_hello(&hello)) else {
            return;
        };
        // The server numbers the `hello` before it reads the player from the store. If two
        // connections use the same session, the connection with the later `hello` stays open,
        // regardless of how long each read takes.
        let Some((hello_number, reply)) = reply.require(self.next_hello_number().await) else {
            return;
        };
        let changes_before = self.server.identity.players.identity_change_count();
        let identified = self.identify_player(hello).await;
        if let Some(((player, login_kind), reply)) = reply.require(identified) {
            let resumed = login_kind != LoginKind::NewGuest;
            let precedence = (hello_number, keeps_other_connections);
            self.send_welcome(reply, player, resumed, precedence, changes_before)
                .await;
            if let (LoginKind::NewSession, Some(player)) = (login_kind, &self.player) {
                self.notify_session_added(player.record.id, &player.session);
            }
            self.touch_session();
        }
    }

    /// Refuses an unsupported protocol version and a second `hello`.
    fn check_hello(&self, hello: &Hello) -> Result<(), WireError> {
        let is_unsupported = |version| version != plyhouse_protocol::VERSION;
        if hello.protocol.is_some_and(is_unsupported) {
            let supported = plyhouse_protocol::VERSION;
            let message =
                format!("unsupported protocol version; this server supports version {supported}");
            return Err(WireError {
                supported: Some([supported].into()),
                ..WireError::new(ErrorCode::UnsupportedProtocol, message)
            });
        }
        if self.player.is_some() {
            return Err(already_welcomed_error());
        }
        Ok(())
    }

    /// Determines the player who logs in: an existing player or a new guest.
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
            let is_guess = !self.server.identity.tokens.has_issued(&token);
            if let Some(mut player) = self.find_player_by_token(token).await? {
                self.replace_taken_guest_name(&mut player).await;
                return Ok((player, LoginKind::Resumed));
            }
            if is_guess {
                self.delay_wrong_guess().await;
            }
        }
        let has_name = hello.name.is_some();
        let name = parse_display_text(hello.name, || {
            registry::random_guest_name(&self.server.infra.rng)
        })?;
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

    /// Returns the player of the session with this token.
    async fn find_player_by_token(&self, token: Token) -> Result<Option<Player>, WireError> {
        let hash = tokens::hash_token(&token);
        let (identity, is_stored) = match self.server.identity.players.find_guest_by_token(hash) {
            Some(guest) => (Some(guest), false),
            None => (self.find_stored_session(hash).await?, true),
        };
        Ok(identity.map(|(record, session)| Player {
            record,
            session,
            token,
            is_stored,
        }))
    }

    /// Reads the session with this token from the store.
    async fn find_stored_session(
        &self,
        token: TokenHash,
    ) -> Result<Option<(PlayerRecord, SessionRecord)>, WireError> {
        self.store().find_session(token).await.map_err(|error| {
            tracing::error!(connection = %self.connection.id, %error, "cannot read a session");
            store_read_error(error)
        })
    }

    fn new_guest(&self, name: String, label: String) -> Player {
        let token = self.server.identity.tokens.issue(&self.server.infra.rng);
        let id = registry::new_player_id(&self.server.infra.rng);
        Player {
            record: PlayerRecord {
                id,
                name,
                kind: PlayerKind::Guest,
            },
            session: self.new_session(id, &token, label),
            token,
            is_stored: false,
        }
    }

    /// Creates a session of this player.
    fn new_session(&self, player: PlayerId, token: &Token, label: String) -> SessionRecord {
        let now_ms = self.server.now_ms();
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

fn already_welcomed_error() -> WireError {
    let message = "you are already logged in on this connection";
    WireError::new(ErrorCode::AlreadyWelcomed, message)
}

/// Validates a player name or a session label by the rules for player names. Returns the default
/// text if no text is given.
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

/// Returns the default label for a session that the client has not named.
fn default_label(kind: SessionKind) -> String {
    let label = match kind {
        SessionKind::Web => "browser",
        SessionKind::Cli | SessionKind::Key => "program",
    };
    label.to_owned()
}

impl Drop for Client {
    fn drop(&mut self) {
        // The outbox no longer has a reader, so it is closed and discards new messages immediately.
        self.connection.outbox.close(CloseCode::Normal);
        let registry = &self.server.identity.connection_registry;
        registry.remove(self.connection.id);
        self.unwatch_lists();
        self.server.infra.metrics.connections.dec();
        let connection = Arc::clone(&self.connection);
        let player = self.player.as_ref().map(|player| player.record.id);
        let registration = self.registration.take();
        self.server.spawn(|server| async move {
            let was_seeking = server.matchmaking.seeks.end_by_connection(connection.id);
            // A client that has not been welcomed follows no match, so nothing remains to be
            // cleaned up.
            let Some(player) = player else { return };
            if let Some(cluster) = server.infra.cluster.as_ref().filter(|_| was_seeking) {
                cluster.end_seek(player).await;
            }
            drop(registration);
            let followed = connection.subscriptions.close();
            participant_subscriptions::transfer_followed_matches(&server, player, &followed).await;
            for handle in followed {
                handle.unfollow(player, &connection.outbox).await;
            }
        });
    }
}
