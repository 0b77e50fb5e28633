//! One client: who it is, what it asks, and at what rate.
//!
//! It serves one request after the other: what it can it answers itself, and the rest it sends to the
//! match that is meant, with the duty to answer.

mod creating;
mod requests;
mod welcome;

use std::sync::Arc;
use std::time::Instant;

use super::addresses::ConnectionPermit;
use super::births;
use super::bucket::Bucket;
use super::clock::now;
use super::match_handle::Pending;
use super::outbox::Outbox;
use super::peer::Peer;
use super::players;
use super::rate::{Admission, Rate};
use super::reply::Reply;
use super::shared::Shared;
use super::tokens;
use plyhouse_matches::Occupant;
use plyhouse_protocol::{
    ClientMessage, CloseCode, Decoded, ErrorCode, PlayerName, Refused, Request, Token, WireError,
};
use plyhouse_store::PlayerRecord;

/// The malformed message that ends the connection.
const MALFORMED_MAX: u32 = 20;

/// One client, from its first message to the end of its connection. Dropping it says goodbye to
/// everything that it followed.
#[derive(Debug)]
pub struct Client {
    server: Arc<Shared>,
    peer: Arc<Peer>,
    player: Option<Box<Player>>,
    rate: Rate,
    permit: ConnectionPermit,
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
    token: Token,
    is_stored: bool,
}

impl Player {
    fn occupant(&self) -> Occupant {
        Occupant::Player {
            id: self.record.id,
            name: self.record.name.clone(),
        }
    }
}

impl Client {
    pub(super) fn new(server: Arc<Shared>, permit: ConnectionPermit) -> Self {
        let peer = server.new_peer();
        let received_at = now();
        let settings = &server.settings;
        let bucket = Bucket::new(settings.requests_per_s, settings.burst, received_at);
        let rate = Rate::new(bucket);
        server.metrics.opened.inc();
        server.metrics.connections.inc();
        tracing::debug!(connection = %peer.id, "connected");
        Self {
            server,
            peer,
            player: None,
            rate,
            permit,
            received_at,
            requests: 0,
            malformed: 0,
        }
    }

    /// Where the messages to this client come out.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        self.peer.outbox.clone()
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
            Ok(message) => matches!(message, ClientMessage::Hello { .. }),
            Err(refused) => refused.is_hello,
        };
        if self.player.is_none() && !is_hello {
            let guest = self.guest(players::guest_name(&self.server.chance));
            let reply = Reply::unasked(self.outbox());
            Box::pin(self.welcome(reply, guest, false)).await;
        }
        let pending: Pending<'_> = match request {
            Ok(ClientMessage::Hello {
                protocol,
                name,
                token,
            }) => Some(Box::pin(self.greet(protocol, name, token, reply))),
            Ok(message) => {
                let player = self.player.as_ref();
                let player = player.expect("whoever is served has been welcomed");
                self.serve(player, message, reply)
            }
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
    fn read(&mut self, text: &str) -> Option<(Result<ClientMessage, Box<Refused>>, Reply)> {
        let decoded = Request::decode(text);
        let message = decoded.as_ref().ok().map(|read| &read.request.message);
        self.server.metrics.request(message);
        let is_move = matches!(message, Some(ClientMessage::Move { .. }));
        let (re, ignored, request) = match decoded {
            Ok(Decoded { request, ignored }) => (request.id, ignored, Ok(request.message)),
            Err(refused) if refused.error.code == Some(ErrorCode::Malformed) => {
                self.malformed(&refused);
                return None;
            }
            Err(refused) => (refused.error.re, Vec::new(), Err(refused)),
        };
        let reply = Reply::new(self.outbox(), re).ignoring(ignored);
        let reply = self.admit(is_move, reply)?;
        Some((request, reply))
    }

    /// Takes note of a pong that came at this instant. Only one that answers a ping by which the server
    /// measures the line is not counted.
    pub fn ponged(&mut self, text: &[u8], at: Instant) {
        if !self.peer.outbox.ponged(text, at) {
            self.heard_of();
        }
    }

    /// Takes note of a ping or a pong: they count as requests, so that a stream of them is a flood.
    pub fn heard_of(&mut self) {
        let cost = self.cost();
        if matches!(self.judge(cost, now()), Admission::Close(_)) {
            self.peer.outbox.close(CloseCode::RateLimited);
        }
    }

    /// The connection has ended, closed by the server for this reason, or by its client.
    pub fn end(self, code: Option<CloseCode>) {
        self.server.metrics.closed(code);
        tracing::debug!(connection = %self.peer.id, code = code.map(CloseCode::number), "disconnected");
    }

    fn malformed(&mut self, refused: &Refused) {
        let reply = Reply::new(self.outbox(), refused.error.re);
        reply.error(refused.error.clone());
        self.malformed += 1;
        if self.malformed >= MALFORMED_MAX {
            self.peer.outbox.close(CloseCode::BrokenRules);
        }
    }

    /// For how many requests one counts.
    fn cost(&self) -> u32 {
        let settings = &self.server.settings;
        if self.peer.only_watches() {
            // Whatever was set, one is served now and then.
            settings.watching_cost.min(settings.burst).get()
        } else {
            1
        }
    }

    /// What becomes of one more request, which counts as much as `cost` says.
    fn judge(&mut self, cost: u32, now: Instant) -> Admission {
        let fruitless = self.peer.outbox.take_fruitless();
        if fruitless > 0 {
            self.rate.charge(fruitless, now);
        }
        self.rate.judge(cost, now)
    }

    /// Has somebody wait who asked for what is not there, if it is not the first time.
    async fn guessed(&self) {
        self.server.put_off(self.permit.guessed(now())).await;
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
            Admission::Serve if is_move => return Some(reply.of_move()),
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
            self.peer.outbox.close(CloseCode::RateLimited);
        }
        None
    }

    /// Answers hello.
    async fn greet(
        &mut self,
        protocol: Option<u64>,
        name: Option<String>,
        token: Option<Token>,
        reply: Reply,
    ) {
        match self.identify(protocol, name, token).await {
            Ok((player, is_resumed)) => self.welcome(reply, player, is_resumed).await,
            Err(error) => reply.error(error),
        }
    }

    /// Finds out who says hello: a player who comes back, or a new guest.
    async fn identify(
        &self,
        protocol: Option<u64>,
        name: Option<String>,
        token: Option<Token>,
    ) -> Result<(Player, bool), WireError> {
        if protocol.is_some_and(|version| version != plyhouse_protocol::VERSION) {
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
        if let Some(token) = token {
            let is_guess = !self.server.tokens.has_issued(&token);
            if let Some(known) = self.known(token).await? {
                return Ok((known, true));
            }
            if is_guess {
                self.guessed().await;
            }
        }
        let name = match name {
            Some(name) => name
                .parse::<PlayerName>()
                .map_err(|bad| WireError::new(ErrorCode::BadName, bad.to_string()))?
                .as_str()
                .to_owned(),
            None => players::guest_name(&self.server.chance),
        };
        Ok((self.guest(name), false))
    }

    /// The player whose token this is.
    async fn known(&self, token: Token) -> Result<Option<Player>, WireError> {
        let hash = tokens::hash(&token);
        if let Some((record, is_stored)) = self.server.players.by_token(hash) {
            return Ok(Some(Player {
                record,
                token,
                is_stored,
            }));
        }
        let stored = self.server.store.player(hash).await.map_err(|error| {
            tracing::error!(connection = %self.peer.id, %error, "player not read");
            WireError::new(ErrorCode::Internal, "the store cannot be read now")
        })?;
        Ok(stored.map(|record| Player {
            record,
            token,
            is_stored: true,
        }))
    }

    fn guest(&self, name: String) -> Player {
        let token = self.server.tokens.issue(&self.server.chance);
        let id = players::new_player_id(&self.server.chance);
        let record = PlayerRecord {
            id,
            name,
            token: tokens::hash(&token),
        };
        Player {
            record,
            token,
            is_stored: false,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Nothing reads the outbox any more; what is still pushed into it is let go at once.
        self.peer.outbox.close(CloseCode::Normal);
        self.server.connections.remove(self.peer.id);
        let connection = self.peer.id;
        self.server.lobby.watched(|lists| lists.unwatch(connection));
        self.server.metrics.connections.dec();
        let (server, peer) = (Arc::clone(&self.server), Arc::clone(&self.peer));
        let player = self.player.as_ref().map(|player| player.record.id);
        self.server.spawn(async move {
            let was_seeking = server.seeks.end_of(peer.id);
            // Nobody follows anything before the welcome.
            let Some(player) = player else { return };
            if let Some(cluster) = server.cluster.as_ref().filter(|_| was_seeking) {
                cluster.end_seek(player).await;
            }
            server.players.disconnect(player, &peer);
            for handle in peer.port.close() {
                handle.unfollow(player, &peer.outbox).await;
            }
            births::catch_up(&server, player).await;
        });
    }
}
