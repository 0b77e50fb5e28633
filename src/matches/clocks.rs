//! Remaining time on the clocks of both players, and functions that update this time. All times are
//! whole milliseconds, so replaying a match causes no rounding errors.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;
use serde::{Deserialize, Serialize};

/// Minimum initial time, in milliseconds, of a Fischer clock that has an increment but no main
/// time.
const START_TIME_MIN_MS: u64 = 3000;

/// Remaining time of both players at the start of a turn. The store holds it in this serialised
/// form, so serialised names must never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemainingTime {
    /// Remaining milliseconds of each player. Values saturate at `u32::MAX`, about 50 days, which
    /// no clock reaches.
    ms: [u32; 2],
    /// Remaining byo-yomi periods of each player; 0 for all other kinds of clocks.
    #[serde(default, skip_serializing_if = "is_nothing")]
    periods: [u8; 2],
}

fn is_nothing(periods: &[u8; 2]) -> bool {
    *periods == [0, 0]
}

impl RemainingTime {
    /// Returns the initial time of both players.
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

    /// Returns the remaining time of each player in milliseconds. In byo-yomi, this is the
    /// remaining main time.
    #[must_use]
    pub fn remaining_ms(&self) -> [u64; 2] {
        self.ms.map(u64::from)
    }

    /// Returns the remaining byo-yomi periods of each player, or `None` if neither player has any.
    #[must_use]
    pub fn periods(&self) -> Option<[u64; 2]> {
        (!is_nothing(&self.periods)).then(|| self.periods.map(u64::from))
    }

    /// Returns how many milliseconds the player in `seat` may use for a move. The player's flag
    /// falls as soon as this time has passed.
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

    /// Returns the remaining time after `seat` has used `spent_ms` milliseconds. The result does
    /// not include the increment for a move.
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

    /// Returns the remaining time after `seat` has made a move that took `spent_ms` milliseconds.
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

    /// Returns the remaining time after `seat` has received `added_ms` milliseconds.
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
