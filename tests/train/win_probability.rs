//! Win probabilities as training targets, derived from search scores and game results.

/// Fits the slope of the log odds of a win as a function of the search score (logistic regression
/// with Newton's method). Each item is a search score and the result of the game: 0 lost, 1 drawn,
/// 2 won.
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

/// Computes the training targets of positions, from the last position of a game to the first
/// (Sutton, "Learning to predict by the methods of temporal differences", 1988).
pub(crate) struct WinProbabilityTargets {
    slope: f32,
    /// Weight of later positions and the game result in a training target. The remaining weight
    /// applies to the search score of the position.
    lambda: f32,
    /// Training target that the previous call computed, as the win probability of the first seat.
    /// `None` if the next call receives the last position of a game.
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

    /// Returns the training target of a position, as the win probability of the side to move. The
    /// score and the result are also from the perspective of the side to move. The caller must pass
    /// the positions in reverse order.
    pub(crate) fn previous_target(
        &mut self,
        (score, result): (i16, u8),
        is_second_seat: bool,
        is_first: bool,
    ) -> f32 {
        // Converts between the win probabilities of the side to move and of the first seat. The
        // conversion works in both directions, because the win probabilities of both seats add up
        // to 1.
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
