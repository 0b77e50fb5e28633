//! What is left to two seats, by the table of the protocol's page.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, TimeLeft};

/// What is left to both seats, in milliseconds and in periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    main: [i64; 2],
    periods: [i64; 2],
    has_periods: bool,
}

impl Time {
    pub(super) fn at_start(control: ClockControl) -> Self {
        let (main, periods) = match control {
            ClockControl::Fischer {
                main_ms: 0,
                increment_ms,
            } => (increment_ms.max(3000), 0),
            ClockControl::Fischer { main_ms, .. } | ClockControl::Delay { main_ms, .. } => {
                (main_ms, 0)
            }
            ClockControl::ByoYomi {
                main_ms, periods, ..
            } => (main_ms, periods),
            ClockControl::Move { move_ms } => (move_ms, 0),
        };
        Self {
            main: [number(main); 2],
            periods: [number(periods); 2],
            has_periods: matches!(control, ClockControl::ByoYomi { .. }),
        }
    }

    /// How it is told.
    pub(super) fn left(self) -> TimeLeft {
        let natural = |n: i64| u64::try_from(n).expect("never below nothing");
        let periods = self.periods.map(natural);
        TimeLeft {
            left_ms: self.main.map(natural),
            periods: self.has_periods.then_some(periods),
        }
    }

    /// With how much thought the seat runs out of time.
    pub(super) fn allowance_ms(self, control: ClockControl, seat: Seat) -> u64 {
        let (main, periods) = (self.main[seat.index()], self.periods[seat.index()]);
        let more = match control {
            ClockControl::Fischer { .. } => 0,
            ClockControl::Delay { delay_ms, .. } => number(delay_ms),
            ClockControl::ByoYomi { period_ms, .. } => periods * number(period_ms),
            ClockControl::Move { move_ms } => number(move_ms) - main,
        };
        u64::try_from(main + more).expect("never below nothing")
    }

    /// After so much thought.
    pub(super) fn charged(mut self, control: ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let (t, seat) = (number(spent_ms), seat.index());
        match control {
            ClockControl::Fischer { .. } | ClockControl::Move { .. } => self.main[seat] -= t,
            ClockControl::Delay { delay_ms, .. } => {
                self.main[seat] -= (t - number(delay_ms)).max(0);
            }
            ClockControl::ByoYomi { period_ms, .. } => {
                let over = t - self.main[seat];
                if over > 0 {
                    self.main[seat] = 0;
                    self.periods[seat] -= over / number(period_ms);
                } else {
                    self.main[seat] -= t;
                }
            }
        }
        self
    }

    /// After a move that was thought about for so long.
    pub(super) fn after_move(self, control: ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let mut left = self.charged(control, seat, spent_ms);
        match control {
            ClockControl::Fischer { increment_ms, .. } => {
                left.main[seat.index()] += number(increment_ms);
            }
            ClockControl::Move { move_ms } => left.main[seat.index()] = number(move_ms),
            ClockControl::Delay { .. } | ClockControl::ByoYomi { .. } => {}
        }
        left
    }

    pub(super) fn given(mut self, seat: Seat, ms: u64) -> Self {
        self.main[seat.index()] += number(ms);
        self
    }
}

fn number(ms: u64) -> i64 {
    i64::try_from(ms).expect("a few days")
}
