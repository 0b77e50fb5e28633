//! How often a player may ask for all that is kept about them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_protocol::PlayerId;

use crate::context::locks::{ABOUT, Mutex};

/// How often a player may ask.
const EVERY: Duration = Duration::from_mins(1);

/// Of how many players it is known when they asked. Beyond, all wait.
const ASKED_MAX: usize = 10_000;

/// When players asked last.
#[derive(Debug, Default)]
pub(crate) struct ExportRateLimit(Mutex<BTreeMap<PlayerId, Instant>, ABOUT>);

impl ExportRateLimit {
    /// Lets a player ask.
    ///
    /// # Errors
    ///
    /// After how long the player may.
    pub(crate) fn ask(&self, player: PlayerId, now: Instant) -> Result<(), Duration> {
        let mut asked = self.0.lock();
        if let Some(last) = asked.get(&player) {
            let passed = now.duration_since(*last);
            if passed < EVERY {
                return Err(EVERY - passed);
            }
        }
        if asked.len() >= ASKED_MAX {
            asked.retain(|_, last| now.duration_since(*last) < EVERY);
        }
        if asked.len() >= ASKED_MAX {
            return Err(EVERY);
        }
        asked.insert(player, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::context::clock::now;

    #[test]
    fn a_player_asks_once_a_minute() {
        let (asked, now) = (ExportRateLimit::default(), now());
        let [ann, bob] = [1, 2].map(|number| PlayerId(Uuid::from_u128(number)));
        assert_eq!(asked.ask(ann, now), Ok(()));
        let later = now + Duration::from_secs(20);
        assert_eq!(asked.ask(ann, later), Err(Duration::from_secs(40)));
        assert_eq!(asked.ask(bob, later), Ok(()));
        assert_eq!(asked.ask(ann, now + EVERY), Ok(()));
        for number in 0..ASKED_MAX as u128 {
            let _ = asked.ask(PlayerId(Uuid::from_u128(number + 10)), later + EVERY);
        }
        let one_more = PlayerId(Uuid::from_u128(7));
        assert!(asked.ask(one_more, later + EVERY).is_err());
        assert_eq!(asked.ask(one_more, later + 2 * EVERY), Ok(()));
    }
}
