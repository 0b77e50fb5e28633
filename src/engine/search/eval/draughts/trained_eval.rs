//! Trained evaluation: patterns of men and kings, with weights learnt from self-play.
//!
//! The patterns are relative to the side to move, so the board is rotated if the second seat is to
//! move. A pattern of men covers four by four squares, eight of them playable. A pattern of kings
//! covers two rows. The contents of a pattern's squares are the digits of a ternary number, which
//! is the index of a weight. The evaluation is the sum of the weights (Buro, "Experiments with
//! Multi-ProbCut and a new high-quality evaluation function for Othello", 1997, on Othello). The
//! draughts programs Scan and KingsRow use the same method.
//!
//! Each pattern has a weight for many pieces and a weight for few pieces. The evaluation
//! interpolates linearly between the two weights. The trainer, `tests/train`, gets the weights of a
//! position from [`Features`].

use super::count_squares;
use crate::game::draughts::{Draughts, ROWS};
use crate::game::{Position, Seat};

/// Weights file written by the trainer. The file begins with the term weights, two bytes each: a
/// set for positions with many pieces, then a set for positions with few pieces. The weights of the
/// patterns follow, one byte each, pattern after pattern. Each pattern state has a weight for many
/// pieces, followed by a weight for few pieces.
///
/// The weights were trained in two rounds. In the first round, a handcrafted evaluation played
/// about 43,700 games with 2,885,904 positions (seed 1). In the second round, an evaluation with
/// the resulting weights played about 3,600 games with 278,120 positions (seed 2). The trainer's
/// `--add` option combined both sets of positions. The SHA-256 hash of the positions begins with
/// ccb33de4b59e924b. Of all positions, 1,663,087 are distinct. One game in twenty was held out from
/// training. On the held-out games, the RMS error of the predicted result is 0.092, where a win
/// counts as 1.
static TRAINED_WEIGHTS: &[u8; BYTES] = include_bytes!("learnt.weights");

const BYTES: usize = WEIGHT_SETS * (2 * TERM_COUNT + PATTERN_WEIGHT_COUNT);

/// Number of weight sets: one for positions with many pieces and one for positions with few.
const WEIGHT_SETS: usize = 2;

/// Maximum number of pieces at which only the weights for few pieces count. With at least
/// `FEW_PIECES_MAX + BLEND_PIECES` pieces, only the weights for many pieces count.
const FEW_PIECES_MAX: i32 = 5;
const BLEND_PIECES: i32 = 16;

/// Number of squares in a pattern. Each square is in one of three states, so a pattern has
/// `PATTERN_STATES` states.
const SQUARES_PER_PATTERN: u32 = 8;
const PATTERN_STATES: usize = 3_usize.pow(SQUARES_PER_PATTERN);

/// Number of patterns of men. `MEN_PATTERNS_PADDED` is this number rounded up to fill SIMD vectors
/// of eight lanes.
const MEN_PATTERNS: usize = 25;
const MEN_PATTERNS_PADDED: usize = 32;

/// Number of patterns of kings.
const KING_PATTERNS: usize = 4;

const PATTERN_COUNT: usize = MEN_PATTERNS + KING_PATTERNS;
const PATTERN_WEIGHT_COUNT: usize = PATTERN_COUNT * PATTERN_STATES;

/// Number of linear terms that are added to the pattern weights. The terms in `PIECE_COUNT_TERMS`
/// count the pieces. See `linear_terms`.
const TERM_COUNT: usize = 16;
const PIECE_COUNT_TERMS: std::ops::Range<usize> = 2..6;

/// Number of weight units per unit of the evaluation, which values a man at about 100. A weight
/// unit is 1/128 of the natural logarithm of the odds of winning.
const WEIGHT_UNITS_PER_VALUE: i32 = 2;

/// Amount that own men on four adjacent squares add to the index of each pattern. The table is
/// indexed by the group of four squares, then by the set of occupied squares. Opposing men add
/// twice as much as own men.
static MEN_INDEX_CONTRIBUTIONS: [[[u16; MEN_PATTERNS_PADDED]; 16]; 8] = {
    let mut added = [[[0; MEN_PATTERNS_PADDED]; 16]; 8];
    let mut place = 0;
    while place < MEN_PATTERNS {
        let (first_file, first_rank) = (place % 5, place / 5);
        let (mut square, mut digit_weight) = (0, 1_u16);
        while square < 32 {
            // Squares are numbered as in `Draughts::square`.
            let rank = square / 4;
            let file = 6 - 2 * (square % 4) + rank % 2;
            let is_in_pattern = file >= first_file
                && file < first_file + 4
                && rank >= first_rank
                && rank < first_rank + 4;
            let mut occupied = 0;
            while is_in_pattern && occupied < 16 {
                if occupied >> (square % 4) & 1 != 0 {
                    added[square / 4][occupied][place] += digit_weight;
                }
                occupied += 1;
            }
            if is_in_pattern {
                digit_weight *= 3;
            }
            square += 1;
        }
        assert!(digit_weight as usize == PATTERN_STATES);
        place += 1;
    }
    added
};

/// Contribution of own kings on eight adjacent squares to the index of their pattern.
static KING_INDEX_CONTRIBUTIONS: [u16; 256] = {
    let mut added = [0; 256];
    let mut occupied = 0;
    while occupied < 256 {
        let (mut square, mut digit_weight) = (0, 1);
        while square < SQUARES_PER_PATTERN {
            if occupied >> square & 1 != 0 {
                added[occupied] += digit_weight;
            }
            digit_weight *= 3;
            square += 1;
        }
        occupied += 1;
    }
    added
};

/// Returns the indices of the patterns of men.
#[inline]
fn men_pattern_indices(own: u32, other: u32) -> [u16; MEN_PATTERNS_PADDED] {
    let mut numbers = [0; MEN_PATTERNS_PADDED];
    for (four, added) in MEN_INDEX_CONTRIBUTIONS.iter().enumerate() {
        let contributions = |men: u32| &added[(men >> (4 * four) & 15) as usize];
        let (own, other) = (contributions(own), contributions(other));
        for place in 0..MEN_PATTERNS_PADDED {
            numbers[place] += own[place] + 2 * other[place];
        }
    }
    numbers
}

/// Returns the indices of the patterns of kings.
#[inline]
fn king_pattern_indices(own: u32, other: u32) -> [u16; KING_PATTERNS] {
    let added = |byte: u8| KING_INDEX_CONTRIBUTIONS[usize::from(byte)];
    let (own, other) = (own.to_le_bytes(), other.to_le_bytes());
    std::array::from_fn(|place| added(own[place]) + 2 * added(other[place]))
}

/// Returns the linear terms: a constant, the opposition, the numbers of men and kings, and whether
/// a side has kings. The terms also include the numbers of mobile men and mobile kings. The last
/// terms are the number of runaway men and the number of rows that the runaway men still have to
/// go. Each term for the side to move precedes the same term for its opponent.
#[inline]
fn linear_terms(pos: &Draughts) -> [i32; TERM_COUNT] {
    let seats = [pos.turn(), pos.turn().other()];
    let [own, other] = seats.map(|seat| pos.men(seat));
    let men = count_both(own, other);
    let [own_mobile, other_mobile] = seats.map(|seat| pos.movable_pieces(seat));
    let mobile = count_both(own_mobile & own, other_mobile & other);
    let [own, other] = seats.map(|seat| pos.kings(seat));
    let (mut kings, mut mobile_kings) = ([0, 0], [0, 0]);
    if own | other != 0 {
        kings = count_both(own, other);
        mobile_kings = count_both(own_mobile & own, other_mobile & other);
    }
    let [own, other] = seats.map(|seat| runaway_men(pos, seat));
    let opposition = if men[0] + kings[0] == men[1] + kings[1] {
        opposition_of_mover(pos)
    } else {
        0
    };
    [
        1,
        opposition,
        men[0],
        men[1],
        kings[0],
        kings[1],
        i32::from(kings[0] != 0),
        i32::from(kings[1] != 0),
        mobile[0],
        mobile[1],
        mobile_kings[0],
        mobile_kings[1],
        own[0],
        other[0],
        own[1],
        other[1],
    ]
}

/// Returns the number of squares in each of two sets.
#[inline]
const fn count_both(one: u64, other: u64) -> [i32; 2] {
    [
        one.count_ones().cast_signed(),
        other.count_ones().cast_signed(),
    ]
}

/// Returns the number of runaway men: men that no opposing piece can reach on their way to the last
/// row. Also returns the total number of rows that the runaway men still have to go. If the
/// opponent has kings, no men count as runaway men.
#[inline]
fn runaway_men(pos: &Draughts, seat: Seat) -> [i32; 2] {
    if pos.kings(seat.other()) != 0 {
        return [0, 0];
    }
    let others = pos.men(seat.other());
    // An opposing man can stop an advancing man if and only if it can reach the advancing man's
    // square by moving forwards. The code therefore computes the squares that opposing men can
    // reach.
    let unreachable_men =
        pos.men(seat) & !(Draughts::reachable_by_men(seat.other(), others) | others);
    let mut rows = 0;
    if unreachable_men != 0 {
        for (row, squares) in (0..).zip(ROWS) {
            let rows_to_go = match seat {
                Seat::First => 7 - row,
                Seat::Second => row,
            };
            rows += rows_to_go * count_squares(unreachable_men & squares);
        }
    }
    [count_squares(unreachable_men), rows]
}

/// Returns 1 if the side to move has the opposition ("the move"), otherwise -1. The side with the
/// opposition has the last step when equal numbers of men advance towards each other.
#[inline]
fn opposition_of_mover(pos: &Draughts) -> i32 {
    let rows = match pos.turn() {
        Seat::First => ROWS[0] | ROWS[2] | ROWS[4] | ROWS[6],
        Seat::Second => ROWS[1] | ROWS[3] | ROWS[5] | ROWS[7],
    };
    2 * (count_squares(pos.occupied() & rows) % 2) - 1
}

/// Returns how much the weights for many pieces count in the evaluation, from 0 to `BLEND_PIECES`.
#[inline]
fn many_pieces_share(terms: &[i32; TERM_COUNT]) -> i32 {
    let pieces: i32 = terms[PIECE_COUNT_TERMS].iter().sum();
    (pieces - FEW_PIECES_MAX).clamp(0, BLEND_PIECES)
}

/// Returns the value for the side to move, which must have no captures.
#[inline]
pub(super) fn evaluate(pos: &Draughts) -> i32 {
    let [men, kings, other_men, other_kings] = pos.relative_bitboards();
    let (term_weights, weights) = TRAINED_WEIGHTS.split_at(2 * WEIGHT_SETS * TERM_COUNT);
    let (weights, _) = weights.as_chunks::<WEIGHT_SETS>();
    let mut sums = [0; WEIGHT_SETS];
    let mut add_pattern = |place: usize, number: u16| {
        let weight_pair = weights[place * PATTERN_STATES + usize::from(number)];
        for (sum, weight) in sums.iter_mut().zip(weight_pair) {
            *sum += i32::from(weight.cast_signed());
        }
    };
    for (place, number) in men_pattern_indices(men, other_men)[..MEN_PATTERNS]
        .iter()
        .enumerate()
    {
        add_pattern(place, *number);
    }
    for (place, number) in king_pattern_indices(kings, other_kings).iter().enumerate() {
        add_pattern(MEN_PATTERNS + place, *number);
    }
    let terms = linear_terms(pos);
    let term_weight_sets = term_weights.as_chunks::<2>().0.chunks_exact(TERM_COUNT);
    for (sum, weights) in sums.iter_mut().zip(term_weight_sets) {
        for (weight, term) in weights.iter().zip(terms) {
            *sum += i32::from(i16::from_le_bytes(*weight)) * term;
        }
    }
    let many_share = many_pieces_share(&terms);
    (many_share * sums[0] + (BLEND_PIECES - many_share) * sums[1])
        / (WEIGHT_UNITS_PER_VALUE * BLEND_PIECES)
}

/// Features of a position, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Indices of the pattern weights. No index occurs more than once in a position.
    pub patterns: [u32; PATTERN_COUNT],
    /// Values of the terms, which are multiplied by the term weights.
    pub terms: [i32; TERM_COUNT],
    /// Factors for the two weight sets: the first for many pieces, the second for few pieces. The
    /// two factors add up to 1.
    pub shares: [f32; WEIGHT_SETS],
}

impl Features {
    /// Number of pattern weights in each of the two sets.
    pub const PATTERN_WEIGHT_COUNT: usize = PATTERN_WEIGHT_COUNT;

    /// Returns the features of a position.
    #[must_use]
    pub fn from_position(pos: &Draughts) -> Self {
        let [men, kings, other_men, other_kings] = pos.relative_bitboards();
        let men_indices = men_pattern_indices(men, other_men);
        let king_indices = king_pattern_indices(kings, other_kings);
        let mut patterns = [0; PATTERN_COUNT];
        let numbers = men_indices[..MEN_PATTERNS].iter().chain(&king_indices);
        for (place, (pattern, number)) in patterns.iter_mut().zip(numbers).enumerate() {
            let first = u32::try_from(place * PATTERN_STATES).expect("the index fits in u32");
            *pattern = first + u32::from(*number);
        }
        let terms = linear_terms(pos);
        let many_share = many_pieces_share(&terms) as f32 / BLEND_PIECES as f32;
        Self {
            patterns,
            terms,
            shares: [many_share, 1.0 - many_share],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::random_game;

    const _: () = assert!(BYTES <= 400_000);

    fn positions() -> impl Iterator<Item = Draughts> {
        let games = (0..100).flat_map(|seed| random_game::<Draughts>(seed).0);
        games.filter(|pos| pos.outcome().is_none())
    }

    #[test]
    fn evaluation_equals_the_weighted_sum_of_its_features() {
        let (term_weights, weights) = TRAINED_WEIGHTS.split_at(2 * WEIGHT_SETS * TERM_COUNT);
        for pos in positions() {
            let features = Features::from_position(&pos);
            let mut sum = 0.0;
            for (set, share) in features.shares.into_iter().enumerate() {
                for number in features.patterns {
                    let weight = weights[WEIGHT_SETS * number as usize + set].cast_signed();
                    sum += share * f32::from(weight);
                }
                for (number, term) in features.terms.into_iter().enumerate() {
                    let offset = 2 * (set * TERM_COUNT + number);
                    let weight =
                        i16::from_le_bytes([term_weights[offset], term_weights[offset + 1]]);
                    sum += share * f32::from(weight) * term as f32;
                }
            }
            let difference = evaluate(&pos) as f32 - sum / WEIGHT_UNITS_PER_VALUE as f32;
            assert!(difference.abs() <= 1.0, "{pos}: {difference}");
        }
    }

    #[test]
    fn every_square_is_in_a_pattern() {
        for square in 0..32 {
            let set = 1 << square;
            let [none, own, other] =
                [[0, 0], [set, 0], [0, set]].map(|[own, other]| men_pattern_indices(own, other));
            assert!(none != own && own != other && none != other, "{square}");
            let [none, own, other] =
                [[0, 0], [set, 0], [0, set]].map(|[own, other]| king_pattern_indices(own, other));
            assert!(none != own && own != other && none != other, "{square}");
        }
    }

    #[test]
    fn evaluation_is_the_same_for_both_seats() {
        for pos in positions() {
            let from_first_seat = Draughts::from_relative_bitboards(pos.relative_bitboards());
            assert_eq!(from_first_seat.turn(), Seat::First);
            assert_eq!(
                from_first_seat.relative_bitboards(),
                pos.relative_bitboards(),
                "{pos}"
            );
            assert_eq!(evaluate(&from_first_seat), evaluate(&pos), "{pos}");
        }
    }

    /// The test computes the expected number of runaway men by checking each man separately.
    #[test]
    fn runaway_men_have_no_opponent_in_front() {
        let mut checked = 0;
        for pos in positions() {
            for seat in Seat::ALL {
                let (mut runaways, mut rows, mut rest) = (0, 0, pos.men(seat));
                let others = pos.men(seat.other()) | pos.kings(seat.other());
                while rest != 0 && pos.kings(seat.other()) == 0 {
                    let man = rest & rest.wrapping_neg();
                    rest ^= man;
                    let ahead = Draughts::reachable_by_men(seat, man);
                    if ahead & others == 0 {
                        runaways += 1;
                        rows += count_rows(ahead);
                    }
                }
                assert_eq!(runaway_men(&pos, seat), [runaways, rows], "{pos}");
                checked += runaways;
            }
        }
        assert!(checked > 100, "{checked}");
    }

    /// Returns the number of rows that contain a square of the set.
    fn count_rows(squares: u64) -> i32 {
        let rows = ROWS.iter().filter(|row| squares & **row != 0);
        i32::try_from(rows.count()).expect("there are eight rows")
    }
}
