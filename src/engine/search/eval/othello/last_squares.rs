//! The last few squares of a game, played out in full: so few that a table and an order by mobility
//! would cost more than they save. First comes what lies in a region with an odd number of free squares.

use super::parity::odd_quarters;
use super::{CORNERS, margin_at_end, stability_cut};
use crate::game::othello::{flipped_discs, neighbours, playable_squares};

/// With so many free squares or fewer the game is played out.
pub(super) const SQUARES_MAX: u32 = 7;

/// With so few nobody asks where discs can be played: to try is cheaper.
const FEW: u32 = 4;

/// Less than any margin.
const NOTHING: i32 = i32::MIN;

/// By how many discs the side to move, which can play on these squares, wins: the margin itself, or a
/// bound of it if it is outside of the window (alpha-beta, fail-soft). `visited` counts positions.
pub(super) fn margin(
    [own, other]: [u64; 2],
    squares: u64,
    [alpha, beta]: [i32; 2],
    visited: &mut u64,
) -> i32 {
    *visited += 1;
    let free = !(own | other);
    if free.count_ones() == 1 {
        return last(own, other, free);
    }
    if squares == 0 {
        let squares = playable_squares(other, own);
        if squares == 0 {
            return margin_at_end(own, other);
        }
        return -margin([other, own], squares, [-beta, -alpha], visited);
    }
    if let Some(bound) = stability_cut(own, other, alpha) {
        return bound;
    }
    let is_last_but_few = free.count_ones() <= FEW + 1;
    let odd = odd_quarters(free);
    let (first, then) = (squares & odd, squares & !odd);
    let mut best = NOTHING;
    for group in [
        first & CORNERS,
        first & !CORNERS,
        then & CORNERS,
        then & !CORNERS,
    ] {
        let mut rest = group;
        while rest != 0 {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let turned = flipped_discs(own, other, square);
            let after = [other ^ turned, own ^ turned ^ square];
            let window = [-beta, -alpha.max(best)];
            let value = if is_last_but_few {
                -few(after, free ^ square, window, false, visited)
            } else {
                -margin(after, playable_squares(after[0], after[1]), window, visited)
            };
            best = best.max(value);
            if best >= beta {
                return best;
            }
        }
    }
    best
}

/// What `margin` tells, with so few free squares that all of them are tried.
fn few(
    [own, other]: [u64; 2],
    free: u64,
    [alpha, beta]: [i32; 2],
    has_passed: bool,
    visited: &mut u64,
) -> i32 {
    *visited += 1;
    if free & (free - 1) == 0 {
        return last(own, other, free);
    }
    let odd = odd_quarters(free);
    let near = free & neighbours(other);
    let mut best = NOTHING;
    for group in [near & odd, near & !odd] {
        let mut rest = group;
        while rest != 0 {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let turned = flipped_discs(own, other, square);
            if turned == 0 {
                continue;
            }
            let after = [other ^ turned, own ^ turned ^ square];
            let window = [-beta, -alpha.max(best)];
            best = best.max(-few(after, free ^ square, window, false, visited));
            if best >= beta {
                return best;
            }
        }
    }
    if best != NOTHING {
        return best;
    }
    if has_passed {
        return margin_at_end(own, other);
    }
    -few([other, own], free, [-beta, -alpha], true, visited)
}

/// The margin where one square is free.
fn last(own: u64, other: u64, square: u64) -> i32 {
    let count = |discs: u64| discs.count_ones().cast_signed();
    let gained = flipped_discs(own, other, square);
    if gained != 0 {
        return 2 * count(own | gained | square) - 64;
    }
    let lost = flipped_discs(other, own, square);
    if lost != 0 {
        return 2 * count(own & !lost) - 64;
    }
    margin_at_end(own, other)
}
