//! Trained evaluation of positions where neither side has a forced move.
//!
//! [`line_windows::count_features`] counts the features of each side. The square roots of the
//! counts are the inputs of a hidden layer of sixteen units. The hidden layer lets the value of a
//! feature depend on other features. For example, making another two adds little for a side without
//! other threats, and much for a side with threes. The trainer is `tests/train`.

use super::line_windows;
use super::{Bitboard, QUIET_BOUNDS};
use crate::game::Position;
use crate::game::gomoku::Gomoku;
use crate::search::Evaluate;

/// Features of a position: the features of the side to move, followed by the features of the
/// opponent.
#[derive(Clone, Copy, Debug)]
pub struct Features(pub [u32; Self::INPUTS]);

impl Features {
    /// Number of features.
    pub const INPUTS: usize = 2 * line_windows::FEATURE_COUNT;

    /// Number of units in the hidden layer.
    pub const HIDDEN: usize = 16;

    /// Factor that converts the logarithm of the odds of winning to an evaluation.
    pub const SCALE: f32 = 34.0;

    /// Returns the features of a position for training. Returns `None` if the game is over, if the
    /// side to move must block five in a row, or if the static bounds show a win or loss.
    #[must_use]
    pub fn from_quiet_position(pos: &Gomoku) -> Option<Self> {
        let is_quiet = !pos.is_forced() && pos.static_bounds() == QUIET_BOUNDS;
        let [own, other] = pos.stones();
        (pos.outcome().is_none() && is_quiet).then(|| Self::from_stones(own, other))
    }

    fn from_stones(own: Bitboard, other: Bitboard) -> Self {
        let free = Bitboard::ALL & !(own | other);
        let sides = [
            line_windows::count_features(own, free),
            line_windows::count_features(other, free),
        ];
        let mut all = [0; Self::INPUTS];
        all.copy_from_slice(sides.as_flattened());
        Self(all)
    }
}

/// Weights in the order of the weights file, four bytes each.
struct Weights {
    hidden_biases: [f32; Features::HIDDEN],
    input_weights: [[f32; Features::HIDDEN]; Features::INPUTS],
    output_weights: [f32; Features::HIDDEN],
    output_bias: f32,
}

const BYTES: usize = size_of::<Weights>();

/// Weights file written by the trainer in 80 epochs with seed 1, from 44,122 positions of 2,474
/// games. The games begin with eight random plies. A handcrafted evaluation played 1,635 games with
/// 1,500 and 2,500 nodes per move. An evaluation trained on these games played 839 games with 3,000
/// and 4,500 nodes per move. The SHA-256 hash of the positions begins with 378631dc01bb4503. The
/// cross entropy on 2,126 held-out positions is 0.359.
static WEIGHTS: Weights = parse_weights(include_bytes!("learnt.weights"));

const fn parse_weights(bytes: &[u8; BYTES]) -> Weights {
    const ROW: usize = Features::HIDDEN * size_of::<f32>();

    const fn read_f32(bytes: &[u8; BYTES], at: usize) -> f32 {
        f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    const fn read_row(bytes: &[u8; BYTES], index: usize) -> [f32; Features::HIDDEN] {
        let mut row = [0.0; Features::HIDDEN];
        let mut unit = 0;
        while unit < row.len() {
            row[unit] = read_f32(bytes, index * ROW + unit * size_of::<f32>());
            unit += 1;
        }
        row
    }

    let mut input_weights = [[0.0; Features::HIDDEN]; Features::INPUTS];
    let mut input = 0;
    while input < Features::INPUTS {
        input_weights[input] = read_row(bytes, 1 + input);
        input += 1;
    }
    Weights {
        hidden_biases: read_row(bytes, 0),
        input_weights,
        output_weights: read_row(bytes, 1 + Features::INPUTS),
        output_bias: read_f32(bytes, (2 + Features::INPUTS) * ROW),
    }
}

/// Value of a position where the side to move can complete five in a row or make an open four.
/// Trained values are clamped to plus or minus `WON_VALUE`, because no training position had such a
/// threat.
pub(super) const WON_VALUE: i32 = 500;

/// Returns the value for the side to move, whose stones are `own`. The value is reliable only if
/// the opponent does not threaten to complete five in a row.
pub(super) fn evaluate(own: Bitboard, other: Bitboard) -> i32 {
    let Features(numbers) = Features::from_stones(own, other);
    let [_, _, three_or_more, _, _, open_threes, ..] = numbers;
    let free = Bitboard::ALL & !(own | other);
    if open_threes > 0 || three_or_more > 0 && !line_windows::fives(own, free).is_empty() {
        return WON_VALUE;
    }
    let mut units = WEIGHTS.hidden_biases;
    for (number, weights) in numbers.into_iter().zip(&WEIGHTS.input_weights) {
        let root = (number.cast_signed() as f32).sqrt();
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += root * weight;
        }
    }
    let weighted_units = units.iter().zip(&WEIGHTS.output_weights);
    let odds = weighted_units.fold(WEIGHTS.output_bias, |sum, (unit, weight)| {
        sum + unit.max(0.0) * weight
    });
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let value = (odds * Features::SCALE) as i32;
    value.clamp(-WON_VALUE, WON_VALUE)
}
