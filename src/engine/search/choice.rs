//! Which move a bot plays: root policy, kept apart from the search.
//!
//! A weaker bot looks less far and is content with moves that seem nearly as good as the best, of
//! which it takes any. It never throws a die to blunder: an opponent who is handed the game on a
//! bad draw learns nothing. What it misses, it misses because it did not look. And what it sees to be lost
//! it still defends, unless it is a beginner.

use std::fmt::Display;

use super::budget::Budget;
use super::chance::{Chance, scaled};
use super::deepening::deepen;
use super::parts::Parts;
use super::pvs::Searcher;
use super::{
    Evaluate, FIRST_LOOK, Level, Limits, Report, Stop, Strength, Table, search, search_watched,
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
pub fn choose<P: Evaluate>(
    course: &GameHistory<P>,
    level: Level,
    seed: u64,
    limits: &Limits,
    stop: &Stop,
    table: &mut Table,
) -> Option<(P::Move, Report<P::Move>)> {
    table.forget();
    choose_watched(course, level, seed, limits, stop, table, &mut |_| {})
}

/// Chooses as [`choose`] does, but keeps what is in the table, so that the answer depends on that, too.
/// At full strength `watch` is told what is known after every depth, or after more and more playouts.
#[must_use]
pub fn choose_watched<P: Evaluate>(
    course: &GameHistory<P>,
    level: Level,
    seed: u64,
    limits: &Limits,
    stop: &Stop,
    table: &mut Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<(P::Move, Report<P::Move>)> {
    if let Some(player) = P::PLAYOUTS {
        return player.choose(course, level, seed, limits, stop, table, watch);
    }
    let Candidates { moves, report } = candidates(course, level, limits, stop, table, watch)?;
    let lot = lot(course.position(), seed, moves.len());
    Some((moves[lot], report))
}

/// What a bot chooses among, each move as likely as the others; at least one.
struct Candidates<M> {
    moves: Vec<M>,
    report: Report<M>,
}

/// The moves that a bot of this level would play.
fn candidates<P: Evaluate>(
    course: &GameHistory<P>,
    level: Level,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Candidates<P::Move>> {
    let Strength {
        depth,
        margin,
        blocks,
    } = strength(course.position(), level);
    let mut legal = Vec::new();
    course.legal_moves(&mut legal);
    let report = match margin {
        Some(margin) => {
            let parts = parts::<P>(level);
            look_around(course, margin, depth, parts, limits, stop, table)?
        }
        None if legal.len() == 1 || course.position().by_heart().is_some() => {
            by_heart(course, &legal, limits, stop, table)?
        }
        None => search_watched(course, limits, stop, table, watch)?,
    };
    let mut moves = match margin {
        // Not `moves`, which is of the last complete look: the best may have been seen since.
        None => report.pv.iter().copied().take(1).collect(),
        Some(_) => plausible(
            course,
            level,
            report.moves.iter().map(|value| value.m).collect(),
        ),
    };
    if blocks {
        moves = without_losses_in_one(course, moves);
    }
    if level > Level::Beginner {
        moves = resisting(course, moves);
    }
    Some(Candidates { moves, report })
}

/// What the level sees and minds here: from medium up it plays elementary endings as they are taught, where a small
/// margin would lead round in circles.
fn strength<P: Evaluate>(pos: &P, level: Level) -> Strength {
    let usual = P::strength(level);
    if level < Level::Medium || usual.margin.is_none() || !pos.is_elementary() {
        return usual;
    }
    Strength {
        depth: ELEMENTARY_DEPTH,
        margin: Some(0),
        ..usual
    }
}

/// The parts that a level below full strength uses: it looks as plain minimax would, or only at what
/// is worth considering.
fn parts<P: Evaluate>(level: Level) -> Parts {
    if !P::selects(level) {
        return Parts::EXACT;
    }
    Parts {
        knowledge: true,
        selection: true,
        quiescence: true,
        ..Parts::EXACT
    }
}

/// Looks so far ahead with these parts, for the moves that are at most `margin` worse than the best.
fn look_around<P: Evaluate>(
    course: &GameHistory<P>,
    margin: u32,
    depth: u32,
    parts: Parts,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    let depth = limits.depth.unwrap_or(depth).min(depth);
    let budget = Budget::new(*limits, stop);
    let mut search = Searcher::new(budget, table, parts, course.key_history());
    let found = deepen(&mut search, course.position(), Some(margin), depth);
    Some(Report::of_findings(found, &search))
}

/// Plays the move that is known to be right, or is the only one of these, unless a short look sees the end, and
/// so the faster win or the slower loss.
fn by_heart<P: Evaluate>(
    course: &GameHistory<P>,
    legal: &[P::Move],
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<Report<P::Move>> {
    let limits = Limits {
        depth: Some(limits.depth.unwrap_or(FIRST_LOOK).min(FIRST_LOOK)),
        ..*limits
    };
    let mut report = search(course, &limits, stop, table)?;
    if !report.exact
        && let [m] = legal
    {
        report.pv = vec![*m];
    }
    report.recite(course.position());
    Some(report)
}

/// The plausible moves: those of `moves`, else any, else `moves` as they are.
fn plausible<P: Evaluate>(
    course: &GameHistory<P>,
    level: Level,
    moves: Vec<P::Move>,
) -> Vec<P::Move> {
    let is_plausible = |m: &P::Move| course.position().is_plausible(*m, level);
    let mut kept: Vec<_> = moves.iter().copied().filter(is_plausible).collect();
    if kept.is_empty() {
        course.legal_moves(&mut kept);
        kept.retain(is_plausible);
    }
    if kept.is_empty() { moves } else { kept }
}

/// The moves that do not lose at once: those of `moves`, else any, else `moves` as they are.
///
/// A look two plies ahead sees as much, but a search that is cut short may not come so far.
fn without_losses_in_one<P: Position>(
    course: &GameHistory<P>,
    moves: Vec<P::Move>,
) -> Vec<P::Move> {
    let keeps = |m: &P::Move| !loses_in_one(course.position(), *m);
    let mut kept: Vec<_> = moves.iter().copied().filter(keeps).collect();
    if kept.is_empty() {
        course.legal_moves(&mut kept);
        kept.retain(keeps);
    }
    if kept.is_empty() { moves } else { kept }
}

/// Where every move loses at once, the moves that leave the opponent the fewest ways to win, those of `moves`
/// before others; else `moves` as they are.
///
/// To take one of two ways away does not help, but a player who does not even try seems to have given up.
fn resisting<P: Position>(course: &GameHistory<P>, moves: Vec<P::Move>) -> Vec<P::Move> {
    let pos = course.position();
    let mut legal = Vec::new();
    course.legal_moves(&mut legal);
    if !legal.iter().all(|m| loses_in_one(pos, *m)) {
        return moves;
    }
    let left: Vec<_> = legal.iter().map(|m| wins_left(pos, *m)).collect();
    let fewest = left.iter().min();
    let mut each = left.iter();
    legal.retain(|_| each.next() == fewest);
    let mut kept = moves;
    kept.retain(|m| legal.contains(m));
    if kept.is_empty() { legal } else { kept }
}

/// Whether after `m` the opponent has won, or can with its next move.
fn loses_in_one<P: Position>(pos: &P, m: P::Move) -> bool {
    wins_after(pos, m).next().is_some()
}

/// How many ways to win the opponent has after `m`; where it has won already, more than with any move.
fn wins_left<P: Position>(pos: &P, m: P::Move) -> usize {
    match pos.after(m).outcome() {
        Some(_) => usize::MAX,
        None => wins_after(pos, m).count(),
    }
}

/// The positions that the opponent has won after `m`, or after its next move.
fn wins_after<P: Position>(pos: &P, m: P::Move) -> impl Iterator<Item = P> {
    let opponent = pos.turn().other();
    let next = pos.after(m);
    let mut replies = Vec::new();
    let is_over = next.outcome().is_some() || next.turn() != opponent;
    if !is_over {
        next.legal_moves(&mut replies);
    }
    let after = replies.into_iter().map({
        let next = next.clone();
        move |reply| next.after(reply)
    });
    let at_once = is_over.then_some(next);
    at_once
        .into_iter()
        .chain(after)
        .filter(move |pos| is_won_by(pos, opponent))
}

fn is_won_by<P: Position>(pos: &P, seat: Seat) -> bool {
    pos.outcome() == Some(Outcome::Decisive { winner: seat })
}

/// A number below `count`, all as likely, drawn by the seed and the text of the position.
pub(super) fn lot(pos: &impl Display, seed: u64, count: usize) -> usize {
    let Chance(number) = Chance::new(seed, &pos.to_string());
    scaled(number, count)
}

#[cfg(test)]
mod tests;
