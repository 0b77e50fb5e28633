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

/// What a field that a piece can go to is worth, and how many of them are usual, by kind.
const MOBILITY: [(Phased, i32); Piece::NUM] = [
    (Phased::new(0, 0), 0),
    (Phased::new(5, 5), 4),
    (Phased::new(5, 5), 6),
    (Phased::new(3, 5), 7),
    (Phased::new(1, 3), 13),
    (Phased::new(0, 0), 0),
];

/// Two bishops see all fields together.
const BISHOP_PAIR: Phased = Phased::new(25, 50);

/// A rook on a file without pawns, and on one without pawns of its side.
const ROOK_ON_OPEN_FILE: Phased = Phased::new(28, 12);
const ROOK_ON_HALF_OPEN_FILE: Phased = Phased::new(12, 8);

/// What an attacked field beside the king weighs, by the kind of the attacker.
const ATTACK_UNITS: [i32; Piece::NUM] = [0, 2, 2, 3, 5, 0];

/// What the attack on a king is worth at most.
const ATTACK_MAX: i32 = 400;

/// For the three files about the king: one without a pawn of its side before it, and one without
/// any pawn.
const UNSHELTERED: i32 = -14;
const OPEN_TO_THE_KING: i32 = -14;

/// The pieces of a side, by where they stand and what they do.
pub(super) fn pieces(board: &Board, color: Color) -> Phased {
    let mut sum = Phased::default();
    let free = !(board.colors(color) | pawns::attacks(board, !color));
    let zone = king_zone(board.king(!color), !color);
    let (mut attackers, mut units) = (0, 0);
    for piece in Piece::ALL {
        let (each, usual) = MOBILITY[piece as usize];
        for square in board.colored_pieces(color, piece) {
            sum += squares::value(piece, square, color);
            let reach = reach(board, piece, square);
            sum += each * (count(reach & free) - usual);
            let attacked = count(reach & zone);
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
    // One attacker alone does no harm, and without a queen there seldom are enough.
    if attackers > 1 {
        let queens = board.colored_pieces(color, Piece::Queen);
        let attack = (units * units / 2).min(ATTACK_MAX);
        sum.middle += if queens.is_empty() {
            attack / 3
        } else {
            attack
        };
    }
    sum.middle += shelter(board, color);
    sum
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
fn shelter(board: &Board, color: Color) -> i32 {
    let king = board.king(color);
    let own = board.colored_pieces(color, Piece::Pawn);
    // Beside the king counts as before it.
    let from = match king.rank().relative_to(color) {
        Rank::First => pawns::ahead(king.rank(), color),
        _ => pawns::ahead(king.rank(), color) | king.rank().bitboard(),
    };
    let files = king.file().adjacent() | king.file().bitboard();
    let before = own & from & files;
    File::ALL
        .into_iter()
        .map(File::bitboard)
        .filter(|file| !(files & *file).is_empty())
        .map(|file| {
            let unsheltered = i32::from((before & file).is_empty());
            let open = i32::from((board.pieces(Piece::Pawn) & file).is_empty());
            UNSHELTERED * unsheltered + OPEN_TO_THE_KING * open
        })
        .sum()
}

fn count(squares: BitBoard) -> i32 {
    squares.len().cast_signed()
}
