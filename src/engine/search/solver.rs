//! The exact value of a position, to the end of the game.
//!
//! Asked as a series of questions: is the value better than this? Each is a search with a null
//! window, which cuts most, and what was found answering one is in the table for the next. To ask
//! for a win or a loss that is near is to look no farther than that, so the questions begin near
//! and go on outwards, where a look costs more: in Connect Four this takes a third of the nodes, or
//! less, of going on from the middle (compare Pascal Pons, "Solving Connect 4: how to build a
//! perfect AI", 2015, and MTD(f): Plaat et al., "Best-first fixed-depth minimax algorithms", 1996).

use std::cmp::Ordering;

use super::budget::BudgetExhausted;
use super::pvs::{FULL_DEPTH, Searcher};
use super::search_window::{Bounds, NullWindow};
use super::{Evaluate, MoveStack, Score};

/// Ranges of so few pairs of plies are halved: beginning near would only add questions.
const BISECTION_RANGE_MAX: i32 = 7;

/// The part of a greater range that a question leaves to later ones: three of sixteen.
const OUTWARD_FRACTION: [i32; 2] = [13, 16];

/// How much of an estimate is a point, where points decide: no more than a first guess.
const ESTIMATE_PER_POINT: i32 = 12;

/// What has been proven of a position, and how.
#[derive(Debug)]
pub(super) struct Proof<M> {
    pub(super) bounds: Bounds,
    /// A move that is sure to reach the lower bound. None as long as that bound is not better than
    /// what was plain at a glance.
    pub(super) best_move: Option<M>,
    /// By how many points the seat to move may win, where points decide: the nearer, the fewer questions.
    pub(super) points_guess: i32,
}

impl<M: Copy> Proof<M> {
    /// What a glance tells of a position in which there is no outcome yet.
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

    /// A glance, and what is known by heart.
    pub(super) fn from_book<P: Evaluate<Move = M>>(pos: &P) -> Self {
        let mut proof = Self::from_static_bounds(pos);
        if let Some((outcome, _)) = pos.probe_book() {
            let book_bounds = outcome_bounds(outcome, pos.remaining_plies_max());
            proof.bounds = proof.bounds.intersect(book_bounds);
        }
        proof
    }

    /// The value, once it is known.
    pub(super) fn value(&self) -> Option<Score> {
        (self.bounds.lower == self.bounds.upper).then_some(self.bounds.lower)
    }

    /// Finds out first who wins, which is what a move must not change, and only then how soon.
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

    /// Goes on until the value is known, or the budget is spent.
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

    /// Finds out whether the value is better than `alpha`.
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

/// Exactly the best line of play from a position whose value is known, at most `plies` long.
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

/// What is known of the value where it is known who wins, but not how soon.
pub(super) fn outcome_bounds(outcome: Ordering, plies_left: u32) -> Bounds {
    match outcome {
        Ordering::Less => Bounds {
            upper: Score::loss_in(plies_left),
            ..Bounds::UNBOUNDED
        },
        Ordering::Equal => Bounds::exact(Score::DRAW),
        Ordering::Greater => Bounds {
            lower: Score::win_in(plies_left),
            ..Bounds::UNBOUNDED
        },
    }
}

/// A line by heart, as far as that goes: who wins keeps the win, and whoever loses, to whom all moves come to the
/// same, plays what looks best.
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

/// The first promising move that is worth at least `value`, which one of them is.
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

/// The score to ask about next, where points decide: first the guess, then twice as far from it with every
/// question, and once the value lies between two, halfway.
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

/// The score to ask about next: whether the value is better.
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
    // Each question has to leave less to ask.
    alpha.max(bounds.lower).min(bounds.upper.saturating_sub(1))
}

/// How much earlier than the last ply a win is, or a loss as a negative number, in pairs of plies;
/// 0 for a draw.
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
