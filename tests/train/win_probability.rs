//! The chances of winning that are taught of positions, by what the search said of them and how their games ended.

/// How much the logarithm of the odds of winning grows with what the search says: that under which the
/// results were the most likely (logistic regression by Newton's method). What was said of each position, and how its
/// game ended: 0 lost, 1 drawn, 2 won.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a slope of a few thousandths fits f32"
)]
pub(crate) fn fit_slope(outcomes: impl Iterator<Item = (i16, u8)> + Clone) -> f32 {
    let mut slope = 0.005;
    for _ in 0..20 {
        let (mut gradient, mut curvature) = (0.0, 0.0);
        for (score, result) in outcomes.clone() {
            let score = f64::from(score);
            let probability = 1.0 / (1.0 + (-slope * score).exp());
            gradient += score * (f64::from(result) / 2.0 - probability);
            curvature += score * score * probability * (1.0 - probability);
        }
        slope += gradient / f64::max(curvature, 1.0);
    }
    slope as f32
}

/// What is taught of the positions of games, from the last one back (Sutton, "Learning to predict by the methods of
/// temporal differences", 1988).
pub(crate) struct WinProbabilityTargets {
    slope: f32,
    /// How much of what a position is taught comes from later; the rest is what the search says of it.
    lambda: f32,
    /// The chance of the first seat in the position that comes after, within a game.
    next_probability: Option<f32>,
}

impl WinProbabilityTargets {
    pub(crate) fn new(slope: f32, lambda: f32) -> Self {
        Self {
            slope,
            lambda,
            next_probability: None,
        }
    }

    /// The chance of the side to move in the position before those that were asked of: by what is said of it, and how
    /// its game ended for it.
    pub(crate) fn previous_target(
        &mut self,
        (score, result): (i16, u8),
        is_second_seat: bool,
        is_first: bool,
    ) -> f32 {
        // As the second seat sees it, chances are the other way round.
        let for_first_seat = |probability: f32| {
            if is_second_seat {
                1.0 - probability
            } else {
                probability
            }
        };
        let search_probability = 1.0 / (1.0 + (-self.slope * f32::from(score)).exp());
        let next_probability = self
            .next_probability
            .unwrap_or(for_first_seat(f32::from(result) / 2.0));
        let target = self.lambda * next_probability
            + (1.0 - self.lambda) * for_first_seat(search_probability);
        self.next_probability = (!is_first).then_some(target);
        for_first_seat(target)
    }
}
