//! What a capture wins or loses once all have recaptured who care to (static exchange evaluation,
//! the "swap" algorithm: compare Slate and Atkin, "Chess 4.5", 1977, and Reul, "Static exchange
//! evaluation with alpha-beta approach", 2010). Pins are not minded.

use cozy_chess::{
    BitBoard, Board, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

use crate::game::chess::Move;

/// What pieces are worth in an exchange, by kind. Whoever takes with a king loses more than all if it
/// is taken.
pub(super) const EXCHANGE_VALUES: [i32; Piece::NUM] = [100, 325, 335, 500, 975, 10_000];

/// More pieces than can ever aim at one square.
const CAPTURES_MAX: usize = 32;

/// What a move that may capture wins, in hundredths of a pawn.
pub(super) fn static_exchange(board: &Board, m: Move) -> i32 {
    let (from, to) = (m.from(), m.to());
    let mover = board.piece_on(from).unwrap_or(Piece::Pawn);
    let mut occupied = board.occupied() ^ from.bitboard();
    let mut captured_value = board
        .piece_on(to)
        .map_or(0, |piece| EXCHANGE_VALUES[piece as usize]);
    let mut at_risk = EXCHANGE_VALUES[mover as usize];
    if let Some(promotion) = m.promotion() {
        at_risk = EXCHANGE_VALUES[promotion as usize];
        captured_value += at_risk - EXCHANGE_VALUES[Piece::Pawn as usize];
    } else if mover == Piece::Pawn && captured_value == 0 && from.file() != to.file() {
        captured_value = EXCHANGE_VALUES[Piece::Pawn as usize];
        occupied ^= Square::new(to.file(), from.rank()).bitboard();
    }

    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let mut attackers = attackers(board, to, occupied) & occupied;
    let mut side = !board.side_to_move();
    let mut gains = [0; CAPTURES_MAX];
    gains[0] = captured_value;
    let mut last_capture = 0;
    while let Some((piece, square)) = least_valuable(board, attackers & board.colors(side)) {
        // A king does not step where it could be taken.
        if piece == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            break;
        }
        last_capture += 1;
        gains[last_capture] = at_risk - gains[last_capture - 1];
        at_risk = EXCHANGE_VALUES[piece as usize];
        occupied ^= square.bitboard();
        // Behind who has taken another may have stood.
        attackers |= get_bishop_moves(to, occupied) & diagonal;
        attackers |= get_rook_moves(to, occupied) & straight;
        attackers &= occupied;
        side = !side;
    }
    // Nobody has to go on: each takes the better of stopping and of what follows.
    while last_capture > 0 {
        gains[last_capture - 1] = -(-gains[last_capture - 1]).max(gains[last_capture]);
        last_capture -= 1;
    }
    gains[0]
}

/// The pieces of both sides that aim at a square.
fn attackers(board: &Board, square: Square, occupied: BitBoard) -> BitBoard {
    let pawns = get_pawn_attacks(square, Color::Black) & board.colors(Color::White)
        | get_pawn_attacks(square, Color::White) & board.colors(Color::Black);
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    pawns & board.pieces(Piece::Pawn)
        | get_knight_moves(square) & board.pieces(Piece::Knight)
        | get_king_moves(square) & board.pieces(Piece::King)
        | get_bishop_moves(square, occupied) & diagonal
        | get_rook_moves(square, occupied) & straight
}

/// The least of some pieces.
fn least_valuable(board: &Board, candidates: BitBoard) -> Option<(Piece, Square)> {
    Piece::ALL.into_iter().find_map(|piece| {
        let square = (candidates & board.pieces(piece)).next_square()?;
        Some((piece, square))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::chess::Chess;

    #[test]
    fn static_exchange_counts_all_recaptures() {
        for (fen, m, expected) in [
            // Nobody takes back.
            ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100),
            // A rook for a pawn.
            ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", -400),
            // With the other rook behind, the pawn that takes back is lost, too.
            ("4k3/8/4p3/3p4/8/3R4/3R4/4K3 w - - 0 1", "d3d5", -300),
            // A king may take what is not covered, and not what is.
            ("8/8/4k3/3p4/8/8/3R4/4K3 w - - 0 1", "d2d5", -400),
            ("8/8/4k3/3p4/8/3R4/3R4/4K3 w - - 0 1", "d3d5", 100),
            // In passing, and where a piece just moves into harm.
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("4k3/8/4p3/8/8/8/8/3RK3 w - - 0 1", "d1d5", -500),
            // A new queen, and one that is taken back.
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 875),
            ("r7/1P2k3/8/8/8/8/8/4K3 w - - 0 1", "b7b8q", -100),
        ] {
            let pos: Chess = fen.parse().expect(fen);
            assert_eq!(
                static_exchange(pos.board(), m.parse().expect(m)),
                expected,
                "{m} in {fen}"
            );
        }
    }
}
