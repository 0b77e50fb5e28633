//! Windows: the range of scores that a search is asked about.

use super::Score;

/// The scores that matter: what a seat is already sure of, and what its opponent will not allow.
/// A result at or below `alpha` is an upper bound, one at or above `beta` a lower bound, and one
/// between is the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

/// What is known of a value without looking: it lies between these, which may be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The value is at least this.
    pub lower: Score,
    /// The value is at most this.
    pub upper: Score,
}

/// Only one thing matters: whether the value is better than `alpha` (a "null" window).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NullWindow {
    pub(super) alpha: Score,
}

/// Either kind of window. Most positions are only ever asked a yes or a no, and the code for these
/// is made apart.
pub(super) trait SearchWindow: Copy {
    /// Whether no score lies within, so that there is nothing to find but a yes or a no.
    const IS_NULL: bool;

    fn alpha(self) -> Score;

    fn beta(self) -> Score;

    /// What still matters when the seat is sure of this score, which is less than `beta`.
    fn with_raised_alpha(self, score: Score) -> Self;

    /// This window as seen a ply later.
    fn for_next_ply(self) -> Self;

    /// This window as the opponent sees it.
    fn negated(self) -> Self;

    /// Leaves out what the value cannot be. Where nothing is left, that is the answer.
    fn narrow(&mut self, bounds: Bounds) -> Option<Score>;
}

impl Window {
    /// Every score matters.
    pub(super) const FULL: Self = Self {
        alpha: Score::WORST,
        beta: Score::BEST,
    };

    /// The scores that differ from this one by less than `margin`.
    pub(super) fn around(score: Score, margin: u32) -> Self {
        Self {
            alpha: score.saturating_sub(margin),
            beta: -(-score).saturating_sub(margin),
        }
    }
}

impl SearchWindow for Window {
    const IS_NULL: bool = false;

    fn alpha(self) -> Score {
        self.alpha
    }

    fn beta(self) -> Score {
        self.beta
    }

    fn with_raised_alpha(self, score: Score) -> Self {
        Self {
            alpha: self.alpha.max(score),
            ..self
        }
    }

    fn for_next_ply(self) -> Self {
        Self {
            alpha: self.alpha.advanced_by(1),
            beta: self.beta.advanced_by(1),
        }
    }

    fn negated(self) -> Self {
        Self {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }

    fn narrow(&mut self, bounds: Bounds) -> Option<Score> {
        if bounds.lower >= self.beta {
            return Some(bounds.lower);
        }
        if bounds.upper <= self.alpha {
            return Some(bounds.upper);
        }
        if bounds.lower > self.alpha {
            self.alpha = bounds.lower;
        }
        if bounds.upper < self.beta {
            self.beta = bounds.upper;
        }
        (self.alpha >= self.beta).then_some(self.alpha)
    }
}

impl SearchWindow for NullWindow {
    const IS_NULL: bool = true;

    #[inline]
    fn alpha(self) -> Score {
        self.alpha
    }

    #[inline]
    fn beta(self) -> Score {
        self.alpha.next_better()
    }

    /// That is no more than `alpha`.
    #[inline]
    fn with_raised_alpha(self, _score: Score) -> Self {
        self
    }

    #[inline]
    fn for_next_ply(self) -> Self {
        Self {
            alpha: self.alpha.advanced_by(1),
        }
    }

    #[inline]
    fn negated(self) -> Self {
        Self {
            alpha: -self.beta(),
        }
    }

    #[inline]
    fn narrow(&mut self, bounds: Bounds) -> Option<Score> {
        if bounds.lower > self.alpha {
            Some(bounds.lower)
        } else if bounds.upper <= self.alpha {
            Some(bounds.upper)
        } else {
            None
        }
    }
}

impl Bounds {
    /// Nothing is known, but that the next ply may end the game.
    pub const UNBOUNDED: Self = Self {
        lower: Score::loss_in(1),
        upper: Score::win_in(1),
    };

    /// The value itself is known.
    #[must_use]
    pub const fn exact(score: Score) -> Self {
        Self {
            lower: score,
            upper: score,
        }
    }

    /// What follows from these bounds and others together.
    #[inline]
    pub(super) fn intersect(self, others: Self) -> Self {
        Self {
            lower: if self.lower > others.lower {
                self.lower
            } else {
                others.lower
            },
            upper: if self.upper < others.upper {
                self.upper
            } else {
                others.upper
            },
        }
    }

    /// What is known after a look through a window, which had this result.
    #[inline]
    pub(super) fn updated_with(self, window: impl SearchWindow, result: Score) -> Self {
        Self {
            lower: if result > window.alpha() {
                result
            } else {
                self.lower
            },
            upper: if result < window.beta() {
                result
            } else {
                self.upper
            },
        }
    }
}
