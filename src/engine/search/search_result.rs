//! What looking ahead has found.

use super::{Evaluate, Score};

/// What looking ahead has found.
#[derive(Clone, Debug)]
pub(super) struct SearchResult<M> {
    pub(super) score: Score,
    /// How many plies ahead were looked at in full.
    pub(super) depth: u32,
    pub(super) pv: Vec<M>,
    /// The best move and all that are within the wanted margin of it, each with its value.
    pub(super) near_best_moves: Vec<(M, Score)>,
    /// Set if nothing was estimated anywhere in the look, so that to look farther would find nothing
    /// else.
    pub(super) is_exact: bool,
}

impl<M> SearchResult<M> {
    /// Nothing yet.
    pub(super) const NONE: Self = Self {
        score: Score::WORST,
        depth: 0,
        pv: Vec::new(),
        near_best_moves: Vec::new(),
        is_exact: false,
    };

    /// Whether looking farther cannot change who wins. A win may still turn out to be nearer.
    ///
    /// Where short wins may be hidden, that is waited for as far as the win is away: a longer one may
    /// have been seen first.
    pub(super) fn is_final<P: Evaluate>(&self) -> bool {
        let is_within_depth = |plies| !P::WINS_BY_MATE || plies <= self.depth;
        self.is_exact || self.score.plies_to_end().is_some_and(is_within_depth)
    }
}

impl<M: Copy> SearchResult<M> {
    /// The fastest win, and its line.
    pub(super) fn from_win(score: Score, pv: &[M]) -> Self {
        Self {
            score,
            depth: score.plies_to_end().unwrap_or(0),
            near_best_moves: vec![(pv[0], score)],
            pv: pv.to_vec(),
            is_exact: false,
        }
    }
}
