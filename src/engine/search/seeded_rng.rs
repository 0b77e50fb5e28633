//! Random numbers from a seed. A seed gives the same numbers in every version of the program.

/// SplitMix64 random number generator (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
///
/// The engine has its own implementation, because the generators of the `rand` crate may produce
/// different numbers in a later version.
#[derive(Clone, Debug)]
pub struct SeededRng(pub(super) u64);

impl SeededRng {
    /// Creates a generator from a seed and a name. Generators with different seeds or names produce
    /// independent numbers.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mix = |state: u64, byte: u8| Self(state ^ u64::from(byte)).next_u64();
        Self(name.bytes().fold(Self(seed).next_u64(), mix))
    }

    /// Returns a uniformly distributed 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `count`, which must not be 0.
    pub fn next_below(&mut self, count: usize) -> usize {
        scale_to_range(self.next_u64(), count)
    }

    /// Returns a random number from 0 to 1. The caller compares it with the probability of an
    /// event.
    pub fn next_f64(&mut self) -> f64 {
        self.next_u64() as f64 / u64::MAX as f64
    }
}

/// Scales a 64-bit number to the range `0..count`.
pub(super) fn scale_to_range(number: u64, count: usize) -> usize {
    // The high half of the product maps the 64-bit range evenly to `0..count`. The probability of
    // each result differs from `1 / count` by less than 2^-64.
    let product = u128::from(number) * count as u128;
    usize::try_from(product >> u64::BITS).expect("the result is less than count")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First numbers that the authors' reference implementation returns for the seed 1234567.
    #[test]
    fn numbers_match_the_published_splitmix64_output() {
        let mut rng = SeededRng(1_234_567);
        let numbers = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn next_below_is_uniform() {
        let mut counts = [0_u32; 7];
        let mut rng = SeededRng::new(1, "seven");
        for _ in 0..7000 {
            counts[rng.next_below(7)] += 1;
        }
        // The limit is five standard deviations of a binomial distribution with 7000 trials and
        // probability 1/7.
        assert!(
            counts.iter().all(|count| count.abs_diff(1000) < 147),
            "{counts:?}"
        );
    }

    #[test]
    fn streams_differ_by_seed_and_name() {
        let first = |seed, name| SeededRng::new(seed, name).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "ab"), first(1, "ba"));
    }
}
