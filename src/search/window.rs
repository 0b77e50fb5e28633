//! The scores that a look is about.

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

impl Window {
    /// Every score matters.
    pub(super) const FULL: Self = Self {
        alpha: Score::WORST,
        beta: Score::BEST,
    };

    /// Only one thing matters: whether the value is better than `alpha`.
    pub(super) const fn null(alpha: Score) -> Self {
        Self {
            alpha,
            beta: alpha.next(),
        }
    }

    /// The scores that differ from this one by less than `by`.
    pub(super) fn around(score: Score, by: u32) -> Self {
        Self {
            alpha: score.lowered(by),
            beta: -(-score).lowered(by),
        }
    }

    /// Whether no score lies within, so that there is nothing to find but a yes or a no.
    #[inline]
    pub(super) fn is_null(self) -> bool {
        self.alpha.next() >= self.beta
    }

    /// The same scores as the opponent sees them.
    #[inline]
    pub(super) fn across(self) -> Self {
        Self {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }

    /// Leaves out what the value cannot be. Where nothing is left, that is the answer.
    #[inline]
    pub(super) fn narrow(&mut self, bounds: Bounds) -> Option<Score> {
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

impl Bounds {
    /// Nothing is known, but that the next ply may end the game.
    pub const ANY: Self = Self {
        lower: Score::loss_in(1),
        upper: Score::win_in(1),
    };

    /// The value itself is known.
    #[must_use]
    pub const fn exactly(score: Score) -> Self {
        Self {
            lower: score,
            upper: score,
        }
    }

    /// The bounds as seen from a position `plies` before.
    pub(super) const fn later(self, plies: u32) -> Self {
        Self {
            lower: self.lower.later(plies),
            upper: self.upper.later(plies),
        }
    }

    /// What follows from these bounds and others together.
    #[inline]
    pub(super) fn within(self, others: Self) -> Self {
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

    /// What is known after a look through a window, which had this result, seen from the root.
    #[inline]
    pub(super) fn learn(self, window: Window, result: Score, ply: u32) -> Self {
        let value = result.sooner(ply);
        Self {
            lower: if result > window.alpha {
                value
            } else {
                self.lower
            },
            upper: if result < window.beta {
                value
            } else {
                self.upper
            },
        }
    }
}
