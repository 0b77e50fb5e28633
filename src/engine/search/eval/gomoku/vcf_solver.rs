//! Wins by fours alone: every move threatens to complete a five, so that the other side has but
//! one reply, until there are two squares to complete one on. Since there is no choice for one
//! side and little for the other, such wins are found far beyond the depth of a search (Allis,
//! "Searching for Solutions in Games and Artificial Intelligence", 1994, section 5.3, threat-space
//! search, here with its strongest threats only).

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::game::gomoku::bitboard::Bitboard;

use super::line_windows::{fives, fives_and_fours};

/// Longer wins than this are not looked for.
const FOURS_DEPTH_MAX: u32 = 12;

/// With fewer fours left to make, to look again costs less than to remember.
const CACHED_DEPTH_MIN: u32 = 2;

/// A win by fours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VcfWin {
    /// The square of the first four.
    pub(super) first_square: u8,
    /// How many fours it takes; the five comes after the last.
    pub(super) four_count: u32,
}

impl VcfWin {
    /// How many plies it takes.
    pub(super) const fn plies(self) -> u32 {
        2 * self.four_count + 1
    }
}

/// The shortest win by fours for the side with the stones `own`, which is to move and cannot
/// complete a five, if it is found by making at most so many fours. It makes a four on some of the squares
/// `fours`, and the other side threatens to complete a five on `threats`.
pub(super) fn find_vcf(
    [own, other]: [Bitboard; 2],
    fours: Bitboard,
    threats: Bitboard,
    fours_made_max: u32,
) -> Option<VcfWin> {
    if fours.is_empty() {
        return None;
    }
    let board = VcfPosition {
        own,
        other,
        fours,
        new_fours: Bitboard::EMPTY,
        threats,
    };
    let mut search = VcfSearch {
        fours_left: fours_made_max,
        is_cut_off: false,
        refuted: HashMap::default(),
    };
    for depth in 1..=FOURS_DEPTH_MAX {
        search.is_cut_off = false;
        if let Some(first) = search.find_first_square(&board, depth) {
            return Some(VcfWin {
                first_square: first,
                four_count: depth,
            });
        }
        if !search.is_cut_off || search.fours_left == 0 {
            return None;
        }
    }
    None
}

/// The stones where the attacker is to move.
struct VcfPosition {
    own: Bitboard,
    other: Bitboard,
    /// The squares that may make a four; some no longer do.
    fours: Bitboard,
    /// Those among them that do so with the latest stone: what leads on is most often one of these.
    new_fours: Bitboard,
    /// The squares on which the defender completes a five, unless it is stopped.
    threats: Bitboard,
}

struct VcfSearch {
    /// How many fours may still be made.
    fours_left: u32,
    /// Whether something was left out for lack of depth.
    is_cut_off: bool,
    /// The positions that have been looked at in vain, and for how many fours. The same fours in
    /// another order most often lead to the same position.
    refuted: HashMap<[Bitboard; 2], u32, FxBuildHasher>,
}

impl VcfSearch {
    /// The first square of a win by at most `depth` fours.
    fn find_first_square(&mut self, board: &VcfPosition, depth: u32) -> Option<u8> {
        if board.threats.has_multiple() {
            return None;
        }
        let stones = [board.own, board.other];
        if depth >= CACHED_DEPTH_MIN
            && self
                .refuted
                .get(&stones)
                .is_some_and(|fours| *fours >= depth)
        {
            self.is_cut_off = true;
            return None;
        }
        let mut squares = board.fours & !(board.own | board.other);
        if !board.threats.is_empty() {
            squares = squares & board.threats;
        }
        let (newest, others) = (squares & board.new_fours, squares & !board.new_fours);
        for square in newest.into_iter().chain(others) {
            if self.fours_left == 0 {
                return None;
            }
            self.fours_left -= 1;
            if self.wins_by_four_on(board, square, depth) {
                return Some(square);
            }
        }
        if depth >= CACHED_DEPTH_MIN {
            self.refuted.insert(stones, depth);
        }
        None
    }

    /// Whether a stone on this square makes a four that begins a win by at most `depth` fours.
    fn wins_by_four_on(&mut self, board: &VcfPosition, square: u8, depth: u32) -> bool {
        let own = board.own | Bitboard::from_bit_index(square);
        let free = Bitboard::ALL & !(own | board.other);
        let [completing_squares, fours] = fives_and_fours(own, free);
        if completing_squares.is_empty() || completing_squares.has_multiple() {
            return completing_squares.has_multiple();
        }
        if depth == 1 {
            self.is_cut_off = true;
            return false;
        }
        let other = board.other | completing_squares;
        let next = VcfPosition {
            own,
            other,
            fours,
            new_fours: fours & !board.fours,
            threats: fives(other, free & !completing_squares),
        };
        self.find_first_square(&next, depth - 1).is_some()
    }
}
