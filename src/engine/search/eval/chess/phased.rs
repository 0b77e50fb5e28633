//! Values that change as the pieces leave the board.

use derive_more::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// What something is worth in the middle game, and in the end game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Add, AddAssign, Mul, Neg, Sub, SubAssign)]
pub(super) struct Phased {
    pub(super) middle: i32,
    pub(super) end: i32,
}

/// The phase of a game in which nothing has been captured.
pub(super) const PHASE_MAX: i32 = 24;

impl Phased {
    pub(super) const fn new(middle: i32, end: i32) -> Self {
        Self { middle, end }
    }

    /// Values for the middle game, and for the end game.
    pub(super) const fn table<const N: usize>(middle: [i32; N], end: [i32; N]) -> [Self; N] {
        let mut all = [Self::new(0, 0); N];
        let mut index = 0;
        while index < N {
            all[index] = Self::new(middle[index], end[index]);
            index += 1;
        }
        all
    }

    /// The value between the two: the more of `PHASE_MAX` is left of the pieces, the nearer to the
    /// middle game ("tapered" evaluation, as in Fruit: Letouzey, 2004).
    pub(super) fn at(self, phase: i32) -> i32 {
        let phase = phase.min(PHASE_MAX);
        (self.middle * phase + self.end * (PHASE_MAX - phase)) / PHASE_MAX
    }
}
