//! A bucket of permits that fills evenly and holds a burst (a token bucket).
//!
//! Our own: the well-known crates read a clock of theirs, and here time is an argument, so that a
//! test can let it pass.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// A bucket of permits that fills evenly and holds a burst.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    per_permit: Duration,
    capacity: Duration,
    /// When the bucket was, or will be, empty of debts: the further in the past, the fuller.
    empty_at: Instant,
}

impl TokenBucket {
    /// A full bucket.
    pub(crate) fn new(per_s: NonZeroU32, burst: NonZeroU32, now: Instant) -> Self {
        let per_permit = Duration::from_secs(1) / per_s.get();
        let capacity = per_permit * burst.get();
        Self {
            per_permit,
            capacity,
            empty_at: earlier(now, capacity),
        }
    }

    /// Takes as many permits as `cost` says, or tells after which time there would be so many.
    pub(crate) fn take(&mut self, cost: u32, now: Instant) -> Result<(), Duration> {
        let emptied = self.emptied(cost, now);
        if emptied > now {
            return Err(emptied - now);
        }
        self.empty_at = emptied;
        Ok(())
    }

    /// Takes a permit, on credit if need be, and tells how long to wait until it is paid for. Nobody
    /// is lent more than a wait of `longest`.
    pub(crate) fn borrow(&mut self, now: Instant, longest: Duration) -> Duration {
        let emptied = self.emptied(1, now).min(now + longest);
        self.empty_at = emptied;
        emptied.saturating_duration_since(now)
    }

    /// Whether nothing tells it from a new one.
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.empty_at <= earlier(now, self.capacity)
    }

    /// What `empty_at` would be with so many permits less. A full bucket does not fill further.
    fn emptied(&self, cost: u32, now: Instant) -> Instant {
        self.empty_at.max(earlier(now, self.capacity)) + self.per_permit * cost
    }
}

/// Some time before `now`, as far back as the clock goes.
fn earlier(now: Instant, by: Duration) -> Instant {
    now.checked_sub(by).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn start() -> (TokenBucket, Instant) {
        let now = tokio::time::Instant::now().into_std();
        let per_s = NonZeroU32::new(20).unwrap();
        let burst = NonZeroU32::new(40).unwrap();
        (TokenBucket::new(per_s, burst, now), now)
    }

    #[test]
    fn a_burst_is_served_and_then_the_rate() {
        let (mut bucket, now) = start();
        for _ in 0..40 {
            assert_eq!(bucket.take(1, now), Ok(()));
        }
        assert_eq!(bucket.take(1, now), Err(SECOND / 20));
        assert_eq!(bucket.take(1, now + SECOND / 20), Ok(()));
        assert_eq!(bucket.take(2, now + SECOND / 10), Err(SECOND / 20));
    }

    #[test]
    fn a_long_rest_fills_one_burst_only() {
        let (mut bucket, now) = start();
        let later = now + 3600 * SECOND;
        let served = (0..100).filter(|_| bucket.take(1, later).is_ok());
        assert_eq!(served.count(), 40);
    }

    #[test]
    fn what_is_lent_is_waited_for_and_has_an_end() {
        let (mut bucket, now) = start();
        assert!(bucket.is_full(now));
        let waits: Vec<Duration> = (0..100).map(|_| bucket.borrow(now, SECOND)).collect();
        assert_eq!(waits[39], Duration::ZERO);
        assert_eq!(waits[40], SECOND / 20);
        assert_eq!(waits[99], SECOND);
        assert!(!bucket.is_full(now + 2 * SECOND));
        assert!(bucket.is_full(now + 3 * SECOND));
    }
}
