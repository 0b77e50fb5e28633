//! Expected remaining times of both players, computed by the clock rules in `PROTOCOL.md`.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, TimeLeft};

/// Expected remaining times, indexed by seat. Each player has main time in milliseconds and
/// byo-yomi periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpectedTime {
    main_ms: [i64; 2],
    periods: [i64; 2],
    has_periods: bool,
}

impl ExpectedTime {
    pub(super) fn initial(control: ClockControl) -> Self {
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
            main_ms: [to_signed(main); 2],
            periods: [to_signed(periods); 2],
            has_periods: matches!(control, ClockControl::ByoYomi { .. }),
        }
    }

    /// Converts the remaining times to the form that the protocol uses.
    pub(super) fn to_time_left(self) -> TimeLeft {
        let natural = |n: i64| u64::try_from(n).expect("remaining time is not negative");
        let periods = self.periods.map(natural);
        TimeLeft {
            left_ms: self.main_ms.map(natural),
            periods: self.has_periods.then_some(periods),
        }
    }

    /// Returns the maximum thinking time for the current turn of this seat. A player whose thinking
    /// time reaches the maximum loses on time.
    pub(super) fn allowance_ms(self, control: ClockControl, seat: Seat) -> u64 {
        let (main, periods) = (self.main_ms[seat.index()], self.periods[seat.index()]);
        let more = match control {
            ClockControl::Fischer { .. } => 0,
            ClockControl::Delay { delay_ms, .. } => to_signed(delay_ms),
            ClockControl::ByoYomi { period_ms, .. } => periods * to_signed(period_ms),
            ClockControl::Move { move_ms } => to_signed(move_ms) - main,
        };
        u64::try_from(main + more).expect("the allowance is not negative")
    }

    /// Returns the remaining times after the given thinking time is charged to the given seat.
    pub(super) fn after_charge(mut self, control: ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let (spent, seat) = (to_signed(spent_ms), seat.index());
        match control {
            ClockControl::Fischer { .. } | ClockControl::Move { .. } => self.main_ms[seat] -= spent,
            ClockControl::Delay { delay_ms, .. } => {
                self.main_ms[seat] -= (spent - to_signed(delay_ms)).max(0);
            }
            ClockControl::ByoYomi { period_ms, .. } => {
                let over = spent - self.main_ms[seat];
                if over > 0 {
                    self.main_ms[seat] = 0;
                    self.periods[seat] -= over / to_signed(period_ms);
                } else {
                    self.main_ms[seat] -= spent;
                }
            }
        }
        self
    }

    /// Returns the remaining times after a move with this thinking time, including any increment.
    pub(super) fn after_move(self, control: ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let mut left = self.after_charge(control, seat, spent_ms);
        match control {
            ClockControl::Fischer { increment_ms, .. } => {
                left.main_ms[seat.index()] += to_signed(increment_ms);
            }
            ClockControl::Move { move_ms } => left.main_ms[seat.index()] = to_signed(move_ms),
            ClockControl::Delay { .. } | ClockControl::ByoYomi { .. } => {}
        }
        left
    }

    pub(super) fn after_gift(mut self, seat: Seat, ms: u64) -> Self {
        self.main_ms[seat.index()] += to_signed(ms);
        self
    }
}

fn to_signed(ms: u64) -> i64 {
    i64::try_from(ms).expect("milliseconds fit into i64")
}
