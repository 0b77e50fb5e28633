//! One connection as the rest of the server sees it: where to write, and what it follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::connection_id::ConnectionId;
use super::outbox::Outbox;
use super::port::Subscriptions;
use super::standing::Standing;
use plyhouse_protocol::SessionId;

/// One connection as the rest of the server sees it.
#[derive(Debug)]
pub(super) struct ConnectionHandle {
    pub(super) id: ConnectionId,
    pub(super) outbox: Outbox,
    pub(super) subscriptions: Subscriptions,
    /// Whether the player whose connection this is has a part in a live match.
    plays: AtomicBool,
    /// How it stands to its player's other connections, from its hello on.
    standing: OnceLock<Standing>,
}

impl ConnectionHandle {
    pub(super) fn new(outbox: Outbox, following_max: usize) -> Arc<Self> {
        Arc::new(Self {
            id: outbox.connection(),
            outbox,
            subscriptions: Subscriptions::new(following_max),
            plays: AtomicBool::new(false),
            standing: OnceLock::new(),
        })
    }

    /// The connection's smoothed round-trip time, if it has been measured.
    pub(super) fn rtt(&self) -> Option<Duration> {
        let us = self.outbox.rtt_us()?;
        Some(Duration::from_micros(us.into()))
    }

    /// Notes how it stands to its player's other connections. That never changes.
    pub(super) fn stands(&self, standing: Standing) {
        let _ = self.standing.set(standing);
    }

    /// How it stands to its player's other connections; `None` before its hello.
    pub(super) fn standing(&self) -> Option<Standing> {
        self.standing.get().copied()
    }

    /// Which session of its player it is of; `None` before its hello.
    pub(super) fn session(&self) -> Option<SessionId> {
        Some(self.standing()?.session)
    }

    /// Notes whether the player has a part in a live match.
    pub(super) fn set_plays(&self, plays: bool) {
        // It governs a rate alone, and nothing else is read by it.
        self.plays.store(plays, Ordering::Relaxed);
    }

    /// Whether the connection follows a match that goes on, and the player has no part in any.
    pub(super) fn only_watches(&self) -> bool {
        !self.plays.load(Ordering::Relaxed) && self.subscriptions.follows_live()
    }
}
