//! Static exchange evaluation: the material that a capture wins or loses after all profitable
//! recaptures on its square. It uses the "swap" algorithm (compare Slate and Atkin, "Chess 4.5",
//! 1977, and Reul, "Static exchange evaluation with alpha-beta approach", 2010). Pins are ignored.

use cozy_chess::{
    BitBoard, Board, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

use crate::game::chess::Move;

/// Values of the pieces in an exchange, in hundredths of a pawn, indexed by piece kind. A king is
/// worth more than all other pieces together, so losing it never pays.
pub(super) const EXCHANGE_VALUES: [i32; Piece::NUM] = [100, 325, 335, 500, 975, 10_000];

/// Upper bound on the number of captures in an exchange.
const CAPTURES_MAX: usize = 32;

/// Returns the material that a move wins, in hundredths of a pawn. The move need not be a capture.
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
        // A king cannot capture on a square that the opponent still attacks.
        if piece == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            break;
        }
        last_capture += 1;
        gains[last_capture] = at_risk - gains[last_capture - 1];
        at_risk = EXCHANGE_VALUES[piece as usize];
        occupied ^= square.bitboard();
        // The captures on this square can uncover further attackers: sliding pieces behind the
        // capturing piece.
        attackers |= get_bishop_moves(to, occupied) & diagonal;
        attackers |= get_rook_moves(to, occupied) & straight;
        attackers &= occupied;
        side = !side;
    }
    // Captures are optional, so a side recaptures only if this gains more than ending the exchange.
    while last_capture > 0 {
        gains[last_capture - 1] = -(-gains[last_capture - 1]).max(gains[last_capture]);
        last_capture -= 1;
    }
    gains[0]
}

/// Returns the pieces of both sides that attack `square`.
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

/// Returns the least valuable candidate piece and its square.
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
            // White captures an unprotected pawn, so White wins a pawn.
            ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100),
            // White's rook captures a protected pawn, so White loses a rook and wins a pawn.
            ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", -400),
            // White's rook captures a pawn, a black pawn recaptures, and White's second rook
            // captures the black pawn.
            ("4k3/8/4p3/3p4/8/3R4/3R4/4K3 w - - 0 1", "d3d5", -300),
            // A king may capture an unprotected piece but not a protected one.
            ("8/8/4k3/3p4/8/8/3R4/4K3 w - - 0 1", "d2d5", -400),
            ("8/8/4k3/3p4/8/3R4/3R4/4K3 w - - 0 1", "d3d5", 100),
            // In the first position, White captures a pawn en passant. In the second position,
            // White loses a rook by moving it to a square that a black pawn attacks.
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("4k3/8/4p3/8/8/8/8/3RK3 w - - 0 1", "d1d5", -500),
            // In the first position, White promotes to a queen safely. In the second position,
            // Black captures the new queen, so White loses a pawn.
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
