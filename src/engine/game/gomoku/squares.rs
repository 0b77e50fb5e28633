//! Sets of squares of a board of fifteen by fifteen.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// The squares of a rank, and one that is always empty, so that no line runs over from one end of
/// the board to the other: the bits from a square to its neighbour on the next rank.
const RANK_BITS: u8 = 16;

/// Ranks of one word lie so far apart, and that many words there are.
const RANKS_APART: u8 = 4;
const WORDS: usize = RANKS_APART as usize;

/// A set of squares: one bit each, sixteen bits a rank.
///
/// What is asked of all lines at once is asked by shifting whole sets onto each other. A word has every
/// fourth rank, so that to shift by a rank is to take the next word, and bits never cross from one to
/// another otherwise. The bits beside the board can be set only in between, and are taken off with
/// [`Squares::ALL`].
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

    /// The one square with this number.
    #[inline]
    pub(crate) const fn of(bit: u8) -> Self {
        let mut words = [0; WORDS];
        words[Self::word(bit)] = 1 << Self::bit_in_word(bit);
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

    /// The word that a square's rank is in.
    const fn word(bit: u8) -> usize {
        (bit / RANK_BITS) as usize % WORDS
    }

    const fn bit_in_word(bit: u8) -> u8 {
        bit / (RANK_BITS * RANKS_APART) * RANK_BITS + bit % RANK_BITS
    }

    #[inline]
    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0[Self::word(bit)] >> Self::bit_in_word(bit) & 1 != 0
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        let [a, b, c, d] = self.0;
        a | b | c | d == 0
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

    /// The numbers of the squares, in rising order.
    pub(crate) fn rising(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |bit| self.has(*bit))
    }

    /// Every square moved to where `BY` squares further on was: what lies on the other side of a step
    /// now lies here. Over the edge lies nothing, if the bit beside the board was not set.
    #[inline]
    pub(crate) const fn down<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let next = [b, c, d, a >> RANK_BITS];
        match BY {
            1 => Self([a >> 1, b >> 1, c >> 1, d >> 1]),
            15 => Self([next[0] << 1, next[1] << 1, next[2] << 1, next[3] << 1]),
            16 => Self(next),
            17 => Self([next[0] >> 1, next[1] >> 1, next[2] >> 1, next[3] >> 1]),
            _ => panic!("not a step along a line"),
        }
    }

    /// The reverse of `down`.
    #[inline]
    pub(crate) const fn up<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let next = [d << RANK_BITS, a, b, c];
        match BY {
            1 => Self([a << 1, b << 1, c << 1, d << 1]),
            15 => Self([next[0] >> 1, next[1] >> 1, next[2] >> 1, next[3] >> 1]),
            16 => Self(next),
            17 => Self([next[0] << 1, next[1] << 1, next[2] << 1, next[3] << 1]),
            _ => panic!("not a step along a line"),
        }
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

/// The numbers of the squares, in no order but always the same.
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
                let rank = bit / RANK_BITS * RANKS_APART + self.word;
                return Some(rank * RANK_BITS + bit % RANK_BITS);
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
        let rising: Vec<u8> = Squares::ALL.rising().collect();
        let mut told: Vec<u8> = Squares::ALL.into_iter().collect();
        told.sort_unstable();
        assert_eq!(told, rising);
        let expected: Vec<u8> = (0..=u8::MAX).filter(|bit| on_board(*bit)).collect();
        assert_eq!(told, expected);
    }

    /// Checks a step by so many files and ranks, and back.
    fn check_shift<const BY: u8>(files: i8, ranks: i8) {
        let on_board = |at: i8| u8::try_from(at).ok().filter(|at| *at < Squares::SIZE);
        for bit in Squares::ALL {
            let (file, rank) = Squares::place(bit);
            let to = |files: i8, ranks: i8| {
                let file = on_board(file.cast_signed() + files)?;
                Some(Squares::bit(file, on_board(rank.cast_signed() + ranks)?))
            };
            let square = Squares::of(bit);
            let (up, down) = (square.up::<BY>(), square.down::<BY>());
            let reached = [up, down].map(|squares| (squares & Squares::ALL).first());
            assert_eq!(
                reached,
                [to(files, ranks), to(-files, -ranks)],
                "{bit} by {BY}"
            );
        }
    }

    #[test]
    fn shifting_moves_every_square() {
        check_shift::<1>(1, 0);
        check_shift::<15>(-1, 1);
        check_shift::<16>(0, 1);
        check_shift::<17>(1, 1);
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
