//! Ranks moves for the search and selects the captures for quiescence search. Captures are ordered
//! by the captured piece, then by the capturing piece (MVV-LVA). Captures that lose material after
//! all recaptures come last.

use cozy_chess::{BitBoard, Board, Piece, Rank, Square};

use super::static_exchange::{EXCHANGE_VALUES, static_exchange};
use crate::game::chess::{Chess, Move};
use crate::search::{EARLY_RANK_MIN, LATE_RANK_MAX, MoveStack};

/// Returns the rank of a move. Moves of higher rank are tried first.
pub(super) fn rank_move(board: &Board, m: Move) -> i32 {
    let attacker = board.piece_on(m.from()).unwrap_or(Piece::Pawn);
    match (captured_piece(board, attacker, m), m.promotion()) {
        (None, None) => 0,
        (_, Some(Piece::Knight | Piece::Bishop | Piece::Rook)) => LATE_RANK_MAX,
        (victim, promotion) => {
            let captured_value = victim.map_or(0, |piece| EXCHANGE_VALUES[piece as usize])
                + promotion.map_or(0, |piece| EXCHANGE_VALUES[piece as usize]);
            let rank = 16 * captured_value - attacker as i32;
            if loses_no_material(board, attacker, captured_value, m) {
                EARLY_RANK_MIN + rank
            } else {
                LATE_RANK_MAX + rank
            }
        }
    }
}

/// Adds to `moves` the captures and queen promotions that lose no material.
pub(super) fn push_captures(pos: &Chess, moves: &mut MoveStack<Move>) {
    let board = pos.board();
    let turn = board.side_to_move();
    let (theirs, last_rank) = (
        board.colors(!turn),
        Rank::Eighth.relative_to(turn).bitboard(),
    );
    let en_passant_target = board.en_passant().map_or(BitBoard::EMPTY, |file| {
        Square::new(file, Rank::Sixth.relative_to(turn)).bitboard()
    });
    let targets = |piece| match piece {
        Piece::Pawn => theirs | last_rank | en_passant_target,
        _ => theirs,
    };
    pos.for_each_move_to(targets, |m| {
        let rank = rank_move(board, m);
        if rank >= EARLY_RANK_MIN {
            moves.push(m, rank, 0);
        }
    });
}

/// Returns the kind of the piece that a move captures, if any.
fn captured_piece(board: &Board, attacker: Piece, m: Move) -> Option<Piece> {
    let is_en_passant = attacker == Piece::Pawn && m.from().file() != m.to().file();
    board
        .piece_on(m.to())
        .or(is_en_passant.then_some(Piece::Pawn))
}

/// Returns whether a capture or promotion loses no material. The function skips the static exchange
/// evaluation if the king captures. It also skips this evaluation if the captured piece is worth at
/// least as much as the attacker and the move is no promotion.
fn loses_no_material(board: &Board, attacker: Piece, captured_value: i32, m: Move) -> bool {
    attacker == Piece::King
        || captured_value >= EXCHANGE_VALUES[attacker as usize] && m.promotion().is_none()
        || static_exchange(board, m) >= 0
}
