//! What self-play has taught: how many discs it is worth that certain squares lie as they do (Buro,
//! "Experiments with Multi-ProbCut and a new high-quality evaluation function for Othello", 1997).
//!
//! Ten shapes, edges, corners, ranks and diagonals, lie on the board in 38 places. The squares of a place
//! are the digits of a number to the base of three, which is looked up; all that is found is added up. There
//! is a table for each stage of the game. Which weights a position has is told to the trainer,
//! `tests/train`, by [`Features`].

use std::sync::LazyLock;

use super::count;
use crate::game::othello::{Othello, playable_squares};

/// What the trainer has made: for each stage the weights of the terms in 64ths of a disc, two bytes each,
/// then those of the patterns in eighths of a disc, a byte each. What lies the same but for a reflection
/// has one weight.
///
/// Made in four rounds. The last one's seed was 4: 3,848,634 positions of 90,000 games (its own 50,000, and with `--add`
/// the 40,000 of the round before, which had seed 3), of which the first bytes of the sha256 are 19954aeaef9524be. One game
/// of twenty was held out: on those the weights err by 5.6 discs in the first stage, then by 6.7, 7.6, 8.4, 9.3, 9.3 and 6.7.
static LEARNT: &[u8] = include_bytes!("learnt.weights");

/// How many parts a game has.
const STAGES: usize = 7;

/// The first stage ends with so many discs, and each of the others with so many more.
const FIRST_STAGE: u32 = 18;
const STAGE: u32 = 7;

/// Beside patterns: one for an even number of free squares, one for an odd number, and on how many squares
/// either side can play.
const TERMS: usize = 4;

/// What a disc is worth.
pub(super) const DISC: i32 = 12;

/// How much of a value is a 64th of a disc.
const VALUE_OF_64TH: [i32; 2] = [3, 16];

/// A shape, as it lies in one place. The first square is the lowest digit.
struct Shape {
    squares: &'static [u8],
    places: Places,
    image: Image,
}

/// Where else a shape lies.
#[derive(Clone, Copy)]
enum Places {
    /// Along all four edges.
    Sides,
    /// In all four corners.
    Corners,
    /// On both long diagonals.
    Diagonals,
}

/// The reflection under which a shape lies where it did.
enum Image {
    /// The last square becomes the first.
    Backwards,
    /// Files become ranks in a square of three.
    Transposed,
}

impl Shape {
    const fn line(squares: &'static [u8], places: Places) -> Self {
        Self {
            squares,
            places,
            image: Image::Backwards,
        }
    }

    /// In how many ways its squares can lie.
    const fn ways(&self) -> usize {
        power_of_three(self.squares.len())
    }
}

const fn power_of_three(exponent: usize) -> usize {
    let (mut power, mut left) = (1, exponent);
    while left > 0 {
        power *= 3;
        left -= 1;
    }
    power
}

const SHAPES: [Shape; 10] = [
    // An edge, with the squares before both corners.
    Shape::line(&[9, 0, 1, 2, 3, 4, 5, 6, 7, 14], Places::Sides),
    Shape {
        squares: &[0, 1, 2, 8, 9, 10, 16, 17, 18],
        places: Places::Corners,
        image: Image::Transposed,
    },
    Shape::line(&[8, 9, 10, 11, 12, 13, 14, 15], Places::Sides),
    Shape::line(&[16, 17, 18, 19, 20, 21, 22, 23], Places::Sides),
    Shape::line(&[24, 25, 26, 27, 28, 29, 30, 31], Places::Sides),
    Shape::line(&[0, 9, 18, 27, 36, 45, 54, 63], Places::Diagonals),
    Shape::line(&[1, 10, 19, 28, 37, 46, 55], Places::Corners),
    Shape::line(&[2, 11, 20, 29, 38, 47], Places::Corners),
    Shape::line(&[3, 12, 21, 30, 39], Places::Corners),
    Shape::line(&[4, 13, 22, 31], Places::Corners),
];

/// How many places there are, and as many as fill vectors of eight.
const PLACES: usize = 38;
const ROOM: usize = 40;

/// In how many ways the squares of each shape can lie, all shapes together.
const WAYS: usize = {
    let (mut ways, mut shape) = (0, 0);
    while shape < SHAPES.len() {
        ways += SHAPES[shape].ways();
        shape += 1;
    }
    ways
};

/// As many, if images of each other count as one.
const WEIGHTS: usize = 54_828;

/// A square, reflected: bit 0 of `by` turns files around, bit 1 ranks, and bit 2 makes files of ranks.
const fn reflected(square: u8, by: u8) -> u8 {
    let (mut file, mut rank) = (square % 8, square / 8);
    if by & 1 != 0 {
        file = 7 - file;
    }
    if by & 2 != 0 {
        rank = 7 - rank;
    }
    if by & 4 != 0 {
        file * 8 + rank
    } else {
        rank * 8 + file
    }
}

/// How shapes are reflected into their places.
const fn reflections(places: Places) -> &'static [u8] {
    match places {
        Places::Sides => &[0, 2, 4, 6],
        Places::Corners => &[0, 1, 2, 3],
        Places::Diagonals => &[0, 1],
    }
}

/// For every place where the ways of its shape begin.
const FIRST_WAYS: [usize; PLACES] = {
    let mut firsts = [0; PLACES];
    let (mut first, mut place, mut number) = (0, 0, 0);
    while number < SHAPES.len() {
        let shape = &SHAPES[number];
        let mut left = reflections(shape.places).len();
        while left > 0 {
            firsts[place] = first;
            place += 1;
            left -= 1;
        }
        first += shape.ways();
        number += 1;
    }
    assert!(place == PLACES);
    firsts
};

/// What own discs on four squares beside each other add to the numbers of all places: by which four squares
/// they are, then by which of these are taken. Discs of the other side add twice as much.
static ADDED: [[[u16; ROOM]; 16]; 16] = {
    let mut added = [[[0; ROOM]; 16]; 16];
    let (mut place, mut number) = (0, 0);
    while number < SHAPES.len() {
        let (squares, by) = (SHAPES[number].squares, reflections(SHAPES[number].places));
        let mut way = 0;
        while way < by.len() {
            let (mut digit, mut worth) = (0, 1_u16);
            while digit < squares.len() {
                let square = reflected(squares[digit], by[way]) as usize;
                let mut taken = 0;
                while taken < 16 {
                    if taken >> (square % 4) & 1 != 0 {
                        added[square / 4][taken][place] += worth;
                    }
                    taken += 1;
                }
                // The last digit's successor is not needed, and may be too large.
                worth = worth.wrapping_mul(3);
                digit += 1;
            }
            place += 1;
            way += 1;
        }
        number += 1;
    }
    added
};

/// The numbers of all places.
#[inline]
fn numbers(own: u64, other: u64) -> [u16; ROOM] {
    let mut numbers = [0; ROOM];
    for (four, added) in ADDED.iter().enumerate() {
        let taken = |discs: u64| &added[(discs >> (4 * four) & 15) as usize];
        let (own, other) = (taken(own), taken(other));
        for place in 0..ROOM {
            numbers[place] += own[place] + 2 * other[place];
        }
    }
    numbers
}

/// The stage that a position with so many free squares is in.
#[inline]
fn stage_of(empties: u32) -> usize {
    let discs = 64 - empties;
    let stage = (discs + STAGE - 1).saturating_sub(FIRST_STAGE) / STAGE;
    (stage as usize).min(STAGES - 1)
}

/// What counts beside patterns.
#[inline]
fn terms(own: u64, other: u64, own_targets: u64) -> [i32; TERMS] {
    let odd = count(own | other) % 2;
    let moves = [own_targets, playable_squares(other, own)].map(count);
    [1 - odd, odd, moves[0], moves[1]]
}

/// The weights of a stage, as they are looked up.
struct Stage {
    terms: [i32; TERMS],
    ways: Box<[i8]>,
}

static STAGE_TABLES: LazyLock<Vec<Stage>> = LazyLock::new(|| {
    let folded = folded();
    let stages = LEARNT.chunks_exact(LEARNT.len() / STAGES);
    let read = |bytes: &[u8]| {
        let (terms, weights) = bytes.split_at(2 * TERMS);
        let mut of_terms = terms.as_chunks::<2>().0.iter();
        let weight = |number: &u16| weights[usize::from(*number)].cast_signed();
        Stage {
            terms: std::array::from_fn(|_| {
                let bytes = of_terms.next().expect("as many as there are terms");
                i16::from_le_bytes(*bytes).into()
            }),
            ways: folded.iter().map(weight).collect(),
        }
    };
    stages.map(read).collect()
});

/// For each way in which squares can lie the number of its weight.
fn folded() -> Vec<u16> {
    let mut folded = Vec::with_capacity(WAYS);
    let mut next = 0;
    for shape in &SHAPES {
        let first = folded.len();
        for way in 0..shape.ways() {
            let image = shape.image_of(way);
            if image < way {
                folded.push(folded[first + image]);
            } else {
                folded.push(next);
                next += 1;
            }
        }
    }
    folded
}

impl Shape {
    /// The way that another becomes in the mirror.
    fn image_of(&self, way: usize) -> usize {
        let count = self.squares.len();
        let mut rest = way;
        let mut image = 0;
        for digit in 0..count {
            let place = match self.image {
                Image::Backwards => count - 1 - digit,
                Image::Transposed => digit % 3 * 3 + digit / 3,
            };
            image += rest % 3 * power_of_three(place);
            rest /= 3;
        }
        image
    }
}

/// What the position is worth to the side to move, in twelfths of a disc.
#[inline]
pub(super) fn value(pos: &Othello) -> i32 {
    let [own, other] = pos.discs();
    let stage = &STAGE_TABLES[stage_of(pos.empties())];
    let numbers = numbers(own, other);
    let mut eighths = 0;
    for (first, number) in FIRST_WAYS.iter().zip(numbers) {
        eighths += i32::from(stage.ways[first + usize::from(number)]);
    }
    let terms = stage
        .terms
        .iter()
        .zip(terms(own, other, pos.playable_squares()));
    let more: i32 = terms.map(|(weight, term)| weight * term).sum();
    (8 * eighths + more) * VALUE_OF_64TH[0] / VALUE_OF_64TH[1]
}

/// What the value of a position is made of, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// The weights of the patterns by their numbers, each of which counts once; some more than once.
    pub patterns: [u16; PLACES],
    /// How often the weights of the terms count.
    pub terms: [i32; TERMS],
}

impl Features {
    /// How many stages a game has, each of which has weights of its own.
    pub const STAGES: usize = STAGES;

    /// How many weights of patterns a stage has.
    pub const WEIGHTS: usize = WEIGHTS;

    /// The stage that a position with so many free squares is in.
    #[must_use]
    pub fn stage(empties: u32) -> usize {
        stage_of(empties)
    }

    /// What the value of these discs is made of, the first those of the side to move.
    #[must_use]
    pub fn of([own, other]: [u64; 2]) -> Self {
        static FOLDED: LazyLock<Vec<u16>> = LazyLock::new(folded);
        let numbers = numbers(own, other);
        Self {
            patterns: std::array::from_fn(|place| {
                FOLDED[FIRST_WAYS[place] + usize::from(numbers[place])]
            }),
            terms: terms(own, other, playable_squares(own, other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::conformance::random_game;

    fn positions() -> impl Iterator<Item = Othello> {
        let games = (0..100).flat_map(|seed| random_game::<Othello>(seed).0);
        games.filter(|pos| pos.outcome().is_none())
    }

    #[test]
    fn the_file_has_a_byte_for_each_weight() {
        let folded = folded();
        assert_eq!(folded.len(), WAYS);
        assert_eq!(
            usize::from(*folded.iter().max().expect("many")) + 1,
            WEIGHTS
        );
        assert_eq!(LEARNT.len(), STAGES * (2 * TERMS + WEIGHTS));
        assert!(LEARNT.len() <= 400_000);
    }

    #[test]
    fn stages_follow_each_other() {
        let stages: Vec<_> = (0..=60).rev().map(stage_of).collect();
        assert!(stages.is_sorted());
        let ends = (0..60).filter(|number| stages[*number] != stages[number + 1]);
        let discs: Vec<_> = ends.map(|number| number + 4).collect();
        assert_eq!(discs, [18, 25, 32, 39, 46, 53]);
    }

    /// However the board is laid down, the value is the same: so no place is forgotten, nor counted twice.
    #[test]
    fn the_board_may_be_laid_down_in_any_way() {
        let laid = |discs: u64, by: u8| {
            let squares = (0..64_u8).filter(|square| discs >> square & 1 != 0);
            squares.fold(0, |all, square| all | 1 << reflected(square, by))
        };
        for pos in positions() {
            let features = Features::of(pos.discs());
            let mut patterns = features.patterns;
            patterns.sort_unstable();
            for by in 1..8 {
                let mut others = Features::of(pos.discs().map(|discs| laid(discs, by))).patterns;
                others.sort_unstable();
                assert_eq!(others, patterns, "{pos}, {by}");
            }
        }
    }

    /// What is looked up fast is what the trainer is told that the value is made of.
    #[test]
    fn the_value_is_that_of_its_features() {
        let of_stage = LEARNT.len() / STAGES;
        for pos in positions() {
            let features = Features::of(pos.discs());
            let (terms, weights) =
                LEARNT[Features::stage(pos.empties()) * of_stage..].split_at(2 * TERMS);
            let patterns = features.patterns.iter();
            let eighths = patterns.map(|number| weights[usize::from(*number)].cast_signed());
            let mut sum = 8 * eighths.map(i32::from).sum::<i32>();
            for (bytes, term) in terms.as_chunks().0.iter().zip(features.terms) {
                sum += i32::from(i16::from_le_bytes(*bytes)) * term;
            }
            assert_eq!(value(&pos), sum * 3 / 16, "{pos}");
        }
    }

    /// Each square counts, for either side.
    #[test]
    fn every_square_is_in_a_pattern() {
        for square in 0..64 {
            let [none, own, other] = [[0, 0], [1 << square, 0], [0, 1 << square]]
                .map(|[own, other]| numbers(own, other));
            assert!(none != own && own != other && none != other, "{square}");
        }
    }
}
