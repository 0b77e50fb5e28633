//! What a search found, and what that cost.

use std::time::Duration;

use super::deepening::Findings;
use super::pvs::Searcher;
use super::solving::Proof;
use super::{Evaluate, Score};

/// What a search found, and what that cost. `M` is a game's move, or its text above the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<M> {
    /// The value of the position for the seat to move.
    pub score: Score,
    /// Whether that is the value of the game itself, and no estimate.
    pub exact: bool,
    /// How many plies ahead were looked at in full.
    pub depth: u32,
    /// The greatest number of plies that any line was followed.
    pub selective_depth: u32,
    /// How many positions were visited.
    pub nodes: u64,
    /// How many of these were found in the transposition table.
    pub table_hits: u64,
    /// How many of a thousand places of the table hold what this search has found.
    pub table_use: u32,
    /// How long it took.
    pub time: Duration,
    /// The principal variation: best play by both sides as far as it was seen.
    pub pv: Vec<M>,
    /// The value of every move that was asked for, in no particular order.
    pub moves: Vec<(M, Score)>,
}

impl<M: Copy + Eq> Report<M> {
    /// What looking ahead has found.
    pub(super) fn of_findings<P: Evaluate<Move = M>>(
        found: Findings<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        Self {
            exact: found.is_final(),
            depth: found.depth,
            moves: found.close,
            ..Self::of_value(found.score, found.pv, 0, search)
        }
    }

    /// What has been proven, and where that is little, what a look before has found.
    pub(super) fn of_proof<P: Evaluate<Move = M>>(
        found: Findings<M>,
        proof: &Proof<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        let report = Self::of_findings(found, search);
        let Some(best) = proof.best else {
            let score = proof.value().unwrap_or(report.score);
            let exact = proof.value().is_some();
            return Self {
                score,
                exact,
                ..report
            };
        };
        // Nothing better has been proven of any other move.
        let is_kept = report.pv.first() == Some(&best);
        Self {
            score: proof.bounds.lower,
            exact: proof.value().is_some(),
            pv: if is_kept { report.pv } else { vec![best] },
            ..report
        }
    }

    /// A value that was found by looking so many plies ahead.
    pub(super) fn of_value<P: Evaluate<Move = M>>(
        score: Score,
        pv: Vec<M>,
        depth: u32,
        search: &Searcher<'_, P>,
    ) -> Self {
        Self {
            score,
            exact: true,
            depth,
            selective_depth: search.deepest,
            nodes: search.budget.nodes(),
            table_hits: search.table_hits,
            table_use: search.table_use(),
            time: search.budget.elapsed(),
            pv,
            moves: Vec::new(),
        }
    }
}

impl<M> Report<M> {
    /// How many positions were visited in a second.
    #[must_use]
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 / self.time.as_secs_f64().max(1e-9)
    }

    /// The same report, of moves in another form.
    #[must_use]
    pub fn map<T>(self, form: impl Fn(M) -> T) -> Report<T> {
        let Self { pv, moves, .. } = self;
        Report {
            score: self.score,
            exact: self.exact,
            depth: self.depth,
            selective_depth: self.selective_depth,
            nodes: self.nodes,
            table_hits: self.table_hits,
            table_use: self.table_use,
            time: self.time,
            pv: pv.into_iter().map(&form).collect(),
            moves: moves
                .into_iter()
                .map(|(m, score)| (form(m), score))
                .collect(),
        }
    }
}
