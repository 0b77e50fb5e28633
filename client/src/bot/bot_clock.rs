//! Input of an engine's search: the moves played and the remaining clock times. This module also
//! computes the time that the engine may use for a move.

use std::time::Duration;

use plyhouse_engine_host::{Clock, Protocol, SearchLimits};
use plyhouse_protocol::{ClockControl, Snapshot};

use crate::view;

/// Safety margin for each move. It is subtracted from the engine's remaining time, together with
/// the round trip to the server.
const MOVE_OVERHEAD: Duration = Duration::from_millis(100);

/// Assumed number of moves that the engine still has to make. The remaining main time is divided by
/// this number.
const MOVES_TO_GO: u64 = 25;

/// Minimum thinking time of an engine, in milliseconds.
const THINK_MS_MIN: u64 = 1;

/// Thinking time per move if neither the user nor the clock sets one. A fixed time per move may last
/// hours or days, so it does not set the thinking time.
const DEFAULT_THINK_TIME: Duration = Duration::from_secs(1);

/// Position and clock times at the beginning of the engine's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchRequest {
    /// Position before the first move, or `None` for the standard initial position of the game.
    pub(crate) initial_position: Option<String>,
    /// Moves played so far, in wire notation.
    pub(crate) moves: Vec<String>,
    /// Clock times, or `None` in an untimed match.
    pub(crate) times: Option<ClockTimes>,
}

impl SearchRequest {
    /// Returns the limits that the engine receives for its search. `think_time` is the thinking
    /// time that the user sets.
    pub(crate) fn to_search_limits(
        &self,
        protocol: Protocol,
        think_time: Option<Duration>,
    ) -> SearchLimits {
        let Some(times) = self.times else {
            return SearchLimits {
                move_time: Some(think_time.unwrap_or(DEFAULT_THINK_TIME)),
                ..SearchLimits::default()
            };
        };
        let think_time_max = think_time.unwrap_or(match times.control {
            ClockControl::Move { .. } => DEFAULT_THINK_TIME,
            _ => Duration::MAX,
        });
        let budget = Duration::from_millis(times.think_budget_ms()).min(think_time_max);
        let (move_time, clock) = match (protocol, times.control) {
            (Protocol::Piskvork, _) => (Some(budget), Some(times.to_clock())),
            // Neither protocol can express these clocks.
            (Protocol::Uci, ClockControl::ByoYomi { .. }) | (_, ClockControl::Move { .. }) => {
                (Some(budget), None)
            }
            (Protocol::Uci, _) if times.first_move_limit_ms.is_some() => (Some(budget), None),
            (Protocol::Uci, _) => (think_time, Some(times.to_clock())),
            (Protocol::Gtp { .. }, _) => (None, Some(times.to_clock())),
        };
        SearchLimits {
            move_time,
            clock,
            ..SearchLimits::default()
        }
    }
}

/// State of both clocks at the beginning of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockTimes {
    pub(crate) control: ClockControl,
    /// Remaining main time of each seat. In a byo-yomi period, this field holds the time left in
    /// the period. With a fixed time per move, this field holds the time left for the move. For the
    /// seat to move, [`MOVE_OVERHEAD`] and the round trip to the server are already subtracted.
    pub(crate) remaining_ms: [u64; 2],
    /// Whether each seat is in a byo-yomi period.
    pub(crate) in_period: [bool; 2],
    /// Index of the seat whose turn it is.
    pub(crate) seat: usize,
    /// Time limit for the player's first move in the match, or `None` if the server reports no such
    /// limit. The first move has its own limit and does not use clock time.
    pub(crate) first_move_limit_ms: Option<u64>,
}

impl ClockTimes {
    /// Returns the clock times at the beginning of the player's own turn. `round_trip` is
    /// subtracted from the player's time, together with [`MOVE_OVERHEAD`]. Returns `None` if the
    /// match is untimed or the player is a spectator.
    pub(crate) fn from_snapshot(snapshot: &Snapshot, round_trip: Duration) -> Option<Self> {
        let clock = snapshot.clock?;
        let seat = snapshot.you?.index();
        let mut remaining = view::remaining_times(snapshot, Duration::ZERO)?;
        let overhead = MOVE_OVERHEAD + round_trip;
        let overhead = u64::try_from(overhead.as_millis()).unwrap_or(u64::MAX);
        let own = remaining.get_mut(seat)?;
        own.ms = own.ms.saturating_sub(overhead).max(THINK_MS_MIN);
        Some(Self {
            control: clock,
            remaining_ms: remaining.map(|left| left.ms),
            in_period: remaining.map(|left| left.periods.is_some_and(|(_, runs)| runs)),
            seat,
            first_move_limit_ms: snapshot.first_move_ms.map(|ms| ms.saturating_sub(overhead)),
        })
    }

    /// Returns the thinking time for the move, in milliseconds. The client sends this time to
    /// engines whose protocol has no command for this kind of clock.
    ///
    /// While main time remains, the result is the main time divided by [`MOVES_TO_GO`], plus four
    /// fifths of the increment, delay or byo-yomi period. In a byo-yomi period, or with a fixed
    /// time per move, the result is four fifths of the remaining time. The result never exceeds
    /// [`Self::move_limit_ms`] or half of [`Self::first_move_limit_ms`].
    fn think_budget_ms(&self) -> u64 {
        let remaining_ms = self.remaining_ms[self.seat];
        let extra_ms = match self.control {
            ClockControl::Fischer { increment_ms, .. } => Some(increment_ms),
            ClockControl::Delay { delay_ms, .. } => Some(delay_ms),
            ClockControl::ByoYomi { period_ms, .. } if !self.in_period[self.seat] => {
                Some(period_ms)
            }
            ClockControl::ByoYomi { .. } | ClockControl::Move { .. } => None,
        };
        let by_clock = match extra_ms {
            Some(extra_ms) => remaining_ms / MOVES_TO_GO + extra_ms / 5 * 4,
            None => remaining_ms / 5 * 4,
        };
        let first = self.first_move_limit_ms.map_or(u64::MAX, |ms| ms / 2);
        by_clock
            .min(self.move_limit_ms())
            .min(first)
            .max(THINK_MS_MIN)
    }

    /// Returns the maximum time for the current move, in milliseconds. The result includes the
    /// delay of a delay clock. While main time remains, it also includes one byo-yomi period.
    pub(crate) fn move_limit_ms(&self) -> u64 {
        let remaining_ms = self.remaining_ms[self.seat];
        match self.control {
            ClockControl::Delay { delay_ms, .. } => remaining_ms + delay_ms,
            ClockControl::ByoYomi { period_ms, .. } if !self.in_period[self.seat] => {
                remaining_ms + period_ms
            }
            _ => remaining_ms,
        }
    }

    /// Converts the times for an engine. No engine protocol has delay clocks, so the delay is sent
    /// as an increment. An increment is credited only after the move, but a delay is available
    /// during the move. The delay is therefore also added to the remaining times.
    fn to_clock(self) -> Clock {
        let (delay_ms, increment_ms, period_ms) = match self.control {
            ClockControl::Fischer { increment_ms, .. } => (0, increment_ms, None),
            ClockControl::Delay { delay_ms, .. } => (delay_ms, delay_ms, None),
            ClockControl::ByoYomi { period_ms, .. } => (0, 0, Some(period_ms)),
            ClockControl::Move { .. } => (0, 0, None),
        };
        Clock {
            main_time: Duration::from_millis(Self::initial_ms(&self.control)),
            period: period_ms.map(|ms| (Duration::from_millis(ms), 1)),
            remaining: self
                .remaining_ms
                .map(|ms| Duration::from_millis(ms + delay_ms)),
            increments: [Duration::from_millis(increment_ms); 2],
            moves_to_go: self.in_period.map(|in_period| in_period.then_some(1)),
        }
    }

    /// Returns the main time at the start of a match, in milliseconds. If the clock has an
    /// increment but no main time, returns the increment or three seconds, whichever is longer.
    /// Returns zero for a fixed time per move.
    fn initial_ms(clock: &ClockControl) -> u64 {
        /// Minimum result, in milliseconds, for a clock that has an increment but no main time.
        const INITIAL_MS_MIN: u64 = 3000;
        match *clock {
            ClockControl::Fischer {
                main_ms: 0,
                increment_ms,
            } => increment_ms.max(INITIAL_MS_MIN),
            ClockControl::Fischer { main_ms, .. }
            | ClockControl::Delay { main_ms, .. }
            | ClockControl::ByoYomi { main_ms, .. } => main_ms,
            ClockControl::Move { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FISCHER: ClockControl = ClockControl::Fischer {
        main_ms: 0,
        increment_ms: 1000,
    };

    const DELAY: ClockControl = ClockControl::Delay {
        main_ms: 60_000,
        delay_ms: 5000,
    };

    const BYO_YOMI: ClockControl = ClockControl::ByoYomi {
        main_ms: 60_000,
        period_ms: 10_000,
        periods: 3,
    };

    const DAILY: ClockControl = ClockControl::Move {
        move_ms: 86_400_000,
    };

    fn clock_times(clock: ClockControl, remaining_ms: u64, in_period: bool) -> ClockTimes {
        ClockTimes {
            control: clock,
            remaining_ms: [remaining_ms, 5],
            in_period: [in_period, false],
            seat: 0,
            first_move_limit_ms: None,
        }
    }

    #[test]
    fn think_budget_stays_within_move_limit() {
        let fischer = |main_ms, increment_ms| ClockControl::Fischer {
            main_ms,
            increment_ms,
        };
        for (clock, left, in_period, budget) in [
            (fischer(300_000, 0), 250_000, false, 10_000),
            (fischer(300_000, 3000), 250_000, false, 12_400),
            // The clock adds the increment only after the move. The thinking time is therefore
            // limited to the 500 ms that remain on the clock.
            (fischer(300_000, 3000), 500, false, 500),
            (DELAY, 25_000, false, 5000),
            (DELAY, 1, false, 4000),
            (BYO_YOMI, 25_000, false, 9000),
            (BYO_YOMI, 9_500, true, 7600),
            (DAILY, 86_000_000, false, 68_800_000),
        ] {
            let times = clock_times(clock, left, in_period);
            assert_eq!(times.think_budget_ms(), budget, "{clock:?}, {left}");
            assert!(times.think_budget_ms() <= times.move_limit_ms());
        }
        let first = ClockTimes {
            first_move_limit_ms: Some(30_000),
            ..clock_times(fischer(10_800_000, 0), 10_800_000, false)
        };
        assert_eq!(first.think_budget_ms(), 15_000);
    }

    #[test]
    fn search_limits_match_protocol_and_clock() {
        const GTP: Protocol = Protocol::Gtp { komi: 7 };
        const PISKVORK: Protocol = Protocol::Piskvork;
        const UCI: Protocol = Protocol::Uci;
        let ms = Duration::from_millis;
        // Main time, remaining times and increment.
        let fischer = Some((3000, [25_000, 5], 1000));
        let delay = Some((60_000, [30_000, 5005], 5000));
        let byo_yomi = Some((60_000, [25_000, 5], 0));
        for (protocol, clock, think_time, move_time, times) in [
            (UCI, FISCHER, None, None, fischer),
            (UCI, FISCHER, Some(700), Some(700), fischer),
            (UCI, DELAY, None, None, delay),
            (UCI, BYO_YOMI, None, Some(9000), None),
            (UCI, DAILY, None, Some(1000), None),
            (UCI, DAILY, Some(2500), Some(2500), None),
            (GTP, FISCHER, Some(700), None, fischer),
            (GTP, DELAY, None, None, delay),
            (GTP, BYO_YOMI, None, None, byo_yomi),
            (GTP, DAILY, None, Some(1000), None),
            (PISKVORK, FISCHER, None, Some(1800), fischer),
            (PISKVORK, FISCHER, Some(700), Some(700), fischer),
            (PISKVORK, BYO_YOMI, None, Some(9000), byo_yomi),
        ] {
            let request = SearchRequest {
                times: Some(clock_times(clock, 25_000, false)),
                ..SearchRequest::default()
            };
            let limits = request.to_search_limits(protocol, think_time.map(ms));
            assert_eq!(
                limits.move_time,
                move_time.map(ms),
                "{protocol:?}, {clock:?}"
            );
            let found = limits.clock.map(|clock| {
                let [increment, _] = clock.increments;
                (clock.main_time, clock.remaining, increment)
            });
            let expected =
                times.map(|(main, left, increment)| (ms(main), left.map(ms), ms(increment)));
            assert_eq!(found, expected, "{protocol:?}, {clock:?}");
        }
    }

    #[test]
    fn search_limits_without_running_clock_are_thinking_times() {
        let ms = Duration::from_millis;
        let untimed = SearchRequest::default();
        for protocol in [Protocol::Uci, Protocol::Gtp { komi: 7 }, Protocol::Piskvork] {
            for (think_time, expected) in [(None, 1000), (Some(700), 700)] {
                let limits = untimed.to_search_limits(protocol, think_time.map(ms));
                assert_eq!((limits.move_time, limits.clock), (Some(ms(expected)), None));
            }
        }
        let fischer = ClockControl::Fischer {
            main_ms: 300_000,
            increment_ms: 3000,
        };
        let first_move = SearchRequest {
            times: Some(ClockTimes {
                first_move_limit_ms: Some(2000),
                ..clock_times(fischer, 200_000, false)
            }),
            ..SearchRequest::default()
        };
        let limits = first_move.to_search_limits(Protocol::Uci, None);
        assert_eq!((limits.move_time, limits.clock), (Some(ms(1000)), None));
    }

    #[test]
    fn byo_yomi_is_period_of_one_move() {
        let clock = clock_times(BYO_YOMI, 9500, true).to_clock();
        assert_eq!(clock.period, Some((Duration::from_secs(10), 1)));
        assert_eq!(clock.moves_to_go, [Some(1), None]);
    }
}
