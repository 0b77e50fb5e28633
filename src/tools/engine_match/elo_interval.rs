//! Elo differences and their confidence intervals.

use serde::Serialize;

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

/// Elo difference with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EloInterval {
    /// Estimated Elo difference.
    pub elo: f64,
    /// Lower bound of the confidence interval.
    pub low: f64,
    /// Upper bound of the confidence interval.
    pub high: f64,
}

impl EloEstimate {
    /// Returns the bounds of the 95% confidence interval.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        let margin = Z_SCORE_95 * self.standard_error;
        [self.elo - margin, self.elo + margin]
    }

    /// Returns the difference and its interval, rounded for a report.
    pub(crate) fn to_rounded_interval(self) -> EloInterval {
        let [low, high] = self.interval();
        let elo = self.elo;
        EloInterval { elo, low, high }.rounded()
    }
}

impl EloInterval {
    /// Rounds to one decimal place.
    pub(crate) fn rounded(self) -> Self {
        let [elo, low, high] = [self.elo, self.low, self.high].map(|elo| round_to(elo, 1));
        Self { elo, low, high }
    }
}

/// Rounds to `decimals` decimal places. The logarithm functions of different machines return
/// slightly different values, and rounding hides these differences.
pub(crate) fn round_to(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    // Adding zero turns a negative zero into a positive zero, so that the report never shows "-0".
    (number * scale).round() / scale + 0.0
}
