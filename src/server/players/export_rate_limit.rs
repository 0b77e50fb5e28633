//! Rate limit on exports of personal data.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_protocol::PlayerId;

use crate::context::locks::{DATA_EXPORTS, Mutex};

/// Minimum time between two exports of a player.
const EXPORT_INTERVAL: Duration = Duration::from_mins(1);

/// Maximum number of players with a recorded export. While the table is full, further exports are
/// refused.
const TRACKED_PLAYERS_MAX: usize = 10_000;

/// Time of the last export of each player.
#[derive(Debug, Default)]
pub(crate) struct ExportRateLimit(Mutex<BTreeMap<PlayerId, Instant>, DATA_EXPORTS>);

impl ExportRateLimit {
    /// Records an export by the player at time `now`.
    ///
    /// # Errors
    ///
    /// Returns the remaining waiting time if the player may not export yet.
    pub(crate) fn try_acquire(&self, player: PlayerId, now: Instant) -> Result<(), Duration> {
        let mut last_exports = self.0.lock();
        if let Some(last) = last_exports.get(&player) {
            let elapsed = now.duration_since(*last);
            if elapsed < EXPORT_INTERVAL {
                return Err(EXPORT_INTERVAL - elapsed);
            }
        }
        if last_exports.len() >= TRACKED_PLAYERS_MAX {
            last_exports.retain(|_, last| now.duration_since(*last) < EXPORT_INTERVAL);
        }
        if last_exports.len() >= TRACKED_PLAYERS_MAX {
            return Err(EXPORT_INTERVAL);
        }
        last_exports.insert(player, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::context::clock_and_rng::now;

    #[test]
    fn second_export_within_a_minute_is_refused() {
        let (rate_limit, now) = (ExportRateLimit::default(), now());
        let [ann, bob] = [1, 2].map(|number| PlayerId(Uuid::from_u128(number)));
        assert_eq!(rate_limit.try_acquire(ann, now), Ok(()));
        let later = now + Duration::from_secs(20);
        assert_eq!(
            rate_limit.try_acquire(ann, later),
            Err(Duration::from_secs(40))
        );
        assert_eq!(rate_limit.try_acquire(bob, later), Ok(()));
        assert_eq!(rate_limit.try_acquire(ann, now + EXPORT_INTERVAL), Ok(()));
        for number in 0..TRACKED_PLAYERS_MAX as u128 {
            let _ = rate_limit.try_acquire(
                PlayerId(Uuid::from_u128(number + 10)),
                later + EXPORT_INTERVAL,
            );
        }
        let another_player = PlayerId(Uuid::from_u128(7));
        assert!(
            rate_limit
                .try_acquire(another_player, later + EXPORT_INTERVAL)
                .is_err()
        );
        assert_eq!(
            rate_limit.try_acquire(another_player, later + 2 * EXPORT_INTERVAL),
            Ok(())
        );
    }
}
