//! A turn of an engine: what was played, and what the clocks say.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, Snapshot};

use crate::view;

/// What is kept of a clock beside the way to the server and back.
const MOVE_OVERHEAD: Duration = Duration::from_millis(100);

/// For how many moves a main time is to last.
const MOVES_TO_GO: u64 = 25;

/// The least that an engine is given to think.
const THINK_MS_MIN: u64 = 1;

/// A turn of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchRequest {
    /// The position before the first move, where that is not the first of the game.
    pub(crate) initial_position: Option<String>,
    /// The moves so far.
    pub(crate) moves: Vec<String>,
    /// What the clocks say, where there are clocks.
    pub(crate) times: Option<ClockTimes>,
}

/// What the clocks say before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockTimes {
    pub(crate) control: ClockControl,
    /// By seat: what is left of the main time, or of the period that runs. Of one's own the overhead is
    /// taken off.
    pub(crate) remaining_ms: [u64; 2],
    /// By seat: whether that is of a period.
    pub(crate) in_period: [bool; 2],
    /// Whose turn it is.
    pub(crate) seat: usize,
    /// How long this ply may take, which is free.
    pub(crate) first_move_limit_ms: Option<u64>,
}

impl ClockTimes {
    /// What the clocks of a match say at the begin of its own player's turn. A move takes so long to the
    /// server and back.
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

    /// How long to think about the move, where the protocol has no words for the clock: an even share of
    /// the main time, and four fifths of what the move brings with it.
    pub(crate) fn think_budget_ms(&self) -> u64 {
        let remaining_ms = self.remaining_ms[self.seat];
        let four_fifths = |ms: u64| ms / 5 * 4;
        let by_clock = match self.control {
            ClockControl::Fischer { increment_ms, .. } => {
                remaining_ms / MOVES_TO_GO + four_fifths(increment_ms)
            }
            ClockControl::Delay { delay_ms, .. } => {
                remaining_ms / MOVES_TO_GO + four_fifths(delay_ms)
            }
            ClockControl::ByoYomi { period_ms, .. } if !self.in_period[self.seat] => {
                remaining_ms / MOVES_TO_GO + four_fifths(period_ms)
            }
            ClockControl::ByoYomi { .. } | ClockControl::Move { .. } => four_fifths(remaining_ms),
        };
        let first = self.first_move_limit_ms.map_or(u64::MAX, |ms| ms / 2);
        by_clock
            .min(self.move_limit_ms())
            .min(first)
            .max(THINK_MS_MIN)
    }

    /// How long the move may take before the match is lost.
    pub(crate) fn move_limit_ms(&self) -> u64 {
        let remaining_ms = self.remaining_ms[self.seat];
        match self.control {
            ClockControl::Fischer { .. } | ClockControl::Move { .. } => remaining_ms,
            ClockControl::Delay { delay_ms, .. } => remaining_ms + delay_ms,
            ClockControl::ByoYomi { period_ms, .. } => {
                let extra_ms = if self.in_period[self.seat] {
                    0
                } else {
                    period_ms
                };
                remaining_ms + extra_ms
            }
        }
    }

    /// The main time at the start; that of the first moves where there is none.
    pub(crate) fn initial_ms(clock: &ClockControl) -> u64 {
        /// What a clock that has an increment alone begins with.
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
        let delay = ClockControl::Delay {
            main_ms: 60_000,
            delay_ms: 5000,
        };
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 60_000,
            period_ms: 10_000,
            periods: 3,
        };
        let daily = ClockControl::Move {
            move_ms: 86_400_000,
        };
        for (clock, left, in_period, budget) in [
            (fischer(300_000, 0), 250_000, false, 10_000),
            (fischer(300_000, 3000), 250_000, false, 12_400),
            // The increment comes after the move.
            (fischer(300_000, 3000), 500, false, 500),
            (delay, 25_000, false, 5000),
            (delay, 1, false, 4000),
            (byo_yomi, 25_000, false, 9000),
            (byo_yomi, 9_500, true, 7600),
            (daily, 86_000_000, false, 68_800_000),
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
}
