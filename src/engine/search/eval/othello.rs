//! Othello at a glance: what the discs will come to, as self-play has taught.
//!
//! Discs in the middle of a game mean nothing: nearly all of them change sides. What lasts is
//! stability, which begins in corners and grows along edges, and what leads there is mobility: a side
//! that has few moves must in the end play one that gives a corner away (Rosenbloom, "A
//! world-championship-level Othello program", 1982). How edges, corners and lines lie tells of both, and what
//! that is worth is learnt (`patterns`). Ends are played out by discs.

mod endgame_solver;
mod parity;
mod patterns;
mod stable_discs;

use std::ops::RangeInclusive;

use crate::game::othello::{Move, Othello};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, MoveStack, Score, Strength, VisibleFeatures};

use endgame_solver::EMPTIES_MAX;
use parity::odd_quarters;
pub use patterns::Features;
use stable_discs::stable_discs;

/// So many squares the board has.
const SQUARE_COUNT: i32 = 64;

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// With so many free squares the end may be solved, and what follows is worth a better order of moves: by what
/// they seem to be worth. With fewer that costs more than it saves.
const EVALUATED_ORDERING_EMPTIES: RangeInclusive<u32> = 12..=26;

/// How much of what a move seems to be worth counts for its rank.
const RANK_VALUE_DIVISOR: i32 = 4;

impl Evaluate for Othello {
    /// With twenty free squares.
    const SOLVABLE_PLIES_MAX: u32 = 39;

    const SEATS_ALTERNATE: bool = true;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    /// Four discs.
    const FUTILITY_MARGIN: u32 = 4 * patterns::DISC_VALUE.unsigned_abs();

    const POINTS_MAX: i32 = SQUARE_COUNT;

    const SCORE_PER_POINT: i32 = patterns::DISC_VALUE;

    const ENHANCED_CUTOFF_PLIES_MIN: u32 = 2 * 10 - 1;

    /// What is learnt sees so much at a glance that lower levels have to be content with more.
    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(300), avoids_loss_in_one: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(125), avoids_loss_in_one: false },
            Level::Medium   => Strength { depth: 2,        margin: Some(140), avoids_loss_in_one: true },
            Level::Hard     => Strength { depth: 4,        margin: Some(75),  avoids_loss_in_one: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      avoids_loss_in_one: true },
        }
    }

    fn evaluate(&self) -> Score {
        Score::estimate(patterns::evaluate(self))
    }

    /// Once few squares are left, the game is played out; before that discs that are safe may be enough.
    #[inline]
    fn solve_directly(&self, alpha: Score, beta: Score, visited: &mut u64) -> Option<Score> {
        let [own, other] = self.discs();
        let window = [alpha.points_floor(), beta.points_ceil()];
        let margin = if self.empties() <= EMPTIES_MAX {
            Some(endgame_solver::solve_margin(
                [own, other],
                self.playable_squares(),
                window,
                visited,
            ))
        } else {
            stability_cutoff(own, other, window[0])
        };
        margin.map(Score::win_by_points)
    }

    fn list_candidates(&self, moves: &mut MoveStack<Move>) -> Bounds {
        if self.playable_squares() == 0 {
            moves.push_legal(self);
            return Bounds::UNBOUNDED;
        }
        let [own, other] = self.discs();
        let odd_squares = odd_quarters(!(own | other));
        let uses_evaluation = EVALUATED_ORDERING_EMPTIES.contains(&self.empties());
        let mut remaining = self.playable_squares();
        while remaining != 0 {
            let square = remaining & remaining.wrapping_neg();
            remaining ^= square;
            let child = self.after_disc(square);
            let mut rank =
                rank_by_mobility(&child, square) + 2 * count_squares(square & odd_squares);
            if uses_evaluation {
                rank -= patterns::evaluate(&child) / RANK_VALUE_DIVISOR;
            }
            moves.push(
                Move::from_lowest_square(square),
                rank,
                child.playable_squares(),
            );
        }
        Bounds::UNBOUNDED
    }

    /// The note is what the other side can play on then.
    #[inline]
    fn after_candidate(&self, m: Move, note: u64) -> Self {
        if m == Move::PASS {
            return self.after(m);
        }
        self.after_disc_with_playable(m.bit(), note)
    }

    fn visible_features(&self) -> VisibleFeatures {
        let mut corners = self.discs().map(|discs| (discs & CORNERS).count_ones());
        if self.turn() == Seat::Second {
            corners.reverse();
        }
        VisibleFeatures {
            corners: Some(corners),
            mobility: Some(self.playable_squares().count_ones()),
            ..VisibleFeatures::default()
        }
    }

    /// Positions share a key if they differ in colours alone: all that counts is who moves.
    #[inline]
    fn key(&self) -> u64 {
        let [own, other] = self.discs();
        let mixed = own.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ other;
        mixed.wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// Each square, and before each but the first perhaps a pass.
    #[inline]
    fn remaining_plies_max(&self) -> u32 {
        (2 * self.empties()).saturating_sub(u32::from(self.playable_squares() != 0))
    }
}

/// By how many discs a side has won a game that is over: the free squares are the winner's.
fn final_margin(own: u64, other: u64) -> i32 {
    let difference = count_squares(own) - count_squares(other);
    difference + difference.signum() * count_squares(!(own | other))
}

/// What the side to move wins by at most, if that is no more than `alpha`: discs that the other side has
/// for good, and twice as many, are missing in the end.
#[inline]
fn stability_cutoff(own: u64, other: u64, alpha: i32) -> Option<i32> {
    let bound = |safe: u64| SQUARE_COUNT - 2 * count_squares(safe);
    if other & CORNERS == 0 || bound(other) > alpha {
        return None;
    }
    Some(bound(stable_discs(other, own))).filter(|bound| *bound <= alpha)
}

/// The fewer answers a move leaves, the earlier it is tried ("fastest first"), corners above all.
fn rank_by_mobility(child: &Othello, square: u64) -> i32 {
    let reply_count =
        count_squares(child.playable_squares()) + count_squares(child.playable_squares() & CORNERS);
    8 * count_squares(square & CORNERS) - 4 * reply_count
}

#[inline]
fn count_squares(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
