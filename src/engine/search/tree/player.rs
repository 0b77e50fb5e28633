//! Which move a bot plays that thinks by playouts.

use super::super::choice::lot;
use super::{MoveValue, Report, TreeSearch};
use crate::game::{GameHistory, Position};
use crate::search::{Level, Limits, Stop, Table, TreeStrength};

/// How the bots of a game think by playouts.
#[derive(Clone, Copy, Debug)]
pub struct TreePlayer<P: Position> {
    /// The search.
    pub search: TreeSearch<P>,
    /// What makes a level.
    pub strength: fn(Level) -> TreeStrength,
}

impl<P: Position> TreePlayer<P> {
    /// The move of a bot of this level, and what its search found; `None` once there is an outcome.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are those of a choice by minimax"
    )]
    pub(in crate::search) fn choose(
        &self,
        course: &GameHistory<P>,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
        watch: &mut dyn FnMut(&Report<P::Move>),
    ) -> Option<(P::Move, Report<P::Move>)> {
        if course.outcome().is_some() {
            return None;
        }
        let TreeStrength { playouts, varies } = (self.strength)(level);
        let limits = Limits {
            nodes: [limits.nodes, playouts].into_iter().flatten().min(),
            ..*limits
        };
        let report = (self.search)(course, &limits, seed, stop, table, watch);
        let best = report.pv[0];
        let m = if varies {
            drawn(&report, |tried| lot(course.position(), seed, tried)).unwrap_or(best)
        } else {
            best
        };
        Some((m, report))
    }
}

/// A move, each as likely as it was tried often, by a number below that of all tries. `None` where none
/// was tried.
fn drawn<M: Copy>(report: &Report<M>, lot: impl FnOnce(usize) -> usize) -> Option<M> {
    let tries = |value: &MoveValue<M>| {
        let count = value.playouts.map_or(0, |playouts| playouts.count);
        usize::try_from(count).unwrap_or(usize::MAX)
    };
    let all: usize = report.moves.iter().map(tries).sum();
    if all == 0 {
        return None;
    }
    let mut lot = lot(all);
    let is_drawn = |value: &&MoveValue<M>| match lot.checked_sub(tries(value)) {
        Some(rest) => {
            lot = rest;
            false
        }
        None => true,
    };
    let found = report.moves.iter().find(is_drawn);
    found.map(|value| value.m)
}
