//! Assigns a number to every position where both sides have pieces, at most four in total. The
//! numbers have almost no gaps, so a table can store a value for each position.
//!
//! The number describes the position relative to the side to move. The number does not depend on
//! the seat to move, or on the plies since the last capture or move of a man.

use super::{Draughts, SQUARES};
use crate::game::{Position, Seat};

/// Maximum total number of pieces in a position that has an endgame number.
const PIECES_MAX: usize = 4;

/// Number of possible piece counts for one kind of piece: 0 to `PIECES_MAX`.
const COUNT_VALUES: usize = PIECES_MAX + 1;

/// Number of kinds of pieces: men and kings of the side to move, men and kings of the other side.
const PIECE_KINDS: usize = 4;

/// Squares where each kind of piece can stand. The first value of each pair is the number of these
/// squares. The second value is the bit index of the lowest of these squares. A man never stands on
/// its last row, because it is crowned there.
const SQUARES_OF_KIND: [(usize, u32); PIECE_KINDS] = {
    let (all, but_last) = (SQUARES as usize, SQUARES as usize - 4);
    [(but_last, 0), (all, 0), (but_last, 4), (all, 0)]
};

/// Binomial coefficients (Pascal's triangle). `BINOMIALS[squares][pieces]` is the number of ways to
/// place that many identical pieces on that many squares.
const BINOMIALS: [[u32; COUNT_VALUES]; SQUARES as usize + 1] = {
    let mut ways = [[0; COUNT_VALUES]; SQUARES as usize + 1];
    let mut squares = 0;
    while squares < ways.len() {
        ways[squares][0] = 1;
        let mut pieces = 1;
        while squares > 0 && pieces < COUNT_VALUES {
            ways[squares][pieces] = ways[squares - 1][pieces - 1] + ways[squares - 1][pieces];
            pieces += 1;
        }
        squares += 1;
    }
    ways
};

/// Positions with equal piece counts form a group with consecutive endgame numbers. This table
/// contains the first number of each group. The four piece counts are the base-5 digits of the
/// table index. The last entry is `ENDGAME_COUNT`.
///
/// A group is empty if a side has no pieces or if the total piece count exceeds `PIECES_MAX`.
const FIRST_NUMBERS: [u32; COUNT_VALUES.pow(4) + 1] = {
    let mut firsts = [0; COUNT_VALUES.pow(4) + 1];
    let mut code = 0;
    while code < COUNT_VALUES.pow(4) {
        let counts = decode_counts(code);
        let (own, other) = (counts[0] + counts[1], counts[2] + counts[3]);
        let mut size = (own > 0 && other > 0 && own + other <= PIECES_MAX) as u32;
        let mut kind = 0;
        while kind < PIECE_KINDS {
            size *= BINOMIALS[SQUARES_OF_KIND[kind].0][counts[kind]];
            kind += 1;
        }
        firsts[code + 1] = firsts[code] + size;
        code += 1;
    }
    firsts
};

const fn decode_counts(code: usize) -> [usize; PIECE_KINDS] {
    let [first, second] = [code / COUNT_VALUES.pow(2), code % COUNT_VALUES.pow(2)];
    [
        first / COUNT_VALUES,
        first % COUNT_VALUES,
        second / COUNT_VALUES,
        second % COUNT_VALUES,
    ]
}

/// Returns the range of endgame numbers for these piece counts.
const fn numbers_with_counts(counts: [usize; PIECE_KINDS]) -> std::ops::Range<u32> {
    let code = (counts[0] * COUNT_VALUES + counts[1]) * COUNT_VALUES.pow(2)
        + counts[2] * COUNT_VALUES
        + counts[3];
    FIRST_NUMBERS[code]..FIRST_NUMBERS[code + 1]
}

impl Draughts {
    /// Exclusive upper bound of the endgame numbers.
    pub const ENDGAME_COUNT: u32 = FIRST_NUMBERS[FIRST_NUMBERS.len() - 1];

    /// Ranges of endgame numbers for two endgames that take many moves to win. In the first
    /// endgame, a king plays against two kings. In the second endgame, a king and a man play
    /// against two kings. The weaker side is to move.
    pub const LONG_ENDGAMES: [std::ops::Range<u32>; 2] = [
        numbers_with_counts([0, 1, 0, 2]),
        numbers_with_counts([1, 1, 0, 2]),
    ];

    /// Returns the number of men and the number of kings of a seat.
    #[must_use]
    pub const fn piece_counts(&self, seat: Seat) -> [u32; 2] {
        [self.men(seat).count_ones(), self.kings(seat).count_ones()]
    }

    /// Returns the endgame number of this position, which is less than `ENDGAME_COUNT`. Returns
    /// `None` if a side has no pieces, or if both sides together have more than four.
    #[must_use]
    pub fn endgame_number(&self) -> Option<u32> {
        if self.occupied().count_ones() as usize > PIECES_MAX || self.pieces_by_seat.contains(&0) {
            return None;
        }
        let (mut code, mut within) = (0, 0);
        for (bitboard, (squares, first)) in
            self.relative_bitboards().into_iter().zip(SQUARES_OF_KIND)
        {
            let count = bitboard.count_ones() as usize;
            code = code * COUNT_VALUES + count;
            within = within * BINOMIALS[squares][count] + rank_of_set(bitboard >> first);
        }
        Some(FIRST_NUMBERS[code] + within)
    }

    /// Returns the position that has the given endgame number. The first seat is to move. Returns
    /// `None` if the number is out of range or would place two pieces on the same square.
    #[must_use]
    pub fn from_endgame_number(number: u32) -> Option<Self> {
        let code = FIRST_NUMBERS
            .partition_point(|first| *first <= number)
            .checked_sub(1)?;
        let mut within = number - FIRST_NUMBERS[code];
        let counts = (code < COUNT_VALUES.pow(4)).then(|| decode_counts(code))?;
        let mut kinds = [0; PIECE_KINDS];
        for kind in (0..PIECE_KINDS).rev() {
            let ((squares, first), count) = (SQUARES_OF_KIND[kind], counts[kind]);
            let combinations = BINOMIALS[squares][count];
            kinds[kind] = set_of_rank(within % combinations, count) << first;
            within /= combinations;
        }
        let pieces: usize = counts.iter().sum();
        let pos = Self::from_relative_bitboards(kinds);
        (pos.occupied().count_ones() as usize == pieces).then_some(pos)
    }

    /// Returns the position that has the given bitboards. The first seat is to move. This is the
    /// inverse of [`relative_bitboards`](Self::relative_bitboards).
    #[must_use]
    pub fn from_relative_bitboards(bitboards: [u32; PIECE_KINDS]) -> Self {
        let [men, kings, other_men, other_kings] = bitboards.map(absolute_bitboard);
        Self {
            pieces_by_seat: [men | kings, other_men | other_kings],
            kings: kings | other_kings,
            ..Self::initial()
        }
    }

    /// Returns bitboards of four kinds of pieces: men and kings of the side to move, then men and
    /// kings of its opponent. Each bitboard has one bit for each square, starting at the edge of
    /// the board that is nearest to the side to move.
    #[inline]
    #[must_use]
    pub const fn relative_bitboards(&self) -> [u32; PIECE_KINDS] {
        let [own, other] = [self.turn, self.turn.other()];
        [
            self.relative_bitboard(self.men(own)),
            self.relative_bitboard(self.kings(own)),
            self.relative_bitboard(self.men(other)),
            self.relative_bitboard(self.kings(other)),
        ]
    }

    /// Converts a set of squares to a bitboard with one bit for each square, starting at the edge
    /// of the board that is nearest to the side to move.
    #[inline]
    const fn relative_bitboard(&self, squares: u64) -> u32 {
        // Removes the unused bit after every eight squares.
        let packed = squares & 0xff
            | squares >> 1 & 0xff << 8
            | squares >> 2 & 0xff << 16
            | squares >> 3 & 0xff << 24;
        #[expect(clippy::cast_possible_truncation, reason = "there are 32 squares")]
        let relative = packed as u32;
        match self.turn {
            Seat::First => relative,
            Seat::Second => relative.reverse_bits(),
        }
    }
}

/// Converts a relative bitboard to a board bitboard for a position where the first seat is to move.
/// This is the inverse of `relative_bitboard`.
const fn absolute_bitboard(relative: u32) -> u64 {
    let bits = relative as u64;
    bits & 0xff | (bits & 0xff << 8) << 1 | (bits & 0xff << 16) << 2 | (bits & 0xff << 24) << 3
}

/// Returns the rank of a set in the combinatorial number system: its index among all sets with the
/// same number of squares.
fn rank_of_set(mut set: u32) -> u32 {
    let (mut rank, mut nth) = (0, 1);
    while set != 0 {
        rank += BINOMIALS[set.trailing_zeros() as usize][nth];
        set &= set - 1;
        nth += 1;
    }
    rank
}

/// Returns the set of `count` squares that has the given rank in the combinatorial number system.
/// This is the inverse of `rank_of_set`.
fn set_of_rank(mut rank: u32, count: usize) -> u32 {
    let mut set = 0;
    for nth in (1..=count).rev() {
        let highest = BINOMIALS.partition_point(|ways| ways[nth] <= rank) - 1;
        rank -= BINOMIALS[highest][nth];
        set |= 1 << highest;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endgame_numbers_round_trip() {
        let mut endgames = 0;
        for number in (0..Draughts::ENDGAME_COUNT).step_by(7) {
            if let Some(pos) = Draughts::from_endgame_number(number) {
                endgames += 1;
                assert_eq!(pos.endgame_number(), Some(number), "{pos}");
            }
        }
        assert!(endgames > 900_000, "{endgames}");
        assert_eq!(Draughts::from_endgame_number(Draughts::ENDGAME_COUNT), None);
    }

    /// The second position is the first position rotated by 180 degrees, with the seats exchanged.
    #[test]
    fn endgame_number_is_independent_of_the_seat() {
        let number = |text: &str| text.parse::<Draughts>().expect(text).endgame_number();
        let first = number("B:WK30,21:B1,K7");
        assert!(first.is_some());
        assert_eq!(number("W:W32,K26:BK3,12"), first);
        assert_eq!(number("B:W30,21,20:B1,7"), None);
        assert_eq!(number("B:W30:B"), None);
    }
}
