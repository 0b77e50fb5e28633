//! The chances of winning that are taught of positions, by what the search said of them and how their games ended.

/// How much the logarithm of the odds of winning grows with what the search says: that under which the
/// results were the most likely (logistic regression by Newton's method). What was said of each position, and how its
/// game ended: 0 lost, 1 drawn, 2 won.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a slope of some thousandths loses nothing that matters"
)]
pub(crate) fn slope(ended: impl Iterator<Item = (i16, u8)> + Clone) -> f32 {
    let mut slope = 0.005;
    for _ in 0..20 {
        let (mut pull, mut stiffness) = (0.0, 0.0);
        for (said, result) in ended.clone() {
            let said = f64::from(said);
            let chance = 1.0 / (1.0 + (-slope * said).exp());
            pull += said * (f64::from(result) / 2.0 - chance);
            stiffness += said * said * chance * (1.0 - chance);
        }
        slope += pull / f64::max(stiffness, 1.0);
    }
    slope as f32
}

/// What is taught of the positions of games, from the last one back (Sutton, "Learning to predict by the methods of
/// temporal differences", 1988).
pub(crate) struct Chances {
    slope: f32,
    /// How much of what a position is taught comes from later; the rest is what the search says of it.
    share: f32,
    /// The chance of the first seat in the position that comes after, within a game.
    later: Option<f32>,
}

impl Chances {
    pub(crate) fn new(slope: f32, share: f32) -> Self {
        Self {
            slope,
            share,
            later: None,
        }
    }

    /// The chance of the side to move in the position before those that were asked of: by what is said of it, and how
    /// its game ended for it.
    pub(crate) fn before(
        &mut self,
        (said, result): (i16, u8),
        is_second_seat: bool,
        is_first: bool,
    ) -> f32 {
        // As the second seat sees it, chances are the other way round.
        let seen = |chance: f32| {
            if is_second_seat { 1.0 - chance } else { chance }
        };
        let said = 1.0 / (1.0 + (-self.slope * f32::from(said)).exp());
        let from = self.later.unwrap_or(seen(f32::from(result) / 2.0));
        let chance = self.share * from + (1.0 - self.share) * seen(said);
        self.later = (!is_first).then_some(chance);
        seen(chance)
    }
}
