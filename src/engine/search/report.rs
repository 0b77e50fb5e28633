//! Report of a search: its results and its cost.

use std::cmp::Ordering;
use std::time::Duration;

use super::pvs::Searcher;
use super::search_result::SearchResult;
use super::search_window::Bounds;
use super::solver;
use super::solver::Proof;
use super::{Evaluate, Score};

/// Results and cost of a search. `M` is the move type of a game. In the layers above the game
/// catalog, `M` is the text form of the move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<M> {
    /// Value of the position for the seat to move.
    pub score: Score,
    /// Whether `score` is the exact game value and not an estimate.
    pub exact: bool,
    /// Number of plies that were searched in full. For a search by playouts, this is the length of
    /// `pv`.
    pub depth: u32,
    /// Length of the longest line that was searched, in plies.
    pub selective_depth: u32,
    /// Number of positions visited. For a search by playouts, this is the number of playouts.
    pub nodes: u64,
    /// Number of positions found in the transposition table.
    pub table_hits: u64,
    /// Share of the table that holds entries of this search, in per mille.
    pub table_fill_per_mille: u32,
    /// Number of moves that a textbook search skipped because they could not change the value.
    /// `None` for all other searches.
    pub pruned: Option<u64>,
    /// Number of moves skipped after a beta cutoff. The textbook searches count them in
    /// [`pruned`](Self::pruned) instead.
    pub cutoff_skips: u64,
    /// Duration of the search.
    pub time: Duration,
    /// Total number of playouts, with the win share and points of the best move. `None` if the
    /// position was not searched by playouts.
    pub playouts: Option<Playouts>,
    /// Principal variation: the line of best play by both sides that the search found.
    pub pv: Vec<M>,
    /// Values of the moves that the caller of the search requested. The order of the moves depends
    /// on the search.
    pub moves: Vec<MoveValue<M>>,
}

/// Value of a move and its certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveValue<M> {
    /// The move.
    pub m: M,
    /// Value of the move for the seat that plays it.
    pub score: Score,
    /// Certainty of `score`.
    pub certainty: Certainty,
    /// Playouts through this move. `None` if the position was not searched by playouts.
    pub playouts: Option<Playouts>,
}

/// Statistics of playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playouts {
    /// Number of playouts.
    pub count: u64,
    /// Share of the playouts that the seat to move won, in per mille. A draw counts as half a win.
    /// The margin of victory has a small influence.
    pub wins_per_mille: u32,
    /// Average point margin of the playouts for the seat to move. The margin is negative if this
    /// seat loses, and 0 if points do not decide the game.
    pub points_average: i32,
}

/// Certainty of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The value is exact.
    Exact,
    /// The value is an estimate from a limited search.
    Estimate,
    /// The value is an upper bound. The search did not need the exact value, because another move
    /// is at least as good.
    UpperBound,
}

impl<M> MoveValue<M> {
    /// Creates the value of a move without playouts.
    pub(super) const fn new(m: M, score: Score, certainty: Certainty) -> Self {
        Self {
            m,
            score,
            certainty,
            playouts: None,
        }
    }
}

impl<M: Copy + Eq> Report<M> {
    /// Creates a report from the result of a search.
    pub(super) fn from_search_result<P: Evaluate<Move = M>>(
        result: SearchResult<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        // A win or loss beyond the search depth is not exact, because another line may end the game
        // sooner.
        let is_within_depth = |plies| plies <= result.depth;
        let is_exact =
            |score: Score| result.is_exact || score.plies_to_end().is_some_and(is_within_depth);
        let moves = result.near_best_moves.into_iter().map(|(m, score)| {
            let certainty = match is_exact(score) {
                true => Certainty::Exact,
                false => Certainty::Estimate,
            };
            MoveValue::new(m, score, certainty)
        });
        Self {
            exact: is_exact(result.score),
            depth: result.depth,
            moves: moves.collect(),
            ..Self::from_value(result.score, result.pv, 0, search)
        }
    }

    /// Creates a report from a proof. Values that the proof does not contain come from `result`,
    /// the result of an earlier search.
    pub(super) fn from_proof<P: Evaluate<Move = M>>(
        result: SearchResult<M>,
        proof: &Proof<M>,
        search: &Searcher<'_, P>,
    ) -> Self {
        let mut report = Self::from_search_result(result, search);
        report.apply_proof(proof);
        report
    }

    /// Updates the report with the proven bounds and the proven best move.
    ///
    /// If the position is not known to be lost, the function ignores bounds that exclude only a
    /// fast loss. An estimate is more informative than such a bound.
    pub(super) fn apply_proof(&mut self, proof: &Proof<M>) {
        if proof.bounds.lower < Score::DRAW && proof.bounds.upper >= Score::DRAW {
            return;
        }
        self.exact = proof.value().is_some();
        if let Some(score) = proof.value() {
            if score != self.score {
                // The principal variation does not lead to the proven score, so the report keeps
                // only its first move.
                self.pv.truncate(1);
            }
            self.score = score;
        }
        // The report starts with the proven best move, because no other move is proven to be
        // better.
        if let Some(best) = proof.best_move {
            self.score = proof.bounds.lower;
            if self.pv.first() != Some(&best) {
                self.pv = vec![best];
            }
        }
        // If the position is lost, the reported score is the upper bound. The actual loss may come
        // sooner or, in games decided by points, be larger.
        if proof.bounds.upper < Score::DRAW {
            self.score = proof.bounds.upper;
        }
    }

    /// Updates the report with the result from the opening book, unless the search has already
    /// proven how soon the game ends.
    pub(super) fn apply_book_result<P: Evaluate<Move = M>>(&mut self, pos: &P) {
        let Some((outcome, _)) = pos.probe_book() else {
            return;
        };
        let win = Score::win_in(pos.remaining_plies_max());
        let bounds = Bounds::from_outcome(outcome, win);
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
            // If all moves lose, the report keeps the move found by the search, because the book
            // does not rank losing moves.
            Some(&m) if outcome.is_lt() => {
                let continuation = solver::book_line(&pos.after(m));
                std::iter::once(m).chain(continuation).collect()
            }
            Some(_) | None => solver::book_line(pos),
        };
    }

    /// Records the cost of the search up to now.
    pub(super) fn record_effort<P: Evaluate<Move = M>>(&mut self, search: &Searcher<'_, P>) {
        self.selective_depth = search.deepest_ply;
        self.nodes = search.budget.nodes();
        self.table_hits = search.table_hits;
        self.table_fill_per_mille = search.table_fill_per_mille();
        self.cutoff_skips = search.cutoff_skips;
        self.time = search.budget.elapsed();
    }

    /// Creates a report for a value found by a search to `depth` plies.
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
    /// Creates a report for a value that is known without a search, such as the value of a finished
    /// game.
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

    /// Returns the number of positions visited per second.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the count is not negative and is only displayed"
    )]
    pub fn nodes_per_second(&self) -> u64 {
        (self.nodes as f64 / self.time.as_secs_f64().max(1e-9)) as u64
    }

    /// Converts every move of the report with `convert`.
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
