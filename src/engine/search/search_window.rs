//! Search windows and bounds of scores.

use std::cmp::Ordering;

use super::Score;

/// Score interval of an alpha-beta search. `alpha` is the score that the seat can already
/// guarantee. The opponent avoids a position with a score of `beta` or more.
///
/// A result at or below `alpha` is an upper bound of the value. A result at or above `beta` is a
/// lower bound. Any result in between is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

/// Lower and upper bound of a position's value. The bounds may be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Lower bound of the value.
    pub lower: Score,
    /// Upper bound of the value.
    pub upper: Score,
}

/// Null window, which only tests whether the value is better than `alpha`. The upper end of a null
/// window is the lowest score that is better than `alpha`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NullWindow {
    pub(super) alpha: Score,
}

/// A full or null search window. Most positions are searched with a null window. The compiler
/// therefore generates separate code for each kind of window.
pub(super) trait SearchWindow: Copy {
    /// Whether no score lies strictly inside the window, so that a search can only return a bound.
    const IS_NULL: bool;

    fn alpha(self) -> Score;

    fn beta(self) -> Score;

    /// Returns the window after the seat has found a move with the given score. If the score is
    /// greater than alpha, it becomes the new alpha. The score must be less than `beta`.
    fn with_raised_alpha(self, score: Score) -> Self;

    /// Returns this window for the position after a move. Distances to wins and losses are counted
    /// from that position.
    fn for_next_ply(self) -> Self;

    /// Returns this window from the opponent's point of view.
    fn negated(self) -> Self;

    /// Narrows the window to `bounds`. If the bounds already determine the result of the search,
    /// returns this result.
    fn narrow(&mut self, bounds: Bounds) -> Option<Score>;
}

impl Window {
    /// Window that includes every score.
    pub(super) const FULL: Self = Self {
        alpha: Score::WORST,
        beta: Score::BEST,
    };

    /// Returns the window of scores that differ from `score` by less than `margin`.
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

    /// In a null window, no score lies between `alpha` and `beta`, so alpha does not change.
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
    /// Bounds of a position about which nothing is known. The closest possible results are a loss
    /// in one ply and a win in one ply.
    pub const UNBOUNDED: Self = Self {
        lower: Score::loss_in(1),
        upper: Score::win_in(1),
    };

    /// Creates bounds that both equal `score`.
    #[must_use]
    pub const fn exact(score: Score) -> Self {
        Self {
            lower: score,
            upper: score,
        }
    }

    /// Creates bounds for a position with this outcome for the side to move. A win is worth at least
    /// `win`, and a loss at most the opposite.
    pub(crate) fn from_outcome(outcome: Ordering, win: Score) -> Self {
        match outcome {
            Ordering::Less => Self {
                upper: -win,
                ..Self::UNBOUNDED
            },
            Ordering::Equal => Self::exact(Score::DRAW),
            Ordering::Greater => Self {
                lower: win,
                ..Self::UNBOUNDED
            },
        }
    }

    /// Returns the greater of the two lower bounds and the lesser of the two upper bounds.
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

    /// Returns the bounds after a search with `window` has returned `result`.
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
