//! How pawns stand to each other: doubled, isolated, and passed (Berliner's and Slate's terms; for
//! their kinds see Kmoch, "Pawn power in chess", 1959).

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square, get_pawn_attacks};

use super::phased::Phased;

/// A pawn with another of its side before it on its file.
const DOUBLED: Phased = Phased::new(-8, -18);

/// A pawn without others on the files beside it.
const ISOLATED: Phased = Phased::new(-12, -12);

/// A pawn that another covers.
const COVERED: Phased = Phased::new(8, 6);

/// A pawn that no pawn can stop any more, by the ranks it has come.
const PASSED: [Phased; Rank::NUM] = [
    Phased::new(0, 0),
    Phased::new(2, 10),
    Phased::new(2, 15),
    Phased::new(8, 30),
    Phased::new(25, 55),
    Phased::new(50, 95),
    Phased::new(85, 150),
    Phased::new(0, 0),
];

/// For every step that the opponent's king is farther from the field before a passed pawn than one's
/// own, in the end, by the ranks it has come.
const ESCORTED: [i32; Rank::NUM] = [0, 0, 0, 3, 6, 10, 13, 0];

/// The part of a passed pawn's worth that is left when it cannot step forward.
const BLOCKED: [i32; 2] = [2, 3];

/// What the pawns of a side are worth by how they stand.
pub(super) fn pawns(board: &Board, color: Color) -> Phased {
    let own = board.colored_pieces(color, Piece::Pawn);
    let others = board.colored_pieces(!color, Piece::Pawn);
    let mut sum = Phased::default();
    for pawn in own {
        let front = front(pawn, color);
        let (file, beside) = (pawn.file().bitboard(), pawn.file().adjacent());
        if !(front & file & own).is_empty() {
            sum += DOUBLED;
        } else if (front & others).is_empty() {
            sum += passed(board, pawn, color);
        }
        if (beside & own).is_empty() {
            sum += ISOLATED;
        } else if !(get_pawn_attacks(pawn, !color) & own).is_empty() {
            sum += COVERED;
        }
    }
    sum
}

fn passed(board: &Board, pawn: Square, color: Color) -> Phased {
    let rank = pawn.rank().relative_to(color) as usize;
    let next = pawn.offset(0, if color == Color::White { 1 } else { -1 });
    let steps = |color| distance(board.king(color), next);
    let mut worth = PASSED[rank];
    worth.end += ESCORTED[rank] * (2 * steps(!color) - steps(color));
    if board.occupied().has(next) {
        let [part, whole] = BLOCKED;
        worth = Phased::new(worth.middle * part / whole, worth.end * part / whole);
    }
    worth
}

/// How many steps a king needs.
pub(super) fn distance(from: Square, to: Square) -> i32 {
    let files = (from.file() as u8).abs_diff(to.file() as u8);
    let ranks = (from.rank() as u8).abs_diff(to.rank() as u8);
    i32::from(files.max(ranks))
}

/// The fields before a pawn, on its file and those beside it.
fn front(pawn: Square, color: Color) -> BitBoard {
    let files = pawn.file().bitboard() | pawn.file().adjacent();
    files & ahead(pawn.rank(), color)
}

/// The ranks beyond this one, as the side sees it.
pub(super) fn ahead(rank: Rank, color: Color) -> BitBoard {
    let ranks = match color {
        // The shifts lose what leaves the board.
        Color::White => (!0 << (8 * rank as u32)) << 8,
        Color::Black => (!0 >> (8 * (7 - rank as u32))) >> 8,
    };
    BitBoard(ranks)
}

/// All fields that pawns attack.
pub(super) fn attacks(board: &Board, color: Color) -> BitBoard {
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
