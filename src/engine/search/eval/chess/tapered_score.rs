//! Values that change as the pieces leave the board.

use derive_more::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// What something is worth in the middle game, and in the end game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Add, AddAssign, Mul, Neg, Sub, SubAssign)]
pub(super) struct TaperedScore {
    pub(super) middlegame: i32,
    pub(super) endgame: i32,
}

/// The phase of a game in which nothing has been captured.
pub(super) const PHASE_MAX: i32 = 24;

impl TaperedScore {
    pub(super) const fn new(middle: i32, end: i32) -> Self {
        Self {
            middlegame: middle,
            endgame: end,
        }
    }

    /// Values for the middle game, and for the end game.
    pub(super) const fn table<const N: usize>(middle: [i32; N], end: [i32; N]) -> [Self; N] {
        let mut scores = [Self::new(0, 0); N];
        let mut index = 0;
        while index < N {
            scores[index] = Self::new(middle[index], end[index]);
            index += 1;
        }
        scores
    }

    /// The value between the two: the more of `PHASE_MAX` is left of the pieces, the nearer to the
    /// middle game ("tapered" evaluation, as in Fruit: Letouzey, 2004).
    pub(super) fn interpolate(self, phase: i32) -> i32 {
        let phase = phase.min(PHASE_MAX);
        (self.middlegame * phase + self.endgame * (PHASE_MAX - phase)) / PHASE_MAX
    }
}
