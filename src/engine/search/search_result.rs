//! Result of a search.

use super::{Evaluate, Score};

/// Value of a position, the best line of play, and the moves that are nearly as good.
#[derive(Clone, Debug)]
pub(super) struct SearchResult<M> {
    pub(super) score: Score,
    /// Number of plies searched in full.
    pub(super) depth: u32,
    pub(super) pv: Vec<M>,
    /// The best move and all moves that are worse by at most the requested margin, each with its
    /// score.
    pub(super) near_best_moves: Vec<(M, Score)>,
    /// Whether the search used only exact values and no estimates. If set, a deeper search cannot
    /// change the score.
    pub(super) is_exact: bool,
}

impl<M> SearchResult<M> {
    /// Placeholder for the result before the first iteration is complete.
    pub(super) const NONE: Self = Self {
        score: Score::WORST,
        depth: 0,
        pv: Vec::new(),
        near_best_moves: Vec::new(),
        is_exact: false,
    };

    /// Returns whether a deeper search cannot change who wins. A deeper search may still find a
    /// faster win.
    ///
    /// In games that end by mate, reductions may hide short wins, so the search may find a slower
    /// win first. In these games, a win is final only if the search depth is at least the distance
    /// to the win.
    pub(super) fn is_final<P: Evaluate>(&self) -> bool {
        let is_within_depth = |plies| !P::WINS_BY_MATE || plies <= self.depth;
        self.is_exact || self.score.plies_to_end().is_some_and(is_within_depth)
    }
}

impl<M: Copy> SearchResult<M> {
    /// Creates a result from a proven win and its line of play.
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
