//! What is left on two clocks, and what a move takes from them. All of it is whole milliseconds: a
//! replay has nothing to round.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;
use serde::{Deserialize, Serialize};

/// The least that a clock without a main time starts with.
const START_TIME_MIN_MS: u64 = 3000;

/// What is left to both seats as their turn begins. Also kept in this form: names are never changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemainingTime {
    /// In milliseconds. The greatest number stands for fifty days, which no clock comes to.
    ms: [u32; 2],
    /// Nothing but in byo-yomi, where one seat at least has some.
    #[serde(default, skip_serializing_if = "is_nothing")]
    periods: [u8; 2],
}

fn is_nothing(periods: &[u8; 2]) -> bool {
    *periods == [0, 0]
}

impl RemainingTime {
    /// What both seats start with.
    #[must_use]
    pub fn at_start(control: &ClockControl) -> Self {
        let (ms, periods) = match *control {
            ClockControl::Fischer {
                main_ms: 0,
                increment_ms,
            } => (increment_ms.max(START_TIME_MIN_MS), 0),
            ClockControl::Fischer { main_ms, .. } | ClockControl::Delay { main_ms, .. } => {
                (main_ms, 0)
            }
            ClockControl::ByoYomi {
                main_ms, periods, ..
            } => (main_ms, periods),
            ClockControl::Move { move_ms } => (move_ms, 0),
        };
        Self {
            ms: [saturate_to_u32(ms); 2],
            periods: [u8::try_from(periods).unwrap_or(u8::MAX); 2],
        }
    }

    /// The time of each seat, in milliseconds; in byo-yomi, what is left of the main time.
    #[must_use]
    pub fn remaining_ms(&self) -> [u64; 2] {
        self.ms.map(u64::from)
    }

    /// The periods of each seat, in byo-yomi.
    #[must_use]
    pub fn periods(&self) -> Option<[u64; 2]> {
        (!is_nothing(&self.periods)).then(|| self.periods.map(u64::from))
    }

    /// For how many milliseconds the seat may think: with the last of them it runs out of time.
    #[must_use]
    pub fn allowance_ms(&self, control: &ClockControl, seat: Seat) -> u64 {
        let (ms, periods) = self.seat_time(seat);
        match *control {
            ClockControl::Fischer { .. } => ms,
            ClockControl::Delay { delay_ms, .. } => ms + delay_ms,
            ClockControl::ByoYomi { period_ms, .. } => ms + periods * period_ms,
            ClockControl::Move { move_ms } => move_ms,
        }
    }

    /// What is left when the seat has thought for so long; nothing of what a move adds is added.
    #[must_use]
    pub fn after_charge(&self, control: &ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let (ms, periods) = self.seat_time(seat);
        let (ms, periods) = match *control {
            ClockControl::Fischer { .. } => (ms.saturating_sub(spent_ms), periods),
            ClockControl::Delay { delay_ms, .. } => (
                ms.saturating_sub(spent_ms.saturating_sub(delay_ms)),
                periods,
            ),
            ClockControl::ByoYomi { period_ms, .. } => {
                let over_main_ms = spent_ms.saturating_sub(ms);
                let periods_used = over_main_ms.checked_div(period_ms).unwrap_or(0);
                (
                    ms.saturating_sub(spent_ms),
                    periods.saturating_sub(periods_used),
                )
            }
            ClockControl::Move { move_ms } => (move_ms.saturating_sub(spent_ms), periods),
        };
        self.with_seat_time(seat, ms, periods)
    }

    /// What is left after a move for which the seat has thought for so long.
    #[must_use]
    pub fn after_move(&self, control: &ClockControl, seat: Seat, spent_ms: u64) -> Self {
        let charged = self.after_charge(control, seat, spent_ms);
        match *control {
            ClockControl::Fischer { increment_ms, .. } => {
                charged.with_added_time(seat, increment_ms)
            }
            ClockControl::Delay { .. } | ClockControl::ByoYomi { .. } => charged,
            ClockControl::Move { move_ms } => charged.with_seat_time(seat, move_ms, 0),
        }
    }

    /// What is left when the seat gets more time.
    #[must_use]
    pub fn with_added_time(&self, seat: Seat, added_ms: u64) -> Self {
        let (ms, periods) = self.seat_time(seat);
        self.with_seat_time(seat, ms.saturating_add(added_ms), periods)
    }

    fn seat_time(&self, seat: Seat) -> (u64, u64) {
        let seat = seat.index();
        (self.ms[seat].into(), self.periods[seat].into())
    }

    fn with_seat_time(&self, seat: Seat, ms: u64, periods: u64) -> Self {
        let mut remaining = *self;
        remaining.ms[seat.index()] = saturate_to_u32(ms);
        remaining.periods[seat.index()] = u8::try_from(periods).unwrap_or(u8::MAX);
        remaining
    }
}

fn saturate_to_u32(ms: u64) -> u32 {
    u32::try_from(ms).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
