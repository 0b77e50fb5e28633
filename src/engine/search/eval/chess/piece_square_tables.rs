//! Values of pieces by kind and square.
//!
//! The tables follow the ideas of Michniewski's "Simplified evaluation function" (1995). They
//! encourage pawns to advance in the centre and knights to avoid the edge. Kings should hide in a
//! corner behind their pawns, and move to the centre once the queens are gone. The values are tuned
//! as described in the parent module.

use cozy_chess::{Color, Piece, Square};

use super::tapered_score::TaperedScore;

/// Values of one kind of piece on files a to d. The first row is for the last rank, as the piece's
/// owner sees the board. Files e to h have the mirrored values.
type HalfBoard = [[i32; 4]; 8];

/// Material value of each kind of piece, in the order pawn, knight, bishop, rook, queen and king.
pub(super) const MATERIAL: [TaperedScore; Piece::NUM] =
    TaperedScore::table([76, 310, 332, 427, 926, 0], [84, 248, 275, 462, 797, 0]);

#[rustfmt::skip] // The rows of each board are grouped by hand.
const MIDDLEGAME_TABLES: [HalfBoard; Piece::NUM] = [
    [
        [0, 0, 0, 0], [43, 35, 57, 68], [-8, 11, -4, -1], [-18, -7, -9, 3],
        [-18, -22, -7, -5], [-21, -14, -11, -17], [-20, -7, -6, -22], [0, 0, 0, 0],
    ],
    [
        [-99, -46, -37, -23], [-27, -18, 17, 26], [6, 35, 22, 63], [14, 14, 36, 25],
        [2, 11, 20, 17], [-19, 16, 6, 19], [-6, -22, 16, 13], [-48, -18, -14, -9],
    ],
    [
        [-16, -25, -32, -37], [-30, -14, 1, -11], [-10, 27, 16, 9], [-10, 7, 17, 21],
        [4, -13, 6, 21], [-2, 10, 12, 1], [19, 16, 16, 9], [-1, -5, -8, -10],
    ],
    [
        [35, 24, 21, 20], [20, -9, 18, 39], [-5, 6, 9, 11], [-9, 5, 9, 2],
        [-20, -7, -12, -4], [-25, -18, -6, -10], [-31, -11, -15, 5], [-21, -20, -1, 9],
    ],
    [
        [3, 11, 17, 25], [7, -15, -8, -15], [-1, 18, 1, 7], [-1, -2, -13, -5],
        [-9, -15, -5, -11], [-2, -1, -2, -1], [-9, 8, 6, 12], [-7, -2, -4, 4],
    ],
    [
        [-58, -45, -46, -57], [-46, -45, -48, -58], [-44, -43, -50, -59], [-46, -38, -44, -62],
        [-53, -40, -46, -57], [-30, -23, -32, -55], [9, 16, -9, -44], [-2, 31, 1, 3],
    ],
];

#[rustfmt::skip]
const ENDGAME_TABLES: [HalfBoard; Piece::NUM] = [
    [
        [0, 0, 0, 0], [37, 53, 46, 36], [2, -6, -1, -14], [1, -4, 4, -13],
        [-12, -10, -17, -18], [-12, -22, -12, -7], [-11, -11, -5, -2], [0, 0, 0, 0],
    ],
    [
        [-36, -29, -20, -18], [-20, -8, 4, 5], [-13, -10, 33, 13], [9, 25, 30, 42],
        [-8, 16, 28, 33], [-3, 5, 14, 16], [-27, -11, -2, 8], [-23, -19, -12, -5],
    ],
    [
        [-5, -17, -9, -12], [-15, 7, 6, -5], [1, -2, 11, 10], [6, 3, 25, 17],
        [-20, 13, 15, 19], [-11, -1, 18, 15], [-20, -5, -4, -1], [-11, -17, -7, 10],
    ],
    [
        [14, 7, 21, 2], [10, 17, 7, 9], [9, 5, 5, 0], [9, -3, -3, 5],
        [3, -2, 2, -4], [1, -2, -7, -9], [-11, -19, -16, -18], [-5, -3, -7, -17],
    ],
    [
        [-12, 0, 15, 18], [-8, 16, 18, 14], [0, 11, 24, 28], [-1, 21, 13, 42],
        [-10, 13, 19, 40], [-12, -15, 4, 10], [-24, -36, -45, -19], [-30, -25, -32, -28],
    ],
    [
        [-44, -11, -8, -9], [7, 10, 18, 24], [-8, 17, 23, 17], [-9, 1, 21, 11],
        [-6, 10, 15, 17], [-23, 6, 14, 17], [-16, -12, 7, 10], [-39, -32, -22, -28],
    ],
];

/// Material value plus square value for each kind of white piece on each square.
static PIECE_SQUARE_VALUES: [[TaperedScore; Square::NUM]; Piece::NUM] = {
    let mut values = [[TaperedScore::new(0, 0); Square::NUM]; Piece::NUM];
    let mut piece = 0;
    while piece < Piece::NUM {
        let mut square = 0;
        while square < Square::NUM {
            let (row, column) = (7 - square / 8, square % 8);
            let column = if column < 4 { column } else { 7 - column };
            values[piece][square] = TaperedScore::new(
                MATERIAL[piece].middlegame + MIDDLEGAME_TABLES[piece][row][column],
                MATERIAL[piece].endgame + ENDGAME_TABLES[piece][row][column],
            );
            square += 1;
        }
        piece += 1;
    }
    values
};

/// Returns the value of a piece of `color` on `square`.
#[inline]
pub(super) fn piece_square_value(piece: Piece, square: Square, color: Color) -> TaperedScore {
    let square = match color {
        Color::White => square as usize,
        Color::Black => square as usize ^ 56,
    };
    PIECE_SQUARE_VALUES[piece as usize][square]
}
