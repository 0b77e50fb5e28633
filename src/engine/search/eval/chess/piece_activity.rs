//! Piece activity: mobility, rooks on open files, threats, king shelter and attacks on the king.
//! The mobility term follows Slater, "Statistics for the chess computer and the factor of
//! mobility", 1950. The attack units follow the chess programming wiki, "King safety".

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, Rank, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

use super::pawn_structure;
use super::piece_square_tables;
use super::tapered_score::TaperedScore;

/// Mobility values, indexed by the number of squares that a piece can safely go to. A typical
/// number of squares has the value 0.
const KNIGHT_MOBILITY: [TaperedScore; 9] = TaperedScore::table(
    [-24, -20, -12, -6, 0, 7, 14, 21, 25],
    [-35, -24, -9, -1, 0, 1, 1, 0, 0],
);
const BISHOP_MOBILITY: [TaperedScore; 14] = TaperedScore::table(
    [-28, -24, -17, -10, -5, -1, 0, 2, 4, 10, 10, 10, 10, 10],
    [-42, -34, -18, -15, -8, -4, 0, 1, 1, 0, 0, 0, 0, 0],
);
const ROOK_MOBILITY: [TaperedScore; 15] = TaperedScore::table(
    [-30, -26, -18, -13, -9, -7, -4, 0, 4, 9, 14, 17, 28, 35, 44],
    [-47, -43, -37, -27, -17, -8, -3, 0, 3, 5, 4, 5, 3, 0, 0],
);
const QUEEN_MOBILITY: [TaperedScore; 28] = TaperedScore::table(
    [
        -48, -45, -40, -33, -27, -23, -17, -12, -9, -6, -3, -2, -2, 0, 0, 0, 0, 2, 8, 14, 20, 24,
        26, 26, 26, 26, 26, 26,
    ],
    [
        -99, -95, -95, -95, -95, -93, -74, -54, -44, -35, -28, -16, -6, 0, 9, 9, 9, 9, 9, 9, 9, 9,
        9, 9, 9, 9, 9, 9,
    ],
);

/// Bonus for two bishops, which together can reach squares of both colours.
const BISHOP_PAIR: TaperedScore = TaperedScore::new(18, 43);

/// Bonus for a rook on a file without any pawns. `ROOK_ON_HALF_OPEN_FILE` is the bonus for a rook
/// on a file that has only opposing pawns.
const ROOK_ON_OPEN_FILE: TaperedScore = TaperedScore::new(34, 0);
const ROOK_ON_HALF_OPEN_FILE: TaperedScore = TaperedScore::new(10, 19);

/// Bonus for attacking a piece with a pawn. `ATTACKED_BY_MINOR` is the bonus for attacking a rook
/// or queen with a knight or bishop.
const ATTACKED_BY_PAWN: TaperedScore = TaperedScore::new(69, 58);
const ATTACKED_BY_MINOR: TaperedScore = TaperedScore::new(62, 34);

/// Attack units for a piece that attacks the opposing king zone, indexed by piece kind. Each
/// attacked square of the king zone adds the attack units of the attacking piece.
const ATTACK_UNITS: [u32; Piece::NUM] = [0, 2, 2, 3, 5, 0];

/// Middlegame bonus for attacking the opposing king with two or more pieces, indexed by half the
/// number of attack units.
const KING_ATTACK: [i32; 20] = [
    0, 3, 12, 15, 22, 30, 32, 36, 42, 58, 72, 74, 84, 115, 130, 160, 205, 235, 280, 300,
];

/// Value of a file without shelter pawns, if the king is on this file or an adjacent one.
/// `OPEN_KING_FILE` is added if the file has no pawns at all.
const NO_SHELTER_PAWN: TaperedScore = TaperedScore::new(-28, 11);
const OPEN_KING_FILE: TaperedScore = TaperedScore::new(-4, -12);

/// Returns the value of all pieces of `color`. The value includes material, piece squares, piece
/// activity and king shelter.
pub(super) fn piece_activity(board: &Board, color: Color) -> TaperedScore {
    let opposing = board.colors(!color);
    let safe_squares = !(board.colors(color) | pawn_structure::pawn_attacks(board, !color));
    let major = opposing & (board.pieces(Piece::Rook) | board.pieces(Piece::Queen));
    let opposing_king_zone = king_zone(board.king(!color), !color);
    let (mut attackers, mut units) = (0, 0);
    let mut sum = king_shelter(board, color);
    for piece in Piece::ALL {
        for square in board.colored_pieces(color, piece) {
            sum += piece_square_tables::piece_square_value(piece, square, color);
            let piece_attacks = attacked_squares(board, piece, square);
            sum += mobility(piece, piece_attacks & safe_squares);
            if matches!(piece, Piece::Knight | Piece::Bishop) {
                sum += ATTACKED_BY_MINOR * square_count(piece_attacks & major);
            }
            let zone_attacks = (piece_attacks & opposing_king_zone).len();
            if zone_attacks > 0 {
                attackers += 1;
                units += ATTACK_UNITS[piece as usize] * zone_attacks;
            }
        }
    }
    if board.colored_pieces(color, Piece::Bishop).len() > 1 {
        sum += BISHOP_PAIR;
    }
    for rook in board.colored_pieces(color, Piece::Rook) {
        sum += rook_file(board, rook, color);
    }
    let pawns_and_kings = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    sum += ATTACKED_BY_PAWN
        * square_count(pawn_structure::pawn_attacks(board, color) & opposing & !pawns_and_kings);
    // The bonus for a king attack requires at least two attacking pieces.
    if attackers > 1 {
        sum.middlegame += KING_ATTACK[(units as usize / 2).min(KING_ATTACK.len() - 1)];
    }
    sum
}

/// Returns the mobility value of a piece that can safely go to `squares`.
fn mobility(piece: Piece, squares: BitBoard) -> TaperedScore {
    let count = squares.len() as usize;
    match piece {
        Piece::Knight => KNIGHT_MOBILITY[count],
        Piece::Bishop => BISHOP_MOBILITY[count],
        Piece::Rook => ROOK_MOBILITY[count],
        Piece::Queen => QUEEN_MOBILITY[count],
        Piece::Pawn | Piece::King => TaperedScore::default(),
    }
}

/// Returns the squares that a piece attacks. The set is empty for pawns, which are evaluated
/// separately, and for kings, whose mobility earns no bonus.
fn attacked_squares(board: &Board, piece: Piece, square: Square) -> BitBoard {
    let occupied = board.occupied();
    match piece {
        Piece::Knight => get_knight_moves(square),
        Piece::Bishop => get_bishop_moves(square, occupied),
        Piece::Rook => get_rook_moves(square, occupied),
        Piece::Queen => get_bishop_moves(square, occupied) | get_rook_moves(square, occupied),
        Piece::Pawn | Piece::King => BitBoard::EMPTY,
    }
}

/// Returns the king zone. The king zone contains the king's square and the adjacent squares. It
/// also contains every square that is one rank ahead of such a square.
fn king_zone(king: Square, color: Color) -> BitBoard {
    let ring = get_king_moves(king) | king.bitboard();
    ring | BitBoard(match color {
        Color::White => ring.0 << 8,
        Color::Black => ring.0 >> 8,
    })
}

fn rook_file(board: &Board, rook: Square, color: Color) -> TaperedScore {
    let pawns = board.pieces(Piece::Pawn) & rook.file().bitboard();
    if pawns.is_empty() {
        ROOK_ON_OPEN_FILE
    } else if (pawns & board.colors(color)).is_empty() {
        ROOK_ON_HALF_OPEN_FILE
    } else {
        TaperedScore::default()
    }
}

/// Returns the value of the pawn shelter of a king.
fn king_shelter(board: &Board, color: Color) -> TaperedScore {
    let king = board.king(color);
    let own = board.colored_pieces(color, Piece::Pawn);
    // Pawns beside the king also count as shelter. A king on its first rank cannot have pawns
    // beside it.
    let shelter_ranks = match king.rank().relative_to(color) {
        Rank::First => pawn_structure::ranks_ahead(king.rank(), color),
        _ => pawn_structure::ranks_ahead(king.rank(), color) | king.rank().bitboard(),
    };
    let files = king.file().adjacent() | king.file().bitboard();
    let shelter_pawns = own & shelter_ranks & files;
    let mut sum = TaperedScore::default();
    for file in File::ALL.map(File::bitboard) {
        if (files & file).is_empty() {
            continue;
        }
        if (shelter_pawns & file).is_empty() {
            sum += NO_SHELTER_PAWN;
        }
        if (board.pieces(Piece::Pawn) & file).is_empty() {
            sum += OPEN_KING_FILE;
        }
    }
    sum
}

fn square_count(squares: BitBoard) -> i32 {
    squares.len().cast_signed()
}
