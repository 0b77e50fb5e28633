//! Values that change as the pieces leave the board.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// What something is worth in the middle game, and in the end game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// The value between the two: the more of `PHASE_MAX` is left of the pieces, the nearer to the
    /// middle game ("tapered" evaluation, as in Fruit: Letouzey, 2004).
    pub(super) fn at(self, phase: i32) -> i32 {
        let phase = phase.min(PHASE_MAX);
        (self.middle * phase + self.end * (PHASE_MAX - phase)) / PHASE_MAX
    }
}

impl Add for Phased {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.middle + other.middle, self.end + other.end)
    }
}

impl AddAssign for Phased {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Neg for Phased {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.middle, -self.end)
    }
}

impl Sub for Phased {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl SubAssign for Phased {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<i32> for Phased {
    type Output = Self;

    fn mul(self, times: i32) -> Self {
        Self::new(self.middle * times, self.end * times)
    }
}
