//! How fast one connection may ask.
//!
//! A token bucket of our own: the well-known crates read a clock of theirs, and here time is an
//! argument, so that a test can let it pass.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// A connection that is over its rate for this long, without a pause of a second, is closed …
const PATIENCE: Duration = Duration::from_secs(10);
/// … or when this many of its requests were refused in that time.
const REFUSALS_MAX: u32 = 1000;
/// A pause that ends a streak of refusals.
const PAUSE: Duration = Duration::from_secs(1);

/// A bucket of permits that fills evenly and holds a burst (a token bucket).
#[derive(Debug)]
pub(super) struct Rate {
    per_permit: Duration,
    capacity: Duration,
    /// When the bucket was, or will be, empty of debts: the further in the past, the fuller.
    empty_at: Instant,
    streak: Option<Streak>,
}

/// Refusals with no pause between them.
#[derive(Debug)]
struct Streak {
    began: Instant,
    last: Instant,
    refusals: u32,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is served.
    Serve,
    /// It is refused; one sent after this time would not be.
    Refuse(Duration),
    /// It is refused in the same way, and it was one too many.
    Close(Duration),
}

impl Rate {
    pub(super) fn new(per_s: NonZeroU32, burst: NonZeroU32, now: Instant) -> Self {
        let per_permit = Duration::from_secs(1) / per_s.get();
        let capacity = per_permit * burst.get();
        Self {
            per_permit,
            capacity,
            empty_at: now.checked_sub(capacity).unwrap_or(now),
            streak: None,
        }
    }

    pub(super) fn judge(&mut self, now: Instant) -> Verdict {
        // A full bucket does not fill further.
        self.empty_at = self
            .empty_at
            .max(now.checked_sub(self.capacity).unwrap_or(now));
        let emptied = self.empty_at + self.per_permit;
        if emptied <= now {
            self.empty_at = emptied;
            return Verdict::Serve;
        }
        let streak = match self.streak.take() {
            Some(streak) if now - streak.last < PAUSE => Streak {
                last: now,
                refusals: streak.refusals + 1,
                ..streak
            },
            Some(_) | None => Streak {
                began: now,
                last: now,
                refusals: 1,
            },
        };
        let too_many = now - streak.began >= PATIENCE || streak.refusals >= REFUSALS_MAX;
        self.streak = Some(streak);
        let after = emptied - now;
        if too_many {
            Verdict::Close(after)
        } else {
            Verdict::Refuse(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn per_s(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).unwrap()
    }

    fn start() -> (Rate, Instant) {
        let now = tokio::time::Instant::now().into_std();
        (Rate::new(per_s(20), per_s(40), now), now)
    }

    #[test]
    fn a_burst_is_served_and_then_the_rate() {
        let (mut rate, now) = start();
        for _ in 0..40 {
            assert_eq!(rate.judge(now), Verdict::Serve);
        }
        assert_eq!(rate.judge(now), Verdict::Refuse(Duration::from_millis(50)));
        assert_eq!(rate.judge(now + Duration::from_millis(50)), Verdict::Serve);
        assert_eq!(
            rate.judge(now + Duration::from_millis(60)),
            Verdict::Refuse(Duration::from_millis(40))
        );
    }

    #[test]
    fn a_long_rest_fills_one_burst_only() {
        let (mut rate, now) = start();
        let later = now + Duration::from_secs(3600);
        let served = (0..100)
            .filter(|_| rate.judge(later) == Verdict::Serve)
            .count();
        assert_eq!(served, 40);
    }

    #[test]
    fn a_flood_is_closed() {
        let (mut rate, now) = start();
        let verdicts: Vec<Verdict> = (0..1040).map(|_| rate.judge(now)).collect();
        assert_eq!(
            verdicts.iter().position(|v| matches!(v, Verdict::Close(_))),
            Some(1039)
        );
    }

    #[test]
    fn going_on_for_too_long_is_closed_unless_there_is_a_pause() {
        let over = |pause_at: Option<u64>| {
            let (mut rate, now) = start();
            (0..300u64).any(|i| {
                let pause = pause_at.filter(|&at| i >= at).map_or(0, |_| 2000);
                let now = now + Duration::from_millis(i * 40 + pause);
                (0..2).any(|_| matches!(rate.judge(now), Verdict::Close(_)))
            })
        };
        assert!(over(None));
        assert!(!over(Some(150)));
    }
}
