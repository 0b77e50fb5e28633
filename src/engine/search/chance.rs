//! Chance that comes from a seed: the same seed gives the same games for ever.

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014). Written here since generators of the `rand` crate do not promise to
/// draw the same in their next version.
#[derive(Clone, Debug)]
pub struct Chance(pub(super) u64);

impl Chance {
    /// The stream of this name. Streams of other names or seeds have nothing to do with it.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mix = |state: u64, byte: u8| Self(state ^ u64::from(byte)).number();
        Self(name.bytes().fold(Self(seed).number(), mix))
    }

    /// A number of 64 bits, all as likely.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        scaled(self.number(), count)
    }

    /// A number from 0 to 1, for those who play by known odds.
    pub fn share(&mut self) -> f64 {
        self.number() as f64 / u64::MAX as f64
    }
}

/// A number below `count`, by one of 64 bits.
pub(super) fn scaled(number: u64, count: usize) -> usize {
    // The high half of the product maps the whole range evenly onto 0..count, but for less than one
    // part in 2^50.
    let product = u128::from(number) * count as u128;
    usize::try_from(product >> u64::BITS).expect("less than count")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' own code draws from the seed 1234567.
    #[test]
    fn it_draws_what_is_published() {
        let mut chance = Chance(1_234_567);
        let drawn = [chance.number(), chance.number(), chance.number()];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn every_number_is_about_as_likely() {
        let mut drawn = [0_u32; 7];
        let mut chance = Chance::new(1, "seven");
        for _ in 0..7000 {
            drawn[chance.below(7)] += 1;
        }
        // Five standard deviations of a binomial of 7000 trials at 1/7.
        assert!(
            drawn.iter().all(|count| count.abs_diff(1000) < 147),
            "{drawn:?}"
        );
    }

    #[test]
    fn names_and_seeds_make_streams() {
        let first = |seed, name| Chance::new(seed, name).number();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "ab"), first(1, "ba"));
    }
}
