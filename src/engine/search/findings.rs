//! What looking ahead has found.

use super::{Evaluate, Score};

/// What looking ahead has found.
#[derive(Clone, Debug)]
pub(super) struct Findings<M> {
    pub(super) score: Score,
    /// How many plies ahead were looked at in full.
    pub(super) depth: u32,
    pub(super) pv: Vec<M>,
    /// The best move and all that are within the wanted margin of it, each with its value.
    pub(super) close: Vec<(M, Score)>,
    /// Set if nothing was estimated anywhere in the look, so that to look farther would find nothing
    /// else.
    pub(super) complete: bool,
}

impl<M> Findings<M> {
    /// Nothing yet.
    pub(super) const NONE: Self = Self {
        score: Score::WORST,
        depth: 0,
        pv: Vec::new(),
        close: Vec::new(),
        complete: false,
    };

    /// Whether looking farther cannot change who wins. A win may still turn out to be nearer.
    ///
    /// Where short wins may be hidden, that is waited for as far as the win is away: a longer one may
    /// have been seen first.
    pub(super) fn is_final<P: Evaluate>(&self) -> bool {
        let is_seen = |plies| !P::MATES || plies <= self.depth;
        self.complete || self.score.plies_to_end().is_some_and(is_seen)
    }
}

impl<M: Copy> Findings<M> {
    /// The fastest win, and its line.
    pub(super) fn of_win(score: Score, pv: &[M]) -> Self {
        Self {
            score,
            depth: score.plies_to_end().unwrap_or(0),
            close: vec![(pv[0], score)],
            pv: pv.to_vec(),
            complete: false,
        }
    }
}
