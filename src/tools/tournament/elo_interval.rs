//! Elo differences and their confidence intervals.

/// Elo points per natural unit of strength. A difference of 400 Elo means odds of ten to one.
pub(crate) const ELO_PER_NAT: f64 = 400.0 / std::f64::consts::LN_10;

/// Number of standard errors from the estimate to each bound of a 95% confidence interval, for a
/// normal distribution.
pub(crate) const Z_SCORE_95: f64 = 1.959_963_984_540_054;

/// A measured difference in strength between two players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloEstimate {
    /// Most likely difference, in Elo.
    pub elo: f64,
    /// Standard error of the difference, in Elo.
    pub standard_error: f64,
}

impl EloEstimate {
    /// Returns the bounds of the 95% confidence interval.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        let margin = Z_SCORE_95 * self.standard_error;
        [self.elo - margin, self.elo + margin]
    }
}
