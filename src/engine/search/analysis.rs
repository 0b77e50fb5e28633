//! Analysis of a position: the value of every legal move and not only of the best move (multi-PV).
//!
//! If the game can be searched to its end, the analysis solves the moves one at a time, best first.
//! Each solved move fills the transposition table with entries that speed up the later moves. If
//! the game cannot be searched to its end, every iteration searches all root moves in full.

use super::alpha_beta::alpha_beta;
use super::budget::{Budget, BudgetExhausted};
use super::iterative_deepening::deepen_until;
use super::minimax::{Scale, minimax};
use super::pvs::Searcher;
use super::report::{Certainty, MoveValue};
use super::solver;
use super::solver::Proof;
use super::{
    Evaluate, Limits, PREVIEW_DEPTH, Report, Score, Stop, TranspositionTable, preview_limits,
    search_at_full_strength, with_helper_threads,
};
use crate::game::GameHistory;

/// Textbook search algorithm, used to show how many nodes each technique saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextbookMethod {
    /// Plain minimax, which searches every line of play. See `minimax`.
    Minimax,
    /// Alpha-beta search, which skips lines of play that cannot change the result. See
    /// `alpha_beta`.
    AlphaBeta,
}

/// Analyses the current position and returns the value of every move, best first, as accurately as
/// the limits allow. Returns `None` if the game is over.
///
/// Calls `on_progress` after every completed depth and every solved move. Games with an
/// [`Evaluate::MCTS`] player are searched by playouts, unless the limits set a depth.
#[must_use]
pub fn analyse<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &mut TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if P::MCTS.is_some() && limits.depth.is_none() {
        return search_at_full_strength(history, limits, stop, table, on_progress);
    }
    if history.outcome().is_some() {
        return None;
    }
    let report = with_helper_threads(history, limits, stop, table, |search| {
        evaluate_all_moves(search, history.position(), limits, on_progress)
    });
    Some(report)
}

fn evaluate_all_moves<P: Evaluate>(
    mut search: Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    let solves_to_end =
        limits.depth.is_none() && pos.remaining_plies_max() <= P::SOLVABLE_PLIES_MAX;
    let mut depth = limits.depth.unwrap_or(u32::MAX);
    if solves_to_end {
        // Near the end of the game, a preview of more than one ply would cost more than solving the
        // position.
        let is_near = pos.remaining_plies_max() <= PREVIEW_DEPTH;
        depth = if is_near { 1 } else { PREVIEW_DEPTH };
        search.budget.set_limits(preview_limits(limits, 1));
    }
    // A margin of `u32::MAX` includes every move.
    let result = deepen_until(&mut search, pos, Some(u32::MAX), depth, |found, search| {
        let report = Report::from_search_result(found.clone(), search);
        on_progress(&report);
        report.has_all_exact_values()
    });
    search.budget.set_limits(*limits);
    let mut report = Report::from_search_result(result, &search);
    report.sync_best_move_score();
    if solves_to_end && search.budget.enforce().is_ok() {
        // Even if all values are already exact, the principal variation may be incomplete, so all
        // moves are solved. If a limit ends the search, the remaining moves keep their estimates.
        let _ = solve_moves_of_report(&mut search, pos, &mut report, on_progress);
    }
    report.record_effort(&search);
    report.sort_moves();
    report
}

/// Solves the current position and returns the exact value of every move, best first.
///
/// Returns `None` if the game is over, if a limit is reached or if `stop` is set. Use this function
/// only for positions that can be searched to the end of the game.
#[must_use]
pub fn solve_all_moves<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if history.outcome().is_some() {
        return None;
    }
    with_helper_threads(history, limits, stop, table, |search| {
        prove_all_moves(search, history.position(), on_progress)
    })
}

fn prove_all_moves<P: Evaluate>(
    mut search: Searcher<'_, P>,
    pos: &P,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    search.budget.enforce().ok()?;
    let mut ordered = search.ordered_moves(pos);
    let mut legal = search.legal_root_moves(pos);
    legal.retain(|m| !ordered.contains(m));
    ordered.extend(legal);
    let unsolved = |m| MoveValue::new(m, Score::WORST, Certainty::Estimate);
    let mut report = Report {
        exact: false,
        moves: ordered.into_iter().map(unsolved).collect(),
        ..Report::from_value(Score::WORST, Vec::new(), 0, &search)
    };
    solve_moves_of_report(&mut search, pos, &mut report, on_progress).ok()?;
    report.record_effort(&search);
    report.sort_moves();
    Some(report)
}

/// Runs a textbook search that is limited only by depth. The search ignores the earlier positions
/// of the game.
///
/// If a move is no better than an earlier move, alpha-beta search finds only an upper bound of the
/// later move's value.
#[must_use]
pub fn textbook_search<P: Evaluate>(
    pos: &P,
    method: TextbookMethod,
    depth: u32,
    scale: Scale,
) -> Report<P::Move> {
    let stop = Stop::new();
    let budget = Budget::new(Limits::default(), &stop);
    let result = match method {
        TextbookMethod::Minimax => minimax(pos, depth, scale),
        TextbookMethod::AlphaBeta => alpha_beta(pos, depth, scale),
    };
    let certainty_of_value = if depth >= pos.remaining_plies_max() {
        Certainty::Exact
    } else {
        Certainty::Estimate
    };
    let mut best = Score::WORST;
    let mut moves = Vec::new();
    for (m, score) in result.moves {
        let is_bound = method == TextbookMethod::AlphaBeta && score <= best;
        best = best.max(score);
        let certainty = if is_bound {
            Certainty::UpperBound
        } else {
            certainty_of_value
        };
        moves.push(MoveValue::new(m, score, certainty));
    }
    let mut report = Report {
        exact: certainty_of_value == Certainty::Exact,
        depth,
        selective_depth: depth.min(pos.remaining_plies_max()),
        nodes: result.nodes,
        pruned: Some(result.pruned),
        time: budget.elapsed(),
        pv: result.pv,
        moves,
        ..Report::from_exact_score(result.score)
    };
    report.sort_moves();
    report
}

/// Solves the position and then each move of the report, in the order of the report.
fn solve_moves_of_report<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    report: &mut Report<P::Move>,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Result<(), BudgetExhausted> {
    let mut proof = Proof::from_static_bounds(pos);
    let completion = proof.solve(search, pos);
    report.apply_proof(&proof);
    report.sync_best_move_score();
    completion?;
    report.pv =
        solver::principal_variation(search, pos, report.score, proof.best_move, usize::MAX)?;
    report.depth = pos.remaining_plies_max();
    report.sync_best_move_score();
    report.sort_moves();
    for index in 0..report.moves.len() {
        let value = &mut report.moves[index];
        // The value of the best move equals the value of the position, so the best move is not
        // solved again.
        if report.pv.first() != Some(&value.m) {
            value.score = solve_move(search, pos, value.m)?;
            value.certainty = Certainty::Exact;
        }
        report.record_effort(search);
        on_progress(report);
    }
    Ok(())
}

/// Solves the position after `m` and returns the value of the move for the seat that plays it.
fn solve_move<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    m: P::Move,
) -> Result<Score, BudgetExhausted> {
    let (seat, child) = (pos.turn(), pos.after(m));
    if let Some(outcome) = child.outcome() {
        return Ok(Score::from_game_end(outcome, child.ending(), seat, 1));
    }
    let mut proof = Proof::from_static_bounds(&child);
    proof.solve(search, &child)?;
    let score = proof.bounds.lower;
    let own_score = if child.turn() == seat { score } else { -score };
    Ok(own_score.delayed_by(1))
}

impl<M: Copy + Eq> Report<M> {
    fn has_all_exact_values(&self) -> bool {
        let is_exact = |value: &MoveValue<M>| value.certainty == Certainty::Exact;
        self.moves.iter().all(is_exact)
    }

    /// Sets the value of the best move to the score of the position. The best move is the first
    /// move of the principal variation.
    fn sync_best_move_score(&mut self) {
        let (best, score) = (self.pv.first(), self.score);
        if let Some(value) = (self.moves.iter_mut()).find(|value| Some(&value.m) == best) {
            value.score = score;
            if self.exact {
                value.certainty = Certainty::Exact;
            }
        }
    }

    /// Sorts the moves by score, best first. The first move of the principal variation always comes
    /// first.
    fn sort_moves(&mut self) {
        let best = self.pv.first().copied();
        self.moves
            .sort_by_key(|value| (Some(value.m) != best, -value.score));
    }
}

#[cfg(test)]
mod tests;
