//! Pawn structure: doubled, isolated, protected and passed pawns. The terms come from Berliner and
//! Slate. Kmoch, "Pawn power in chess", 1959, describes the kinds of pawns.

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square, get_pawn_attacks};

use super::tapered_score::TaperedScore;

/// Penalty for a doubled pawn: another pawn of its side is ahead of it on the same file.
const DOUBLED: TaperedScore = TaperedScore::new(-4, -8);

/// Penalty for an isolated pawn: its side has no pawns on the adjacent files.
const ISOLATED: TaperedScore = TaperedScore::new(-8, -11);

/// Bonus for a pawn that another pawn protects.
const PROTECTED: TaperedScore = TaperedScore::new(7, 6);

/// Bonus for a passed pawn, indexed by its rank as its own side sees the board.
const PASSED: [TaperedScore; Rank::NUM] =
    TaperedScore::table([0, 5, 0, 0, 20, 45, 45, 0], [0, 7, 14, 29, 55, 109, 159, 0]);

/// Penalty for a passed pawn that cannot advance because the square ahead of it is occupied. The
/// table is indexed by the pawn's rank as its own side sees the board.
const BLOCKED: [TaperedScore; Rank::NUM] =
    TaperedScore::table([0, 0, 0, 5, 20, 20, 33, 0], [0, 10, 13, 13, 19, 39, 93, 0]);

/// Weights of the two kings' distances to the square ahead of a passed pawn. The first weight
/// applies to the opposing king. The second weight applies to the pawn's own king. The weighted sum
/// of the distances is multiplied by the number of ranks that the pawn has advanced beyond its
/// third rank.
const KING_DISTANCE_WEIGHTS: [i32; 2] = [9, -6];

/// Returns the value of the pawn structure of `color`.
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

/// Returns the number of steps that a king needs from one square to another on an empty board.
pub(super) fn distance(from: Square, to: Square) -> i32 {
    let files = (from.file() as u8).abs_diff(to.file() as u8);
    let ranks = (from.rank() as u8).abs_diff(to.rank() as u8);
    i32::from(files.max(ranks))
}

/// Returns all squares ahead of a pawn on its own file and on the adjacent files.
fn front_span(pawn: Square, color: Color) -> BitBoard {
    let files = pawn.file().bitboard() | pawn.file().adjacent();
    files & ranks_ahead(pawn.rank(), color)
}

/// Returns all squares on the ranks ahead of `rank`, as `color` sees the board.
pub(super) fn ranks_ahead(rank: Rank, color: Color) -> BitBoard {
    let ranks = match color {
        // The shift is done in two steps, because a single shift by 64 bits would overflow.
        Color::White => (!0 << (8 * rank as u32)) << 8,
        Color::Black => (!0 >> (8 * (7 - rank as u32))) >> 8,
    };
    BitBoard(ranks)
}

/// Returns all squares that pawns of `color` attack.
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
