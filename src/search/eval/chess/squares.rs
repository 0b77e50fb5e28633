//! What a piece is worth by its kind and its square.
//!
//! The tables are our own round numbers, made in the manner of Michniewski's "Simplified evaluation
//! function" (1995): pawns want to advance in the middle, knights away from the rim, kings into a
//! corner behind their pawns and, once the queens are gone, into the middle.

use cozy_chess::{Color, Piece, Square};

use super::phased::Phased;

/// Half a board as its player sees it, the highest rank first, files a to d. The other half is the
/// mirror image.
type Half = [[i32; 4]; 8];

/// The value of a piece wherever it stands, by kind: pawn, knight, bishop, rook, queen, king.
pub(super) const MATERIAL: [Phased; Piece::NUM] = [
    Phased::new(85, 110),
    Phased::new(330, 300),
    Phased::new(345, 315),
    Phased::new(475, 545),
    Phased::new(1000, 1010),
    Phased::new(0, 0),
];

#[rustfmt::skip] // A board is read by rows.
const MIDDLE: [Half; Piece::NUM] = [
    [
        [0, 0, 0, 0], [60, 70, 75, 80], [15, 20, 30, 35], [0, 5, 12, 22],
        [-8, 0, 5, 18], [-8, 0, 2, 6], [-8, 5, 0, -12], [0, 0, 0, 0],
    ],
    [
        [-120, -60, -35, -30], [-50, -25, 5, 10], [-20, 10, 25, 35], [-5, 10, 20, 30],
        [-10, 5, 15, 20], [-20, 0, 10, 12], [-25, -15, 0, 2], [-60, -22, -20, -15],
    ],
    [
        [-20, -10, -25, -20], [-15, 5, 0, -5], [-5, 10, 15, 12], [-5, 5, 10, 25],
        [0, 8, 8, 18], [2, 12, 12, 8], [5, 15, 10, 4], [-15, -5, -10, -8],
    ],
    [
        [15, 15, 15, 20], [15, 15, 30, 35], [-5, 5, 10, 15], [-15, -5, 5, 10],
        [-20, -10, -5, 0], [-25, -12, -8, -5], [-30, -10, -8, 0], [-12, -8, 4, 12],
    ],
    [
        [-10, 5, 10, 15], [-15, -25, 0, 0], [0, 0, 5, 10], [-10, -10, -5, -5],
        [-6, -6, -5, -5], [-6, 2, -2, -2], [-15, -5, 5, 4], [-5, -8, -4, 6],
    ],
    [
        [-60, -50, -50, -60], [-50, -45, -50, -60], [-45, -45, -50, -60], [-50, -45, -50, -60],
        [-45, -40, -50, -60], [-20, -25, -35, -50], [5, 5, -15, -40], [15, 35, 10, -10],
    ],
];

#[rustfmt::skip]
const END: [Half; Piece::NUM] = [
    [
        [0, 0, 0, 0], [70, 65, 60, 55], [40, 40, 32, 28], [18, 15, 10, 5],
        [6, 5, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2], [0, 0, 0, 0],
    ],
    [
        [-60, -40, -25, -20], [-35, -18, -10, 0], [-25, -10, 8, 12], [-18, 0, 15, 22],
        [-18, 0, 15, 22], [-25, -8, 2, 12], [-35, -20, -10, -5], [-50, -40, -25, -20],
    ],
    [
        [-15, -12, -8, -6], [-10, -4, 0, -2], [-2, 0, 2, 4], [-4, 4, 8, 10],
        [-6, 2, 8, 10], [-8, 0, 4, 8], [-12, -8, -4, 0], [-18, -10, -14, -6],
    ],
    [
        [12, 12, 12, 10], [12, 12, 10, 8], [8, 8, 6, 4], [6, 4, 4, 2],
        [2, 2, 2, 0], [-3, -2, -3, -4], [-5, -5, -3, -3], [-6, -3, -3, -5],
    ],
    [
        [0, 10, 15, 20], [-5, 15, 20, 30], [-5, 10, 20, 35], [0, 20, 25, 40],
        [-5, 15, 20, 35], [-10, -10, 10, 10], [-20, -20, -15, -10], [-25, -25, -20, -20],
    ],
    [
        [-55, -30, -18, -15], [-10, 12, 15, 15], [0, 20, 28, 28], [-5, 18, 28, 32],
        [-12, 10, 22, 28], [-15, 0, 12, 18], [-25, -10, 0, 5], [-50, -30, -20, -18],
    ],
];

/// Material and square together, as White counts them.
static VALUES: [[Phased; Square::NUM]; Piece::NUM] = {
    let mut values = [[Phased::new(0, 0); Square::NUM]; Piece::NUM];
    let mut piece = 0;
    while piece < Piece::NUM {
        let mut square = 0;
        while square < Square::NUM {
            let (row, column) = (7 - square / 8, square % 8);
            let column = if column < 4 { column } else { 7 - column };
            values[piece][square] = Phased::new(
                MATERIAL[piece].middle + MIDDLE[piece][row][column],
                MATERIAL[piece].end + END[piece][row][column],
            );
            square += 1;
        }
        piece += 1;
    }
    values
};

/// What a piece is worth to its side.
#[inline]
pub(super) fn value(piece: Piece, square: Square, color: Color) -> Phased {
    let square = match color {
        Color::White => square as usize,
        Color::Black => square as usize ^ 56,
    };
    VALUES[piece as usize][square]
}
