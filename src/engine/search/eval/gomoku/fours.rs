//! Wins by fours alone: every move threatens to complete a five, so that the other side has but
//! one reply, until there are two squares to complete one on. Since there is no choice for one
//! side and little for the other, such wins are found far beyond the depth of a search (Allis,
//! "Searching for Solutions in Games and Artificial Intelligence", 1994, section 5.3, threat-space
//! search, here with its strongest threats only).

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::game::gomoku::bitboard::Bitboard;

use super::windows::{fives, fives_and_fours};

/// Longer wins than this are not looked for.
const FOURS_MAX: u32 = 12;

/// With fewer fours left to make, to look again costs less than to remember.
const REMEMBERED_DEPTH_MIN: u32 = 2;

/// A win by fours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Win {
    /// The square of the first four.
    pub(super) first: u8,
    /// How many fours it takes; the five comes after the last.
    pub(super) fours: u32,
}

impl Win {
    /// How many plies it takes.
    pub(super) const fn plies(self) -> u32 {
        2 * self.fours + 1
    }
}

/// The shortest win by fours for the side with the stones `own`, which is to move and cannot
/// complete a five, if it is found by making at most so many fours. It makes a four on some of the squares
/// `fours`, and the other side threatens to complete a five on `threats`.
pub(super) fn find(
    [own, other]: [Bitboard; 2],
    fours: Bitboard,
    threats: Bitboard,
    fours_made_max: u32,
) -> Option<Win> {
    if fours.is_empty() {
        return None;
    }
    let board = Board {
        own,
        other,
        fours,
        new_fours: Bitboard::EMPTY,
        threats,
    };
    let mut look = Look {
        left: fours_made_max,
        cut_off: false,
        failed: HashMap::default(),
    };
    for depth in 1..=FOURS_MAX {
        look.cut_off = false;
        if let Some(first) = look.first_of_win(&board, depth) {
            return Some(Win {
                first,
                fours: depth,
            });
        }
        if !look.cut_off || look.left == 0 {
            return None;
        }
    }
    None
}

/// The stones where the attacker is to move.
struct Board {
    own: Bitboard,
    other: Bitboard,
    /// The squares that may make a four; some no longer do.
    fours: Bitboard,
    /// Those among them that do so with the latest stone: what leads on is most often one of these.
    new_fours: Bitboard,
    /// The squares on which the defender completes a five, unless it is stopped.
    threats: Bitboard,
}

struct Look {
    /// How many fours may still be made.
    left: u32,
    /// Whether something was left out for lack of depth.
    cut_off: bool,
    /// The positions that have been looked at in vain, and for how many fours. The same fours in
    /// another order most often lead to the same position.
    failed: HashMap<[Bitboard; 2], u32, FxBuildHasher>,
}

impl Look {
    /// The first square of a win by at most `depth` fours.
    fn first_of_win(&mut self, board: &Board, depth: u32) -> Option<u8> {
        if board.threats.has_multiple() {
            return None;
        }
        let stones = [board.own, board.other];
        if depth >= REMEMBERED_DEPTH_MIN
            && self
                .failed
                .get(&stones)
                .is_some_and(|fours| *fours >= depth)
        {
            self.cut_off = true;
            return None;
        }
        let mut squares = board.fours & !(board.own | board.other);
        if !board.threats.is_empty() {
            squares = squares & board.threats;
        }
        let (first, rest) = (squares & board.new_fours, squares & !board.new_fours);
        for square in first.into_iter().chain(rest) {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            if self.wins_with(board, square, depth) {
                return Some(square);
            }
        }
        if depth >= REMEMBERED_DEPTH_MIN {
            self.failed.insert(stones, depth);
        }
        None
    }

    /// Whether a stone on this square makes a four that begins a win by at most `depth` fours.
    fn wins_with(&mut self, board: &Board, square: u8, depth: u32) -> bool {
        let own = board.own | Bitboard::from_bit_index(square);
        let free = Bitboard::ALL & !(own | board.other);
        let [fives_to_come, fours] = fives_and_fours(own, free);
        if fives_to_come.is_empty() || fives_to_come.has_multiple() {
            return fives_to_come.has_multiple();
        }
        if depth == 1 {
            self.cut_off = true;
            return false;
        }
        let other = board.other | fives_to_come;
        let next = Board {
            own,
            other,
            fours,
            new_fours: fours & !board.fours,
            threats: fives(other, free & !fives_to_come),
        };
        self.first_of_win(&next, depth - 1).is_some()
    }
}
