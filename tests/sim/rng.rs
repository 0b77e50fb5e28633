//! Seeded random number generators.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Random number generator of one component. Each component has its own generator, so that extra
/// random numbers for one component do not change the numbers of the others.
#[derive(Debug)]
pub(crate) struct SimRng(StdRng);

impl SimRng {
    /// Creates the generator of the component with this stream number.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut seed_bytes = [0; 32];
        seed_bytes[..8].copy_from_slice(&seed.to_le_bytes());
        seed_bytes[8..16].copy_from_slice(&stream.to_le_bytes());
        Self(StdRng::from_seed(seed_bytes))
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn between(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.next_u64() % (range.end() - range.start() + 1)
    }

    pub(crate) fn duration_ms(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.between(range))
    }

    /// Returns true with a probability of `percent`.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next_u64() % 100 < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.next_u64() % u64::try_from(items.len()).ok().filter(|&n| n > 0)?;
        items.get(usize::try_from(index).ok()?)
    }
}
