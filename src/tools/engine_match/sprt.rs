//! Sequential probability ratio test (SPRT). The test decides with few games whether a change is an
//! improvement (Wald, "Sequential tests of statistical hypotheses", 1945).
//!
//! The test computes the generalised log-likelihood ratio of the results of game pairs. The
//! hypotheses are differences in normalised Elo, which is based on the variance of a single game.
//! Normalised Elo therefore does not depend on the openings or the draw rate (Van den Bergh,
//! "Comments on normalized Elo", 2020, section 4.1).
//!
//! The test uses the default model of fastchess (`sprt.cpp`, model `normalized`, pentanomial). The
//! unit tests use examples from fastchess.

use super::elo_interval::ELO_PER_NAT;
use super::pentanomial::{PAIR_SCORES, Pentanomial};

/// Number that replaces a zero in the pair counts. With a count of zero, a pair result would have
/// an estimated probability of zero.
const ZERO_COUNT_SUBSTITUTE: f64 = 1e-3;

/// Number of iterations of the maximum likelihood estimation, as in fastchess.
const MLE_ITERATIONS: usize = 10;

/// Number of bisection steps. Each step adds one bit of precision.
const BISECTION_STEPS: usize = 60;

/// Test that decides between two hypotheses. The first hypothesis is that the Elo difference equals
/// `elo0`, and the second is that it equals `elo1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// Smaller of the two Elo differences, in normalised Elo.
    pub elo0: f64,
    /// Larger of the two Elo differences, in normalised Elo.
    pub elo1: f64,
    /// Probability of accepting `elo1` if `elo0` is true.
    pub alpha: f64,
    /// Probability of accepting `elo0` if `elo1` is true.
    pub beta: f64,
}

/// Result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The test needs more games.
    #[serde(rename = "open")]
    Undecided,
    /// The test accepts the difference `elo0`.
    H0,
    /// The test accepts the difference `elo1`.
    H1,
}

impl Sprt {
    /// Returns the lower and the upper bound of the log-likelihood ratio. The test ends when the
    /// log-likelihood ratio reaches one of the bounds.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        let Self { alpha, beta, .. } = self;
        [(beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln()]
    }

    /// Returns the result of the test for these pairs of games.
    #[must_use]
    pub fn verdict(&self, pairs: &Pentanomial) -> Verdict {
        let [low, high] = self.bounds();
        match self.log_likelihood_ratio(pairs) {
            ratio if ratio >= high => Verdict::H1,
            ratio if ratio <= low => Verdict::H0,
            _ => Verdict::Undecided,
        }
    }

    /// Returns the log-likelihood ratio of these pairs: the log-likelihood under `elo1` minus the
    /// log-likelihood under `elo0`. Returns 0 if there are no pairs.
    #[must_use]
    pub fn log_likelihood_ratio(&self, pairs: &Pentanomial) -> f64 {
        if pairs.pair_count() == 0 {
            return 0.0;
        }
        let counts = pairs
            .0
            .map(|count| f64::from(count).max(ZERO_COUNT_SUBSTITUTE));
        let total: f64 = counts.iter().sum();
        let observed = counts.map(|count| count / total);
        // Converts normalised Elo to standard deviations of pair scores. The variance of a pair's
        // mean score is half the variance of a game's score. A distance of one standard deviation
        // of game scores therefore equals √2 standard deviations of pair scores.
        let distance = |elo: f64| std::f64::consts::SQRT_2 * elo / (2.0 * ELO_PER_NAT);
        let likeliest =
            [self.elo0, self.elo1].map(|elo| max_likelihood_distribution(&observed, distance(elo)));
        let [zero, one] = likeliest;
        let terms = observed.iter().zip(one.iter().zip(zero));
        total
            * terms
                .map(|(seen, (one, zero))| seen * (one / zero).ln())
                .sum::<f64>()
    }
}

/// Returns the most likely distribution of pair scores for the observed frequencies. Only
/// distributions whose mean score is `distance` standard deviations of pair scores above 1/2 are
/// considered.
fn max_likelihood_distribution(observed: &[f64; 5], distance: f64) -> [f64; 5] {
    let mut distribution = [0.2; 5];
    for _ in 0..MLE_ITERATIONS {
        let mean: f64 = weighted_sum(&distribution, PAIR_SCORES);
        let squares = PAIR_SCORES.map(|share| (share - mean).powi(2));
        let deviation = weighted_sum(&distribution, squares).sqrt();
        let slopes = PAIR_SCORES.map(|share| {
            let deviations = (share - mean) / deviation;
            share - 0.5 - 0.5 * distance * deviation * (1.0 + deviations * deviations)
        });
        let multiplier = lagrange_multiplier(observed, &slopes);
        for index in 0..distribution.len() {
            distribution[index] = observed[index] / (1.0 + multiplier * slopes[index]);
        }
    }
    distribution
}

/// Returns the Lagrange multiplier: the root x of Σ observed · slope / (1 + x · slope). The
/// function finds x by bisection, because the sum decreases between the two poles nearest to x = 0.
fn lagrange_multiplier(observed: &[f64; 5], slopes: &[f64; 5]) -> f64 {
    let least = slopes.iter().copied().fold(f64::MAX, f64::min);
    let most = slopes.iter().copied().fold(f64::MIN, f64::max);
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..BISECTION_STEPS {
        let middle = f64::midpoint(low, high);
        let sum = weighted_sum(observed, slopes.map(|slope| slope / (1.0 + middle * slope)));
        if sum > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn weighted_sum(weights: &[f64; 5], values: [f64; 5]) -> f64 {
    let terms = weights.iter().zip(values);
    terms.map(|(weight, value)| weight * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn sprt(elo0: f64, elo1: f64) -> Sprt {
        Sprt {
            elo0,
            elo1,
            alpha: 0.05,
            beta: 0.05,
        }
    }

    /// Examples from fastchess's tests (`app/tests/sprt_test.cpp`). The counts are ordered from two
    /// losses to two wins.
    #[test]
    fn log_likelihood_ratio_matches_fastchess_examples() {
        for (sprt, pairs, ratio) in [
            (sprt(0.0, 2.0), [365, 16618, 36029 + 200, 16974, 390], 2.25),
            (sprt(-1.75, 0.25), [127, 4883, 10311 + 401, 5150, 104], 3.01),
            (sprt(0.0, 5.0), [0, 0, 0, 0, 5550], 111.82),
        ] {
            let found = sprt.log_likelihood_ratio(&Pentanomial(pairs));
            assert!(
                (found - ratio).abs() < 0.01 * ratio.abs(),
                "{found}, not {ratio}"
            );
        }
    }

    #[test]
    fn verdict_is_reached_at_the_error_bounds() {
        let [low, high] = sprt(0.0, 2.0).bounds();
        assert!((low + 2.944).abs() < 0.001 && (high - 2.944).abs() < 0.001);
        let verdict = |pairs| sprt(0.0, 10.0).verdict(&Pentanomial(pairs));
        assert_eq!(verdict([0; 5]), Verdict::Undecided);
        assert_eq!(verdict([10, 20, 40, 20, 10]), Verdict::Undecided);
        assert_eq!(verdict([0, 0, 0, 0, 1000]), Verdict::H1);
        assert_eq!(verdict([1000, 0, 0, 0, 0]), Verdict::H0);
    }
}
