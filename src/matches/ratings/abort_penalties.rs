//! Who breaks rated matches off or leaves them, and for how long they play none for that.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::DAY_MS;

/// Of how many of somebody's last rated matches it counts how they were left.
const RECENT_MATCHES: usize = 10;

/// How many of these may not be broken off or left.
const ABORTS_FOR_PENALTY: usize = 3;

/// The first penalty. It doubles with each that follows, up to a day.
const FIRST_PENALTY_MS: u64 = 600_000;

/// For how long after a server has started nobody is blamed: whoever is away may have been sent away by that.
pub(super) const AMNESTY_MS: u64 = 600_000;

/// How somebody has treated those whom they were paired with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbortPenalties {
    /// Of each of the last matches whether the player has broken it off or left it, the oldest first.
    #[serde(rename = "last")]
    recent_aborts: VecDeque<bool>,
    /// How many there were since one that was.
    #[serde(rename = "clean")]
    clean_streak: usize,
    /// How many penalties there were since the last ten clean matches.
    #[serde(rename = "penalties")]
    penalty_count: u32,
    /// Until when the player plays no rated matches, in milliseconds since 1970.
    #[serde(rename = "until_ms")]
    rated_ban_until_ms: u64,
}

impl AbortPenalties {
    /// Until when the player plays no rated matches, in milliseconds since 1970.
    #[must_use]
    pub const fn rated_ban_until_ms(&self) -> u64 {
        self.rated_ban_until_ms
    }

    /// Notes a match that ended at this time.
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
            // Eight doublings are more than a day.
            let penalty = (FIRST_PENALTY_MS << self.penalty_count.min(8)).min(DAY_MS);
            self.rated_ban_until_ms = at_ms.saturating_add(penalty);
            self.penalty_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For how long each of these matches bars its player, in minutes.
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
