//! Chess evaluation: a handcrafted function and a small neural network (`nnue`) that corrects it.
//!
//! The handcrafted terms are material, piece-square values, mobility, pawn structure, king safety
//! and endgame knowledge. Most terms have a middlegame and an endgame weight, which are
//! interpolated by the game phase. The network was trained on self-play games.
//!
//! All terms come from the chess programming literature. Each module cites its sources. The weights
//! of the terms were fitted to Stockfish 15.1 evaluations of 156,000 quiet positions and then
//! smoothed by hand. The fit is a regression on expected game results (compare Österlund, "Texel's
//! tuning method", 2014). The positions come from games generated for the fit. In these games, both
//! sides chose at random among good moves. On the scale of the evaluation, a pawn is worth about
//! 80.

mod endgame;
mod move_ordering;
mod nnue;
mod pawn_structure;
mod piece_activity;
mod piece_square_tables;
mod static_exchange;
mod tapered_score;

use cozy_chess::{Board, Color, Piece};

pub use self::nnue::Features;
use self::tapered_score::{PHASE_MAX, TaperedScore};
use crate::game::Position;
use crate::game::chess::{Chess, Move};
use crate::search::{Evaluate, Level, MoveStack, Score};

/// Tempo bonus: evaluation bonus for the side to move.
const TEMPO_BONUS: TaperedScore = TaperedScore::new(37, 14);

/// Contribution of each piece to the game phase, indexed by piece kind.
const PHASE_WEIGHTS: [i32; Piece::NUM] = [0, 1, 1, 2, 4, 0];

/// Standard piece values in pawns, as taught to beginners, indexed by piece kind.
const PIECE_POINTS: [i32; Piece::NUM] = [1, 3, 3, 5, 9, 0];

/// The position key includes the halfmove clock only if the clock exceeds this value. Near the draw
/// by the fifty-move rule, the value of a position depends on the number of remaining plies.
const HALFMOVE_CLOCK_KEY_MIN: u8 = 70;

impl Evaluate for Chess {
    const SEATS_ALTERNATE: bool = true;

    /// Number of move indices. Each combination of side to move, origin square and destination
    /// square has its own index.
    const MOVE_INDEX_COUNT: usize = 2 * 64 * 64;

    const HAS_NOISY_MOVES: bool = true;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    const WINS_BY_MATE: bool = true;

    const FUTILITY_MARGIN: u32 = 75;

    fn evaluate(&self) -> Score {
        let board = self.board();
        let turn = board.side_to_move();
        let mut value = handcrafted_value(board);
        // The network predicts the chance of winning, so it gives all clearly won positions almost
        // the same value. Almost equal values would not guide the search towards mating a bare
        // king.
        if !endgame::has_bare_king(board) {
            value += nnue::evaluate(board);
        }
        let (leader, sign) = if value > 0 { (turn, 1) } else { (!turn, -1) };
        let scale = endgame::endgame_scale(board, leader);
        let mop_up = if scale > 0 {
            endgame::mop_up_score(board, leader)
        } else {
            0
        };
        Score::estimate(value * scale / endgame::SCALE_MAX + sign * mop_up)
    }

    fn rank_move(&self, m: Move) -> i32 {
        move_ordering::rank_move(self.board(), m)
    }

    fn is_forced(&self) -> bool {
        self.is_check()
    }

    fn list_noisy_moves(&self, moves: &mut MoveStack<Move>) {
        if self.is_check() {
            moves.push_legal(self);
        } else {
            move_ordering::push_captures(self, moves);
        }
    }

    /// Returns `None` if the side to move is in check or has only pawns and its king. A side that
    /// has only pawns and a king may be in zugzwang. In zugzwang, a null move would be better than
    /// every legal move, so its value would be misleading.
    fn after_null_move(&self) -> Option<Self> {
        let board = self.board();
        let own = board.colors(board.side_to_move());
        let men = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
        if (own & !men).is_empty() {
            return None;
        }
        Self::after_null_move(self)
    }

    fn move_index(&self, m: Move) -> usize {
        let turn = self.board().side_to_move();
        (turn as usize * 64 + m.from() as usize) * 64 + m.to() as usize
    }

    /// The levels `Beginner` and `Easy` overlook recaptures, because they search without quiescence
    /// search. The other levels follow captures until the position is quiet.
    const DEPTHS_AND_MARGINS: [(u32, u32); 4] = [(1, 250), (2, 80), (1, 60), (3, 30)];

    fn uses_selective_search(level: Level) -> bool {
        level >= Level::Medium
    }

    fn is_elementary_endgame(&self) -> bool {
        endgame::has_bare_king(self.board())
    }

    fn material(&self) -> Option<[i32; 2]> {
        let board = self.board();
        let points = |color: Color| {
            let count = |piece: Piece| board.colored_pieces(color, piece).len().cast_signed();
            let pieces = Piece::ALL.into_iter().zip(PIECE_POINTS);
            pieces.map(|(piece, value)| value * count(piece)).sum()
        };
        Some([points(Color::White), points(Color::Black)])
    }

    fn key(&self) -> u64 {
        let clock_excess = self
            .board()
            .halfmove_clock()
            .saturating_sub(HALFMOVE_CLOCK_KEY_MIN);
        self.repetition_key() ^ u64::from(clock_excess).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Returns the handcrafted value of the position for the side to move.
fn handcrafted_value(board: &Board) -> i32 {
    let turn = board.side_to_move();
    (TEMPO_BONUS + side_value(board, turn) - side_value(board, !turn))
        .interpolate(game_phase(board))
}

fn side_value(board: &Board, color: Color) -> TaperedScore {
    piece_activity::piece_activity(board, color) + pawn_structure::pawn_structure(board, color)
}

/// Returns the game phase, from 0 with only kings and pawns to `PHASE_MAX` with all pieces on the
/// board.
fn game_phase(board: &Board) -> i32 {
    let count = |piece: Piece| board.pieces(piece).len().cast_signed();
    let sum: i32 = Piece::ALL
        .into_iter()
        .map(|piece| PHASE_WEIGHTS[piece as usize] * count(piece))
        .sum();
    sum.min(PHASE_MAX)
}

#[cfg(test)]
mod tests;
