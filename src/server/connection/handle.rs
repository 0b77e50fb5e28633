//! One connection as the rest of the server sees it: where to write, and what it follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::id::ConnectionId;
use super::outbox::Outbox;
use super::precedence::Standing;
use super::subscriptions::Subscriptions;
use plyhouse_protocol::SessionId;

/// One connection as the rest of the server sees it.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) id: ConnectionId,
    pub(crate) outbox: Outbox,
    pub(crate) subscriptions: Subscriptions,
    /// Whether the player whose connection this is has a part in a live match.
    plays: AtomicBool,
    /// How it stands to its player's other connections, from its hello on.
    standing: OnceLock<Standing>,
}

impl ConnectionHandle {
    pub(crate) fn new(outbox: Outbox, following_max: usize) -> Arc<Self> {
        Arc::new(Self {
            id: outbox.connection(),
            outbox,
            subscriptions: Subscriptions::new(following_max),
            plays: AtomicBool::new(false),
            standing: OnceLock::new(),
        })
    }

    /// The connection's smoothed round-trip time, if it has been measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        let us = self.outbox.rtt_us()?;
        Some(Duration::from_micros(us.into()))
    }

    /// Notes how it stands to its player's other connections. That never changes.
    pub(crate) fn stands(&self, standing: Standing) {
        let _ = self.standing.set(standing);
    }

    /// How it stands to its player's other connections; `None` before its hello.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.standing.get().copied()
    }

    /// Which session of its player it is of; `None` before its hello.
    pub(crate) fn session(&self) -> Option<SessionId> {
        Some(self.standing()?.session)
    }

    /// Notes whether the player has a part in a live match.
    pub(crate) fn set_plays(&self, plays: bool) {
        // It governs a rate alone, and nothing else is read by it.
        self.plays.store(plays, Ordering::Relaxed);
    }

    /// Whether the connection follows a match that goes on, and the player has no part in any.
    pub(crate) fn only_watches(&self) -> bool {
        !self.plays.load(Ordering::Relaxed) && self.subscriptions.follows_live()
    }
}
