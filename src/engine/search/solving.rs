//! The exact value of a position, to the end of the game.
//!
//! Asked as a series of questions: is the value better than this? Each is a search with a null
//! window, which cuts most, and what was found answering one is in the table for the next. To ask
//! for a win or a loss that is near is to look no farther than that, so the questions begin near
//! and go on outwards, where a look costs more: in Connect Four this takes a third of the nodes, or
//! less, of going on from the middle (compare Pascal Pons, "Solving Connect 4: how to build a
//! perfect AI", 2015, and MTD(f): Plaat et al., "Best-first fixed-depth minimax algorithms", 1996).

use std::cmp::Ordering;

use super::budget::Spent;
use super::pvs::{Searcher, TO_THE_END};
use super::window::{Bounds, NullWindow};
use super::{Evaluate, Moves, Score};

/// Ranges of so few pairs of plies are halved: beginning near would only add questions.
const HALVED_MAX: i32 = 7;

/// The part of a greater range that a question leaves to later ones: three of sixteen.
const OUTWARDS: [i32; 2] = [13, 16];

/// How much of an estimate is a point, where points decide: no more than a first guess.
const HUNDREDTHS_IN_POINT: i32 = 12;

/// What has been proven of a position, and how.
#[derive(Debug)]
pub(super) struct Proof<M> {
    pub(super) bounds: Bounds,
    /// A move that is sure to reach the lower bound. None as long as that bound is not better than
    /// what was plain at a glance.
    pub(super) best: Option<M>,
    /// By how many points the seat to move may win, where points decide: the nearer, the fewer questions.
    pub(super) guess: i32,
}

impl<M: Copy> Proof<M> {
    /// What a glance tells of a position in which there is no outcome yet.
    pub(super) fn glance<P: Evaluate<Move = M>>(pos: &P) -> Self {
        Self {
            bounds: pos.bounds(),
            best: None,
            guess: if P::POINTS_MAX > 0 {
                pos.evaluate().value() / HUNDREDTHS_IN_POINT
            } else {
                0
            },
        }
    }

    /// A glance, and what is known by heart.
    pub(super) fn by_heart<P: Evaluate<Move = M>>(pos: &P) -> Self {
        let mut proof = Self::glance(pos);
        if let Some((outcome, _)) = pos.by_heart() {
            let known = outcome_bounds(outcome, pos.plies_left());
            proof.bounds = proof.bounds.within(known);
        }
        proof
    }

    /// The value, once it is known.
    pub(super) fn value(&self) -> Option<Score> {
        (self.bounds.lower == self.bounds.upper).then_some(self.bounds.lower)
    }

    /// Finds out first who wins, which is what a move must not change, and only then how soon.
    pub(super) fn complete_outcome_first<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
    ) -> Result<(), Spent> {
        for alpha in [Score::DRAW, Score::DRAW.lowered(1)] {
            if self.bounds.lower <= alpha && alpha < self.bounds.upper {
                self.ask(search, pos, alpha)?;
            }
        }
        self.complete(search, pos)
    }

    /// Goes on until the value is known, or the budget is spent.
    pub(super) fn complete<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
    ) -> Result<(), Spent> {
        while self.bounds.lower < self.bounds.upper {
            let alpha = if P::POINTS_MAX > 0 {
                question_of_points(self.bounds, self.guess)
            } else {
                question(self.bounds, pos.plies_left())
            };
            self.ask(search, pos, alpha)?;
        }
        Ok(())
    }

    /// Finds out whether the value is better than `alpha`.
    fn ask<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        alpha: Score,
    ) -> Result<(), Spent> {
        search.root_best = None;
        let score = search.value(pos, TO_THE_END, 0, NullWindow { alpha })?;
        if score <= alpha {
            self.bounds.upper = score;
        } else {
            self.bounds.lower = score;
            self.best = search.root_best;
        }
        Ok(())
    }
}

/// Exactly the best line of play from a position whose value is known, at most `plies` long.
pub(super) fn line<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    value: Score,
    best: Option<P::Move>,
    plies: usize,
) -> Result<Vec<P::Move>, Spent> {
    let (mut pos, mut value) = (pos.clone(), value);
    let mut line = Vec::new();
    while line.len() < plies && pos.outcome().is_none() {
        let m = match best.filter(|_| line.is_empty()) {
            Some(m) => m,
            None => reaching(search, &pos, value)?,
        };
        line.push(m);
        let seat = pos.turn();
        pos.play_unchecked(m);
        value = value.sooner(1);
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
            ..Bounds::ANY
        },
        Ordering::Equal => Bounds::exactly(Score::DRAW),
        Ordering::Greater => Bounds {
            lower: Score::win_in(plies_left),
            ..Bounds::ANY
        },
    }
}

/// A line by heart, as far as that goes: who wins keeps the win, and whoever loses, to whom all moves come to the
/// same, plays what looks best.
pub(super) fn line_by_heart<P: Evaluate>(pos: &P) -> Vec<P::Move> {
    let mut pos = pos.clone();
    let mut line = Vec::new();
    while pos.outcome().is_none()
        && let Some((outcome, known)) = pos.by_heart()
    {
        let m = if outcome.is_lt() {
            most_promising(&pos)
        } else {
            known
        };
        line.push(m);
        pos.play_unchecked(m);
    }
    line
}

fn most_promising<P: Evaluate>(pos: &P) -> P::Move {
    let mut moves = Moves::new();
    pos.consider(&mut moves);
    moves.pick(0).m
}

/// The first promising move that is worth at least `value`, which one of them is.
fn reaching<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    value: Score,
) -> Result<P::Move, Spent> {
    let mut moves = search.promising(pos);
    let last = moves.pop().expect("there is no outcome yet");
    for m in moves {
        let below = NullWindow {
            alpha: value.lowered(1),
        };
        let score = search.child_value(pos.turn(), &pos.after(m), TO_THE_END - 1, 1, below)?;
        if score >= value {
            return Ok(m);
        }
    }
    Ok(last)
}

/// The score to ask about next, where points decide: first the guess, then twice as far from it with every
/// question, and once the value lies between two, halfway.
fn question_of_points(bounds: Bounds, guess: i32) -> Score {
    let (lower, upper) = (bounds.lower.points_above(), bounds.upper.points_below());
    let middle = (lower + upper).div_euclid(2);
    let next = if lower > guess {
        middle.min(2 * lower - guess)
    } else if upper < guess {
        middle.max(2 * upper - guess - 1)
    } else {
        guess
    };
    Score::won_by(next.clamp(lower, upper - 1))
}

/// The score to ask about next: whether the value is better.
fn question(bounds: Bounds, plies_left: u32) -> Score {
    let [lower, upper] = [bounds.lower, bounds.upper].map(|score| earliness(score, plies_left));
    let outer = if -lower >= upper { lower } else { upper };
    let inner = if outer.abs() <= HALVED_MAX {
        outer / 2
    } else {
        outer * OUTWARDS[0] / OUTWARDS[1]
    };
    let alpha = match inner {
        0 => Score::DRAW,
        win @ 1.. => Score::win_in((plies_left + 1).saturating_sub(2 * win.unsigned_abs())),
        loss => Score::loss_in((plies_left + 2).saturating_sub(2 * loss.unsigned_abs())),
    };
    // Each question has to leave less to ask.
    alpha.max(bounds.lower).min(bounds.upper.lowered(1))
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
