//! A difference between two players, in Elo, and how well it is known.

/// Elo in a natural unit of strength: 400 are odds of ten to one.
pub(crate) const ELO_PER_NAT: f64 = 400.0 / std::f64::consts::LN_10;

/// How many standard errors to each side hold 95% of a normal distribution.
pub(crate) const Z_SCORE_95: f64 = 1.959_963_984_540_054;

/// A difference between two players that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloEstimate {
    /// The likeliest difference, in Elo.
    pub elo: f64,
    /// Its standard error, in Elo.
    pub standard_error: f64,
}

impl EloEstimate {
    /// The ends of the interval that holds the true difference in 95 of 100 tournaments.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        let margin = Z_SCORE_95 * self.standard_error;
        [self.elo - margin, self.elo + margin]
    }
}
