//! This server's lease: while it holds, the server may do what an owner of matches does.

use std::time::Instant;

use plyhouse_store::directory::LEASE;

use crate::context::clock::now;
use crate::context::locks::{LEASES, Mutex};

/// Until when the lease holds, as this server reckons.
#[derive(Debug, Default)]
pub(crate) struct Lease(Mutex<State, LEASES>);

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    /// Since when it has held without a break.
    since: Option<Instant>,
    has_ended: bool,
}

impl Lease {
    pub(crate) fn holds(&self) -> bool {
        self.0.lock().until.is_some_and(|until| now() < until)
    }

    /// Whether it has held for so short a time that others, whose leases ran out for the same reason, may
    /// not have renewed theirs yet.
    pub(crate) fn is_young(&self) -> bool {
        let since = self.0.lock().since;
        since.is_none_or(|since| now() < since + LEASE)
    }

    /// It is renewed by something that was asked for at this instant, which counts: how long the answer
    /// took is not known to the store.
    pub(crate) fn renewed(&self, asked_at: Instant) {
        let mut state = self.0.lock();
        if !state.has_ended {
            if state.until.is_none_or(|until| until <= now()) {
                state.since = Some(now());
            }
            state.until = Some(asked_at + LEASE);
        }
    }

    /// It holds no longer, and is not renewed.
    pub(crate) fn end(&self) {
        *self.0.lock() = State {
            has_ended: true,
            ..State::default()
        };
    }
}
