//! What two players have played against each other lately, so that nobody is fed with points.

use std::collections::VecDeque;

use plyhouse_protocol::PlayerId;
use serde::{Deserialize, Serialize};

use super::DAY_MS;

/// How many of their last matches are compared with the next one.
const COMPARED: usize = 2;

/// So many matches a day count between two players.
const A_DAY: usize = 30;

/// What two players have played against each other lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// How their last matches began, and who has won them.
    last: VecDeque<(String, Option<PlayerId>)>,
    /// When their last matches ended, in milliseconds since 1970.
    ended_ms: VecDeque<u64>,
}

impl Pair {
    /// Notes a match that ended at this time, and tells whether it is one too many: the same once more, or
    /// more than play for fun.
    pub(super) fn is_farmed(&mut self, line: &str, winner: Option<PlayerId>, at_ms: u64) -> bool {
        let is_same = |(other, who): &(String, Option<PlayerId>)| other == line && *who == winner;
        let is_repeated = self.last.iter().any(is_same);
        let is_within_a_day = |first: &u64| at_ms.saturating_sub(*first) < DAY_MS;
        let is_much =
            self.ended_ms.len() == A_DAY && self.ended_ms.front().is_some_and(is_within_a_day);
        self.last.push_back((line.to_owned(), winner));
        if self.last.len() > COMPARED {
            self.last.pop_front();
        }
        self.ended_ms.push_back(at_ms);
        if self.ended_ms.len() > A_DAY {
            self.ended_ms.pop_front();
        }
        is_repeated || is_much
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_same_is_not_played_three_times_over() {
        let [ann, bob] = [1, 2].map(|number| Some(PlayerId(Uuid::from_u128(number))));
        let mut pair = Pair::default();
        for (line, winner, expected) in [
            ("e4 e5", ann, false),
            ("e4 e5", bob, false),
            ("e4 e5", ann, true),
            ("d4 d5", ann, false),
            ("e4 c5", ann, false),
            ("e4 e5", ann, false),
            ("e4 e5", None, false),
            ("e4 e5", ann, true),
        ] {
            assert_eq!(
                pair.is_farmed(line, winner, 0),
                expected,
                "{line} {winner:?}"
            );
        }
    }

    #[test]
    fn thirty_a_day_count() {
        let mut pair = Pair::default();
        for number in 0..30 {
            assert!(!pair.is_farmed(&number.to_string(), None, number * 1000));
        }
        assert!(pair.is_farmed("the 31st", None, DAY_MS - 1));
        assert!(pair.is_farmed("the 32nd", None, DAY_MS));
        assert!(!pair.is_farmed("the next day", None, DAY_MS + 2000));
    }
}
