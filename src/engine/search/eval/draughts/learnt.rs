//! What self-play has taught: how much it is worth that men and kings lie as they do.
//!
//! The board is seen from the side to move, turned round where that is the second seat. Men on each four by
//! four squares of it, of which eight are played on, and kings on each two rows, are the digits of a number to
//! the base of three, which is looked up; all that is found is added up (Buro, "Experiments with
//! Multi-ProbCut and a new high-quality evaluation function for Othello", 1997, on Othello; Scan and KingsRow
//! are programs that play draughts by it). Each weight is there twice: for many pieces and for few, with
//! straight lines between them. Which weights a position has is told to the trainer, `tests/train`, by
//! [`Features`].

use super::count;
use crate::game::draughts::{Draughts, ROWS};
use crate::game::{Position, Seat};

/// What the trainer has made: the weights of the terms, two bytes each, for many pieces and then for few; then those
/// of the patterns, a byte each, all places after each other, with that for many pieces before that for few.
///
/// Made in two rounds: 2,885,904 positions of about 43,700 games (seed 1) that were played by an evaluation made by hand,
/// and with these, by `--add`, 278,120 of about 3,600 games (seed 2) that were played by what the first had taught.
/// The first bytes of the sha256 are ccb33de4b59e924b. Of all positions 1,663,087 were different. One game of twenty
/// was held out: there the weights err by 0.092 of a win.
static LEARNT: &[u8; BYTES] = include_bytes!("learnt.weights");

const BYTES: usize = SETS * (2 * TERMS + WEIGHTS);

/// Weights for many pieces and for few.
const SETS: usize = 2;

/// With so many pieces or fewer the weights for few count alone, and with so many more those for many.
const FEW: i32 = 5;
const MORE: i32 = 16;

/// Squares of a place, and in how many ways they can lie.
const SQUARES: u32 = 8;
const WAYS: usize = 3_usize.pow(SQUARES);

/// Four by four squares lie on the board in so many places, and as many as fill vectors of eight.
const MEN_PLACES: usize = 25;
const ROOM: usize = 32;

/// Two rows lie on it in so many.
const KING_PLACES: usize = 4;

const PLACES: usize = MEN_PLACES + KING_PLACES;
const WEIGHTS: usize = PLACES * WAYS;

/// Beside patterns, and which of these are the numbers of pieces: see `terms`.
const TERMS: usize = 16;
const PIECES: std::ops::Range<usize> = 2..6;

/// Weights are kept in 128ths of what makes odds of winning greater by a factor of e. So many of them are worth one,
/// by which a man is worth a hundred, about.
const PARTS_OF_VALUE: i32 = 2;

/// What own men on four squares beside each other add to the numbers of all places: by which four squares they
/// are, then by which of these are taken. Men of the other side add twice as much.
static ADDED: [[[u16; ROOM]; 16]; 8] = {
    let mut added = [[[0; ROOM]; 16]; 8];
    let mut place = 0;
    while place < MEN_PLACES {
        let (first_file, first_rank) = (place % 5, place / 5);
        let (mut square, mut worth) = (0, 1_u16);
        while square < 32 {
            // As `Draughts::square` has it.
            let rank = square / 4;
            let file = 6 - 2 * (square % 4) + rank % 2;
            let lies_in = file >= first_file
                && file < first_file + 4
                && rank >= first_rank
                && rank < first_rank + 4;
            let mut taken = 0;
            while lies_in && taken < 16 {
                if taken >> (square % 4) & 1 != 0 {
                    added[square / 4][taken][place] += worth;
                }
                taken += 1;
            }
            if lies_in {
                worth *= 3;
            }
            square += 1;
        }
        assert!(worth as usize == WAYS);
        place += 1;
    }
    added
};

/// What kings on eight squares beside each other add to the number of their place.
static ADDED_BY_KINGS: [u16; 256] = {
    let mut added = [0; 256];
    let mut taken = 0;
    while taken < 256 {
        let (mut square, mut worth) = (0, 1);
        while square < SQUARES {
            if taken >> square & 1 != 0 {
                added[taken] += worth;
            }
            worth *= 3;
            square += 1;
        }
        taken += 1;
    }
    added
};

/// The numbers of the places of men.
#[inline]
fn numbers_of_men(own: u32, other: u32) -> [u16; ROOM] {
    let mut numbers = [0; ROOM];
    for (four, added) in ADDED.iter().enumerate() {
        let taken = |men: u32| &added[(men >> (4 * four) & 15) as usize];
        let (own, other) = (taken(own), taken(other));
        for place in 0..ROOM {
            numbers[place] += own[place] + 2 * other[place];
        }
    }
    numbers
}

/// The numbers of the places of kings.
#[inline]
fn numbers_of_kings(own: u32, other: u32) -> [u16; KING_PLACES] {
    let added = |byte: u8| ADDED_BY_KINGS[usize::from(byte)];
    let (own, other) = (own.to_le_bytes(), other.to_le_bytes());
    std::array::from_fn(|place| added(own[place]) + 2 * added(other[place]))
}

/// What counts beside patterns: how many men and kings each side has, and how many of these can step, for the side
/// to move and the other; men that nothing stops, and how far they have to go; who has the last step
/// where men stand against each other.
#[inline]
fn terms(pos: &Draughts) -> [i32; TERMS] {
    let seats = [pos.turn(), pos.turn().other()];
    let [own, other] = seats.map(|seat| pos.men(seat));
    let men = counts(own, other);
    let [own_mobile, other_mobile] = seats.map(|seat| pos.movable_pieces(seat));
    let mobile = counts(own_mobile & own, other_mobile & other);
    let [own, other] = seats.map(|seat| pos.kings(seat));
    let (mut kings, mut mobile_kings) = ([0, 0], [0, 0]);
    if own | other != 0 {
        kings = counts(own, other);
        mobile_kings = counts(own_mobile & own, other_mobile & other);
    }
    let [own, other] = seats.map(|seat| runaways(pos, seat));
    let move_of = if men[0] + kings[0] == men[1] + kings[1] {
        the_move(pos)
    } else {
        0
    };
    [
        1,
        move_of,
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

/// How many squares are in each of two sets.
#[inline]
const fn counts(one: u64, other: u64) -> [i32; 2] {
    [
        one.count_ones().cast_signed(),
        other.count_ones().cast_signed(),
    ]
}

/// How many men go to the last row through squares that no piece of the other side can reach, and how
/// many rows they have still to go.
#[inline]
fn runaways(pos: &Draughts, seat: Seat) -> [i32; 2] {
    if pos.kings(seat.other()) != 0 {
        return [0, 0];
    }
    let others = pos.men(seat.other());
    // Whoever stands before a man, the man stands before it.
    let away = pos.men(seat) & !(Draughts::reachable_by_men(seat.other(), others) | others);
    let mut rows = 0;
    if away != 0 {
        for (row, squares) in (0..).zip(ROWS) {
            let left = match seat {
                Seat::First => 7 - row,
                Seat::Second => row,
            };
            rows += left * count(away & squares);
        }
    }
    [count(away), rows]
}

/// Whether the side to move has the last step where men of equal numbers walk up to each other ("the move"): 1
/// or -1.
#[inline]
fn the_move(pos: &Draughts) -> i32 {
    let rows = match pos.turn() {
        Seat::First => ROWS[0] | ROWS[2] | ROWS[4] | ROWS[6],
        Seat::Second => ROWS[1] | ROWS[3] | ROWS[5] | ROWS[7],
    };
    2 * (count(pos.occupied() & rows) % 2) - 1
}

/// How much the weights for many pieces count, of `MORE`.
#[inline]
fn share_of_many(terms: &[i32; TERMS]) -> i32 {
    let pieces: i32 = terms[PIECES].iter().sum();
    (pieces - FEW).clamp(0, MORE)
}

/// What the position is worth to the side to move, which can capture nothing.
#[inline]
pub(super) fn value(pos: &Draughts) -> i32 {
    let [men, kings, other_men, other_kings] = pos.relative_bitboards();
    let (of_terms, weights) = LEARNT.split_at(2 * SETS * TERMS);
    let (weights, _) = weights.as_chunks::<SETS>();
    let mut sums = [0; SETS];
    let mut add = |place: usize, number: u16| {
        let both = weights[place * WAYS + usize::from(number)];
        for (sum, weight) in sums.iter_mut().zip(both) {
            *sum += i32::from(weight.cast_signed());
        }
    };
    for (place, number) in numbers_of_men(men, other_men)[..MEN_PLACES]
        .iter()
        .enumerate()
    {
        add(place, *number);
    }
    for (place, number) in numbers_of_kings(kings, other_kings).iter().enumerate() {
        add(MEN_PLACES + place, *number);
    }
    let terms = terms(pos);
    let of_terms = of_terms.as_chunks::<2>().0.chunks_exact(TERMS);
    for (sum, weights) in sums.iter_mut().zip(of_terms) {
        for (weight, term) in weights.iter().zip(terms) {
            *sum += i32::from(i16::from_le_bytes(*weight)) * term;
        }
    }
    let many = share_of_many(&terms);
    (many * sums[0] + (MORE - many) * sums[1]) / (PARTS_OF_VALUE * MORE)
}

/// What the value of a position is made of, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// The weights of the patterns by their numbers, each of which counts once.
    pub patterns: [u32; PLACES],
    /// How often the weights of the terms count.
    pub terms: [i32; TERMS],
    /// How much the weights for many pieces count, and those for few: together one.
    pub shares: [f32; SETS],
}

impl Features {
    /// How many weights of patterns there are for many pieces, and as many for few.
    pub const WEIGHTS: usize = WEIGHTS;

    /// What the value of this position is made of.
    #[must_use]
    pub fn of(pos: &Draughts) -> Self {
        let [men, kings, other_men, other_kings] = pos.relative_bitboards();
        let of_men = numbers_of_men(men, other_men);
        let of_kings = numbers_of_kings(kings, other_kings);
        let mut patterns = [0; PLACES];
        let numbers = of_men[..MEN_PLACES].iter().chain(&of_kings);
        for (place, (pattern, number)) in patterns.iter_mut().zip(numbers).enumerate() {
            let first = u32::try_from(place * WAYS).expect("there are few places");
            *pattern = first + u32::from(*number);
        }
        let terms = terms(pos);
        let many = share_of_many(&terms) as f32 / MORE as f32;
        Self {
            patterns,
            terms,
            shares: [many, 1.0 - many],
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

    /// What is looked up fast in whole numbers is what the trainer is told that the value is made of.
    #[test]
    fn the_value_is_that_of_its_features() {
        let (of_terms, weights) = LEARNT.split_at(2 * SETS * TERMS);
        for pos in positions() {
            let features = Features::of(&pos);
            let mut sum = 0.0;
            for (set, share) in features.shares.into_iter().enumerate() {
                for number in features.patterns {
                    let weight = weights[SETS * number as usize + set].cast_signed();
                    sum += share * f32::from(weight);
                }
                for (number, term) in features.terms.into_iter().enumerate() {
                    let at = 2 * (set * TERMS + number);
                    let weight = i16::from_le_bytes([of_terms[at], of_terms[at + 1]]);
                    sum += share * f32::from(weight) * term as f32;
                }
            }
            let miss = value(&pos) as f32 - sum / PARTS_OF_VALUE as f32;
            assert!(miss.abs() <= 1.0, "{pos}: {miss}");
        }
    }

    /// Each man and each king counts, for either side.
    #[test]
    fn every_square_is_in_a_pattern() {
        for square in 0..32 {
            let set = 1 << square;
            let [none, own, other] =
                [[0, 0], [set, 0], [0, set]].map(|[own, other]| numbers_of_men(own, other));
            assert!(none != own && own != other && none != other, "{square}");
            let [none, own, other] =
                [[0, 0], [set, 0], [0, set]].map(|[own, other]| numbers_of_kings(own, other));
            assert!(none != own && own != other && none != other, "{square}");
        }
    }

    #[test]
    fn both_seats_see_alike() {
        for pos in positions() {
            let seen = Draughts::from_relative_bitboards(pos.relative_bitboards());
            assert_eq!(seen.turn(), Seat::First);
            assert_eq!(seen.relative_bitboards(), pos.relative_bitboards(), "{pos}");
            assert_eq!(value(&seen), value(&pos), "{pos}");
        }
    }

    /// One man after the other.
    #[test]
    fn what_nothing_stops_is_away() {
        let mut seen = 0;
        for pos in positions() {
            for seat in Seat::ALL {
                let (mut away, mut rows, mut rest) = (0, 0, pos.men(seat));
                let others = pos.men(seat.other()) | pos.kings(seat.other());
                while rest != 0 && pos.kings(seat.other()) == 0 {
                    let man = rest & rest.wrapping_neg();
                    rest ^= man;
                    let ahead = Draughts::reachable_by_men(seat, man);
                    if ahead & others == 0 {
                        away += 1;
                        rows += count_rows(ahead);
                    }
                }
                assert_eq!(runaways(&pos, seat), [away, rows], "{pos}");
                seen += away;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    /// On how many rows squares lie.
    fn count_rows(squares: u64) -> i32 {
        let rows = ROWS.iter().filter(|row| squares & **row != 0);
        i32::try_from(rows.count()).expect("there are eight")
    }
}
