//! Chance that can be thrown again.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A generator of its own for everybody who chooses something, so that one who chooses more does
/// not change what the others choose.
#[derive(Debug)]
pub(crate) struct Dice(StdRng);

impl Dice {
    /// The dice of this owner in the world of this seed.
    pub(crate) fn new(seed: u64, owner: u64) -> Self {
        let mut both = [0; 32];
        both[..8].copy_from_slice(&seed.to_le_bytes());
        both[8..16].copy_from_slice(&owner.to_le_bytes());
        Self(StdRng::from_seed(both))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn between(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.number() % (range.end() - range.start() + 1)
    }

    pub(crate) fn ms(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.between(range))
    }

    /// True so many times out of a hundred.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.number() % 100 < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.number() % u64::try_from(from.len()).ok().filter(|&n| n > 0)?;
        from.get(usize::try_from(index).ok()?)
    }
}
