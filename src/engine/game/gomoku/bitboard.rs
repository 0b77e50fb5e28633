//! Sets of squares of a board with fifteen files and fifteen ranks.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::game::bit_index;

/// Number of bits for each rank: fifteen squares and a bit that is always empty, so that lines do
/// not wrap at the edge. This is also the bit distance between neighbours on a file.
const RANK_BITS: u8 = 16;

/// Rank `r`, counted from 0, is stored in word `r % RANK_STRIDE` of a bitboard. A bitboard
/// therefore consists of four words.
const RANK_STRIDE: u8 = 4;
const WORDS: usize = RANK_STRIDE as usize;

/// A set of squares with a bit for each square and sixteen bits for each rank.
///
/// Combining a set with shifted copies of itself tests all lines at once. Rank `r`, counted from 0,
/// is stored in word `r % RANK_STRIDE`. A step to the next rank therefore selects the next word,
/// and a step along a rank stays within the word.
///
/// The bits outside the board can be set only in intermediate results. [`Bitboard::ALL`] masks them
/// out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bitboard([u64; WORDS]);

impl Bitboard {
    pub(crate) const SIZE: u8 = 15;

    pub(crate) const EMPTY: Self = Self([0; WORDS]);

    /// All squares of the board.
    pub(crate) const ALL: Self = {
        const FULL_RANKS: u64 = 0x7fff_7fff_7fff_7fff;
        Self([FULL_RANKS, FULL_RANKS, FULL_RANKS, FULL_RANKS >> RANK_BITS])
    };

    /// Returns the set that contains only the square with this bit index.
    #[inline]
    pub(crate) const fn from_bit_index(bit: u8) -> Self {
        let mut words = [0; WORDS];
        words[Self::word_index(bit)] = 1 << Self::bit_in_word(bit);
        Self(words)
    }

    /// Returns the bit index of the square at this file and rank, both counted from 0.
    pub(crate) const fn bit_index(file: u8, rank: u8) -> u8 {
        rank * RANK_BITS + file
    }

    /// Returns the file and rank of the square with this bit index.
    pub(crate) const fn file_and_rank(bit: u8) -> (u8, u8) {
        (bit % RANK_BITS, bit / RANK_BITS)
    }

    /// Returns the index of the word that contains the rank of a square.
    const fn word_index(bit: u8) -> usize {
        (bit / RANK_BITS) as usize % WORDS
    }

    const fn bit_in_word(bit: u8) -> u8 {
        bit / (RANK_BITS * RANK_STRIDE) * RANK_BITS + bit % RANK_BITS
    }

    #[inline]
    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0[Self::word_index(bit)] >> Self::bit_in_word(bit) & 1 != 0
    }

    /// Returns the squares of each rank, with a bit for each file.
    pub(crate) fn ranks(self) -> [u16; Self::SIZE as usize] {
        let ranks_of_words = self.0.map(|word| {
            let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
            [[a, b], [c, d], [e, f], [g, h]].map(u16::from_le_bytes)
        });
        std::array::from_fn(|rank| ranks_of_words[rank % WORDS][rank / WORDS])
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

    /// Returns whether the set has at least two squares.
    #[inline]
    pub(crate) fn has_multiple(self) -> bool {
        let mut is_nonempty = false;
        for word in self.0 {
            if word & word.wrapping_sub(1) != 0 || is_nonempty && word != 0 {
                return true;
            }
            is_nonempty |= word != 0;
        }
        false
    }

    /// Returns the bit index of the square that an iteration visits first, or `None` if the set is
    /// empty.
    #[inline]
    pub(crate) fn first(self) -> Option<u8> {
        self.into_iter().next()
    }

    /// Returns the bit indices of the squares in ascending order.
    pub(crate) fn iter_ascending(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |bit| self.has(*bit))
    }

    /// Moves every square down by `BY` bits. No square wraps to the opposite edge, provided that
    /// the bits outside the board are clear before the shift.
    #[inline]
    pub(crate) const fn shift_down<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let next = [b, c, d, a >> RANK_BITS];
        match BY {
            1 => Self([a >> 1, b >> 1, c >> 1, d >> 1]),
            15 => Self([next[0] << 1, next[1] << 1, next[2] << 1, next[3] << 1]),
            16 => Self(next),
            17 => Self([next[0] >> 1, next[1] >> 1, next[2] >> 1, next[3] >> 1]),
            _ => panic!("unsupported shift distance"),
        }
    }

    /// Moves every square up by `BY` bits. This is the inverse of `shift_down`.
    #[inline]
    pub(crate) const fn shift_up<const BY: u8>(self) -> Self {
        let Self([a, b, c, d]) = self;
        let next = [d << RANK_BITS, a, b, c];
        match BY {
            1 => Self([a << 1, b << 1, c << 1, d << 1]),
            15 => Self([next[0] >> 1, next[1] >> 1, next[2] >> 1, next[3] >> 1]),
            16 => Self(next),
            17 => Self([next[0] << 1, next[1] << 1, next[2] << 1, next[3] << 1]),
            _ => panic!("unsupported shift distance"),
        }
    }
}

impl BitAnd for Bitboard {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl BitOr for Bitboard {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl BitXor for Bitboard {
    type Output = Self;

    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl Not for Bitboard {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// Iterates over the bit indices of the squares, in a fixed order that is not ascending.
impl IntoIterator for Bitboard {
    type Item = u8;
    type IntoIter = BitIter;

    #[inline]
    fn into_iter(self) -> BitIter {
        BitIter {
            words: self.0,
            word_index: 0,
        }
    }
}

/// Iterator over the bit indices of the squares of a set.
#[derive(Clone, Debug)]
pub(crate) struct BitIter {
    words: [u64; WORDS],
    word_index: u8,
}

impl Iterator for BitIter {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            let word = self.words.get_mut(usize::from(self.word_index))?;
            if *word != 0 {
                let bit = bit_index(*word);
                *word &= *word - 1;
                let rank = bit / RANK_BITS * RANK_STRIDE + self.word_index;
                return Some(rank * RANK_BITS + bit % RANK_BITS);
            }
            self.word_index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_has_225_squares() {
        assert_eq!(Bitboard::ALL.len(), 225);
        let is_on_board = |bit: u8| {
            let (file, rank) = Bitboard::file_and_rank(bit);
            file < Bitboard::SIZE && rank < Bitboard::SIZE
        };
        assert!((0..=u8::MAX).all(|bit| Bitboard::ALL.has(bit) == is_on_board(bit)));
        let rising: Vec<u8> = Bitboard::ALL.iter_ascending().collect();
        let mut unordered: Vec<u8> = Bitboard::ALL.into_iter().collect();
        unordered.sort_unstable();
        assert_eq!(unordered, rising);
        let expected: Vec<u8> = (0..=u8::MAX).filter(|bit| is_on_board(*bit)).collect();
        assert_eq!(unordered, expected);
    }

    #[test]
    fn ranks_have_a_bit_for_each_file() {
        for bit in Bitboard::ALL {
            let (file, rank) = Bitboard::file_and_rank(bit);
            let ranks = Bitboard::from_bit_index(bit).ranks();
            let expected = |at: u8| if at == rank { 1 << file } else { 0 };
            assert!(
                (0..)
                    .zip(ranks)
                    .all(|(at, squares)| squares == expected(at))
            );
        }
    }

    /// Checks that a shift by `BY` bits moves each square by the given numbers of files and ranks,
    /// both up and down.
    fn check_shift<const BY: u8>(files: i8, ranks: i8) {
        let on_board = |at: i8| u8::try_from(at).ok().filter(|at| *at < Bitboard::SIZE);
        for bit in Bitboard::ALL {
            let (file, rank) = Bitboard::file_and_rank(bit);
            let to = |files: i8, ranks: i8| {
                let file = on_board(file.cast_signed() + files)?;
                Some(Bitboard::bit_index(
                    file,
                    on_board(rank.cast_signed() + ranks)?,
                ))
            };
            let square = Bitboard::from_bit_index(bit);
            let (up, down) = (square.shift_up::<BY>(), square.shift_down::<BY>());
            let reached = [up, down].map(|squares| (squares & Bitboard::ALL).first());
            assert_eq!(
                reached,
                [to(files, ranks), to(-files, -ranks)],
                "{bit} by {BY}"
            );
        }
    }

    #[test]
    fn shifts_move_every_square_by_one_step() {
        check_shift::<1>(1, 0);
        check_shift::<15>(-1, 1);
        check_shift::<16>(0, 1);
        check_shift::<17>(1, 1);
    }

    #[test]
    fn has_multiple_is_false_for_one_square() {
        assert!(!Bitboard::EMPTY.has_multiple());
        for bit in [0, 63, 64, 238] {
            assert!(!Bitboard::from_bit_index(bit).has_multiple());
            assert!((Bitboard::from_bit_index(bit) | Bitboard::from_bit_index(100)).has_multiple());
        }
        assert!((Bitboard::from_bit_index(3) | Bitboard::from_bit_index(4)).has_multiple());
    }
}
