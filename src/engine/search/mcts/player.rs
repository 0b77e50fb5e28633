//! Move selection of bots that search by playouts.

use super::super::move_selection::draw_index;
use super::{MctsSearch, MoveValue, Report};
use crate::game::{GameHistory, Position};
use crate::search::{Level, Limits, Stop, TranspositionTable};

/// Search function and playouts per level for a game whose bots search by playouts.
#[derive(Clone, Copy, Debug)]
pub struct MctsPlayer<P: Position> {
    /// Search function of the game.
    pub search: MctsSearch<P>,
    /// Playouts per move of each level below `Max`, weakest first. Level `Max` runs as many playouts
    /// as its limits allow.
    pub playouts: [u64; 4],
}

impl<P: Position> MctsPlayer<P> {
    /// Returns the move that a bot of this level plays and the report of its search, or `None` if
    /// the game is over. Level `Beginner` picks a move with a probability proportional to its
    /// number of visits. The other levels play the best move.
    #[expect(
        clippy::too_many_arguments,
        reason = "same parameters as choose_move_with_progress"
    )]
    pub(crate) fn choose_move(
        &self,
        history: &GameHistory<P>,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
        on_progress: &mut dyn FnMut(&Report<P::Move>),
    ) -> Option<(P::Move, Report<P::Move>)> {
        if history.outcome().is_some() {
            return None;
        }
        let playouts = self.playouts.get(level as usize);
        let limits = Limits {
            nodes: limits.nodes.into_iter().chain(playouts.copied()).min(),
            ..*limits
        };
        let report = (self.search)(history, &limits, seed, stop, table, on_progress);
        let best = report.pv[0];
        if level > Level::Beginner {
            return Some((best, report));
        }
        let draw = |count| draw_index(history.position(), seed, count);
        Some((sample_by_visits(&report, draw).unwrap_or(best), report))
    }
}

/// Picks a move at random. The probability of each move is proportional to its number of visits.
/// Returns `None` if the search visited no move.
///
/// `draw_index` returns a random number less than its argument.
fn sample_by_visits<M: Copy>(
    report: &Report<M>,
    draw_index: impl FnOnce(usize) -> usize,
) -> Option<M> {
    let visits = |value: &MoveValue<M>| {
        let count = value.playouts.map_or(0, |playouts| playouts.count);
        usize::try_from(count).unwrap_or(usize::MAX)
    };
    let total_visits: usize = report.moves.iter().map(visits).sum();
    if total_visits == 0 {
        return None;
    }
    let mut remaining = draw_index(total_visits);
    let is_selected = |value: &&MoveValue<M>| match remaining.checked_sub(visits(value)) {
        Some(rest) => {
            remaining = rest;
            false
        }
        None => true,
    };
    let selected = report.moves.iter().find(is_selected);
    selected.map(|value| value.m)
}
