//! The wall clock, which goes on while nobody is there.

use std::time::Duration;

use crate::world::START_MS;

/// What the wall clock shows at each instant of a world.
#[derive(Debug, Default)]
pub(super) struct WallClock {
    /// From when on it has been ahead, and by how much in all, in microseconds.
    jumps: Vec<(u128, u128)>,
}

impl WallClock {
    /// The wall clock goes on by this at an instant.
    pub(super) fn advance(&mut self, at_us: u128, by: Duration) {
        let before = self.jumps.last().map_or(0, |(_, ahead)| *ahead);
        self.jumps.push((at_us, before + by.as_micros()));
    }

    /// What it shows, in microseconds since 1970.
    pub(super) fn unix_us(&self, at_us: u128) -> u128 {
        let last = self.jumps.iter().rfind(|(from, _)| *from <= at_us);
        let ahead = last.map_or(0, |(_, ahead)| *ahead);
        u128::from(START_MS) * 1000 + at_us + ahead
    }
}
