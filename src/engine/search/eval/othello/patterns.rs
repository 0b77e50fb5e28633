//! Trained evaluation: predicts the disc margin from patterns of squares (Buro, "Experiments with
//! Multi-ProbCut and a new high-quality evaluation function for Othello", 1997).
//!
//! Ten pattern shapes of edges, corners, ranks and diagonals have 38 placements on the board. The
//! contents of a placement's squares are the digits of a ternary number, which is the index of a
//! weight. The evaluation is the sum of the weights. Each stage of the game has its own weights.
//! The trainer, `tests/train`, gets the weights of a position from [`Features`].

use std::sync::LazyLock;

use super::count_squares;
use crate::game::othello::{Othello, playable_squares};

/// Weights file written by the trainer. For each stage, the file holds the weights of the terms in
/// 64ths of a disc, two bytes each. The weights of the patterns follow in eighths of a disc, one
/// byte each. Two states of a pattern share a weight if they are reflections of each other.
///
/// The weights were trained in four rounds. The last round used seed 4 and 3,848,634 positions of
/// 90,000 games. Of these games, 50,000 were new. The other 40,000 games came from the previous
/// round (seed 3), added with the trainer's `--add` option. The SHA-256 hash of the positions
/// begins with 19954aeaef9524be. One game in twenty was held out from training. On the held-out
/// games, the RMS errors of the seven stages are 5.6, 6.7, 7.6, 8.4, 9.3, 9.3 and 6.7 discs.
static TRAINED_WEIGHTS: &[u8] = include_bytes!("learnt.weights");

/// Number of game stages.
const STAGE_COUNT: usize = 7;

/// Number of discs at the end of the first stage. Each later stage lasts for `STAGE_DISCS` discs,
/// except the last stage, which lasts until the end of the game.
const FIRST_STAGE_DISCS: u32 = 18;
const STAGE_DISCS: u32 = 7;

/// Number of linear terms that are added to the pattern weights. Two terms indicate whether the
/// number of empty squares is even or odd, and two hold the mobility of each side.
const TERM_COUNT: usize = 4;

/// Value of a disc.
pub(super) const DISC_VALUE: i32 = 12;

/// Factor that converts 64ths of a disc to units of the evaluation, as numerator and denominator.
const VALUE_PER_64TH_OF_DISC: [i32; 2] = [3, 16];

/// Pattern shape, given by the squares of one of its placements on the board. The first square is
/// the lowest digit of the state index.
struct PatternShape {
    squares: &'static [u8],
    placement: Placement,
    reflection: Reflection,
}

/// Places on the board where a shape is applied.
#[derive(Clone, Copy)]
enum Placement {
    /// The shape is placed along each of the four sides of the board.
    Sides,
    /// The shape is placed once in each of the four corners.
    Corners,
    /// The shape is placed once for each of the two long diagonals.
    Diagonals,
}

/// Reflection that maps a shape onto itself.
enum Reflection {
    /// Reverses the order of the squares.
    Backwards,
    /// Transposes a block of three by three squares.
    Transposed,
}

impl PatternShape {
    const fn symmetric_line(squares: &'static [u8], placement: Placement) -> Self {
        Self {
            squares,
            placement,
            reflection: Reflection::Backwards,
        }
    }

    /// Returns the number of states that the squares of the shape can have.
    const fn state_count(&self) -> usize {
        power_of_three(self.squares.len())
    }
}

const fn power_of_three(exponent: usize) -> usize {
    let (mut power, mut remaining) = (1, exponent);
    while remaining > 0 {
        power *= 3;
        remaining -= 1;
    }
    power
}

const SHAPES: [PatternShape; 10] = [
    // An edge, with the squares diagonally adjacent to its corners.
    PatternShape::symmetric_line(&[9, 0, 1, 2, 3, 4, 5, 6, 7, 14], Placement::Sides),
    PatternShape {
        squares: &[0, 1, 2, 8, 9, 10, 16, 17, 18],
        placement: Placement::Corners,
        reflection: Reflection::Transposed,
    },
    PatternShape::symmetric_line(&[8, 9, 10, 11, 12, 13, 14, 15], Placement::Sides),
    PatternShape::symmetric_line(&[16, 17, 18, 19, 20, 21, 22, 23], Placement::Sides),
    PatternShape::symmetric_line(&[24, 25, 26, 27, 28, 29, 30, 31], Placement::Sides),
    PatternShape::symmetric_line(&[0, 9, 18, 27, 36, 45, 54, 63], Placement::Diagonals),
    PatternShape::symmetric_line(&[1, 10, 19, 28, 37, 46, 55], Placement::Corners),
    PatternShape::symmetric_line(&[2, 11, 20, 29, 38, 47], Placement::Corners),
    PatternShape::symmetric_line(&[3, 12, 21, 30, 39], Placement::Corners),
    PatternShape::symmetric_line(&[4, 13, 22, 31], Placement::Corners),
];

/// Number of pattern placements. `PATTERN_COUNT_PADDED` is this number rounded up to fill SIMD
/// vectors of eight lanes.
const PATTERN_COUNT: usize = 38;
const PATTERN_COUNT_PADDED: usize = 40;

/// Total number of states of all shapes.
const PATTERN_STATES: usize = {
    let (mut states, mut shape) = (0, 0);
    while shape < SHAPES.len() {
        states += SHAPES[shape].state_count();
        shape += 1;
    }
    states
};

/// Number of pattern weights in a stage. States that are reflections of each other share a weight.
const PATTERN_WEIGHT_COUNT: usize = 54_828;

/// Reflects a square. Bit 0 of `reflection` reverses the files, bit 1 reverses the ranks, and bit 2
/// then exchanges files and ranks.
const fn reflect_square(square: u8, reflection: u8) -> u8 {
    let (mut file, mut rank) = (square % 8, square / 8);
    if reflection & 1 != 0 {
        file = 7 - file;
    }
    if reflection & 2 != 0 {
        rank = 7 - rank;
    }
    if reflection & 4 != 0 {
        file * 8 + rank
    } else {
        rank * 8 + file
    }
}

/// Returns the reflections that produce the placements of a shape.
const fn reflections(placement: Placement) -> &'static [u8] {
    match placement {
        Placement::Sides => &[0, 2, 4, 6],
        Placement::Corners => &[0, 1, 2, 3],
        Placement::Diagonals => &[0, 1],
    }
}

/// Index of the first state of each placement's shape.
const FIRST_STATES: [usize; PATTERN_COUNT] = {
    let mut firsts = [0; PATTERN_COUNT];
    let (mut first, mut place, mut number) = (0, 0, 0);
    while number < SHAPES.len() {
        let shape = &SHAPES[number];
        let mut remaining = reflections(shape.placement).len();
        while remaining > 0 {
            firsts[place] = first;
            place += 1;
            remaining -= 1;
        }
        first += shape.state_count();
        number += 1;
    }
    assert!(place == PATTERN_COUNT);
    firsts
};

/// Contribution of own discs on four adjacent squares to the state index of every pattern
/// placement. The table is indexed by the group of four squares, then by the set of occupied
/// squares. Opposing discs contribute twice as much.
static INDEX_CONTRIBUTIONS: [[[u16; PATTERN_COUNT_PADDED]; 16]; 16] = {
    let mut added = [[[0; PATTERN_COUNT_PADDED]; 16]; 16];
    let (mut place, mut number) = (0, 0);
    while number < SHAPES.len() {
        let (squares, square_reflections) = (
            SHAPES[number].squares,
            reflections(SHAPES[number].placement),
        );
        let mut orientation = 0;
        while orientation < square_reflections.len() {
            let (mut digit, mut digit_weight) = (0, 1_u16);
            while digit < squares.len() {
                let square =
                    reflect_square(squares[digit], square_reflections[orientation]) as usize;
                let mut occupied = 0;
                while occupied < 16 {
                    if occupied >> (square % 4) & 1 != 0 {
                        added[square / 4][occupied][place] += digit_weight;
                    }
                    occupied += 1;
                }
                // The product after the last digit is never used, so it may overflow.
                digit_weight = digit_weight.wrapping_mul(3);
                digit += 1;
            }
            place += 1;
            orientation += 1;
        }
        number += 1;
    }
    added
};

/// Returns the state index of each pattern placement.
#[inline]
fn pattern_indices(own: u64, other: u64) -> [u16; PATTERN_COUNT_PADDED] {
    let mut indices = [0; PATTERN_COUNT_PADDED];
    for (four, added) in INDEX_CONTRIBUTIONS.iter().enumerate() {
        let contributions = |discs: u64| &added[(discs >> (4 * four) & 15) as usize];
        let (own, other) = (contributions(own), contributions(other));
        for place in 0..PATTERN_COUNT_PADDED {
            indices[place] += own[place] + 2 * other[place];
        }
    }
    indices
}

/// Returns the stage of a position with this number of empty squares.
#[inline]
fn stage_for_empties(empties: u32) -> usize {
    let discs = 64 - empties;
    let stage = (discs + STAGE_DISCS - 1).saturating_sub(FIRST_STAGE_DISCS) / STAGE_DISCS;
    (stage as usize).min(STAGE_COUNT - 1)
}

/// Returns the linear terms of the evaluation. `own_targets` holds the squares where the side to
/// move can play.
#[inline]
fn linear_terms(own: u64, other: u64, own_targets: u64) -> [i32; TERM_COUNT] {
    let odd = count_squares(own | other) % 2;
    let moves = [own_targets, playable_squares(other, own)].map(count_squares);
    [1 - odd, odd, moves[0], moves[1]]
}

/// Weights of a game stage, expanded so that a pattern state is the index of its weight.
struct StageWeights {
    terms: [i32; TERM_COUNT],
    patterns: Box<[i8]>,
}

static STAGE_TABLES: LazyLock<Vec<StageWeights>> = LazyLock::new(|| {
    let indices = weight_indices();
    let stages = TRAINED_WEIGHTS.chunks_exact(TRAINED_WEIGHTS.len() / STAGE_COUNT);
    let parse_stage = |bytes: &[u8]| {
        let (terms, weights) = bytes.split_at(2 * TERM_COUNT);
        let mut term_bytes = terms.as_chunks::<2>().0.iter();
        let weight = |number: &u16| weights[usize::from(*number)].cast_signed();
        StageWeights {
            terms: std::array::from_fn(|_| {
                let bytes = term_bytes.next().expect("the weights file is complete");
                i16::from_le_bytes(*bytes).into()
            }),
            patterns: indices.iter().map(weight).collect(),
        }
    };
    stages.map(parse_stage).collect()
});

/// Returns, for each pattern state, the index of its weight.
fn weight_indices() -> Vec<u16> {
    let mut indices = Vec::with_capacity(PATTERN_STATES);
    let mut next = 0;
    for shape in &SHAPES {
        let first = indices.len();
        for state in 0..shape.state_count() {
            let mirrored = shape.mirrored_state(state);
            if mirrored < state {
                indices.push(indices[first + mirrored]);
            } else {
                indices.push(next);
                next += 1;
            }
        }
    }
    indices
}

impl PatternShape {
    /// Returns the state of the reflected pattern.
    fn mirrored_state(&self, state: usize) -> usize {
        let count = self.squares.len();
        let mut remaining = state;
        let mut mirrored = 0;
        for digit in 0..count {
            let target_digit = match self.reflection {
                Reflection::Backwards => count - 1 - digit,
                Reflection::Transposed => digit % 3 * 3 + digit / 3,
            };
            mirrored += remaining % 3 * power_of_three(target_digit);
            remaining /= 3;
        }
        mirrored
    }
}

/// Returns the value for the side to move, in twelfths of a disc.
#[inline]
pub(super) fn evaluate(pos: &Othello) -> i32 {
    let [own, other] = pos.discs();
    let stage = &STAGE_TABLES[stage_for_empties(pos.empties())];
    let numbers = pattern_indices(own, other);
    let mut eighths = 0;
    for (first, number) in FIRST_STATES.iter().zip(numbers) {
        eighths += i32::from(stage.patterns[first + usize::from(number)]);
    }
    let terms = stage
        .terms
        .iter()
        .zip(linear_terms(own, other, pos.playable_squares()));
    let term_sum: i32 = terms.map(|(weight, term)| weight * term).sum();
    (8 * eighths + term_sum) * VALUE_PER_64TH_OF_DISC[0] / VALUE_PER_64TH_OF_DISC[1]
}

/// Features of a position, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Indices of the pattern weights. If an index occurs several times, its weight counts several
    /// times.
    pub patterns: [u16; PATTERN_COUNT],
    /// Values of the terms, which are multiplied by the term weights.
    pub terms: [i32; TERM_COUNT],
}

impl Features {
    /// Number of game stages, each with its own weights.
    pub const STAGE_COUNT: usize = STAGE_COUNT;

    /// Number of pattern weights in a stage.
    pub const PATTERN_WEIGHT_COUNT: usize = PATTERN_WEIGHT_COUNT;

    /// Returns the stage of a position with this number of empty squares, at most 64.
    #[must_use]
    pub fn stage_for_empties(empties: u32) -> usize {
        stage_for_empties(empties)
    }

    /// Returns the features of a position. The first bitboard holds the discs of the side to move.
    #[must_use]
    pub fn from_discs([own, other]: [u64; 2]) -> Self {
        static FOLDED: LazyLock<Vec<u16>> = LazyLock::new(weight_indices);
        let numbers = pattern_indices(own, other);
        Self {
            patterns: std::array::from_fn(|place| {
                FOLDED[FIRST_STATES[place] + usize::from(numbers[place])]
            }),
            terms: linear_terms(own, other, playable_squares(own, other)),
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
    fn weights_file_has_one_byte_for_each_pattern_weight() {
        let indices = weight_indices();
        assert_eq!(indices.len(), PATTERN_STATES);
        assert_eq!(
            usize::from(*indices.iter().max().expect("the list is not empty")) + 1,
            PATTERN_WEIGHT_COUNT
        );
        assert_eq!(
            TRAINED_WEIGHTS.len(),
            STAGE_COUNT * (2 * TERM_COUNT + PATTERN_WEIGHT_COUNT)
        );
        assert!(TRAINED_WEIGHTS.len() <= 400_000);
    }

    #[test]
    fn stages_change_at_the_expected_disc_counts() {
        let stages: Vec<_> = (0..=60).rev().map(stage_for_empties).collect();
        assert!(stages.is_sorted());
        let ends = (0..60).filter(|number| stages[*number] != stages[number + 1]);
        let discs: Vec<_> = ends.map(|number| number + 4).collect();
        assert_eq!(discs, [18, 25, 32, 39, 46, 53]);
    }

    /// All reflections of a position have the same features. The test thus proves that no placement
    /// is missing or counted twice.
    #[test]
    fn features_are_the_same_under_all_reflections() {
        let reflect = |discs: u64, by: u8| {
            let squares = (0..64_u8).filter(|square| discs >> square & 1 != 0);
            squares.fold(0, |all, square| all | 1 << reflect_square(square, by))
        };
        for pos in positions() {
            let features = Features::from_discs(pos.discs());
            let mut patterns = features.patterns;
            patterns.sort_unstable();
            for by in 1..8 {
                let mut others =
                    Features::from_discs(pos.discs().map(|discs| reflect(discs, by))).patterns;
                others.sort_unstable();
                assert_eq!(others, patterns, "{pos}, {by}");
            }
        }
    }

    #[test]
    fn evaluation_equals_the_weighted_sum_of_its_features() {
        let stage_bytes = TRAINED_WEIGHTS.len() / STAGE_COUNT;
        for pos in positions() {
            let features = Features::from_discs(pos.discs());
            let (terms, weights) = TRAINED_WEIGHTS
                [Features::stage_for_empties(pos.empties()) * stage_bytes..]
                .split_at(2 * TERM_COUNT);
            let patterns = features.patterns.iter();
            let eighths = patterns.map(|number| weights[usize::from(*number)].cast_signed());
            let mut sum = 8 * eighths.map(i32::from).sum::<i32>();
            for (bytes, term) in terms.as_chunks().0.iter().zip(features.terms) {
                sum += i32::from(i16::from_le_bytes(*bytes)) * term;
            }
            assert_eq!(evaluate(&pos), sum * 3 / 16, "{pos}");
        }
    }

    #[test]
    fn every_square_is_in_a_pattern() {
        for square in 0..64 {
            let [none, own, other] = [[0, 0], [1 << square, 0], [0, 1 << square]]
                .map(|[own, other]| pattern_indices(own, other));
            assert!(none != own && own != other && none != other, "{square}");
        }
    }
}
