//! What general rules get wrong when few pieces are left: some advantages cannot be turned into a
//! win, and a bare king must be driven to the rim (compare the knowledge of endings in the chess
//! programming wiki, "Endgame" and "Mop-up evaluation"; Slate and Atkin, "Chess 4.5", 1977).

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

use super::pawn_structure::distance;
use super::piece_square_tables::MATERIAL;

/// An advantage is told in parts of so many.
pub(super) const SCALE_MAX: i32 = 16;

/// The part of an advantage of `color` that can be hoped to last.
pub(super) fn endgame_scale(board: &Board, color: Color) -> i32 {
    if board.colored_pieces(color, Piece::Pawn).is_empty() {
        // Without pawns to come it takes more than a minor piece more to mate.
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

/// The worth of all pieces but pawns.
fn non_pawn_material(board: &Board, color: Color) -> i32 {
    [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen]
        .into_iter()
        .map(|piece| {
            let count = board.colored_pieces(color, piece).len().cast_signed();
            count * MATERIAL[piece as usize].endgame
        })
        .sum()
}

/// Whether each side has one bishop and no other piece, on fields of different colours: neither can
/// fight for what the other holds.
fn has_opposite_colored_bishops(board: &Board) -> bool {
    let bishops = board.pieces(Piece::Bishop);
    let others =
        board.pieces(Piece::Knight) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    others.is_empty()
        && (bishops & board.colors(Color::White)).len() == 1
        && (bishops & board.colors(Color::Black)).len() == 1
        && (bishops & BitBoard::DARK_SQUARES).len() == 1
}

/// Whether a side has nothing left but its king.
pub(super) fn has_bare_king(board: &Board) -> bool {
    Color::ALL
        .into_iter()
        .any(|color| is_bare_king(board, color))
}

fn is_bare_king(board: &Board, color: Color) -> bool {
    board.colors(color).len() == 1
}

/// What it is worth to `color` to have driven a bare king to the rim and followed it with its own.
/// A knight and a bishop mate only in a corner that the bishop sees.
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

/// How far from the middle a square is: 0 to 6.
fn center_distance(square: Square) -> i32 {
    let distance_from_middle = |index: u8| i32::from(if index < 4 { 3 - index } else { index - 4 });
    distance_from_middle(square.file() as u8) + distance_from_middle(square.rank() as u8)
}
