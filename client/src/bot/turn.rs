//! A turn of an engine: what was played, and what the clocks say.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, Snapshot};

use crate::view;

/// What is kept of a clock beside the way to the server and back.
const OVERHEAD: Duration = Duration::from_millis(100);

/// For how many moves a main time is to last.
const MOVES_LEFT: u64 = 25;

/// The least that an engine is given to think.
const LEAST_MS: u64 = 1;

/// A turn of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The position before the first move, where that is not the first of the game.
    pub(crate) start: Option<String>,
    /// The moves so far.
    pub(crate) moves: Vec<String>,
    /// What the clocks say, where there are clocks.
    pub(crate) times: Option<Times>,
}

/// What the clocks say before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) clock: ClockControl,
    /// By seat: what is left of the main time, or of the period that runs. Of one's own the overhead is
    /// taken off.
    pub(crate) left_ms: [u64; 2],
    /// By seat: whether that is of a period.
    pub(crate) in_period: [bool; 2],
    /// Whose turn it is.
    pub(crate) seat: usize,
    /// How long this ply may take, which is free.
    pub(crate) first_move_ms: Option<u64>,
}

impl Times {
    /// What the clocks of a match say at the begin of its own player's turn. A move takes so long to the
    /// server and back.
    pub(crate) fn of(now: &Snapshot, round_trip: Duration) -> Option<Self> {
        let clock = now.clock?;
        let seat = now.you?.index();
        let mut left = view::remaining_times(now, Duration::ZERO)?;
        let overhead = OVERHEAD + round_trip;
        let overhead = u64::try_from(overhead.as_millis()).unwrap_or(u64::MAX);
        let own = left.get_mut(seat)?;
        own.ms = own.ms.saturating_sub(overhead).max(LEAST_MS);
        Some(Self {
            clock,
            left_ms: left.map(|left| left.ms),
            in_period: left.map(|left| left.periods.is_some_and(|(_, runs)| runs)),
            seat,
            first_move_ms: now.first_move_ms.map(|ms| ms.saturating_sub(overhead)),
        })
    }

    /// How long to think about the move, where the protocol has no words for the clock: an even share of
    /// the main time, and four fifths of what the move brings with it.
    pub(crate) fn budget_ms(&self) -> u64 {
        let left = self.left_ms[self.seat];
        let fifths = |ms: u64| ms / 5 * 4;
        let by_clock = match self.clock {
            ClockControl::Fischer { increment_ms, .. } => left / MOVES_LEFT + fifths(increment_ms),
            ClockControl::Delay { delay_ms, .. } => left / MOVES_LEFT + fifths(delay_ms),
            ClockControl::ByoYomi { period_ms, .. } if !self.in_period[self.seat] => {
                left / MOVES_LEFT + fifths(period_ms)
            }
            ClockControl::ByoYomi { .. } | ClockControl::Move { .. } => fifths(left),
        };
        let first = self.first_move_ms.map_or(u64::MAX, |ms| ms / 2);
        by_clock.min(self.most_ms()).min(first).max(LEAST_MS)
    }

    /// How long the move may take before the match is lost.
    pub(crate) fn most_ms(&self) -> u64 {
        let left = self.left_ms[self.seat];
        match self.clock {
            ClockControl::Fischer { .. } | ClockControl::Move { .. } => left,
            ClockControl::Delay { delay_ms, .. } => left + delay_ms,
            ClockControl::ByoYomi { period_ms, .. } => {
                let more = if self.in_period[self.seat] {
                    0
                } else {
                    period_ms
                };
                left + more
            }
        }
    }

    /// The main time at the start; that of the first moves where there is none.
    pub(crate) fn main_ms(clock: &ClockControl) -> u64 {
        /// What a clock that has an increment alone begins with.
        const FIRST_MS: u64 = 3000;
        match *clock {
            ClockControl::Fischer {
                main_ms: 0,
                increment_ms,
            } => increment_ms.max(FIRST_MS),
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

    fn times(clock: ClockControl, left: u64, in_period: bool) -> Times {
        Times {
            clock,
            left_ms: [left, 5],
            in_period: [in_period, false],
            seat: 0,
            first_move_ms: None,
        }
    }

    #[test]
    fn time_is_shared_out_and_never_used_up() {
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
            let times = times(clock, left, in_period);
            assert_eq!(times.budget_ms(), budget, "{clock:?}, {left}");
            assert!(times.budget_ms() <= times.most_ms());
        }
        let first = Times {
            first_move_ms: Some(30_000),
            ..times(fischer(10_800_000, 0), 10_800_000, false)
        };
        assert_eq!(first.budget_ms(), 15_000);
    }
}
