//! Time controls, as clients request them and as the server announces them.

mod text;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use self::text::ParseClockError;

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// Time control of a match. Each kind of time control has its own fields, and all of them are
/// required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ClockControl {
    /// Main time with an increment that is added after each move.
    Fischer {
        /// Main time at the start, in milliseconds: 0, or 1,000 to 10,800,000 (3 hours). The main
        /// time may be 0 only if the increment is greater than 0.
        #[cfg_attr(test, schemars(range(max = 10_800_000)))]
        main_ms: u64,
        /// Time added after each move, in milliseconds: 0 to 180,000 (3 minutes).
        #[cfg_attr(test, schemars(range(max = 180_000)))]
        increment_ms: u64,
    },
    /// Main time with a delay. Each move is charged only the time that exceeds the delay.
    Delay {
        /// Main time at the start, in milliseconds: 1,000 to 10,800,000 (3 hours).
        #[cfg_attr(test, schemars(range(min = 1000, max = 10_800_000)))]
        main_ms: u64,
        /// Free time per turn, which is not charged to the clock, in milliseconds: 500 to 180,000
        /// (3 minutes).
        #[cfg_attr(test, schemars(range(min = 500, max = 180_000)))]
        delay_ms: u64,
    },
    /// Main time followed by byo-yomi periods. A player who moves within the current period keeps
    /// that period.
    ByoYomi {
        /// Main time at the start, in milliseconds: 0 to 10,800,000 (3 hours).
        #[cfg_attr(test, schemars(range(max = 10_800_000)))]
        main_ms: u64,
        /// Length of a period, in milliseconds: 1,000 to 600,000 (10 minutes).
        #[cfg_attr(test, schemars(range(min = 1000, max = 600_000)))]
        period_ms: u64,
        /// Number of periods that each player has at the start: 1 to 25.
        #[cfg_attr(test, schemars(range(min = 1, max = 25)))]
        periods: u64,
    },
    /// Fixed time for each move.
    Move {
        /// Time for a move, in milliseconds: 5,000 to 1,209,600,000 (14 days). If the time is 1
        /// hour or more, the match is a correspondence match.
        #[cfg_attr(test, schemars(range(min = 5000, max = 1_209_600_000)))]
        move_ms: u64,
    },
}

/// Allowed main times. Fischer clocks also allow a main time of 0. Byo-yomi clocks allow any main
/// time up to the maximum.
const MAIN_RANGE_MS: RangeInclusive<u64> = SECOND_MS..=3 * HOUR_MS;
const INCREMENT_MAX_MS: u64 = 3 * MINUTE_MS;
const DELAY_RANGE_MS: RangeInclusive<u64> = SECOND_MS / 2..=3 * MINUTE_MS;
const PERIOD_RANGE_MS: RangeInclusive<u64> = SECOND_MS..=10 * MINUTE_MS;
const PERIODS_RANGE: RangeInclusive<u64> = 1..=25;
const MOVE_RANGE_MS: RangeInclusive<u64> = 5 * SECOND_MS..=14 * DAY_MS;

/// Minimum time for each move in a correspondence match.
const CORRESPONDENCE_MOVE_MIN_MS: u64 = HOUR_MS;

impl ClockControl {
    /// Returns whether all fields are within their bounds.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        match *self {
            Self::Fischer {
                main_ms,
                increment_ms,
            } => {
                let has_main = MAIN_RANGE_MS.contains(&main_ms);
                (has_main || main_ms == 0 && increment_ms > 0) && increment_ms <= INCREMENT_MAX_MS
            }
            Self::Delay { main_ms, delay_ms } => {
                MAIN_RANGE_MS.contains(&main_ms) && DELAY_RANGE_MS.contains(&delay_ms)
            }
            Self::ByoYomi {
                main_ms,
                period_ms,
                periods,
            } => {
                main_ms <= *MAIN_RANGE_MS.end()
                    && PERIOD_RANGE_MS.contains(&period_ms)
                    && PERIODS_RANGE.contains(&periods)
            }
            Self::Move { move_ms } => MOVE_RANGE_MS.contains(&move_ms),
        }
    }

    /// Returns whether a match with this clock is a correspondence match. Such a match has a fixed
    /// time of at least one hour for each move.
    #[must_use]
    pub const fn is_correspondence(&self) -> bool {
        matches!(self, Self::Move { move_ms } if *move_ms >= CORRESPONDENCE_MOVE_MIN_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_serialised_with_its_kind() {
        for (text, clock) in [
            (
                r#"{"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
                ClockControl::Fischer {
                    main_ms: 300_000,
                    increment_ms: 3000,
                },
            ),
            (
                r#"{"kind":"delay","main_ms":60000,"delay_ms":500}"#,
                ClockControl::Delay {
                    main_ms: 60_000,
                    delay_ms: 500,
                },
            ),
            (
                r#"{"kind":"byo-yomi","main_ms":0,"period_ms":30000,"periods":3}"#,
                ClockControl::ByoYomi {
                    main_ms: 0,
                    period_ms: 30_000,
                    periods: 3,
                },
            ),
            (
                r#"{"kind":"move","move_ms":86400000}"#,
                ClockControl::Move {
                    move_ms: 86_400_000,
                },
            ),
        ] {
            assert_eq!(serde_json::to_string(&clock).unwrap(), text);
            let read: ClockControl = serde_json::from_str(text).unwrap();
            assert_eq!(read, clock);
        }
    }

    #[test]
    fn is_within_bounds_rejects_values_beyond_limits() {
        let fischer = |main_ms, increment_ms| ClockControl::Fischer {
            main_ms,
            increment_ms,
        };
        let delay = |main_ms, delay_ms| ClockControl::Delay { main_ms, delay_ms };
        let byo_yomi = |main_ms, period_ms, periods| ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        };
        let time_per_move = |move_ms| ClockControl::Move { move_ms };
        for within in [
            fischer(0, 1),
            fischer(1000, 0),
            fischer(10_800_000, 180_000),
            delay(1000, 500),
            delay(10_800_000, 180_000),
            byo_yomi(0, 1000, 1),
            byo_yomi(10_800_000, 600_000, 25),
            time_per_move(5000),
            time_per_move(1_209_600_000),
        ] {
            assert!(within.is_within_bounds(), "{within:?}");
        }
        for beyond in [
            fischer(0, 0),
            fischer(999, 1),
            fischer(10_800_001, 0),
            fischer(1000, 180_001),
            delay(999, 500),
            delay(0, 500),
            delay(1000, 499),
            delay(1000, 180_001),
            byo_yomi(10_800_001, 1000, 1),
            byo_yomi(0, 999, 1),
            byo_yomi(0, 600_001, 1),
            byo_yomi(0, 1000, 0),
            byo_yomi(0, 1000, 26),
            time_per_move(4999),
            time_per_move(1_209_600_001),
        ] {
            assert!(!beyond.is_within_bounds(), "{beyond:?}");
        }
        assert!(
            time_per_move(3_600_000).is_correspondence()
                && !time_per_move(3_599_999).is_correspondence()
        );
        assert!(!fischer(10_800_000, 0).is_correspondence());
    }
}
