//! How fast one connection may ask, and when it has asked too fast for too long.

use std::time::{Duration, Instant};

use super::token_bucket::TokenBucket;

/// A connection that is over its rate for this long, without a pause of a second, is closed …
const STREAK_DURATION_MAX: Duration = Duration::from_secs(10);
/// … or when this many of its requests were refused in that time.
const REFUSALS_MAX: u32 = 1000;
/// The longest that debts are paid off: little more is let in before it is charged.
const DEBT_MAX: Duration = Duration::from_secs(2);
/// A pause that ends a streak of refusals.
const STREAK_RESET_AFTER: Duration = Duration::from_secs(1);

/// How fast one connection asks.
#[derive(Debug)]
pub(crate) struct RateLimit {
    token_bucket: TokenBucket,
    streak: Option<RefusalStreak>,
}

/// Refusals with no pause between them.
#[derive(Debug)]
struct RefusalStreak {
    started_at: Instant,
    last_refusal_at: Instant,
    refusals: u32,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is served.
    Serve,
    /// It is refused; one sent after this time would not be.
    Refuse(Duration),
    /// It is refused in the same way, and it was one too many.
    Close(Duration),
}

impl RateLimit {
    pub(crate) const fn new(token_bucket: TokenBucket) -> Self {
        Self {
            token_bucket,
            streak: None,
        }
    }

    /// Charges for what was let in for nothing and came to nothing. Whoever has spent all goes into debt,
    /// and is served nothing until it is paid.
    pub(crate) fn charge(&mut self, cost: u32, now: Instant) {
        for _ in 0..cost {
            self.token_bucket.borrow(now, DEBT_MAX);
        }
    }

    /// What becomes of a request that counts as much as `cost` says. One that counts nothing is refused
    /// while there are debts.
    pub(crate) fn admit(&mut self, cost: u32, now: Instant) -> Admission {
        let Err(after) = self.token_bucket.take(cost, now) else {
            return Admission::Serve;
        };
        let streak = match self.streak.take() {
            Some(streak) if now - streak.last_refusal_at < STREAK_RESET_AFTER => RefusalStreak {
                last_refusal_at: now,
                refusals: streak.refusals + 1,
                ..streak
            },
            Some(_) | None => RefusalStreak {
                started_at: now,
                last_refusal_at: now,
                refusals: 1,
            },
        };
        let too_many =
            now - streak.started_at >= STREAK_DURATION_MAX || streak.refusals >= REFUSALS_MAX;
        self.streak = Some(streak);
        if too_many {
            Admission::Close(after)
        } else {
            Admission::Refuse(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn new_rate_limit() -> (RateLimit, Instant) {
        let now = tokio::time::Instant::now().into_std();
        let per_s = NonZeroU32::new(20).unwrap();
        let burst = NonZeroU32::new(40).unwrap();
        (RateLimit::new(TokenBucket::new(per_s, burst, now)), now)
    }

    #[test]
    fn flood_of_requests_closes_the_connection() {
        let (mut rate_limit, now) = new_rate_limit();
        let admissions: Vec<Admission> = (0..1040).map(|_| rate_limit.admit(1, now)).collect();
        assert_eq!(
            admissions
                .iter()
                .position(|v| matches!(v, Admission::Close(_))),
            Some(1039)
        );
    }

    #[test]
    fn sustained_excess_closes_the_connection_unless_it_pauses() {
        let is_closed = |pause_at: Option<u64>| {
            let (mut rate_limit, now) = new_rate_limit();
            (0..300u64).any(|i| {
                let pause = pause_at.filter(|&at| i >= at).map_or(0, |_| 2000);
                let now = now + Duration::from_millis(i * 40 + pause);
                (0..2).any(|_| matches!(rate_limit.admit(1, now), Admission::Close(_)))
            })
        };
        assert!(is_closed(None));
        assert!(!is_closed(Some(150)));
    }
}
