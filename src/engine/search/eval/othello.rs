//! Othello evaluation: predicts the final disc margin with weights trained by self-play.
//!
//! In the middlegame, the number of discs means little, because nearly all discs can still change
//! sides. Stable discs can never be flipped. They first appear in the corners and then along the
//! edges. Mobility leads to stable discs, because a side with few moves must eventually give a
//! corner away (Rosenbloom, "A world-championship-level Othello program", 1982). Trained patterns
//! of edges, corners and lines capture both stability and mobility (`patterns`). Positions with few
//! empty squares are solved exactly.

mod endgame_solver;
mod parity;
mod patterns;
mod stable_discs;

use std::ops::RangeInclusive;

use crate::game::othello::{Move, Othello};
use crate::game::{Position, single_squares};
use crate::search::{Bounds, Evaluate, MoveStack, Score, VisibleFeatures};

use endgame_solver::EMPTIES_MAX;
use parity::odd_quarters;
pub use patterns::Features;
use stable_discs::stable_discs;

/// Number of squares on the board.
const SQUARE_COUNT: i32 = 64;

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// Range of empty-square counts in which move ordering evaluates the position after each move.
/// Within this range, the search may solve the endgame, so a better move order saves time. Below
/// this range, the evaluations take more time than the better move order saves.
const EVALUATED_ORDERING_EMPTIES: RangeInclusive<u32> = 12..=26;

/// In move ordering, the evaluation of the position after a move is divided by this number.
const RANK_VALUE_DIVISOR: i32 = 4;

impl Evaluate for Othello {
    /// Maximum number of plies left with twenty empty squares: twenty discs, and a pass before each
    /// of them except the first.
    const SOLVABLE_PLIES_MAX: u32 = 39;

    const SEATS_ALTERNATE: bool = true;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    /// Value of a lead by four discs.
    const FUTILITY_MARGIN: u32 = 4 * patterns::DISC_VALUE.unsigned_abs();

    const POINTS_MAX: i32 = SQUARE_COUNT;

    const SCORE_PER_POINT: i32 = patterns::DISC_VALUE;

    const ENHANCED_CUTOFF_PLIES_MIN: u32 = 2 * 10 - 1;

    /// The trained evaluation plays well even at low depth, so the lower levels need larger margins
    /// than the default.
    const DEPTHS_AND_MARGINS: [(u32, u32); 4] = [(1, 300), (1, 125), (2, 140), (4, 75)];

    fn evaluate(&self) -> Score {
        Score::estimate(patterns::evaluate(self))
    }

    /// Solves the position if few squares are empty. Otherwise, returns an upper bound if the
    /// opponent's stable discs prove that the margin is at most `alpha`.
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
        for square in single_squares(self.playable_squares()) {
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

    /// The parameter `note` holds the squares where the opponent can play after move `m`.
    #[inline]
    fn after_candidate(&self, m: Move, note: u64) -> Self {
        if m == Move::PASS {
            return self.after(m);
        }
        self.after_disc_with_playable(m.bit(), note)
    }

    fn visible_features(&self) -> VisibleFeatures {
        let corners = self.discs().map(|discs| (discs & CORNERS).count_ones());
        VisibleFeatures {
            corners: Some(self.turn().order_by_seat(corners)),
            mobility: Some(self.playable_squares().count_ones()),
            ..VisibleFeatures::default()
        }
    }

    /// Positions that differ only in colours share a key, because only the side to move matters.
    #[inline]
    fn key(&self) -> u64 {
        let [own, other] = self.discs();
        let mixed = own.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ other;
        mixed.wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// Each empty square may take two plies: a pass and a disc. The first pass is impossible if the
    /// side to move can play.
    #[inline]
    fn remaining_plies_max(&self) -> u32 {
        (2 * self.empties()).saturating_sub(u32::from(self.playable_squares() != 0))
    }
}

/// Returns the final disc margin of the side that has the discs `own`. Empty squares count for the
/// winner.
fn final_margin(own: u64, other: u64) -> i32 {
    let difference = count_squares(own) - count_squares(other);
    difference + difference.signum() * count_squares(!(own | other))
}

/// Returns an upper bound on the disc margin of the side to move, if the bound is at most `alpha`.
/// Each stable disc of the opponent lowers the bound by two.
#[inline]
fn stability_cutoff(own: u64, other: u64, alpha: i32) -> Option<i32> {
    let bound = |safe: u64| SQUARE_COUNT - 2 * count_squares(safe);
    if other & CORNERS == 0 || bound(other) > alpha {
        return None;
    }
    Some(bound(stable_discs(other, own))).filter(|bound| *bound <= alpha)
}

/// Ranks a move by the number of replies that it leaves to the opponent. Moves that leave fewer
/// replies rank higher, which is known as "fastest first". Corner moves get a bonus, and replies in
/// a corner count twice.
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
