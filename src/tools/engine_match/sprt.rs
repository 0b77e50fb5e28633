//! Whether a change is an improvement, by as few games as it takes (Wald, "Sequential tests of
//! statistical hypotheses", 1945).
//!
//! The generalised log-likelihood ratio of the results of pairs, with differences in normalised Elo:
//! that of a single game with the given variance, so that openings and draws do not move the scale (Van
//! den Bergh, "Comments on normalized Elo", 2020, section 4.1). It is fastchess's default
//! (`sprt.cpp`, model `normalized`, pentanomial), and its test's examples are ours.

use super::pentanomial::{PAIR_SCORES, Pentanomial};
use crate::tournament::elo_interval::ELO_PER_NAT;

/// What stands for a result that has not come: nothing would make its likelihood impossible.
const ZERO_COUNT_SUBSTITUTE: f64 = 1e-3;

/// How often the most likely distribution is made better; fastchess stops after as many.
const MLE_ITERATIONS: usize = 10;

/// Each halving of an interval is a bit of the answer.
const BISECTION_STEPS: usize = 60;

/// A test of two hypotheses: the difference is `elo0`, or it is `elo1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The lesser difference, in normalised Elo.
    pub elo0: f64,
    /// The greater.
    pub elo1: f64,
    /// How often `elo1` may be taken for true when `elo0` is.
    pub alpha: f64,
    /// How often `elo0` may be taken for true when `elo1` is.
    pub beta: f64,
}

/// What a test says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing yet.
    #[serde(rename = "open")]
    Undecided,
    /// The difference is rather `elo0`.
    H0,
    /// The difference is rather `elo1`.
    H1,
}

impl Sprt {
    /// The ratios at which the test is over.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        let Self { alpha, beta, .. } = self;
        [(beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln()]
    }

    /// What these pairs say.
    #[must_use]
    pub fn verdict(&self, pairs: &Pentanomial) -> Verdict {
        let [low, high] = self.bounds();
        match self.log_likelihood_ratio(pairs) {
            ratio if ratio >= high => Verdict::H1,
            ratio if ratio <= low => Verdict::H0,
            _ => Verdict::Undecided,
        }
    }

    /// The logarithm of how much likelier these pairs are with `elo1` than with `elo0`; 0 without a
    /// pair.
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
        // Of a pair the mean has half the variance of a game.
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

/// The distribution that makes what was seen likeliest, of those whose mean is so many of their standard
/// deviations above 1/2.
fn max_likelihood_distribution(observed: &[f64; 5], distance: f64) -> [f64; 5] {
    let mut distribution = [0.2; 5];
    for _ in 0..MLE_ITERATIONS {
        let mean: f64 = weighted_sum(&distribution, PAIR_SCORES);
        let deviation = weighted_sum(
            &distribution,
            PAIR_SCORES.map(|share| (share - mean).powi(2)),
        )
        .sqrt();
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

/// The Lagrange multiplier x with Σ seen · slope / (1 + x · slope) = 0. The sum falls all the way
/// between its two poles.
fn lagrange_multiplier(observed: &[f64; 5], slopes: &[f64; 5]) -> f64 {
    let (least, most) = slopes
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), slope| {
            (least.min(*slope), most.max(*slope))
        });
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
    weights
        .iter()
        .zip(values)
        .map(|(weight, value)| weight * value)
        .sum()
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

    /// fastchess's own examples (`app/tests/sprt_test.cpp`), from two losses up to two wins.
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
