//! Token bucket that fills at a constant rate, up to a fixed number of permits.
//!
//! Common rate-limiting crates read their own clock. This implementation takes the time as an
//! argument, so that tests can control it.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// A token bucket whose state is a single instant.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    permit_interval: Duration,
    capacity: Duration,
    /// Instant at which the bucket holds exactly zero permits. If this instant is in the past, the
    /// bucket has been gaining permits since then. If this instant is in the future, the bucket is
    /// in debt until then. An earlier instant means a fuller bucket.
    empty_at: Instant,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub(crate) fn new(per_s: NonZeroU32, burst: NonZeroU32, now: Instant) -> Self {
        let per_permit = Duration::from_secs(1) / per_s.get();
        let capacity = per_permit * burst.get();
        Self {
            permit_interval: per_permit,
            capacity,
            empty_at: earlier_by(now, capacity),
        }
    }

    /// Takes `cost` permits, or returns the time until enough permits are available.
    pub(crate) fn take(&mut self, cost: u32, now: Instant) -> Result<(), Duration> {
        let new_empty_at = self.empty_at_after(cost, now);
        if new_empty_at > now {
            return Err(new_empty_at - now);
        }
        self.empty_at = new_empty_at;
        Ok(())
    }

    /// Takes one permit, on credit if necessary, and returns the time until the debt is paid off.
    /// The debt never exceeds `max_wait`.
    pub(crate) fn borrow(&mut self, now: Instant, max_wait: Duration) -> Duration {
        let new_empty_at = self.empty_at_after(1, now).min(now + max_wait);
        self.empty_at = new_empty_at;
        new_empty_at.saturating_duration_since(now)
    }

    /// Returns whether the bucket is full.
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.empty_at <= earlier_by(now, self.capacity)
    }

    /// Returns the new value of `empty_at` after `cost` permits are taken. The bucket never holds
    /// more than its capacity.
    fn empty_at_after(&self, cost: u32, now: Instant) -> Instant {
        self.empty_at.max(earlier_by(now, self.capacity)) + self.permit_interval * cost
    }
}

/// Returns the instant that lies `by` before `now`. Returns `now` if the clock cannot represent
/// that instant.
fn earlier_by(now: Instant, by: Duration) -> Instant {
    now.checked_sub(by).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn full_bucket() -> (TokenBucket, Instant) {
        let now = tokio::time::Instant::now().into_std();
        let per_s = NonZeroU32::new(20).unwrap();
        let burst = NonZeroU32::new(40).unwrap();
        (TokenBucket::new(per_s, burst, now), now)
    }

    #[test]
    fn burst_is_served_then_permits_refill_at_the_rate() {
        let (mut bucket, now) = full_bucket();
        for _ in 0..40 {
            assert_eq!(bucket.take(1, now), Ok(()));
        }
        assert_eq!(bucket.take(1, now), Err(SECOND / 20));
        assert_eq!(bucket.take(1, now + SECOND / 20), Ok(()));
        assert_eq!(bucket.take(2, now + SECOND / 10), Err(SECOND / 20));
    }

    #[test]
    fn idle_time_refills_at_most_one_burst() {
        let (mut bucket, now) = full_bucket();
        let later = now + 3600 * SECOND;
        let served = (0..100).filter(|_| bucket.take(1, later).is_ok());
        assert_eq!(served.count(), 40);
    }

    #[test]
    fn borrowed_permits_wait_up_to_the_maximum() {
        let (mut bucket, now) = full_bucket();
        assert!(bucket.is_full(now));
        let waits: Vec<Duration> = (0..100).map(|_| bucket.borrow(now, SECOND)).collect();
        assert_eq!(waits[39], Duration::ZERO);
        assert_eq!(waits[40], SECOND / 20);
        assert_eq!(waits[99], SECOND);
        assert!(!bucket.is_full(now + 2 * SECOND));
        assert!(bucket.is_full(now + 3 * SECOND));
    }
}
