//! Move selection of bots, separate from the search.
//!
//! A weaker bot searches less deeply, and picks at random among the moves that seem nearly as good
//! as the best move. A bot never makes a deliberate blunder, because a win against a deliberate
//! blunder teaches the opponent nothing. A bot overlooks only threats that its search does not
//! reach. Above beginner level, a bot still defends when every move loses.

use std::fmt::Display;

use super::iterative_deepening::deepen;
use super::pvs::Searcher;
use super::search_options::SearchOptions;
use super::seeded_rng::{SeededRng, scale_to_range};
use super::{
    Evaluate, Level, Limits, PREVIEW_DEPTH, Report, Stop, TranspositionTable, search,
    search_with_progress,
};
use crate::game::{GameHistory, Outcome, Position, Seat};

/// Search depth in elementary endgames, in plies. This depth is sufficient to mate with a rook.
const ELEMENTARY_DEPTH: u32 = 6;

/// Returns the move that a bot of this level plays and the report of its search, or `None` if the
/// game is over.
///
/// Below full strength, the bot picks at random among the moves that seem good enough. The random
/// choice depends on `seed` and the position. One seed is therefore sufficient for a whole game,
/// and a different seed gives a different game.
///
/// Equal positions, levels, seeds and limits give equal moves. The exceptions are searches that
/// `limits.time` or `stop` interrupts, and searches with several threads. The function clears the
/// table first.
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

/// Chooses a move like [`choose_move`], but does not clear the table first. The result therefore
/// also depends on the contents of the table.
///
/// At full strength, the function calls `on_progress` after every completed depth. A search by
/// playouts calls `on_progress` each time the number of playouts has doubled.
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

/// Moves that a bot chooses from with equal probability, and the report of its search. The list
/// contains at least one move.
struct Candidates<M> {
    moves: Vec<M>,
    report: Report<M>,
}

/// Returns the moves that a bot of this level may play.
fn candidates<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Candidates<P::Move>> {
    let depth_and_margin = depth_and_margin(history.position(), level);
    let mut legal = Vec::new();
    history.legal_moves(&mut legal);
    let report = match depth_and_margin {
        Some((depth, margin)) => {
            let options = options_for_level::<P>(level);
            search_within_margin(history, margin, depth, options, limits, stop, table)?
        }
        None if legal.len() == 1 || history.position().probe_book().is_some() => {
            search_with_book(history, &legal, limits, stop, table)?
        }
        None => search_with_progress(history, limits, stop, table, on_progress)?,
    };
    let mut moves = match depth_and_margin {
        // `report.moves` comes from the last completed iteration. The principal variation may come
        // from a later, interrupted iteration.
        None => report.pv.iter().copied().take(1).collect(),
        Some(_) => prefer_plausible_moves(
            history,
            level,
            report.moves.iter().map(|value| value.m).collect(),
        ),
    };
    // From medium level on, a bot prevents every avoidable loss in one ply, even if it has no time
    // to search.
    if level >= Level::Medium {
        moves = avoid_losses_in_one(history, moves);
    }
    if level > Level::Beginner {
        moves = prefer_most_resistant_moves(history, moves);
    }
    Some(Candidates { moves, report })
}

/// Returns the search depth and score margin of the level in this position, or `None` for the level
/// of full strength. From medium level on, a bot plays elementary endgames without a margin. Even a
/// small margin would let the bot move in circles.
fn depth_and_margin<P: Evaluate>(pos: &P, level: Level) -> Option<(u32, u32)> {
    let depth_and_margin = *P::DEPTHS_AND_MARGINS.get(level as usize)?;
    if level >= Level::Medium && pos.is_elementary_endgame() {
        return Some((ELEMENTARY_DEPTH, 0));
    }
    Some(depth_and_margin)
}

/// Returns the search options for a level below full strength. The search either returns the values
/// of plain minimax, or is selective and considers only candidate moves.
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

/// Searches to `depth` with the given options and returns the moves that are at most `margin` worse
/// than the best move.
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
    let mut search = Searcher::new(*limits, stop, table, options, history.key_history());
    let result = deepen(&mut search, history.position(), Some(margin), depth);
    Some(Report::from_search_result(result, &search))
}

/// Returns a report for a position with a book move or a single legal move. A short search looks
/// for the end of the game. The book move replaces the move found by this search, unless the search
/// finds a win or the book says that the position is lost.
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

/// Returns the plausible moves among `moves`. If no move in `moves` is plausible, returns all
/// plausible legal moves. If no legal move is plausible, returns `moves`.
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

/// Returns the moves in `moves` that do not let the opponent win at once. If the opponent can win
/// at once after every move in `moves`, returns all legal moves that avoid this. If every legal
/// move loses at once, returns `moves`.
///
/// A two-ply search would also avoid such losses, but an interrupted search may not reach that
/// depth.
fn avoid_losses_in_one<P: Position>(history: &GameHistory<P>, moves: Vec<P::Move>) -> Vec<P::Move> {
    let is_safe = |m: &P::Move| !loses_in_one(history.position(), *m);
    let mut safe: Vec<_> = moves.iter().copied().filter(is_safe).collect();
    if safe.is_empty() {
        history.legal_moves(&mut safe);
        safe.retain(is_safe);
    }
    if safe.is_empty() { moves } else { safe }
}

/// If every legal move loses at once, returns the moves that leave the opponent the fewest winning
/// replies. Moves in `moves` are preferred. If some legal move does not lose at once, returns
/// `moves` unchanged.
///
/// Blocking one of two threats does not save the game. However, a bot that blocks neither threat
/// seems to have given up.
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

/// Returns whether the opponent has won after `m` or can win with its next move.
fn loses_in_one<P: Position>(pos: &P, m: P::Move) -> bool {
    opponent_wins_after(pos, m).next().is_some()
}

/// Returns the number of winning replies that the opponent has after `m`, or `usize::MAX` if `m`
/// already ends the game.
fn count_opponent_wins<P: Position>(pos: &P, m: P::Move) -> usize {
    match pos.after(m).outcome() {
        Some(_) => usize::MAX,
        None => opponent_wins_after(pos, m).count(),
    }
}

/// Returns the positions where the opponent has won, either directly after `m` or after a reply to
/// `m`.
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

/// Returns a uniformly distributed index below `count`, derived from the seed and the text form of
/// the position.
pub(super) fn draw_index(pos: &impl Display, seed: u64, count: usize) -> usize {
    let SeededRng(number) = SeededRng::new(seed, &pos.to_string());
    scale_to_range(number, count)
}

#[cfg(test)]
mod tests;
