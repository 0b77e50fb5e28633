//! Neural network that corrects the errors of the handcrafted evaluation. The network was trained
//! on self-play games. It has one small hidden layer that is updated incrementally, which makes it
//! fast. This design is known as NNUE (Nasu, "Efficiently updatable neural-network-based evaluation
//! functions for computer shogi", 2018).
//!
//! The hidden layer consists of two halves, one for each side. Each half is called an accumulator.
//! Each input of an accumulator represents a piece on a square, from the point of view of the
//! accumulator's side. The board is flipped so that the side's pawns move up the board. The board
//! is mirrored so that the side's own king is on files a to d. Each active input adds a row of
//! weights to the accumulator.
//!
//! The output layer clamps the accumulator values to the range from 0 to 1 and squares them. The
//! output of the network is the weighted sum of the squared values. The side to move and its
//! opponent have different output weights. The output weights also depend on the number of pieces
//! on the board, which is divided into ranges called buckets. The output corrects the logarithm of
//! the odds of winning that the handcrafted evaluation predicts. The trainer, `tests/train`, gets
//! the active inputs of a position from [`Features`].
//!
//! Few pieces change between successive positions. Each thread therefore caches the last
//! accumulator of each side, together with the pieces that it was computed from. Mirrored and
//! unmirrored accumulators are cached separately. An update adds the weight rows of new pieces and
//! subtracts the rows of removed pieces.

use std::array;
use std::cell::RefCell;
use std::sync::LazyLock;

use cozy_chess::{Board, Color, File, Piece};
use wide::{i16x8, i32x4};

use crate::game::chess::Chess;

/// Weights file written by the trainer, as little-endian 16-bit integers. The file begins with the
/// weights of the hidden layer, one row for each input, and the biases of the hidden layer. The
/// file continues with the output weights: for each bucket, one set for the side to move and one
/// for its opponent. The file ends with the output biases.
///
/// The network was trained on 29,051,474 positions (25,785,158 distinct ones) in 6 epochs (seed 1).
/// The positions come from self-play games with 150 nodes per move. Three evaluations played the
/// games, with 7 to 11 million positions each. The handcrafted evaluation played the first set of
/// games (seeds 9 to 12). A network trained on the first set played the second set (seeds 13 to
/// 16). A network trained on both sets played the third set (seeds 21 and 22). The SHA-256 hash of
/// the positions begins with 7a591ebc2fb7559d. One game in twenty was held out from training. On
/// the held-out games, the RMS error of the predicted chance of winning is 0.0933, compared with
/// 0.1091 for the handcrafted evaluation alone.
static TRAINED_WEIGHTS: &[u8; BYTES] = include_bytes!("learnt.weights");

const BYTES: usize = 2 * (INPUTS * HIDDEN + HIDDEN + BUCKETS * 2 * HIDDEN + BUCKETS);

/// Number of inputs: one for each combination of own or opposing piece, piece kind and square.
const INPUTS: usize = PIECE_SETS * SQUARES;
const PIECE_SETS: usize = 2 * Piece::NUM;
const SQUARES: usize = 64;

/// Maximum number of pieces on the board.
const PIECES_MAX: usize = 32;

/// Number of hidden values for each side.
const HIDDEN: usize = 96;

/// Number of output buckets. Each bucket covers a range of `PIECES_PER_BUCKET` piece counts.
const BUCKETS: usize = 8;
const PIECES_PER_BUCKET: u32 = 4;

/// Integer that represents 1.0 in the hidden layer. `OUTPUT_ONE` represents 1.0 in the output
/// weights.
const HIDDEN_ONE: i16 = 255;
const OUTPUT_ONE: i32 = 64;

/// Score that corresponds to one unit of the natural logarithm of the odds of winning. The value
/// was fitted to the training games.
const SCORE_PER_LOG_ODDS: i32 = 212;

/// Number of lanes in a SIMD vector. The hidden values of one side fill `VECTORS` SIMD vectors.
const LANES: usize = 8;
const VECTORS: usize = HIDDEN / LANES;

type WeightRow = [i16x8; VECTORS];

struct Network {
    rows: Vec<WeightRow>,
    hidden_bias: WeightRow,
    output_weights: [[WeightRow; 2]; BUCKETS],
    output_bias: [i32; BUCKETS],
}

static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    let mut numbers = TRAINED_WEIGHTS.as_chunks().0.iter();
    let mut number = || i16::from_le_bytes(*numbers.next().expect("the weights file is complete"));
    let mut row = || array::from_fn(|_| i16x8::new(array::from_fn(|_| number())));
    let rows = (0..INPUTS).map(|_| row()).collect();
    let begin = row();
    let output = array::from_fn(|_| array::from_fn(|_| row()));
    let output_begin = array::from_fn(|_| i32::from(number()));
    Network {
        rows,
        hidden_bias: begin,
        output_weights: output,
        output_bias: output_begin,
    }
});

thread_local! {
    /// Cached accumulators. The outer array is indexed by side. The inner array is indexed by
    /// whether that side's king is on files e to h.
    static ACCUMULATORS: RefCell<[[Accumulator; 2]; Color::NUM]> = RefCell::new(Default::default());
}

/// Hidden values of one side, and the pieces that the values were computed from. `pieces` holds
/// White's bitboards ordered by piece kind, then Black's bitboards.
struct Accumulator {
    pieces: [u64; PIECE_SETS],
    values: WeightRow,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self {
            pieces: [0; PIECE_SETS],
            values: NETWORK.hidden_bias,
        }
    }
}

/// Returns the correction to the handcrafted value, from the view of the side to move.
pub(super) fn evaluate(board: &Board) -> i32 {
    let turn = board.side_to_move();
    let pieces = piece_bitboards(board);
    let bucket = bucket_of(board.occupied().len());
    let bucket_weights = &NETWORK.output_weights[bucket];
    let sum = ACCUMULATORS.with_borrow_mut(|sums| {
        let mut sum = i32x4::ZERO;
        for (side, weights) in [turn, !turn].into_iter().zip(bucket_weights) {
            let is_mirrored = board.king(side).file() > File::D;
            let sums = &mut sums[side as usize][usize::from(is_mirrored)];
            sums.update(&pieces, side, is_mirrored);
            sum += weighted_sum(&sums.values, weights);
        }
        sum.to_array().iter().sum::<i32>()
    });
    let sum = sum / i32::from(HIDDEN_ONE) + NETWORK.output_bias[bucket];
    sum * SCORE_PER_LOG_ODDS / (i32::from(HIDDEN_ONE) * OUTPUT_ONE)
}

/// Returns White's bitboards ordered by piece kind, then Black's bitboards.
#[inline]
fn piece_bitboards(board: &Board) -> [u64; PIECE_SETS] {
    array::from_fn(|piece_set| {
        let color = Color::ALL[piece_set / Piece::NUM];
        (board.colors(color) & board.pieces(Piece::ALL[piece_set % Piece::NUM])).0
    })
}

#[inline]
fn bucket_of(pieces: u32) -> usize {
    ((pieces - 2) / PIECES_PER_BUCKET) as usize
}

impl Accumulator {
    /// Updates the hidden values to match the given pieces.
    #[inline]
    fn update(&mut self, pieces: &[u64; PIECE_SETS], side: Color, is_mirrored: bool) {
        let square_flip =
            if side == Color::White { 0 } else { 56 } ^ if is_mirrored { 7 } else { 0 };
        let own = if side == Color::White { 0 } else { Piece::NUM };
        let (mut added, mut removed) = (ActiveRows::new(), ActiveRows::new());
        for (piece_set, (now, before)) in pieces.iter().zip(&mut self.pieces).enumerate() {
            let changed = *now ^ *before;
            if changed == 0 {
                continue;
            }
            let row =
                |field: usize| (piece_set + own) % PIECE_SETS * SQUARES + (field ^ square_flip);
            for_each_square(*now & changed, |field| added.push(row(field)));
            for_each_square(*before & changed, |field| removed.push(row(field)));
            *before = *now;
        }
        let rows = &NETWORK.rows;
        let mut sums = self.values;
        for row in added.as_slice() {
            for (sum, weight) in sums.iter_mut().zip(rows[usize::from(*row)]) {
                *sum += weight;
            }
        }
        for row in removed.as_slice() {
            for (sum, weight) in sums.iter_mut().zip(rows[usize::from(*row)]) {
                *sum -= weight;
            }
        }
        self.values = sums;
    }
}

/// List of input rows. It holds at most one row for each of the 32 pieces.
#[derive(Clone, Copy, Debug)]
struct ActiveRows {
    rows: [u16; PIECES_MAX],
    len: usize,
}

impl ActiveRows {
    const fn new() -> Self {
        Self {
            rows: [0; PIECES_MAX],
            len: 0,
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are 768 rows")]
    const fn push(&mut self, row: usize) {
        self.rows[self.len] = row as u16;
        self.len += 1;
    }

    fn as_slice(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

#[inline]
fn for_each_square(mut squares: u64, mut visit: impl FnMut(usize)) {
    while squares != 0 {
        visit(squares.trailing_zeros() as usize);
        squares &= squares - 1;
    }
}

/// Clamps and squares the hidden values and multiplies them by their output weights. Returns the
/// result as four partial sums.
#[inline]
fn weighted_sum(sums: &WeightRow, weights: &WeightRow) -> i32x4 {
    let (zero, one) = (i16x8::ZERO, i16x8::splat(HIDDEN_ONE));
    let mut sum_of_products = i32x4::ZERO;
    for (sum, weight) in sums.iter().zip(weights) {
        let clamped = sum.max(zero).min(one);
        // Each hidden value (at most 255) is first multiplied by its weight (at most 127), because
        // the product fits into 16 bits. The square of a hidden value would not fit into 16 bits.
        sum_of_products += (clamped * *weight).dot(clamped);
    }
    sum_of_products
}

/// Active inputs of a position for both sides, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    rows: [ActiveRows; 2],
    /// Index of the output weights that apply to the position.
    pub output_bucket: usize,
}

impl Features {
    /// Number of inputs, each with a row of weights.
    pub const INPUTS: usize = INPUTS;

    /// Number of hidden values for each side.
    pub const HIDDEN: usize = HIDDEN;

    /// Number of output buckets, each with its own weights.
    pub const BUCKETS: usize = BUCKETS;

    /// Integers that represent 1.0: the first in the weights of the hidden layer, the second in the
    /// output weights.
    pub const QUANTIZATION_UNITS: [i32; 2] = [HIDDEN_ONE as i32, OUTPUT_ONE];

    /// Maximum absolute value of a weight. Products of hidden values and output weights must fit
    /// into 16 bits.
    pub const WEIGHT_MAX: f32 = 127.0 / OUTPUT_ONE as f32;

    /// Returns the features of a position, given its bitboards relative to the side to move. See
    /// `Chess::relative_bitboards`.
    #[must_use]
    pub fn from_relative_bitboards(bitboards: &[u64; PIECE_SETS]) -> Self {
        let mut lists = [ActiveRows::new(), ActiveRows::new()];
        for (list, own) in lists.iter_mut().zip([0, Piece::NUM]) {
            let king = bitboards[own + Piece::King as usize].trailing_zeros() as usize;
            let is_mirrored = king % 8 > File::D as usize;
            let square_flip = if own == 0 { 0 } else { 56 } ^ if is_mirrored { 7 } else { 0 };
            for (piece_set, fields) in bitboards.iter().enumerate() {
                for_each_square(*fields, |field| {
                    list.push((piece_set + own) % PIECE_SETS * SQUARES + (field ^ square_flip));
                });
            }
        }
        let pieces = bitboards.iter().map(|fields| fields.count_ones()).sum();
        Self {
            rows: lists,
            output_bucket: bucket_of(pieces),
        }
    }

    /// Returns the handcrafted value of the position for the side to move.
    #[must_use]
    pub fn handcrafted_value(pos: &Chess) -> i32 {
        super::handcrafted_value(pos.board())
    }

    /// Returns the active rows of the side to move, followed by the opponent's active rows.
    #[must_use]
    pub fn rows(&self) -> [&[u16]; 2] {
        self.rows.each_ref().map(ActiveRows::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::chess::Chess;
    use crate::game::conformance::random_game;

    /// Computes the output of the network from the features with scalar code.
    fn value_by_features(pos: &Chess) -> i32 {
        let features = Features::from_relative_bitboards(&pos.relative_bitboards());
        let mut sum = 0;
        for (rows, weights) in features
            .rows()
            .into_iter()
            .zip(&NETWORK.output_weights[features.output_bucket])
        {
            let mut sums = bytemuck::cast::<WeightRow, [i16; HIDDEN]>(NETWORK.hidden_bias);
            for row in rows {
                let row: [i16; HIDDEN] = bytemuck::cast(NETWORK.rows[usize::from(*row)]);
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum += weight;
                }
            }
            let weights: [i16; HIDDEN] = bytemuck::cast(*weights);
            for (activation, weight) in sums.into_iter().zip(weights) {
                let clamped = i32::from(activation.clamp(0, HIDDEN_ONE));
                sum += clamped * clamped * i32::from(weight);
            }
        }
        let sum = sum / i32::from(HIDDEN_ONE) + NETWORK.output_bias[features.output_bucket];
        sum * SCORE_PER_LOG_ODDS / (i32::from(HIDDEN_ONE) * OUTPUT_ONE)
    }

    /// The test evaluates positions in game order, and then every seventh position in reverse
    /// order. The cached accumulators are thus updated from various earlier positions.
    #[test]
    fn incremental_accumulators_match_a_full_evaluation() {
        for seed in 0..30 {
            let positions = random_game::<Chess>(seed).0;
            let forward = positions.iter();
            for pos in forward.clone().chain(forward.step_by(7).rev()) {
                assert_eq!(evaluate(pos.board()), value_by_features(pos), "{pos}");
            }
        }
    }

    #[test]
    fn mirrored_position_has_the_same_value() {
        for seed in 0..10 {
            for pos in random_game::<Chess>(seed).0 {
                let mirror = |set: u64| set.swap_bytes().reverse_bits();
                let mirrored =
                    Chess::from_relative_bitboards(&pos.relative_bitboards().map(mirror));
                let mirrored = mirrored.expect("the mirrored position is legal");
                assert_eq!(evaluate(mirrored.board()), evaluate(pos.board()), "{pos}");
            }
        }
    }

    /// The hidden values must fit into 16 bits, and so must their products with the output weights.
    #[test]
    fn weights_do_not_overflow_16_bits() {
        let pieces_max = i16::try_from(PIECES_MAX).expect("the number is small");
        for row in &NETWORK.rows {
            let row: [i16; HIDDEN] = bytemuck::cast(*row);
            assert!(
                row.iter()
                    .all(|weight| weight.abs() < i16::MAX / (pieces_max + 1))
            );
        }
        for row in NETWORK.output_weights.as_flattened() {
            let row: [i16; HIDDEN] = bytemuck::cast(*row);
            assert!(
                row.iter()
                    .all(|weight| weight.abs() <= i16::MAX / HIDDEN_ONE)
            );
        }
    }
}
