//! Scores that depend on the game phase.

use derive_more::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Value of a term in the middlegame and in the endgame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Add, AddAssign, Mul, Neg, Sub, SubAssign)]
pub(super) struct TaperedScore {
    pub(super) middlegame: i32,
    pub(super) endgame: i32,
}

/// Game phase of a position with all pieces on the board.
pub(super) const PHASE_MAX: i32 = 24;

impl TaperedScore {
    pub(super) const fn new(middle: i32, end: i32) -> Self {
        Self {
            middlegame: middle,
            endgame: end,
        }
    }

    /// Combines an array of middlegame values and an array of endgame values into an array of
    /// scores.
    pub(super) const fn table<const N: usize>(middle: [i32; N], end: [i32; N]) -> [Self; N] {
        let mut scores = [Self::new(0, 0); N];
        let mut index = 0;
        while index < N {
            scores[index] = Self::new(middle[index], end[index]);
            index += 1;
        }
        scores
    }

    /// Interpolates between the middlegame and the endgame value ("tapered" evaluation, as in
    /// Letouzey's program Fruit, 2004). A phase of `PHASE_MAX` gives the middlegame value, and a
    /// phase of 0 gives the endgame value.
    pub(super) fn interpolate(self, phase: i32) -> i32 {
        let phase = phase.min(PHASE_MAX);
        (self.middlegame * phase + self.endgame * (PHASE_MAX - phase)) / PHASE_MAX
    }
}
