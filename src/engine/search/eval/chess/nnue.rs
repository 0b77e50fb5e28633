//! What the rules beside do not see, as self-play has taught: by how much they err, told by a network of one hidden
//! layer that is as small as it is fast ("NNUE": Nasu, "Efficiently updatable neural-network-based evaluation
//! functions for computer shogi", 2018).
//!
//! Either side sees each piece on its field, with the board turned so that it plays up it, and mirrored so that its
//! own king stands on the files a to d. Each such sight adds a row of weights to what the side's half of the hidden
//! layer sums up. The sums, cut off below 0 and above 1 and squared, are weighed by weights for as many pieces as
//! there are ("buckets"), those of the side to move first, and are what is added to the logarithm of the odds of
//! winning. Which sights a position has is told to the trainer, `tests/train`, by [`Features`].
//!
//! From one position to the next few pieces have moved. So each thread remembers the last sums of either side, on
//! either half of the board, and what they were summed up of, and adds and subtracts what has changed.

use std::array;
use std::cell::RefCell;
use std::sync::LazyLock;

use cozy_chess::{Board, Color, File, Piece};
use wide::{i16x8, i32x4};

use crate::game::chess::Chess;

/// What the trainer has made, two bytes each: the weights of the hidden layer, a row for each sight; what it begins
/// with; the weights of the output, for each bucket of either side; what that begins with.
///
/// Made of 29,051,474 positions, of which 25,785,158 were different, in 6 rounds (seed 1). They are of games at 150 nodes
/// a move, each 7 to 11 million by one network: by that of rules (seeds 9 to 12), by one made of these (seeds 13 to 16),
/// and by one made of all before (seeds 21 and 22). The first bytes of the sha256 are 7a591ebc2fb7559d. One game of twenty
/// was held out: there the chance of winning is missed by 0.0933, where the rules alone miss it by 0.1091.
static TRAINED_WEIGHTS: &[u8; BYTES] = include_bytes!("learnt.weights");

const BYTES: usize = 2 * (INPUTS * HIDDEN + HIDDEN + BUCKETS * 2 * HIDDEN + BUCKETS);

/// What a side sees of a piece: its own or not, its kind, and its field.
const INPUTS: usize = PIECE_SETS * SQUARES;
const PIECE_SETS: usize = 2 * Piece::NUM;
const SQUARES: usize = 64;

/// There are no more pieces than at the start.
const PIECES_MAX: usize = 32;

/// How many sums there are for either side.
const HIDDEN: usize = 96;

/// The numbers of pieces are told apart in so many steps of so many.
const BUCKETS: usize = 8;
const PIECES_PER_BUCKET: u32 = 4;

/// One, in the hidden layer, is so much; and one of the weights of the output.
const HIDDEN_ONE: i16 = 255;
const OUTPUT_ONE: i32 = 64;

/// So much of the score makes odds greater by a factor of e, in the games that were learnt from.
const SCORE_PER_LOG_ODDS: i32 = 212;

/// Numbers that are handled at once, and how many times as many fill the hidden layer.
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
    /// By the side that sees, and by which half of the board its king stands on.
    static ACCUMULATORS: RefCell<[[Accumulator; 2]; Color::NUM]> = RefCell::new(Default::default());
}

/// What a side's half of the hidden layer has summed up, and of which pieces: those of White by kind, then those of
/// Black.
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

/// What the position is worth to the side to move beside what rules say.
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

/// Where the pieces stand: those of White by kind, then those of Black.
#[inline]
fn piece_bitboards(board: &Board) -> [u64; PIECE_SETS] {
    array::from_fn(|piece_set| {
        let color = if piece_set < Piece::NUM {
            Color::White
        } else {
            Color::Black
        };
        (board.colors(color) & board.pieces(Piece::ALL[piece_set % Piece::NUM])).0
    })
}

#[inline]
fn bucket_of(pieces: u32) -> usize {
    ((pieces - 2) / PIECES_PER_BUCKET) as usize
}

impl Accumulator {
    /// Sums up what these pieces add.
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

/// A short list of rows: there are no more than 32 pieces.
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

/// The sums, cut off and squared, each times its weight.
#[inline]
fn weighted_sum(sums: &WeightRow, weights: &WeightRow) -> i32x4 {
    let (zero, one) = (i16x8::ZERO, i16x8::splat(HIDDEN_ONE));
    let mut sum_of_products = i32x4::ZERO;
    for (sum, weight) in sums.iter().zip(weights) {
        let clamped = sum.max(zero).min(one);
        // 255 times a weight of up to 127 has room, which the square has not.
        sum_of_products += (clamped * *weight).dot(clamped);
    }
    sum_of_products
}

/// What either side sees of a position, for the trainer.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    rows: [[u16; PIECES_MAX]; 2],
    len: usize,
    /// Which weights of the output count.
    pub output_bucket: usize,
}

impl Features {
    /// How many rows there are.
    pub const INPUTS: usize = INPUTS;

    /// How many sums there are for either side.
    pub const HIDDEN: usize = HIDDEN;

    /// How many sets of weights the output has.
    pub const BUCKETS: usize = BUCKETS;

    /// What one is, as the weights of the hidden layer are written, and those of the output.
    pub const QUANTIZATION_UNITS: [i32; 2] = [HIDDEN_ONE as i32, OUTPUT_ONE];

    /// No weight is greater: products of those of the output have to fit into sixteen bits.
    pub const WEIGHT_MAX: f32 = 127.0 / OUTPUT_ONE as f32;

    /// Those of a position that the side to move sees so: see `Chess::relative_bitboards`.
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
        let [own, other] = lists;
        let pieces = bitboards.iter().map(|fields| fields.count_ones()).sum();
        Self {
            rows: [own.rows, other.rows],
            len: own.len,
            output_bucket: bucket_of(pieces),
        }
    }

    /// What the position is worth to the side to move by rules alone.
    #[must_use]
    pub fn handcrafted_value(pos: &Chess) -> i32 {
        super::handcrafted_value(pos.board())
    }

    /// The rows of the side to move, and of the other.
    #[must_use]
    pub fn rows(&self) -> [&[u16]; 2] {
        self.rows.each_ref().map(|rows| &rows[..self.len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::chess::Chess;
    use crate::game::conformance::random_game;

    /// What the trainer is told of a position, summed up and weighed number by number.
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

    /// Whatever positions came before, and on whatever side of the board the kings stand.
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

    /// A board turned round and mirrored looks the same to those who play on it.
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

    /// Sixteen bits have room for what the hidden layer sums up, and products of its weights.
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
