//! Solver for wins by continuous fours (VCF) in Gomoku. Every move of the attacker makes a four,
//! which threatens to complete five in a row, so the defender has only one reply. The attacker wins
//! once there are two squares that complete five in a row. The attacker has few choices in each
//! position, and the defender has none. The solver therefore finds wins far beyond the depth of a
//! normal search. The method is Allis's threat-space search ("Searching for Solutions in Games and
//! Artificial Intelligence", 1994, section 5.3), limited to the strongest threats.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::game::gomoku::bitboard::Bitboard;

use super::line_windows::{fives, fives_and_fours};

/// Maximum number of fours in a win.
const FOURS_DEPTH_MAX: u32 = 12;

/// Minimum remaining depth at which the solver caches a position without a win. At smaller depths,
/// repeating the search costs less time than using the cache.
const CACHED_DEPTH_MIN: u32 = 2;

/// Win by continuous fours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VcfWin {
    /// Square of the first four.
    pub(super) first_square: u8,
    /// Number of fours that the attacker makes before the winning stone.
    pub(super) four_count: u32,
}

impl VcfWin {
    /// Returns the number of plies to the win.
    pub(super) const fn plies(self) -> u32 {
        2 * self.four_count + 1
    }
}

/// Returns the shortest win by fours for the side to move, which has the stones `own`. The side to
/// move must not be able to complete five in a row at once. `fours` are the squares where the side
/// to move may make a four. `threats` are the squares where the opponent could complete five in a
/// row. Returns `None` if the solver finds no win after trying at most `fours_made_max` fours.
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

/// Position with the attacker to move.
struct VcfPosition {
    own: Bitboard,
    other: Bitboard,
    /// Squares where the attacker may make a four. The defender's last stone may have blocked some
    /// of these fours.
    fours: Bitboard,
    /// Squares where the attacker's last stone made a new four possible. The solver tries these
    /// squares first, because they most often continue a win.
    new_fours: Bitboard,
    /// Squares where the defender completes five in a row with the next stone unless the attacker
    /// blocks it.
    threats: Bitboard,
}

struct VcfSearch {
    /// Number of fours that the solver may still try.
    fours_left: u32,
    /// Whether the depth limit stopped the search of a line that might still win with more fours.
    is_cut_off: bool,
    /// Positions where the search found no win. Each entry maps the stones of both sides to the
    /// maximum number of fours that was searched. Entries are reused, because the same fours in a
    /// different order often lead to the same position.
    refuted: HashMap<[Bitboard; 2], u32, FxBuildHasher>,
}

impl VcfSearch {
    /// Returns the first square of a win with at most `depth` fours.
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

    /// Returns whether a stone on this square makes a four that begins a win with at most `depth`
    /// fours.
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
