//! Corrections for endgames that the general evaluation misjudges. For example, some material
//! advantages cannot be converted into a win. To mate an opponent who has only a king left, the
//! stronger side must drive that king to the edge. Compare "Endgame" and "Mop-up evaluation" in the
//! chess programming wiki, and Slate and Atkin, "Chess 4.5", 1977.

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

use super::pawn_structure::distance;
use super::piece_square_tables::MATERIAL;

/// Maximum scale factor, which leaves the evaluation unchanged.
pub(super) const SCALE_MAX: i32 = 16;

/// Returns the factor by which the evaluation is multiplied if `color` has the advantage. The
/// factor is in units of 1/`SCALE_MAX`. The scale factor is small if the advantage is hard to
/// convert into a win.
pub(super) fn endgame_scale(board: &Board, color: Color) -> i32 {
    if board.colored_pieces(color, Piece::Pawn).is_empty() {
        // Without pawns, a side usually needs to be more than a minor piece ahead to force mate.
        let [own, other] = [color, !color].map(|color| non_pawn_material(board, color));
        let minor_value = MATERIAL[Piece::Bishop as usize].endgame;
        let has_only_two_knights = board.colored_pieces(color, Piece::Knight).len() == 2
            && own == 2 * MATERIAL[Piece::Knight as usize].endgame;
        if own <= minor_value || has_only_two_knights {
            return 0;
        }
        if own - other <= minor_value {
            return SCALE_MAX / 4;
        }
    }
    if has_opposite_colored_bishops(board) {
        return SCALE_MAX / 2;
    }
    SCALE_MAX
}

/// Returns the endgame value of all pieces of `color` except its pawns and king.
fn non_pawn_material(board: &Board, color: Color) -> i32 {
    [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen]
        .into_iter()
        .map(|piece| {
            let count = board.colored_pieces(color, piece).len().cast_signed();
            count * MATERIAL[piece as usize].endgame
        })
        .sum()
}

/// Returns whether the position is an endgame with bishops of opposite colours. Each side must have
/// exactly one bishop besides its king and pawns, and the bishops must be on squares of different
/// colours. Such endgames are often drawn, because neither bishop can attack the squares that the
/// other bishop controls.
fn has_opposite_colored_bishops(board: &Board) -> bool {
    let bishops = board.pieces(Piece::Bishop);
    let others =
        board.pieces(Piece::Knight) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    others.is_empty()
        && (bishops & board.colors(Color::White)).len() == 1
        && (bishops & board.colors(Color::Black)).len() == 1
        && (bishops & BitBoard::DARK_SQUARES).len() == 1
}

/// Returns whether a side has only its king left.
pub(super) fn has_bare_king(board: &Board) -> bool {
    Color::ALL
        .into_iter()
        .any(|color| is_bare_king(board, color))
}

fn is_bare_king(board: &Board, color: Color) -> bool {
    board.colors(color).len() == 1
}

/// Returns the bonus that `color` gets for driving the opponent's bare king to the edge and for
/// bringing the two kings closer together. The bonus is 0 if the opponent has any piece or pawn
/// besides its king. The bonus is also 0 if the pieces of `color`, not counting pawns, are worth
/// less than a rook.
///
/// A side that has only a bishop and a knight must drive the bare king to a corner that the bishop
/// can attack. Mate cannot be forced in the two corners that the bishop cannot attack.
pub(super) fn mop_up_score(board: &Board, color: Color) -> i32 {
    if !is_bare_king(board, !color)
        || non_pawn_material(board, color) < MATERIAL[Piece::Rook as usize].endgame
    {
        return 0;
    }
    let [own, other] = [color, !color].map(|color| board.king(color));
    let king_proximity = 7 - distance(own, other);
    let bishops = board.colored_pieces(color, Piece::Bishop);
    let others = board.colors(color) ^ bishops ^ own.bitboard();
    let knights = board.colored_pieces(color, Piece::Knight);
    let edge_distance_bonus = if bishops.len() == 1 && others == knights && knights.len() == 1 {
        let is_dark = bishops.is_subset(BitBoard::DARK_SQUARES);
        let corners = if is_dark {
            [Square::A1, Square::H8]
        } else {
            [Square::A8, Square::H1]
        };
        7 - corners.map(|corner| distance(other, corner))[..]
            .iter()
            .min()
            .copied()
            .unwrap_or(0)
    } else {
        center_distance(other)
    };
    30 * edge_distance_bonus + 10 * king_proximity
}

/// Returns the Manhattan distance from a square to the nearest of the four central squares, from 0
/// to 6.
fn center_distance(square: Square) -> i32 {
    let distance_from_middle = |index: u8| i32::from(if index < 4 { 3 - index } else { index - 4 });
    distance_from_middle(square.file() as u8) + distance_from_middle(square.rank() as u8)
}
