//! Chance that comes from a seed: the same seed gives the same games for ever.

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014). Written here since generators of the `rand` crate do not promise to
/// draw the same in their next version.
#[derive(Clone, Debug)]
pub struct SeededRng(pub(super) u64);

impl SeededRng {
    /// The stream of this name. Streams of other names or seeds have nothing to do with it.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mix = |state: u64, byte: u8| Self(state ^ u64::from(byte)).next_u64();
        Self(name.bytes().fold(Self(seed).next_u64(), mix))
    }

    /// A number of 64 bits, all as likely.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which is not 0.
    pub fn next_below(&mut self, count: usize) -> usize {
        scale_to_range(self.next_u64(), count)
    }

    /// A number from 0 to 1, for those who play by known odds.
    pub fn next_f64(&mut self) -> f64 {
        self.next_u64() as f64 / u64::MAX as f64
    }
}

/// A number below `count`, by one of 64 bits.
pub(super) fn scale_to_range(number: u64, count: usize) -> usize {
    // The high half of the product maps the whole range evenly onto 0..count, but for less than one
    // part in 2^50.
    let product = u128::from(number) * count as u128;
    usize::try_from(product >> u64::BITS).expect("the result is less than count")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' own code draws from the seed 1234567.
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
        // Five standard deviations of a binomial of 7000 trials at 1/7.
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
