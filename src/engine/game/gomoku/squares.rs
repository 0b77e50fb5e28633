//! Sets of squares of a board of fifteen by fifteen.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// The squares of a rank, and one that is always empty, so that no line runs over from one end of
/// the board to the other: the bits from a square to its neighbour on the next rank.
const RANK_BITS: u8 = 16;

const WORDS: usize = 4;

/// A set of squares: one bit each, a1 the lowest, sixteen bits a rank.
///
/// What is asked of all lines at once is asked by shifting whole sets onto each other. The bits
/// beside the board can be set only in between, and are taken off with [`Squares::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Squares([u64; WORDS]);

impl Squares {
    pub(crate) const SIZE: u8 = 15;

    pub(crate) const NONE: Self = Self([0; WORDS]);

    /// The whole board.
    pub(crate) const ALL: Self = {
        const RANKS: u64 = 0x7fff_7fff_7fff_7fff;
        Self([RANKS, RANKS, RANKS, RANKS >> RANK_BITS])
    };

    /// The squares of the bits in one word.
    pub(crate) const WORD_BITS: u8 = 64;

    /// The one square with this number.
    #[inline]
    pub(crate) const fn of(bit: u8) -> Self {
        let mut words = [0; WORDS];
        words[(bit / Self::WORD_BITS) as usize] = 1 << (bit % Self::WORD_BITS);
        Self(words)
    }

    /// The number of the square on this file and rank, both counted from 0.
    pub(crate) const fn bit(file: u8, rank: u8) -> u8 {
        rank * RANK_BITS + file
    }

    /// The file and the rank of the square with this number.
    pub(crate) const fn place(bit: u8) -> (u8, u8) {
        (bit % RANK_BITS, bit / RANK_BITS)
    }

    #[inline]
    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0[(bit / Self::WORD_BITS) as usize] >> (bit % Self::WORD_BITS) & 1 != 0
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    #[inline]
    pub(crate) fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there are at least two.
    #[inline]
    pub(crate) fn are_many(self) -> bool {
        let mut seen = false;
        for word in self.0 {
            if word & word.wrapping_sub(1) != 0 || seen && word != 0 {
                return true;
            }
            seen |= word != 0;
        }
        false
    }

    /// The number of the first square.
    #[inline]
    pub(crate) fn first(self) -> Option<u8> {
        self.into_iter().next()
    }

    /// Every square moved to where `BY` squares further on was: what lies on the other side of this
    /// many steps now lies here.
    #[inline]
    pub(crate) const fn down<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let (words, bits) = (BY / Self::WORD_BITS, BY % Self::WORD_BITS);
        let [a, b, c, d] = match words {
            0 => [a, b, c, d],
            1 => [b, c, d, 0],
            2 => [c, d, 0, 0],
            _ => [d, 0, 0, 0],
        };
        if bits == 0 {
            return Self([a, b, c, d]);
        }
        let rest = Self::WORD_BITS - bits;
        Self([
            a >> bits | b << rest,
            b >> bits | c << rest,
            c >> bits | d << rest,
            d >> bits,
        ])
    }

    /// The reverse of `down`.
    #[inline]
    pub(crate) const fn up<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let (words, bits) = (BY / Self::WORD_BITS, BY % Self::WORD_BITS);
        let [a, b, c, d] = match words {
            0 => [a, b, c, d],
            1 => [0, a, b, c],
            2 => [0, 0, a, b],
            _ => [0, 0, 0, a],
        };
        if bits == 0 {
            return Self([a, b, c, d]);
        }
        let rest = Self::WORD_BITS - bits;
        Self([
            a << bits,
            b << bits | a >> rest,
            c << bits | b >> rest,
            d << bits | c >> rest,
        ])
    }
}

impl BitAnd for Squares {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl BitOr for Squares {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl BitXor for Squares {
    type Output = Self;

    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl Not for Squares {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// The numbers of the squares, in rising order.
impl IntoIterator for Squares {
    type Item = u8;
    type IntoIter = Bits;

    #[inline]
    fn into_iter(self) -> Bits {
        Bits {
            words: self.0,
            word: 0,
        }
    }
}

/// The numbers of the squares of a set that have not been told yet.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    words: [u64; WORDS],
    word: u8,
}

impl Iterator for Bits {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            let word = self.words.get_mut(usize::from(self.word))?;
            if *word != 0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a bit number is less than 64"
                )]
                let bit = word.trailing_zeros() as u8;
                *word &= *word - 1;
                return Some(self.word * Squares::WORD_BITS + bit);
            }
            self.word += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_has_225_squares() {
        assert_eq!(Squares::ALL.len(), 225);
        let on_board = |bit: u8| {
            let (file, rank) = Squares::place(bit);
            file < Squares::SIZE && rank < Squares::SIZE
        };
        assert!((0..=u8::MAX).all(|bit| Squares::ALL.has(bit) == on_board(bit)));
        let told: Vec<u8> = Squares::ALL.into_iter().collect();
        let expected: Vec<u8> = (0..=u8::MAX).filter(|bit| on_board(*bit)).collect();
        assert_eq!(told, expected);
    }

    fn check_shift<const BY: u8>() {
        for bit in 0..=u8::MAX {
            let square = Squares::of(bit);
            let (up, down) = (bit.checked_add(BY), bit.checked_sub(BY));
            assert_eq!(square.up::<BY>().first(), up, "{bit} up {BY}");
            assert_eq!(square.down::<BY>().first(), down, "{bit} down {BY}");
        }
    }

    #[test]
    fn shifting_moves_every_square() {
        check_shift::<0>();
        check_shift::<1>();
        check_shift::<17>();
        check_shift::<63>();
        check_shift::<64>();
        check_shift::<68>();
        check_shift::<128>();
        check_shift::<200>();
    }

    #[test]
    fn several_squares_are_told_from_one() {
        assert!(!Squares::NONE.are_many());
        for bit in [0, 63, 64, 238] {
            assert!(!Squares::of(bit).are_many());
            assert!((Squares::of(bit) | Squares::of(100)).are_many());
        }
        assert!((Squares::of(3) | Squares::of(4)).are_many());
    }
}
