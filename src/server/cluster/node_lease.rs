//! The lease of this server. While the lease is valid, the server may act as an owner of matches.

use std::time::Instant;

use plyhouse_store::cluster_directory::LEASE_DURATION;

use crate::context::clock_and_rng::now;
use crate::context::locks::{LEASES, Mutex};

/// Lease of this server, timed by this server's own clock.
#[derive(Debug, Default)]
pub(crate) struct Lease(Mutex<State, LEASES>);

#[derive(Debug, Default)]
struct State {
    expires_at: Option<Instant>,
    /// Time at which the lease last became valid. Renewals of a valid lease do not change this
    /// time.
    held_since: Option<Instant>,
    is_withdrawn: bool,
}

impl Lease {
    pub(crate) fn is_valid(&self) -> bool {
        self.0.lock().expires_at.is_some_and(|until| now() < until)
    }

    /// Returns whether the lease began so recently that other servers may not have renewed their
    /// leases yet. After an outage of the store, the leases of all servers have expired.
    pub(crate) fn is_recent(&self) -> bool {
        let since = self.0.lock().held_since;
        since.is_none_or(|since| now() < since + LEASE_DURATION)
    }

    /// Sets the lease to expire `LEASE_DURATION` after `requested_at`, the time of the renewal
    /// request. This server therefore considers the lease expired before the store does.
    pub(crate) fn renew(&self, requested_at: Instant) {
        let mut state = self.0.lock();
        if !state.is_withdrawn {
            if state.expires_at.is_none_or(|until| until <= now()) {
                state.held_since = Some(now());
            }
            state.expires_at = Some(requested_at + LEASE_DURATION);
        }
    }

    /// Ends the lease for good. Later renewals have no effect.
    pub(crate) fn withdraw(&self) {
        *self.0.lock() = State {
            is_withdrawn: true,
            ..State::default()
        };
    }
}
