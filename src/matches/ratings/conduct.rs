//! Who breaks rated matches off or leaves them, and for how long they play none for that.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::DAY_MS;

/// Of how many of somebody's last rated matches it counts how they were left.
const LAST: usize = 10;

/// How many of these may not be broken off or left.
const TOO_MANY: usize = 3;

/// The first penalty. It doubles with each that follows, up to a day.
const PENALTY_MS: u64 = 600_000;

/// For how long after a server has started nobody is blamed: whoever is away may have been sent away by that.
pub(super) const AMNESTY_MS: u64 = 600_000;

/// How somebody has treated those whom they were paired with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// Of each of the last matches whether the player has broken it off or left it, the oldest first.
    last: VecDeque<bool>,
    /// How many there were since one that was.
    clean: usize,
    /// How many penalties there were since the last ten clean matches.
    penalties: u32,
    /// Until when the player plays no rated matches, in milliseconds since 1970.
    until_ms: u64,
}

impl Conduct {
    /// Until when the player plays no rated matches, in milliseconds since 1970.
    #[must_use]
    pub const fn until_ms(&self) -> u64 {
        self.until_ms
    }

    /// Notes a match that ended at this time.
    pub(super) fn note(&mut self, is_blamed: bool, at_ms: u64) {
        self.last.push_back(is_blamed);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
        if !is_blamed {
            self.clean += 1;
            if self.clean >= LAST {
                self.penalties = 0;
            }
            return;
        }
        self.clean = 0;
        if self.last.iter().filter(|blamed| **blamed).count() >= TOO_MANY {
            // Eight doublings are more than a day.
            let penalty = (PENALTY_MS << self.penalties.min(8)).min(DAY_MS);
            self.until_ms = at_ms.saturating_add(penalty);
            self.penalties += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For how long each of these matches bars its player, in minutes.
    fn barred(matches: &str) -> Vec<u64> {
        let mut conduct = Conduct::default();
        let note = |left: char| {
            let before = conduct.until_ms;
            conduct.note(left == 'x', 7);
            match conduct.until_ms {
                until if until == before && left == '.' => 0,
                until => until.saturating_sub(7) / 60_000,
            }
        };
        matches.chars().map(note).collect()
    }

    #[test]
    fn three_of_ten_are_too_many() {
        assert_eq!(barred("x.x.x"), [0, 0, 0, 0, 10]);
        assert_eq!(barred("x.x.......x"), [0; 11]);
    }

    #[test]
    fn each_penalty_is_twice_the_one_before_up_to_a_day() {
        let expected = [0, 0, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440];
        assert_eq!(barred("xxxxxxxxxxxx"), expected);
    }

    #[test]
    fn ten_clean_matches_are_a_new_begin() {
        let ten = barred("xxx..........xxx");
        assert_eq!(ten[15], 10);
        let mut conduct = Conduct::default();
        "xxx........."
            .chars()
            .for_each(|left| conduct.note(left == 'x', 0));
        assert_eq!(conduct.penalties, 1);
        conduct.note(false, 0);
        assert_eq!(conduct.penalties, 0);
    }
}
