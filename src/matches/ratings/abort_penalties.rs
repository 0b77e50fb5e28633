//! Penalties for players who abort or leave rated matches.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::DAY_MS;

/// Number of recent rated matches of a player that are checked for aborts.
const RECENT_MATCHES: usize = 10;

/// Number of aborts in a player's recent matches that leads to a penalty.
const ABORTS_FOR_PENALTY: usize = 3;

/// Duration of the first penalty, in milliseconds. Each further penalty lasts twice as long as the
/// previous one, up to one day.
const FIRST_PENALTY_MS: u64 = 600_000;

/// Time after a server start during which no player is blamed for leaving, in milliseconds. The
/// restart itself may have disconnected the player.
pub(super) const AMNESTY_MS: u64 = 600_000;

/// Aborted matches and penalties of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbortPenalties {
    /// For each recent match, whether the player aborted or left the match. The oldest match comes
    /// first.
    #[serde(rename = "last")]
    recent_aborts: VecDeque<bool>,
    /// Number of matches since the last abort.
    #[serde(rename = "clean")]
    clean_streak: usize,
    /// Number of penalties since the player last completed ten consecutive matches without an
    /// abort.
    #[serde(rename = "penalties")]
    penalty_count: u32,
    /// End of the player's ban from rated matches, in milliseconds since 1970.
    #[serde(rename = "until_ms")]
    rated_ban_until_ms: u64,
}

impl AbortPenalties {
    /// Returns the end of the player's ban from rated matches, in milliseconds since 1970. Returns
    /// 0 if the player was never banned.
    #[must_use]
    pub const fn rated_ban_until_ms(&self) -> u64 {
        self.rated_ban_until_ms
    }

    /// Records a match that ended at `at_ms`, in milliseconds since 1970. `is_aborted` tells
    /// whether this player aborted or left the match.
    pub(super) fn record_match(&mut self, is_aborted: bool, at_ms: u64) {
        self.recent_aborts.push_back(is_aborted);
        if self.recent_aborts.len() > RECENT_MATCHES {
            self.recent_aborts.pop_front();
        }
        if !is_aborted {
            self.clean_streak += 1;
            if self.clean_streak >= RECENT_MATCHES {
                self.penalty_count = 0;
            }
            return;
        }
        self.clean_streak = 0;
        if self.recent_aborts.iter().filter(|blamed| **blamed).count() >= ABORTS_FOR_PENALTY {
            // After eight doublings, the penalty exceeds the maximum of one day, so further
            // doublings have no effect.
            let penalty = (FIRST_PENALTY_MS << self.penalty_count.min(8)).min(DAY_MS);
            self.rated_ban_until_ms = at_ms.saturating_add(penalty);
            self.penalty_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the duration in minutes of the ban that each match causes. Each `x` in `matches` is
    /// an abort.
    fn ban_minutes(matches: &str) -> Vec<u64> {
        let mut penalties = AbortPenalties::default();
        let record = |outcome: char| {
            let before = penalties.rated_ban_until_ms;
            penalties.record_match(outcome == 'x', 7);
            match penalties.rated_ban_until_ms {
                until if until == before && outcome == '.' => 0,
                until => until.saturating_sub(7) / 60_000,
            }
        };
        matches.chars().map(record).collect()
    }

    #[test]
    fn third_abort_in_ten_matches_is_penalised() {
        assert_eq!(ban_minutes("x.x.x"), [0, 0, 0, 0, 10]);
        assert_eq!(ban_minutes("x.x.......x"), [0; 11]);
    }

    #[test]
    fn penalty_doubles_up_to_one_day() {
        let expected = [0, 0, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440];
        assert_eq!(ban_minutes("xxxxxxxxxxxx"), expected);
    }

    #[test]
    fn ten_clean_matches_reset_penalty_count() {
        let ten = ban_minutes("xxx..........xxx");
        assert_eq!(ten[15], 10);
        let mut penalties = AbortPenalties::default();
        "xxx........."
            .chars()
            .for_each(|left| penalties.record_match(left == 'x', 0));
        assert_eq!(penalties.penalty_count, 1);
        penalties.record_match(false, 0);
        assert_eq!(penalties.penalty_count, 0);
    }
}
