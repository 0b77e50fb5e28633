//! Recent matches between two players, used to detect rating farming.

use std::collections::VecDeque;

use plyhouse_protocol::PlayerId;
use serde::{Deserialize, Serialize};

use super::DAY_MS;

/// Maximum number of recent matches with which a new match is compared.
const COMPARED_MATCHES_MAX: usize = 2;

/// Maximum number of matches per day between the same two players that change ratings.
const COUNTED_MATCHES_PER_DAY: usize = 30;

/// Recent rated matches between two players.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairHistory {
    /// Opening lines and winners of the recent matches with which a new match is compared.
    #[serde(rename = "last")]
    recent_lines: VecDeque<(String, Option<PlayerId>)>,
    /// End times of the most recent matches, in milliseconds since 1970.
    ended_ms: VecDeque<u64>,
}

impl PairHistory {
    /// Records a match that ended at `at_ms`, in milliseconds since 1970. Returns `true` if the
    /// match must not change ratings. A match must not change ratings if a recent match had the
    /// same opening line and winner. The same applies if the daily limit is exceeded.
    pub(super) fn record_and_check_farming(
        &mut self,
        line: &str,
        winner: Option<PlayerId>,
        at_ms: u64,
    ) -> bool {
        let is_same = |(other, last_winner): &(String, Option<PlayerId>)| {
            other == line && *last_winner == winner
        };
        let is_repeated = self.recent_lines.iter().any(is_same);
        let is_within_a_day = |first: &u64| at_ms.saturating_sub(*first) < DAY_MS;
        let is_over_daily_limit = self.ended_ms.len() == COUNTED_MATCHES_PER_DAY
            && self.ended_ms.front().is_some_and(is_within_a_day);
        self.recent_lines.push_back((line.to_owned(), winner));
        if self.recent_lines.len() > COMPARED_MATCHES_MAX {
            self.recent_lines.pop_front();
        }
        self.ended_ms.push_back(at_ms);
        if self.ended_ms.len() > COUNTED_MATCHES_PER_DAY {
            self.ended_ms.pop_front();
        }
        is_repeated || is_over_daily_limit
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn repeated_line_with_same_winner_is_farming() {
        let [ann, bob] = [1, 2].map(|number| Some(PlayerId(Uuid::from_u128(number))));
        let mut history = PairHistory::default();
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
                history.record_and_check_farming(line, winner, 0),
                expected,
                "{line} {winner:?}"
            );
        }
    }

    #[test]
    fn match_above_daily_limit_is_farming() {
        let mut history = PairHistory::default();
        for number in 0..30 {
            assert!(!history.record_and_check_farming(&number.to_string(), None, number * 1000));
        }
        assert!(history.record_and_check_farming("the 31st", None, DAY_MS - 1));
        assert!(history.record_and_check_farming("the 32nd", None, DAY_MS));
        assert!(!history.record_and_check_farming("the next day", None, DAY_MS + 2000));
    }
}
