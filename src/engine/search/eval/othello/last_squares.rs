//! The last few squares of a game, played out in full: so few that a table, an order and an estimate
//! would cost more than they save.

use std::cmp::Ordering;

use crate::game::othello::{targets, turned};

/// With so many free squares or fewer the game is played out.
pub(super) const SQUARES_MAX: u32 = 6;

/// Whether the side to move, which can play on these squares, will have more discs at the end than
/// the other, as many, or fewer.
pub(super) fn result(own: u64, other: u64, squares: u64) -> Ordering {
    best(own, other, squares, Ordering::Less, Ordering::Greater)
}

/// The result, or a bound of it if it is outside of the window (alpha-beta, fail-soft).
fn best(own: u64, other: u64, squares: u64, mut alpha: Ordering, beta: Ordering) -> Ordering {
    if squares == 0 {
        let squares = targets(other, own);
        if squares == 0 {
            return own.count_ones().cmp(&other.count_ones());
        }
        return best(other, own, squares, beta.reverse(), alpha.reverse()).reverse();
    }
    let mut best_yet = Ordering::Less;
    let mut rest = squares;
    while rest != 0 {
        let square = rest & rest.wrapping_neg();
        rest ^= square;
        let turned = turned(own, other, square);
        let (own, other) = (other ^ turned, own ^ turned ^ square);
        let answers = targets(own, other);
        let value = best(own, other, answers, beta.reverse(), alpha.reverse()).reverse();
        if value >= beta {
            return value;
        }
        best_yet = best_yet.max(value);
        alpha = alpha.max(value);
    }
    best_yet
}
