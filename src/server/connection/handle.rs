use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::eviction::ConnectionPrecedence;
use super::id::ConnectionId;
use super::outbox::Outbox;
use super::subscriptions::Subscriptions;
use plyhouse_protocol::SessionId;

/// A connection as the rest of the server sees it. The handle holds the outbox, the subscriptions,
/// and the data for closing excess connections.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) id: ConnectionId,
    pub(crate) outbox: Outbox,
    pub(crate) subscriptions: Subscriptions,
    /// Whether the player plays or hosts a live match.
    is_playing: AtomicBool,
    /// Data that decides which of the player's connections are closed when the player has too many.
    /// The value is set when the client sends `hello`.
    precedence: OnceLock<ConnectionPrecedence>,
}

impl ConnectionHandle {
    pub(crate) fn new(outbox: Outbox, following_max: usize) -> Arc<Self> {
        Arc::new(Self {
            id: outbox.connection(),
            outbox,
            subscriptions: Subscriptions::new(following_max),
            is_playing: AtomicBool::new(false),
            precedence: OnceLock::new(),
        })
    }

    /// Returns the smoothed round-trip time, if it has been measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        Some(Duration::from_micros(self.outbox.rtt_us()?.into()))
    }

    /// Sets the data that decides whether this connection is closed when the player has too many
    /// connections. Only the first call has an effect.
    pub(crate) fn set_precedence(&self, precedence: ConnectionPrecedence) {
        let _ = self.precedence.set(precedence);
    }

    /// Returns the data that decides whether this connection is closed when the player has too many
    /// connections; `None` before the client has sent `hello`.
    pub(crate) fn precedence(&self) -> Option<ConnectionPrecedence> {
        self.precedence.get().copied()
    }

    /// Returns the session of the connection; `None` before the client has sent `hello`.
    pub(crate) fn session(&self) -> Option<SessionId> {
        Some(self.precedence()?.session)
    }

    /// Records whether the player plays or hosts a live match.
    pub(crate) fn set_playing(&self, is_playing: bool) {
        // Relaxed ordering is sufficient, because the `is_playing` flag does not guard other data.
        self.is_playing.store(is_playing, Ordering::Relaxed);
    }

    /// Returns whether the connection only spectates: it follows a live match, and its player
    /// neither plays nor hosts one.
    pub(crate) fn is_spectating_only(&self) -> bool {
        !self.is_playing.load(Ordering::Relaxed) && self.subscriptions.follows_live_match()
    }
}
