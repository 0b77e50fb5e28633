//! Solves Othello positions with few empty squares exactly. A transposition table and mobility
//! ordering would cost more time than they save in such positions. Moves in quadrants with an odd
//! number of empty squares come first.

use super::parity::odd_quarters;
use super::{CORNERS, final_margin, stability_cutoff};
use crate::game::othello::{flipped_discs, neighbours, playable_squares};
use crate::game::single_squares;

/// Maximum number of empty squares that the solver handles.
pub(super) const EMPTIES_MAX: u32 = 7;

/// Maximum number of empty squares at which the solver tries every square instead of listing the
/// legal moves. Computing the legal moves first would cost more time than it saves.
const TRY_ALL_EMPTIES_MAX: u32 = 4;

/// Value below every possible margin.
const NO_MARGIN: i32 = i32::MIN;

/// Returns the disc margin of the side to move, which can play on `squares`. If the margin is
/// outside the window, the result is a bound on it (fail-soft alpha-beta search). The function adds
/// the number of visited positions to `visited`.
pub(super) fn solve_margin(
    [own, other]: [u64; 2],
    squares: u64,
    [alpha, beta]: [i32; 2],
    visited: &mut u64,
) -> i32 {
    *visited += 1;
    let free = !(own | other);
    if free.count_ones() == 1 {
        return solve_last_square(own, other, free);
    }
    if squares == 0 {
        let squares = playable_squares(other, own);
        if squares == 0 {
            return final_margin(own, other);
        }
        return -solve_margin([other, own], squares, [-beta, -alpha], visited);
    }
    if let Some(bound) = stability_cutoff(own, other, alpha) {
        return bound;
    }
    let tries_all_next = free.count_ones() <= TRY_ALL_EMPTIES_MAX + 1;
    let odd = odd_quarters(free);
    let (odd_moves, even_moves) = (squares & odd, squares & !odd);
    let mut best = NO_MARGIN;
    for group in [
        odd_moves & CORNERS,
        odd_moves & !CORNERS,
        even_moves & CORNERS,
        even_moves & !CORNERS,
    ] {
        for square in single_squares(group) {
            let flipped = flipped_discs(own, other, square);
            let discs_after = [other ^ flipped, own ^ flipped ^ square];
            let window = [-beta, -alpha.max(best)];
            let value = if tries_all_next {
                -solve_by_trying_all(discs_after, free ^ square, window, false, visited)
            } else {
                -solve_margin(
                    discs_after,
                    playable_squares(discs_after[0], discs_after[1]),
                    window,
                    visited,
                )
            };
            best = best.max(value);
            if best >= beta {
                return best;
            }
        }
    }
    best
}

/// Solves the position like `solve_margin`, but tries every empty square next to an opposing disc
/// instead of computing the legal moves.
fn solve_by_trying_all(
    [own, other]: [u64; 2],
    free: u64,
    [alpha, beta]: [i32; 2],
    has_passed: bool,
    visited: &mut u64,
) -> i32 {
    *visited += 1;
    if free & (free - 1) == 0 {
        return solve_last_square(own, other, free);
    }
    let odd = odd_quarters(free);
    let adjacent = free & neighbours(other);
    let mut best = NO_MARGIN;
    for group in [adjacent & odd, adjacent & !odd] {
        for square in single_squares(group) {
            let flipped = flipped_discs(own, other, square);
            if flipped == 0 {
                continue;
            }
            let discs_after = [other ^ flipped, own ^ flipped ^ square];
            let window = [-beta, -alpha.max(best)];
            best = best.max(-solve_by_trying_all(
                discs_after,
                free ^ square,
                window,
                false,
                visited,
            ));
            if best >= beta {
                return best;
            }
        }
    }
    if best != NO_MARGIN {
        return best;
    }
    if has_passed {
        return final_margin(own, other);
    }
    -solve_by_trying_all([other, own], free, [-beta, -alpha], true, visited)
}

/// Returns the disc margin with best play of a position with one empty square.
fn solve_last_square(own: u64, other: u64, square: u64) -> i32 {
    let count = |discs: u64| discs.count_ones().cast_signed();
    let gained = flipped_discs(own, other, square);
    if gained != 0 {
        return 2 * count(own | gained | square) - 64;
    }
    let lost = flipped_discs(other, own, square);
    if lost != 0 {
        return 2 * count(own & !lost) - 64;
    }
    final_margin(own, other)
}
