//! Solves a position: finds its exact value by searching to the end of the game.
//!
//! The solver asks a series of questions: is the value better than a given score? Each question is
//! a null-window search, which prunes the most moves. It also reuses the table entries of earlier
//! questions.
//!
//! A question about a near win or loss needs only a shallow search. The solver therefore starts
//! with near results and continues with more distant results, which take more time. In Connect
//! Four, starting with near results needs at most a third of the nodes that starting in the middle
//! needs.
//!
//! For similar methods, see Pascal Pons, "Solving Connect 4: how to build a perfect AI", 2015, and
//! MTD(f): Plaat et al., "Best-first fixed-depth minimax algorithms", 1996.

use super::budget::BudgetExhausted;
use super::pvs::{FULL_DEPTH, Searcher};
use super::search_window::{Bounds, NullWindow};
use super::{Evaluate, MoveStack, Score};

/// Maximum size of a range of possible results that the solver bisects. The range is measured in
/// pairs of plies. In such a small range, starting with near results would only add questions.
const BISECTION_RANGE_MAX: i32 = 7;

/// If a range of results is too large to bisect, the solver asks about a score near the outer end
/// of the range. This fraction of the distance from a draw to the outer end determines the score.
/// Each question covers the outer three sixteenths of the range.
const OUTWARD_FRACTION: [i32; 2] = [13, 16];

/// Evaluation score that the solver treats as one point. The solver uses this number for its first
/// guess of the point margin.
const ESTIMATE_PER_POINT: i32 = 12;

/// Proven bounds of a position's value, and a move that reaches the lower bound.
#[derive(Debug)]
pub(super) struct Proof<M> {
    pub(super) bounds: Bounds,
    /// Move that is proven to reach the lower bound. `None` if the bound comes only from static
    /// bounds or the opening book.
    pub(super) best_move: Option<M>,
    /// Estimated point margin of the seat to move, in games decided by points. A better estimate
    /// reduces the number of null-window searches.
    pub(super) points_guess: i32,
}

impl<M: Copy> Proof<M> {
    /// Creates a proof from the static bounds of a position. The game must not be over.
    pub(super) fn from_static_bounds<P: Evaluate<Move = M>>(pos: &P) -> Self {
        Self {
            bounds: pos.static_bounds(),
            best_move: None,
            points_guess: if P::POINTS_MAX > 0 {
                pos.evaluate().value() / ESTIMATE_PER_POINT
            } else {
                0
            },
        }
    }

    /// Creates a proof from the static bounds and the opening book.
    pub(super) fn from_book<P: Evaluate<Move = M>>(pos: &P) -> Self {
        let mut proof = Self::from_static_bounds(pos);
        if let Some((outcome, _)) = pos.probe_book() {
            let win = Score::win_in(pos.remaining_plies_max());
            let book_bounds = Bounds::from_outcome(outcome, win);
            proof.bounds = proof.bounds.intersect(book_bounds);
        }
        proof
    }

    /// Returns the value, if it is proven.
    pub(super) fn value(&self) -> Option<Score> {
        (self.bounds.lower == self.bounds.upper).then_some(self.bounds.lower)
    }

    /// First proves who wins and then finds the exact value. The function proves the winner first,
    /// because the bot must not play a move that turns a win into a draw or loss.
    pub(super) fn solve_outcome_first<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
    ) -> Result<(), BudgetExhausted> {
        for alpha in [Score::DRAW, Score::DRAW.saturating_sub(1)] {
            if self.bounds.lower <= alpha && alpha < self.bounds.upper {
                self.test_bound(search, pos, alpha)?;
            }
        }
        self.solve(search, pos)
    }

    /// Asks questions until the value is proven or the budget is exhausted.
    pub(super) fn solve<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
    ) -> Result<(), BudgetExhausted> {
        while self.bounds.lower < self.bounds.upper {
            let alpha = if P::POINTS_MAX > 0 {
                next_alpha_by_points(self.bounds, self.points_guess)
            } else {
                next_alpha(self.bounds, pos.remaining_plies_max())
            };
            self.test_bound(search, pos, alpha)?;
        }
        Ok(())
    }

    /// Tests whether the value is better than `alpha` and updates the bounds.
    fn test_bound<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        alpha: Score,
    ) -> Result<(), BudgetExhausted> {
        search.root_best = None;
        let score = search.search_position(pos, FULL_DEPTH, 0, NullWindow { alpha })?;
        if score <= alpha {
            self.bounds.upper = score;
        } else {
            self.bounds.lower = score;
            self.best_move = search.root_best;
        }
        Ok(())
    }
}

/// Returns a line of best play, at most `plies` long, from a position whose value is known.
pub(super) fn principal_variation<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    value: Score,
    best_move: Option<P::Move>,
    plies: usize,
) -> Result<Vec<P::Move>, BudgetExhausted> {
    let (mut pos, mut value) = (pos.clone(), value);
    let mut line = Vec::new();
    while line.len() < plies && pos.outcome().is_none() {
        let m = match best_move.filter(|_| line.is_empty()) {
            Some(m) => m,
            None => find_move_reaching(search, &pos, value)?,
        };
        line.push(m);
        let seat = pos.turn();
        pos.play_unchecked(m);
        value = value.advanced_by(1);
        if pos.turn() != seat {
            value = -value;
        }
    }
    Ok(line)
}

/// Returns the line of play that the opening book gives for a position. The losing seat plays its
/// most promising move, because the book does not rank losing moves.
pub(super) fn book_line<P: Evaluate>(pos: &P) -> Vec<P::Move> {
    let mut pos = pos.clone();
    let mut line = Vec::new();
    while pos.outcome().is_none()
        && let Some((outcome, book_move)) = pos.probe_book()
    {
        let m = if outcome.is_lt() {
            most_promising_move(&pos)
        } else {
            book_move
        };
        line.push(m);
        pos.play_unchecked(m);
    }
    line
}

fn most_promising_move<P: Evaluate>(pos: &P) -> P::Move {
    let mut moves = MoveStack::new();
    pos.list_candidates(&mut moves);
    moves.pick(0).m
}

/// Returns the most promising move that has at least the given value. The caller must ensure that
/// such a move exists. If no other move reaches the value, the function therefore returns the last
/// move without a search.
fn find_move_reaching<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    value: Score,
) -> Result<P::Move, BudgetExhausted> {
    let mut moves = search.ordered_moves(pos);
    let last = moves.pop().expect("the game is not over");
    for m in moves {
        let null_window = NullWindow {
            alpha: value.saturating_sub(1),
        };
        let score =
            search.search_child(pos.turn(), &pos.after(m), FULL_DEPTH - 1, 1, null_window)?;
        if score >= value {
            return Ok(m);
        }
    }
    Ok(last)
}

/// Returns the next score to ask about in a game decided by points.
///
/// The first question is whether the value is better than the guessed point margin. Each further
/// question doubles the distance from the guess, but never goes beyond the middle of the remaining
/// range.
fn next_alpha_by_points(bounds: Bounds, points_guess: i32) -> Score {
    let (lower, upper) = (bounds.lower.points_ceil(), bounds.upper.points_floor());
    let middle = (lower + upper).div_euclid(2);
    let candidate = if lower > points_guess {
        middle.min(2 * lower - points_guess)
    } else if upper < points_guess {
        middle.max(2 * upper - points_guess - 1)
    } else {
        points_guess
    };
    Score::win_by_points(candidate.clamp(lower, upper - 1))
}

/// Returns the next score to ask about in a game not decided by points.
fn next_alpha(bounds: Bounds, plies_left: u32) -> Score {
    let [lower, upper] = [bounds.lower, bounds.upper].map(|score| earliness(score, plies_left));
    let outer = if -lower >= upper { lower } else { upper };
    let inner = if outer.abs() <= BISECTION_RANGE_MAX {
        outer / 2
    } else {
        outer * OUTWARD_FRACTION[0] / OUTWARD_FRACTION[1]
    };
    let alpha = match inner {
        0 => Score::DRAW,
        win @ 1.. => Score::win_in((plies_left + 1).saturating_sub(2 * win.unsigned_abs())),
        loss => Score::loss_in((plies_left + 2).saturating_sub(2 * loss.unsigned_abs())),
    };
    // The score must lie within the bounds, because otherwise the question would not narrow them.
    alpha.max(bounds.lower).min(bounds.upper.saturating_sub(1))
}

/// Returns the distance from a win to the last possible ply of the game, in pairs of plies. The
/// result is negative for a loss and 0 for a draw. The solver uses this distance to choose its next
/// question.
fn earliness(score: Score, plies_left: u32) -> i32 {
    let Some(plies) = score.plies_to_end() else {
        return 0;
    };
    let pairs = (plies_left + 1)
        .saturating_sub(plies)
        .div_ceil(2)
        .cast_signed();
    if score > Score::DRAW { pairs } else { -pairs }
}
