//! Chess at a glance: material and squares, mobility, pawns, the safety of the kings, and what is
//! known of endings, each weighed by how much of the game is left; and what a small network has learnt from
//! self-play about where all that errs (`network`).
//!
//! The parts are those of the literature, named where they stand. Their weights were fitted to how
//! Stockfish 15.1 values 156,000 quiet positions of games made for that, with random moves among good
//! ones, by regression of the expected results (compare Österlund, "Texel's tuning method", 2014),
//! and smoothed by hand. A pawn is worth a little less than a hundred.

mod ending;
mod exchange;
mod network;
mod order;
mod pawns;
mod phased;
mod pieces;
mod squares;

use cozy_chess::{Board, Color, Piece};

pub use self::network::Features;
use self::phased::{PHASE_MAX, Phased};
use crate::game::Position;
use crate::game::chess::{Chess, Move};
use crate::search::{Evaluate, Level, Moves, Score, Strength};

/// To have the move is worth this.
const TEMPO: Phased = Phased::new(37, 14);

/// How much a piece on the board makes it a middle game, by kind.
const PHASE: [i32; Piece::NUM] = [0, 1, 1, 2, 4, 0];

/// What beginners are taught that pieces are worth, in pawns, by kind.
const WORTH: [i32; Piece::NUM] = [1, 3, 3, 5, 9, 0];

/// When so few plies are left to the draw by fifty moves, how few they are is part of the position.
const CLOCK_TOLD_FROM: u8 = 70;

impl Evaluate for Chess {
    const TAKES_TURNS: bool = true;

    /// By who moves, from where to where.
    const MOVE_INDICES: usize = 2 * 64 * 64;

    const NOISY: bool = true;

    const REDUCES: bool = true;

    const MATES: bool = true;

    const SWING: u32 = 75;

    fn evaluate(&self) -> Score {
        let board = self.board();
        let turn = board.side_to_move();
        let mut value = by_rules(board);
        // All positions that are won are alike to who was taught the chances of winning: no way leads to the mate.
        if !ending::has_bare_king(board) {
            value += network::value(board);
        }
        let (ahead, sign) = if value > 0 { (turn, 1) } else { (!turn, -1) };
        let lasting = ending::lasting(board, ahead);
        let driving = if lasting > 0 {
            ending::driving(board, ahead)
        } else {
            0
        };
        Score::estimate(value * lasting / ending::WHOLE + sign * driving)
    }

    fn rank(&self, m: Move) -> i32 {
        order::rank(self.board(), m)
    }

    fn is_tense(&self) -> bool {
        self.is_check()
    }

    fn noisy(&self, moves: &mut Moves<Move>) {
        if self.is_check() {
            moves.push_legal(self);
        } else {
            order::push_captures(self, moves);
        }
    }

    /// Not in check, and not without pieces: then having to move may be what loses.
    fn passed(&self) -> Option<Self> {
        let board = self.board();
        let own = board.colors(board.side_to_move());
        let men = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
        if (own & !men).is_empty() {
            return None;
        }
        Self::after_null_move(self)
    }

    fn index(&self, m: Move) -> usize {
        let turn = self.board().side_to_move();
        (turn as usize * 64 + m.from() as usize) * 64 + m.to() as usize
    }

    /// Below medium strength a player does not see that what it takes is taken back; the others follow
    /// captures to their end.
    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(250), blocks: false },
            Level::Easy     => Strength { depth: 2,        margin: Some(80),  blocks: false },
            Level::Medium   => Strength { depth: 1,        margin: Some(60),  blocks: true },
            Level::Hard     => Strength { depth: 3,        margin: Some(30),  blocks: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      blocks: true },
        }
    }

    fn selects(level: Level) -> bool {
        level >= Level::Medium
    }

    fn is_elementary(&self) -> bool {
        ending::has_bare_king(self.board())
    }

    fn material(&self) -> Option<[i32; 2]> {
        let board = self.board();
        let worth = |color: Color| {
            let count = |piece: Piece| board.colored_pieces(color, piece).len().cast_signed();
            let pieces = Piece::ALL.into_iter().zip(WORTH);
            pieces.map(|(piece, worth)| worth * count(piece)).sum()
        };
        Some([worth(Color::White), worth(Color::Black)])
    }

    fn key(&self) -> u64 {
        let late = self
            .board()
            .halfmove_clock()
            .saturating_sub(CLOCK_TOLD_FROM);
        self.repetition_key() ^ u64::from(late).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// What the position is worth to the side to move by the rules above.
fn by_rules(board: &Board) -> i32 {
    let turn = board.side_to_move();
    (TEMPO + side(board, turn) - side(board, !turn)).at(phase(board))
}

fn side(board: &Board, color: Color) -> Phased {
    pieces::pieces(board, color) + pawns::pawns(board, color)
}

/// How much is left of the pieces: `PHASE_MAX` at the start, 0 when only pawns are left.
fn phase(board: &Board) -> i32 {
    let count = |piece: Piece| board.pieces(piece).len().cast_signed();
    let sum: i32 = Piece::ALL
        .into_iter()
        .map(|piece| PHASE[piece as usize] * count(piece))
        .sum();
    sum.min(PHASE_MAX)
}

#[cfg(test)]
mod tests;
