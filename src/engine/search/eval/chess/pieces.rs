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
const KNIGHT: [Phased; 9] = phased([
    (-24, -35),
    (-20, -24),
    (-12, -9),
    (-6, -1),
    (0, 0),
    (7, 1),
    (14, 1),
    (21, 0),
    (25, 0),
]);
const BISHOP: [Phased; 14] = phased([
    (-28, -42),
    (-24, -34),
    (-17, -18),
    (-10, -15),
    (-5, -8),
    (-1, -4),
    (0, 0),
    (2, 1),
    (4, 1),
    (10, 0),
    (10, 0),
    (10, 0),
    (10, 0),
    (10, 0),
]);
const ROOK: [Phased; 15] = phased([
    (-30, -47),
    (-26, -43),
    (-18, -37),
    (-13, -27),
    (-9, -17),
    (-7, -8),
    (-4, -3),
    (0, 0),
    (4, 3),
    (9, 5),
    (14, 4),
    (17, 5),
    (28, 3),
    (35, 0),
    (44, 0),
]);
const QUEEN: [Phased; 28] = phased([
    (-48, -99),
    (-45, -95),
    (-40, -95),
    (-33, -95),
    (-27, -95),
    (-23, -93),
    (-17, -74),
    (-12, -54),
    (-9, -44),
    (-6, -35),
    (-3, -28),
    (-2, -16),
    (-2, -6),
    (0, 0),
    (0, 9),
    (0, 9),
    (0, 9),
    (2, 9),
    (8, 9),
    (14, 9),
    (20, 9),
    (24, 9),
    (26, 9),
    (26, 9),
    (26, 9),
    (26, 9),
    (26, 9),
    (26, 9),
]);

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

const fn phased<const N: usize>(pairs: [(i32, i32); N]) -> [Phased; N] {
    let mut all = [Phased::new(0, 0); N];
    let mut index = 0;
    while index < N {
        all[index] = Phased::new(pairs[index].0, pairs[index].1);
        index += 1;
    }
    all
}

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
