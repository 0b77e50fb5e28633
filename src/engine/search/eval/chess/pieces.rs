//! What pieces do where they stand: the fields they can go to, the files that are open to rooks, and
//! how they bear down on the king (mobility: Slater, "Statistics for the chess computer and the
//! factor of mobility", 1950; attack units: the chess programming wiki, "King safety").

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, Rank, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

use super::pawns;
use super::phased::Phased;
use super::squares;

/// What it is worth to a piece to have so many fields to go to, compared to what is usual.
const KNIGHT: [Phased; 9] = Phased::table(
    [-24, -20, -12, -6, 0, 7, 14, 21, 25],
    [-35, -24, -9, -1, 0, 1, 1, 0, 0],
);
const BISHOP: [Phased; 14] = Phased::table(
    [-28, -24, -17, -10, -5, -1, 0, 2, 4, 10, 10, 10, 10, 10],
    [-42, -34, -18, -15, -8, -4, 0, 1, 1, 0, 0, 0, 0, 0],
);
const ROOK: [Phased; 15] = Phased::table(
    [-30, -26, -18, -13, -9, -7, -4, 0, 4, 9, 14, 17, 28, 35, 44],
    [-47, -43, -37, -27, -17, -8, -3, 0, 3, 5, 4, 5, 3, 0, 0],
);
const QUEEN: [Phased; 28] = Phased::table(
    [
        -48, -45, -40, -33, -27, -23, -17, -12, -9, -6, -3, -2, -2, 0, 0, 0, 0, 2, 8, 14, 20, 24,
        26, 26, 26, 26, 26, 26,
    ],
    [
        -99, -95, -95, -95, -95, -93, -74, -54, -44, -35, -28, -16, -6, 0, 9, 9, 9, 9, 9, 9, 9, 9,
        9, 9, 9, 9, 9, 9,
    ],
);

/// Two bishops see all fields together.
const BISHOP_PAIR: Phased = Phased::new(18, 43);

/// A rook on a file without pawns, and on one without pawns of its side.
const ROOK_ON_OPEN_FILE: Phased = Phased::new(34, 0);
const ROOK_ON_HALF_OPEN_FILE: Phased = Phased::new(10, 19);

/// A piece that a pawn attacks, and a rook or a queen that a minor piece attacks.
const ATTACKED_BY_PAWN: Phased = Phased::new(69, 58);
const ATTACKED_BY_MINOR: Phased = Phased::new(62, 34);

/// What an attacked field beside the king weighs, by the kind of the attacker.
const ATTACK_UNITS: [u32; Piece::NUM] = [0, 2, 2, 3, 5, 0];

/// What an attack on the king by more than one piece is worth, by its weight.
const ATTACK: [i32; 20] = [
    0, 3, 12, 15, 22, 30, 32, 36, 42, 58, 72, 74, 84, 115, 130, 160, 205, 235, 280, 300,
];

/// For the three files about the king: one without a pawn of its side before it, and one without
/// any pawn.
const UNSHELTERED: Phased = Phased::new(-28, 11);
const OPEN_TO_THE_KING: Phased = Phased::new(-4, -12);

/// The pieces of a side, by where they stand and what they do.
pub(super) fn pieces(board: &Board, color: Color) -> Phased {
    let others = board.colors(!color);
    let free = !(board.colors(color) | pawns::attacks(board, !color));
    let major = others & (board.pieces(Piece::Rook) | board.pieces(Piece::Queen));
    let zone = king_zone(board.king(!color), !color);
    let (mut attackers, mut units) = (0, 0);
    let mut sum = shelter(board, color);
    for piece in Piece::ALL {
        for square in board.colored_pieces(color, piece) {
            sum += squares::value(piece, square, color);
            let reach = reach(board, piece, square);
            sum += mobility(piece, reach & free);
            if matches!(piece, Piece::Knight | Piece::Bishop) {
                sum += ATTACKED_BY_MINOR * count(reach & major);
            }
            let attacked = (reach & zone).len();
            if attacked > 0 {
                attackers += 1;
                units += ATTACK_UNITS[piece as usize] * attacked;
            }
        }
    }
    if board.colored_pieces(color, Piece::Bishop).len() > 1 {
        sum += BISHOP_PAIR;
    }
    for rook in board.colored_pieces(color, Piece::Rook) {
        sum += rook_file(board, rook, color);
    }
    let men = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    sum += ATTACKED_BY_PAWN * count(pawns::attacks(board, color) & others & !men);
    // One attacker alone does no harm.
    if attackers > 1 {
        sum.middle += ATTACK[(units as usize / 2).min(ATTACK.len() - 1)];
    }
    sum
}

/// What it is worth to a piece to be free to go to these fields.
fn mobility(piece: Piece, fields: BitBoard) -> Phased {
    let count = fields.len() as usize;
    match piece {
        Piece::Knight => KNIGHT[count],
        Piece::Bishop => BISHOP[count],
        Piece::Rook => ROOK[count],
        Piece::Queen => QUEEN[count],
        Piece::Pawn | Piece::King => Phased::default(),
    }
}

/// The fields that a piece attacks. Pawns are valued elsewhere, and the king should stay at home.
fn reach(board: &Board, piece: Piece, square: Square) -> BitBoard {
    let occupied = board.occupied();
    match piece {
        Piece::Knight => get_knight_moves(square),
        Piece::Bishop => get_bishop_moves(square, occupied),
        Piece::Rook => get_rook_moves(square, occupied),
        Piece::Queen => get_bishop_moves(square, occupied) | get_rook_moves(square, occupied),
        Piece::Pawn | Piece::King => BitBoard::EMPTY,
    }
}

/// The fields about a king, and those before them.
fn king_zone(king: Square, color: Color) -> BitBoard {
    let ring = get_king_moves(king) | king.bitboard();
    ring | BitBoard(match color {
        Color::White => ring.0 << 8,
        Color::Black => ring.0 >> 8,
    })
}

fn rook_file(board: &Board, rook: Square, color: Color) -> Phased {
    let pawns = board.pieces(Piece::Pawn) & rook.file().bitboard();
    if pawns.is_empty() {
        ROOK_ON_OPEN_FILE
    } else if (pawns & board.colors(color)).is_empty() {
        ROOK_ON_HALF_OPEN_FILE
    } else {
        Phased::default()
    }
}

/// How well the king's own pawns cover it.
fn shelter(board: &Board, color: Color) -> Phased {
    let king = board.king(color);
    let own = board.colored_pieces(color, Piece::Pawn);
    // Beside the king counts as before it.
    let from = match king.rank().relative_to(color) {
        Rank::First => pawns::ahead(king.rank(), color),
        _ => pawns::ahead(king.rank(), color) | king.rank().bitboard(),
    };
    let files = king.file().adjacent() | king.file().bitboard();
    let before = own & from & files;
    let mut sum = Phased::default();
    for file in File::ALL.map(File::bitboard) {
        if (files & file).is_empty() {
            continue;
        }
        if (before & file).is_empty() {
            sum += UNSHELTERED;
        }
        if (board.pieces(Piece::Pawn) & file).is_empty() {
            sum += OPEN_TO_THE_KING;
        }
    }
    sum
}

fn count(squares: BitBoard) -> i32 {
    squares.len().cast_signed()
}
