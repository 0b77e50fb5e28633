//! This server's lease: while it holds, the server may do what an owner of matches does.

use std::time::Instant;

use plyhouse_store::cluster_directory::LEASE_DURATION;

use crate::context::clock::now;
use crate::context::locks::{LEASES, Mutex};

/// Until when the lease holds, as this server reckons.
#[derive(Debug, Default)]
pub(crate) struct Lease(Mutex<State, LEASES>);

#[derive(Debug, Default)]
struct State {
    expires_at: Option<Instant>,
    /// Since when it has held without a break.
    held_since: Option<Instant>,
    is_withdrawn: bool,
}

impl Lease {
    pub(crate) fn is_valid(&self) -> bool {
        self.0.lock().expires_at.is_some_and(|until| now() < until)
    }

    /// Whether it has held for so short a time that others, whose leases ran out for the same reason, may
    /// not have renewed theirs yet.
    pub(crate) fn is_recent(&self) -> bool {
        let since = self.0.lock().held_since;
        since.is_none_or(|since| now() < since + LEASE_DURATION)
    }

    /// It is renewed by something that was asked for at this instant, which counts: how long the answer
    /// took is not known to the store.
    pub(crate) fn renew(&self, requested_at: Instant) {
        let mut state = self.0.lock();
        if !state.is_withdrawn {
            if state.expires_at.is_none_or(|until| until <= now()) {
                state.held_since = Some(now());
            }
            state.expires_at = Some(requested_at + LEASE_DURATION);
        }
    }

    /// It holds no longer, and is not renewed.
    pub(crate) fn withdraw(&self) {
        *self.0.lock() = State {
            is_withdrawn: true,
            ..State::default()
        };
    }
}
