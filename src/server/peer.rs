//! One connection as the rest of the server sees it: where to write, and what it follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::connection_id::ConnectionId;
use super::outbox::Outbox;
use super::port::Port;

/// One connection as the rest of the server sees it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) id: ConnectionId,
    pub(super) outbox: Outbox,
    pub(super) port: Port,
    /// Whether the player whose connection this is has a part in a live match.
    plays: AtomicBool,
    /// Which session of its player it is, in a cluster; 0 elsewhere.
    session: AtomicU64,
}

impl Peer {
    pub(super) fn new(outbox: Outbox, following_max: usize) -> Arc<Self> {
        Arc::new(Self {
            id: outbox.connection(),
            outbox,
            port: Port::new(following_max),
            plays: AtomicBool::new(false),
            session: AtomicU64::new(0),
        })
    }

    /// The connection's smoothed round-trip time, if it has been measured.
    pub(super) fn rtt(&self) -> Option<Duration> {
        let us = self.outbox.rtt_us()?;
        Some(Duration::from_micros(us.into()))
    }

    /// Notes which session of its player it is.
    pub(super) fn set_session(&self, number: u64) {
        self.session.store(number, Ordering::Release);
    }

    /// Which session of its player it is: the later the higher.
    pub(super) fn session(&self) -> u64 {
        self.session.load(Ordering::Acquire)
    }

    /// Notes whether the player has a part in a live match.
    pub(super) fn set_plays(&self, plays: bool) {
        // It governs a rate alone, and nothing else is read by it.
        self.plays.store(plays, Ordering::Relaxed);
    }

    /// Whether the connection follows a match that goes on, and the player has no part in any.
    pub(super) fn only_watches(&self) -> bool {
        !self.plays.load(Ordering::Relaxed) && self.port.follows_live()
    }
}
