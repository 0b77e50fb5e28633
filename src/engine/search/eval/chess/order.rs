//! Which moves to try first, and which to follow until a position is quiet: captures, by what they
//! take, then by what takes (MVV-LVA), unless they lose material in the exchange.

use cozy_chess::{BitBoard, Board, Piece, Rank, Square};

use super::exchange::{WORTH, exchange};
use crate::game::chess::{Chess, Move};
use crate::search::{EARLY, LATE, Moves};

/// How promising a move is.
pub(super) fn rank(board: &Board, m: Move) -> i32 {
    let attacker = board.piece_on(m.from()).unwrap_or(Piece::Pawn);
    match (victim(board, attacker, m), m.promotion()) {
        (None, None) => 0,
        (_, Some(Piece::Knight | Piece::Bishop | Piece::Rook)) => LATE,
        (victim, promotion) => {
            let won = victim.map_or(0, |piece| WORTH[piece as usize])
                + promotion.map_or(0, |piece| WORTH[piece as usize]);
            let rank = 16 * won - attacker as i32;
            if is_sound(board, attacker, won, m) {
                EARLY + rank
            } else {
                LATE + rank
            }
        }
    }
}

/// The captures and the new queens that lose nothing.
pub(super) fn push_captures(pos: &Chess, moves: &mut Moves<Move>) {
    let board = pos.board();
    let turn = board.side_to_move();
    let (theirs, last_rank) = (
        board.colors(!turn),
        Rank::Eighth.relative_to(turn).bitboard(),
    );
    let passed = board.en_passant().map_or(BitBoard::EMPTY, |file| {
        Square::new(file, Rank::Sixth.relative_to(turn)).bitboard()
    });
    let targets = |piece| match piece {
        Piece::Pawn => theirs | last_rank | passed,
        _ => theirs,
    };
    pos.for_each_move_to(targets, |m| {
        let rank = rank(board, m);
        if rank >= EARLY {
            moves.push(m, rank, 0);
        }
    });
}

/// What a move takes, if anything.
fn victim(board: &Board, attacker: Piece, m: Move) -> Option<Piece> {
    let passing = attacker == Piece::Pawn && m.from().file() != m.to().file();
    board.piece_on(m.to()).or(passing.then_some(Piece::Pawn))
}

/// Whether a capture loses nothing. Most need no counting: what is taken is worth as much as what
/// may be lost.
fn is_sound(board: &Board, attacker: Piece, won: i32, m: Move) -> bool {
    attacker == Piece::King
        || won >= WORTH[attacker as usize] && m.promotion().is_none()
        || exchange(board, m) >= 0
}
