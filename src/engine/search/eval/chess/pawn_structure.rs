//! How pawns stand to each other: doubled, isolated, and passed (Berliner's and Slate's terms; for
//! their kinds see Kmoch, "Pawn power in chess", 1959).

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square, get_pawn_attacks};

use super::tapered_score::TaperedScore;

/// A pawn with another of its side before it on its file.
const DOUBLED: TaperedScore = TaperedScore::new(-4, -8);

/// A pawn without others on the files beside it.
const ISOLATED: TaperedScore = TaperedScore::new(-8, -11);

/// A pawn that another covers.
const PROTECTED: TaperedScore = TaperedScore::new(7, 6);

/// A pawn that no pawn can stop any more, by the ranks it has come.
const PASSED: [TaperedScore; Rank::NUM] =
    TaperedScore::table([0, 5, 0, 0, 20, 45, 45, 0], [0, 7, 14, 29, 55, 109, 159, 0]);

/// What is lost of that if it cannot step forward.
const BLOCKED: [TaperedScore; Rank::NUM] =
    TaperedScore::table([0, 0, 0, 5, 20, 20, 33, 0], [0, 10, 13, 13, 19, 39, 93, 0]);

/// For every step that the kings are away from the field before a passed pawn, the opponent's and
/// one's own, for every rank that it has come beyond its third.
const KING_DISTANCE_WEIGHTS: [i32; 2] = [9, -6];

/// What the pawns of a side are worth by how they stand.
pub(super) fn pawn_structure(board: &Board, color: Color) -> TaperedScore {
    let own = board.colored_pieces(color, Piece::Pawn);
    let others = board.colored_pieces(!color, Piece::Pawn);
    let mut sum = TaperedScore::default();
    for pawn in own {
        let front = front_span(pawn, color);
        let (file, adjacent_files) = (pawn.file().bitboard(), pawn.file().adjacent());
        if !(front & file & own).is_empty() {
            sum += DOUBLED;
        } else if (front & others).is_empty() {
            sum += passed_pawn_value(board, pawn, color);
        }
        if (adjacent_files & own).is_empty() {
            sum += ISOLATED;
        } else if !(get_pawn_attacks(pawn, !color) & own).is_empty() {
            sum += PROTECTED;
        }
    }
    sum
}

fn passed_pawn_value(board: &Board, pawn: Square, color: Color) -> TaperedScore {
    let rank = pawn.rank().relative_to(color) as usize;
    let next = pawn.offset(0, if color == Color::White { 1 } else { -1 });
    let king_distance = |color| distance(board.king(color), next);
    let mut value = PASSED[rank];
    let ranks_advanced = i32::from(pawn.rank().relative_to(color) as u8)
        .saturating_sub(2)
        .max(0);
    value.endgame += ranks_advanced
        * (KING_DISTANCE_WEIGHTS[0] * king_distance(!color)
            + KING_DISTANCE_WEIGHTS[1] * king_distance(color));
    if board.occupied().has(next) {
        value -= BLOCKED[rank];
    }
    value
}

/// How many steps a king needs.
pub(super) fn distance(from: Square, to: Square) -> i32 {
    let files = (from.file() as u8).abs_diff(to.file() as u8);
    let ranks = (from.rank() as u8).abs_diff(to.rank() as u8);
    i32::from(files.max(ranks))
}

/// The fields before a pawn, on its file and those beside it.
fn front_span(pawn: Square, color: Color) -> BitBoard {
    let files = pawn.file().bitboard() | pawn.file().adjacent();
    files & ranks_ahead(pawn.rank(), color)
}

/// The ranks beyond this one, as the side sees it.
pub(super) fn ranks_ahead(rank: Rank, color: Color) -> BitBoard {
    let ranks = match color {
        // The shifts lose what leaves the board.
        Color::White => (!0 << (8 * rank as u32)) << 8,
        Color::Black => (!0 >> (8 * (7 - rank as u32))) >> 8,
    };
    BitBoard(ranks)
}

/// All fields that pawns attack.
pub(super) fn pawn_attacks(board: &Board, color: Color) -> BitBoard {
    let pawns = board.colored_pieces(color, Piece::Pawn);
    let (west, east) = (
        (pawns & !File::A.bitboard()).0,
        (pawns & !File::H.bitboard()).0,
    );
    BitBoard(match color {
        Color::White => west << 7 | east << 9,
        Color::Black => west >> 9 | east >> 7,
    })
}
