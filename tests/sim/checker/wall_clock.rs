//! The wall clock, which also advances while the server is down.

use std::time::Duration;

use crate::world::START_MS;

/// Converts simulated time to wall-clock time.
#[derive(Debug, Default)]
pub(super) struct WallClock {
    /// Jumps of the wall clock. Each entry holds the simulated time of a jump and the total lead of
    /// the wall clock after it, in microseconds.
    jumps: Vec<(u128, u128)>,
}

impl WallClock {
    /// Records that the wall clock advanced by the given duration at the given simulated time.
    pub(super) fn advance(&mut self, at_us: u128, by: Duration) {
        let before = self.jumps.last().map_or(0, |(_, ahead)| *ahead);
        self.jumps.push((at_us, before + by.as_micros()));
    }

    /// Converts a simulated time to wall-clock time in microseconds since 1970.
    pub(super) fn unix_us(&self, at_us: u128) -> u128 {
        let last = self.jumps.iter().rfind(|(from, _)| *from <= at_us);
        let ahead = last.map_or(0, |(_, ahead)| *ahead);
        u128::from(START_MS) * 1000 + at_us + ahead
    }
}
