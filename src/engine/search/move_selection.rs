//! Which move a bot plays: root policy, kept apart from the search.
//!
//! A weaker bot looks less far and is content with moves that seem nearly as good as the best, of
//! which it takes any. It never throws a die to blunder: an opponent who is handed the game on a
//! bad draw learns nothing. What it misses, it misses because it did not look. And what it sees to be lost
//! it still defends, unless it is a beginner.

use std::fmt::Display;

use super::budget::Budget;
use super::iterative_deepening::deepen;
use super::pvs::Searcher;
use super::search_options::SearchOptions;
use super::seeded_rng::{SeededRng, scale_to_range};
use super::{
    Evaluate, Level, Limits, PREVIEW_DEPTH, Report, Stop, Strength, TranspositionTable, search,
    search_with_progress,
};
use crate::game::{GameHistory, Outcome, Position, Seat};

/// How many plies are looked ahead in elementary endings: enough to mate with a rook.
const ELEMENTARY_DEPTH: u32 = 6;

/// The move that a bot of this level plays, and what its search found; `None` once there is an
/// outcome.
///
/// Below full strength the move is drawn, by `seed` and the position, from those that seem good
/// enough, so one seed serves a whole game, and another seed makes another game. The same position,
/// level, seed and limits give the same move, unless `limits.time` or `stop` cut the search short.
/// The table forgets what it knew.
#[must_use]
pub fn choose_move<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    seed: u64,
    limits: &Limits,
    stop: &Stop,
    table: &mut TranspositionTable,
) -> Option<(P::Move, Report<P::Move>)> {
    table.clear();
    choose_move_with_progress(history, level, seed, limits, stop, table, &mut |_| {})
}

/// Chooses as [`choose_move`] does, but keeps what is in the table, so that the answer depends on that, too.
/// At full strength `on_progress` is told what is known after every depth, or after more and more playouts.
#[must_use]
pub fn choose_move_with_progress<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    seed: u64,
    limits: &Limits,
    stop: &Stop,
    table: &mut TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<(P::Move, Report<P::Move>)> {
    if let Some(player) = P::MCTS {
        return player.choose_move(history, level, seed, limits, stop, table, on_progress);
    }
    let Candidates { moves, report } =
        candidates(history, level, limits, stop, table, on_progress)?;
    let drawn_index = draw_index(history.position(), seed, moves.len());
    Some((moves[drawn_index], report))
}

/// What a bot chooses among, each move as likely as the others; at least one.
struct Candidates<M> {
    moves: Vec<M>,
    report: Report<M>,
}

/// The moves that a bot of this level would play.
fn candidates<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Candidates<P::Move>> {
    let Strength {
        depth,
        margin,
        avoids_loss_in_one: blocks,
    } = strength_in_position(history.position(), level);
    let mut legal = Vec::new();
    history.legal_moves(&mut legal);
    let report = match margin {
        Some(margin) => {
            let options = options_for_level::<P>(level);
            search_within_margin(history, margin, depth, options, limits, stop, table)?
        }
        None if legal.len() == 1 || history.position().probe_book().is_some() => {
            search_with_book(history, &legal, limits, stop, table)?
        }
        None => search_with_progress(history, limits, stop, table, on_progress)?,
    };
    let mut moves = match margin {
        // Not `moves`, which is of the last complete look: the best may have been seen since.
        None => report.pv.iter().copied().take(1).collect(),
        Some(_) => prefer_plausible_moves(
            history,
            level,
            report.moves.iter().map(|value| value.m).collect(),
        ),
    };
    if blocks {
        moves = avoid_losses_in_one(history, moves);
    }
    if level > Level::Beginner {
        moves = prefer_most_resistant_moves(history, moves);
    }
    Some(Candidates { moves, report })
}

/// What the level sees and minds here: from medium up it plays elementary endings as they are taught, where a small
/// margin would lead round in circles.
fn strength_in_position<P: Evaluate>(pos: &P, level: Level) -> Strength {
    let level_strength = P::strength(level);
    if level < Level::Medium || level_strength.margin.is_none() || !pos.is_elementary_endgame() {
        return level_strength;
    }
    Strength {
        depth: ELEMENTARY_DEPTH,
        margin: Some(0),
        ..level_strength
    }
}

/// The parts that a level below full strength uses: it looks as plain minimax would, or only at what
/// is worth considering.
fn options_for_level<P: Evaluate>(level: Level) -> SearchOptions {
    if !P::uses_selective_search(level) {
        return SearchOptions::EXACT;
    }
    SearchOptions {
        game_knowledge: true,
        selective_root: true,
        quiescence: true,
        ..SearchOptions::EXACT
    }
}

/// Looks so far ahead with these parts, for the moves that are at most `margin` worse than the best.
fn search_within_margin<P: Evaluate>(
    history: &GameHistory<P>,
    margin: u32,
    depth: u32,
    options: SearchOptions,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    if history.outcome().is_some() {
        return None;
    }
    let depth = limits.depth.unwrap_or(depth).min(depth);
    let budget = Budget::new(*limits, stop);
    let mut search = Searcher::new(budget, table, options, history.key_history());
    let result = deepen(&mut search, history.position(), Some(margin), depth);
    Some(Report::from_search_result(result, &search))
}

/// Plays the move that is known to be right, or is the only one of these, unless a short look sees the end, and
/// so the faster win or the slower loss.
fn search_with_book<P: Evaluate>(
    history: &GameHistory<P>,
    legal: &[P::Move],
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    let limits = Limits {
        depth: Some(limits.depth.unwrap_or(PREVIEW_DEPTH).min(PREVIEW_DEPTH)),
        ..*limits
    };
    let mut report = search(history, &limits, stop, table)?;
    if !report.exact
        && let [m] = legal
    {
        report.pv = vec![*m];
    }
    report.apply_book_result(history.position());
    Some(report)
}

/// The plausible moves: those of `moves`, else any, else `moves` as they are.
fn prefer_plausible_moves<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    moves: Vec<P::Move>,
) -> Vec<P::Move> {
    let is_plausible = |m: &P::Move| history.position().is_plausible(*m, level);
    let mut filtered: Vec<_> = moves.iter().copied().filter(is_plausible).collect();
    if filtered.is_empty() {
        history.legal_moves(&mut filtered);
        filtered.retain(is_plausible);
    }
    if filtered.is_empty() { moves } else { filtered }
}

/// The moves that do not lose at once: those of `moves`, else any, else `moves` as they are.
///
/// A look two plies ahead sees as much, but a search that is cut short may not come so far.
fn avoid_losses_in_one<P: Position>(history: &GameHistory<P>, moves: Vec<P::Move>) -> Vec<P::Move> {
    let is_safe = |m: &P::Move| !loses_in_one(history.position(), *m);
    let mut safe: Vec<_> = moves.iter().copied().filter(is_safe).collect();
    if safe.is_empty() {
        history.legal_moves(&mut safe);
        safe.retain(is_safe);
    }
    if safe.is_empty() { moves } else { safe }
}

/// Where every move loses at once, the moves that leave the opponent the fewest ways to win, those of `moves`
/// before others; else `moves` as they are.
///
/// To take one of two ways away does not help, but a player who does not even try seems to have given up.
fn prefer_most_resistant_moves<P: Position>(
    history: &GameHistory<P>,
    moves: Vec<P::Move>,
) -> Vec<P::Move> {
    let pos = history.position();
    let mut legal = Vec::new();
    history.legal_moves(&mut legal);
    if !legal.iter().all(|m| loses_in_one(pos, *m)) {
        return moves;
    }
    let win_counts: Vec<_> = legal.iter().map(|m| count_opponent_wins(pos, *m)).collect();
    let fewest = win_counts.iter().min();
    let mut counts = win_counts.iter();
    legal.retain(|_| counts.next() == fewest);
    let mut preferred = moves;
    preferred.retain(|m| legal.contains(m));
    if preferred.is_empty() {
        legal
    } else {
        preferred
    }
}

/// Whether after `m` the opponent has won, or can with its next move.
fn loses_in_one<P: Position>(pos: &P, m: P::Move) -> bool {
    opponent_wins_after(pos, m).next().is_some()
}

/// How many ways to win the opponent has after `m`; where it has won already, more than with any move.
fn count_opponent_wins<P: Position>(pos: &P, m: P::Move) -> usize {
    match pos.after(m).outcome() {
        Some(_) => usize::MAX,
        None => opponent_wins_after(pos, m).count(),
    }
}

/// The positions that the opponent has won after `m`, or after its next move.
fn opponent_wins_after<P: Position>(pos: &P, m: P::Move) -> impl Iterator<Item = P> {
    let opponent = pos.turn().other();
    let next = pos.after(m);
    let mut replies = Vec::new();
    let is_over = next.outcome().is_some() || next.turn() != opponent;
    if !is_over {
        next.legal_moves(&mut replies);
    }
    let after_replies = replies.into_iter().map({
        let next = next.clone();
        move |reply| next.after(reply)
    });
    let immediate_end = is_over.then_some(next);
    immediate_end
        .into_iter()
        .chain(after_replies)
        .filter(move |pos| is_won_by(pos, opponent))
}

fn is_won_by<P: Position>(pos: &P, seat: Seat) -> bool {
    pos.outcome() == Some(Outcome::Decisive { winner: seat })
}

/// A number below `count`, all as likely, drawn by the seed and the text of the position.
pub(super) fn draw_index(pos: &impl Display, seed: u64, count: usize) -> usize {
    let SeededRng(number) = SeededRng::new(seed, &pos.to_string());
    scale_to_range(number, count)
}

#[cfg(test)]
mod tests;
