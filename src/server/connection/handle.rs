//! One connection as the rest of the server sees it: where to write, and what it follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::id::ConnectionId;
use super::outbox::Outbox;
use super::precedence::ConnectionPrecedence;
use super::subscriptions::Subscriptions;
use plyhouse_protocol::SessionId;

/// One connection as the rest of the server sees it.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) id: ConnectionId,
    pub(crate) outbox: Outbox,
    pub(crate) subscriptions: Subscriptions,
    /// Whether the player whose connection this is has a part in a live match.
    is_playing: AtomicBool,
    /// How it stands to its player's other connections, from its hello on.
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

    /// The connection's smoothed round-trip time, if it has been measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        let us = self.outbox.rtt_us()?;
        Some(Duration::from_micros(us.into()))
    }

    /// Notes how it stands to its player's other connections. That never changes.
    pub(crate) fn set_precedence(&self, precedence: ConnectionPrecedence) {
        let _ = self.precedence.set(precedence);
    }

    /// How it stands to its player's other connections; `None` before its hello.
    pub(crate) fn precedence(&self) -> Option<ConnectionPrecedence> {
        self.precedence.get().copied()
    }

    /// Which session of its player it is of; `None` before its hello.
    pub(crate) fn session(&self) -> Option<SessionId> {
        Some(self.precedence()?.session)
    }

    /// Notes whether the player has a part in a live match.
    pub(crate) fn set_playing(&self, is_playing: bool) {
        // It governs a rate alone, and nothing else is read by it.
        self.is_playing.store(is_playing, Ordering::Relaxed);
    }

    /// Whether the connection follows a match that goes on, and the player has no part in any.
    pub(crate) fn is_spectating_only(&self) -> bool {
        !self.is_playing.load(Ordering::Relaxed) && self.subscriptions.follows_live_match()
    }
}
