//! Limits the request rate of one connection, and closes a connection that keeps exceeding the
//! limit.

use std::time::{Duration, Instant};

use super::token_bucket::TokenBucket;

/// Maximum duration of a streak of refused requests before the connection is closed. A streak ends
/// after [`STREAK_RESET_AFTER`] without refusals.
const STREAK_DURATION_MAX: Duration = Duration::from_secs(10);
/// Maximum number of refused requests in one streak before the connection is closed.
const REFUSALS_MAX: u32 = 1000;
/// Maximum debt that rejected moves can cause, given as the time needed to pay it off. Once the
/// debt has reached the maximum, further rejected moves are not charged. Such moves are rare,
/// because the server refuses requests from a connection that is in debt.
const DEBT_MAX: Duration = Duration::from_secs(2);
/// Time without refused requests that ends a streak.
const STREAK_RESET_AFTER: Duration = Duration::from_secs(1);

/// Rate limit of one connection.
#[derive(Debug)]
pub(crate) struct RateLimit {
    token_bucket: TokenBucket,
    streak: Option<RefusalStreak>,
}

/// A series of refused requests, each less than [`STREAK_RESET_AFTER`] after the previous one.
#[derive(Debug)]
struct RefusalStreak {
    started_at: Instant,
    last_refusal_at: Instant,
    refusals: u32,
}

/// Decision whether to serve a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Serve the request.
    Serve,
    /// Refuse the request. The client may retry after this duration.
    Refuse(Duration),
    /// Refuse the request, as [`Refuse`](Self::Refuse) does, and close the connection.
    Close(Duration),
}

impl RateLimit {
    pub(crate) const fn new(token_bucket: TokenBucket) -> Self {
        Self {
            token_bucket,
            streak: None,
        }
    }

    /// Charges the connection for moves that were admitted at no cost and then rejected. A
    /// connection without tokens incurs debt. The server refuses its requests until the debt is
    /// paid off.
    pub(crate) fn charge(&mut self, cost: u32, now: Instant) {
        for _ in 0..cost {
            self.token_bucket.borrow(now, DEBT_MAX);
        }
    }

    /// Decides whether to serve a request that costs `cost` tokens. A request of cost 0 is refused
    /// while the connection is in debt.
    pub(crate) fn admit(&mut self, cost: u32, now: Instant) -> Admission {
        let Err(after) = self.token_bucket.take(cost, now) else {
            return Admission::Serve;
        };
        let continues = |streak: &RefusalStreak| now - streak.last_refusal_at < STREAK_RESET_AFTER;
        let streak = self.streak.take().filter(continues);
        let mut streak = streak.unwrap_or(RefusalStreak {
            started_at: now,
            last_refusal_at: now,
            refusals: 0,
        });
        streak.last_refusal_at = now;
        streak.refusals += 1;
        let too_many =
            now - streak.started_at >= STREAK_DURATION_MAX || streak.refusals >= REFUSALS_MAX;
        self.streak = Some(streak);
        match too_many {
            true => Admission::Close(after),
            false => Admission::Refuse(after),
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
