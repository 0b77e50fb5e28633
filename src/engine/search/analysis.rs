//! Everything about one position: the value of every move, not of the best alone (multi-PV).
//!
//! Where the end of the game can be seen, every move is solved by itself, the best first: what one
//! needed is in the table for the next. Elsewhere all moves are looked at in full at every depth.

use super::alpha_beta::alpha_beta;
use super::budget::{Budget, Spent};
use super::deepening::deepen_until;
use super::minimax::{Scale, minimax};
use super::pvs::Searcher;
use super::report::{Certainty, MoveValue};
use super::solving::{self, Proof};
use super::{Evaluate, FIRST_LOOK, Limits, Report, Score, Stop, Table, first_look, with_help};
use crate::game::GameHistory;

/// A search as the textbooks print it, to see what each idea saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every line of play, see `minimax`.
    Minimax,
    /// What cannot matter is left out, see `alpha_beta`.
    AlphaBeta,
}

/// Values the position on the board and every move, best first, as well as the limits allow; `None` once there is an
/// outcome.
///
/// `watch` is told what is known after every depth, and of every move that has been solved.
#[must_use]
pub fn analyse<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &mut Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    if let (Some(player), None) = (P::PLAYOUTS, limits.depth) {
        return Some((player.search)(course, limits, 0, stop, table, watch));
    }
    Some(with_help(course, limits, stop, table, |search| {
        value_every_move(search, course.position(), limits, watch)
    }))
}

fn value_every_move<P: Evaluate>(
    mut search: Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    let looks_to_the_end = limits.depth.is_none() && pos.plies_left() <= P::SOLVED_FROM;
    let mut depth = limits.depth.unwrap_or(u32::MAX);
    if looks_to_the_end {
        // Where the end is near, the look would cost more than to solve.
        let is_near = pos.plies_left() <= FIRST_LOOK;
        depth = if is_near { 1 } else { FIRST_LOOK };
        search.budget.change(first_look(limits, 1));
    }
    // So wide a margin that no move is left out.
    let found = deepen_until(&mut search, pos, Some(u32::MAX), depth, |found, search| {
        let report = Report::of_findings(found.clone(), search);
        watch(&report);
        report.knows_every_move()
    });
    search.budget.change(*limits);
    let mut report = Report::of_findings(found, &search);
    report.agree();
    if looks_to_the_end && search.budget.enforce().is_ok() {
        // Even where every value is known, the line of best play may be cut short. What could not
        // be solved in time keeps its estimate.
        let _ = settle(&mut search, pos, &mut report, watch);
    }
    report.count(&search);
    report.sort();
    report
}

/// The exact value of the position on the board and of every move, best first; `None` once there is an outcome, or if a
/// limit or `stop` came first. Only for games that end soon enough.
#[must_use]
pub fn solve_every_move<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    with_help(course, limits, stop, table, |search| {
        prove_every_move(search, course.position(), watch)
    })
}

fn prove_every_move<P: Evaluate>(
    mut search: Searcher<'_, P>,
    pos: &P,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    search.budget.enforce().ok()?;
    let mut moves = search.promising(pos);
    let mut legal = search.legal(pos);
    legal.retain(|m| !moves.contains(m));
    moves.extend(legal);
    let unknown = |m| MoveValue {
        m,
        score: Score::WORST,
        certainty: Certainty::Estimate,
        playouts: None,
    };
    let mut report = Report {
        exact: false,
        moves: moves.into_iter().map(unknown).collect(),
        ..Report::of_value(Score::WORST, Vec::new(), 0, &search)
    };
    settle(&mut search, pos, &mut report, watch).ok()?;
    report.count(&search);
    report.sort();
    Some(report)
}

/// What a search by the textbook finds, without any limit but the depth, and without regard to the
/// positions before. Under alpha-beta a move
/// that is no better than one before it has no value, but a bound.
#[must_use]
pub fn textbook<P: Evaluate>(pos: &P, method: Method, depth: u32, scale: Scale) -> Report<P::Move> {
    let stop = Stop::new();
    let budget = Budget::new(Limits::default(), &stop);
    let result = match method {
        Method::Minimax => minimax(pos, depth, scale),
        Method::AlphaBeta => alpha_beta(pos, depth, scale),
    };
    let seen = if depth >= pos.plies_left() {
        Certainty::Exact
    } else {
        Certainty::Estimate
    };
    let mut best = Score::WORST;
    let mut moves = Vec::new();
    for (m, score) in result.moves {
        let is_bound = method == Method::AlphaBeta && score <= best;
        best = best.max(score);
        let certainty = if is_bound { Certainty::AtMost } else { seen };
        moves.push(MoveValue {
            m,
            score,
            certainty,
            playouts: None,
        });
    }
    let mut report = Report {
        exact: seen == Certainty::Exact,
        depth,
        selective_depth: depth.min(pos.plies_left()),
        nodes: result.nodes,
        pruned: Some(result.pruned),
        time: budget.elapsed(),
        pv: result.pv,
        moves,
        ..Report::known(result.score)
    };
    report.sort();
    report
}

/// Proves the value of the position, then that of each move of the report in their order.
fn settle<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    report: &mut Report<P::Move>,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Result<(), Spent> {
    let mut proof = Proof::glance(pos);
    let spent = proof.complete(search, pos);
    report.prove(&proof);
    report.agree();
    spent?;
    report.pv = solving::line(search, pos, report.score, proof.best, usize::MAX)?;
    report.depth = pos.plies_left();
    report.agree();
    report.sort();
    for index in 0..report.moves.len() {
        let value = &mut report.moves[index];
        // The best has the value of the position.
        if report.pv.first() != Some(&value.m) {
            value.score = solved(search, pos, value.m)?;
            value.certainty = Certainty::Exact;
        }
        report.count(search);
        watch(report);
    }
    Ok(())
}

/// The value of a move for the seat that plays it.
fn solved<P: Evaluate>(search: &mut Searcher<'_, P>, pos: &P, m: P::Move) -> Result<Score, Spent> {
    let (seat, child) = (pos.turn(), pos.after(m));
    if let Some(outcome) = child.outcome() {
        return Ok(Score::of_end(outcome, child.ending(), seat, 1));
    }
    let mut proof = Proof::glance(&child);
    proof.complete(search, &child)?;
    let score = proof.bounds.lower;
    let own = if child.turn() == seat { score } else { -score };
    Ok(own.later(1))
}

impl<M: Copy + Eq> Report<M> {
    fn knows_every_move(&self) -> bool {
        let is_exact = |value: &MoveValue<M>| value.certainty == Certainty::Exact;
        self.moves.iter().all(is_exact)
    }

    /// The first move of the principal variation has the value of the position.
    fn agree(&mut self) {
        let (best, score) = (self.pv.first(), self.score);
        if let Some(value) = (self.moves.iter_mut()).find(|value| Some(&value.m) == best) {
            value.score = score;
            if self.exact {
                value.certainty = Certainty::Exact;
            }
        }
    }

    /// The best moves first, and of these that of the principal variation.
    fn sort(&mut self) {
        let best = self.pv.first().copied();
        self.moves
            .sort_by_key(|value| (Some(value.m) != best, -value.score));
    }
}

#[cfg(test)]
mod tests;
