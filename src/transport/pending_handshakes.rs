//! Limits the number of open connections that have not become WebSockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Soft limit on the number of connections. At this limit, a new connection evicts the oldest one
/// if the oldest is at least [`HANDSHAKE_GRACE`] old.
const HANDSHAKES_MAX: usize = 1024;
/// Minimum age at which a connection may be evicted while there are fewer than [`BURST_MAX`]
/// connections. The time suffices for a client that makes progress, even when many clients
/// reconnect at once.
const HANDSHAKE_GRACE: Duration = Duration::from_secs(2);
/// Hard limit on the number of connections. At this limit, a new connection evicts the oldest one
/// regardless of its age. Each connection takes a file descriptor and about 10 KiB.
const BURST_MAX: usize = 8 * HANDSHAKES_MAX;

/// Open connections that have not become WebSockets. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub(super) struct Handshakes(Arc<Mutex<OpenHandshakes>>);

#[derive(Debug, Default)]
struct OpenHandshakes {
    next: u64,
    taken: BTreeMap<u64, (Instant, CancellationToken)>,
}

/// Permit for one connection in [`Handshakes`]. Dropping the permit removes the connection.
#[derive(Debug)]
pub(super) struct HandshakePermit {
    handshakes: Handshakes,
    number: u64,
    lost: CancellationToken,
}

impl Handshakes {
    /// Adds a connection at time `now`. Evicts the oldest connection if a limit is reached.
    pub(super) fn enter(&self, now: Instant) -> HandshakePermit {
        let mut places = self.0.lock();
        let count = places.taken.len();
        if let Some(oldest) = places.taken.first_entry() {
            let (since, lost) = oldest.get();
            let is_late = count >= HANDSHAKES_MAX && now.duration_since(*since) >= HANDSHAKE_GRACE;
            if is_late || count >= BURST_MAX {
                lost.cancel();
                oldest.remove();
            }
        }
        let number = places.next;
        places.next += 1;
        let lost = CancellationToken::new();
        places.taken.insert(number, (now, lost.clone()));
        HandshakePermit {
            handshakes: self.clone(),
            number,
            lost,
        }
    }
}

impl HandshakePermit {
    /// Waits until this connection is evicted.
    pub(super) async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for HandshakePermit {
    fn drop(&mut self) {
        self.handshakes.0.lock().taken.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// Adds `count` connections at once, and adds one more connection after the duration `later`.
    /// Returns the indices of the evicted connections.
    fn lost(count: usize, later: Duration) -> Vec<usize> {
        let now = tokio::time::Instant::now().into_std();
        let handshakes = Handshakes::default();
        let places: Vec<HandshakePermit> = (0..count).map(|_| handshakes.enter(now)).collect();
        let _one_more = handshakes.enter(now + later);
        let is_lost = |&place: &usize| places[place].lost().now_or_never().is_some();
        (0..count).filter(is_lost).collect()
    }

    #[test]
    fn oldest_handshake_is_dropped_above_the_limit() {
        assert_eq!(lost(HANDSHAKES_MAX - 1, HANDSHAKE_GRACE), [] as [usize; 0]);
        assert_eq!(lost(HANDSHAKES_MAX, HANDSHAKE_GRACE), [0]);
    }

    #[test]
    fn burst_of_handshakes_gets_the_grace_time() {
        assert_eq!(lost(HANDSHAKES_MAX, HANDSHAKE_GRACE / 2), [] as [usize; 0]);
        assert_eq!(lost(BURST_MAX, HANDSHAKE_GRACE / 2), [0]);
    }

    #[test]
    fn finished_handshake_frees_its_place() {
        let handshakes = Handshakes::default();
        drop(handshakes.enter(tokio::time::Instant::now().into_std()));
        assert!(handshakes.0.lock().taken.is_empty());
    }
}
