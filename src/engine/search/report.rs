//! What a search found, and what that cost.

use std::cmp::Ordering;
use std::time::Duration;

use super::pvs::Searcher;
use super::search_result::SearchResult;
use super::solver;
use super::solver::Proof;
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
    pub table_fill_per_mille: u32,
    /// How many moves were not looked at since they could not change the value. None where that was
    /// not counted, as it costs time: only the searches of the textbook do.
    pub pruned: Option<u64>,
    /// How many moves were not looked at since one before them was enough (alpha-beta). The textbook
    /// counts [those](Self::pruned) and all others.
    pub cutoff_skips: u64,
    /// How long it took.
    pub time: Duration,
    /// How many playouts there were, and what the best move has won of its own. None where it was not
    /// searched by playouts.
    pub playouts: Option<Playouts>,
    /// The principal variation: best play by both sides as far as it was seen.
    pub pv: Vec<M>,
    /// The value of every move that was asked for, in no particular order.
    pub moves: Vec<MoveValue<M>>,
}

/// What is known of the value of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveValue<M> {
    /// The move.
    pub m: M,
    /// Its value for the seat that plays it.
    pub score: Score,
    /// How well that is known.
    pub certainty: Certainty,
    /// The playouts through it, where there were any.
    pub playouts: Option<Playouts>,
}

/// Games that were played out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playouts {
    /// How many.
    pub count: u64,
    /// How many of a thousand the seat to move has won, a draw being half a win, and by how much counting a
    /// little.
    pub wins_per_mille: u32,
    /// By how many points the seat to move has won them on average, negative if it has lost. 0 where points do not
    /// decide.
    pub points_average: i32,
}

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It is the value of the game itself.
    Exact,
    /// It is an estimate, from looking a limited number of plies ahead.
    Estimate,
    /// The value is no better than this, which was all there was to know: something else is as good.
    UpperBound,
}

impl<M: Copy + Eq> Report<M> {
    /// What looking ahead has found.
    pub(super) fn from_search_result<P: Evaluate<Move = M>>(
        result: SearchResult<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        // What ends farther away than was looked in full may end sooner by another way.
        let is_within_depth = |plies| plies <= result.depth;
        let is_exact =
            |score: Score| result.is_exact || score.plies_to_end().is_some_and(is_within_depth);
        let moves = result
            .near_best_moves
            .into_iter()
            .map(|(m, score)| MoveValue {
                m,
                score,
                certainty: if is_exact(score) {
                    Certainty::Exact
                } else {
                    Certainty::Estimate
                },
                playouts: None,
            });
        Self {
            exact: is_exact(result.score),
            depth: result.depth,
            moves: moves.collect(),
            ..Self::from_value(result.score, result.pv, 0, search)
        }
    }

    /// What has been proven, and where that is little, what a look before has found.
    pub(super) fn from_proof<P: Evaluate<Move = M>>(
        result: SearchResult<M>,
        proof: &Proof<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        let mut report = Self::from_search_result(result, search);
        report.apply_proof(proof);
        report
    }

    /// Takes over what has been proven of the position, and a best move. That a loss is not nearer
    /// says less than an estimate, unless there is no more to hope for.
    pub(super) fn apply_proof(&mut self, proof: &Proof<M>) {
        if proof.bounds.lower < Score::DRAW && proof.bounds.upper >= Score::DRAW {
            return;
        }
        self.exact = proof.value().is_some();
        if let Some(score) = proof.value() {
            if score != self.score {
                // It ends sooner or later than that.
                self.pv.truncate(1);
            }
            self.score = score;
        }
        // Nothing better has been proven of any other move.
        if let Some(best) = proof.best_move {
            self.score = proof.bounds.lower;
            if self.pv.first() != Some(&best) {
                self.pv = vec![best];
            }
        }
        // As with a win: at least so soon, or by so much.
        if proof.bounds.upper < Score::DRAW {
            self.score = proof.bounds.upper;
        }
    }

    /// Takes over what is known by heart, unless it is known even how soon the game ends.
    pub(super) fn apply_book_result<P: Evaluate<Move = M>>(&mut self, pos: &P) {
        let Some((outcome, _)) = pos.probe_book() else {
            return;
        };
        let bounds = solver::outcome_bounds(outcome, pos.remaining_plies_max());
        let is_already_proven = match outcome {
            Ordering::Greater => self.score >= bounds.lower,
            Ordering::Equal => false,
            Ordering::Less => self.exact && self.score <= bounds.upper,
        };
        if is_already_proven {
            return;
        }
        self.score = match outcome {
            Ordering::Less => self.score.min(bounds.upper),
            Ordering::Equal | Ordering::Greater => bounds.lower,
        };
        self.exact = outcome.is_eq();
        self.pv = match self.pv.first() {
            // Where all moves lose, the search knows best which of them holds out.
            Some(&m) if outcome.is_lt() => {
                let continuation = solver::book_line(&pos.after(m));
                std::iter::once(m).chain(continuation).collect()
            }
            Some(_) | None => solver::book_line(pos),
        };
    }

    /// Takes over what the search has cost so far.
    pub(super) fn record_effort<P: Evaluate<Move = M>>(&mut self, search: &Searcher<'_, P>) {
        self.selective_depth = search.deepest_ply;
        self.nodes = search.budget.nodes();
        self.table_hits = search.table_hits;
        self.table_fill_per_mille = search.table_fill_per_mille();
        self.cutoff_skips = search.cutoff_skips;
        self.time = search.budget.elapsed();
    }

    /// A value that was found by looking so many plies ahead.
    pub(super) fn from_value<P: Evaluate<Move = M>>(
        score: Score,
        pv: Vec<M>,
        depth: u32,
        search: &Searcher<'_, P>,
    ) -> Self {
        let mut report = Self {
            depth,
            pv,
            ..Self::from_exact_score(score)
        };
        report.record_effort(search);
        report
    }
}

impl<M> Report<M> {
    /// A value that is known without a search, as that of a game that is over.
    #[must_use]
    pub const fn from_exact_score(score: Score) -> Self {
        Self {
            score,
            exact: true,
            depth: 0,
            selective_depth: 0,
            nodes: 0,
            table_hits: 0,
            table_fill_per_mille: 0,
            pruned: None,
            cutoff_skips: 0,
            time: Duration::ZERO,
            playouts: None,
            pv: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// How many positions were visited in a second.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the count is not negative and is only displayed"
    )]
    pub fn nodes_per_second(&self) -> u64 {
        (self.nodes as f64 / self.time.as_secs_f64().max(1e-9)) as u64
    }

    /// This report with its moves in another form.
    #[must_use]
    pub fn map<T>(self, convert: impl Fn(M) -> T) -> Report<T> {
        let Self { pv, moves, .. } = self;
        Report {
            score: self.score,
            exact: self.exact,
            depth: self.depth,
            selective_depth: self.selective_depth,
            nodes: self.nodes,
            table_hits: self.table_hits,
            table_fill_per_mille: self.table_fill_per_mille,
            pruned: self.pruned,
            cutoff_skips: self.cutoff_skips,
            time: self.time,
            playouts: self.playouts,
            pv: pv.into_iter().map(&convert).collect(),
            moves: moves
                .into_iter()
                .map(|value| MoveValue {
                    m: convert(value.m),
                    score: value.score,
                    certainty: value.certainty,
                    playouts: value.playouts,
                })
                .collect(),
        }
    }
}
