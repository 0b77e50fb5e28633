//! Whether a change is an improvement, by as few games as it takes (Wald, "Sequential tests of
//! statistical hypotheses", 1945).
//!
//! The generalised log-likelihood ratio of the results of pairs, with differences in normalised Elo:
//! that of a single game with the given variance, so that openings and draws do not move the scale (Van
//! den Bergh, "Comments on normalized Elo", 2020, section 4.1). It is fastchess's default
//! (`sprt.cpp`, model `normalized`, pentanomial), and its test's examples are ours.

use super::pentanomial::{Pentanomial, SHARES};
use crate::tournament::estimate::ELO_PER_NAT;

/// What stands for a result that has not come: nothing would make its likelihood impossible.
const NONE_SEEN: f64 = 1e-3;

/// How often the most likely distribution is made better; fastchess stops after as many.
const ROUNDS: usize = 10;

/// Each halving of an interval is a bit of the answer.
const HALVINGS: usize = 60;

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
    Open,
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
        match self.ratio(pairs) {
            ratio if ratio >= high => Verdict::H1,
            ratio if ratio <= low => Verdict::H0,
            _ => Verdict::Open,
        }
    }

    /// The logarithm of how much likelier these pairs are with `elo1` than with `elo0`; 0 without a
    /// pair.
    #[must_use]
    pub fn ratio(&self, pairs: &Pentanomial) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let counts = pairs.0.map(|count| f64::from(count).max(NONE_SEEN));
        let total: f64 = counts.iter().sum();
        let seen = counts.map(|count| count / total);
        // Of a pair the mean has half the variance of a game.
        let distance = |elo: f64| std::f64::consts::SQRT_2 * elo / (2.0 * ELO_PER_NAT);
        let likeliest = [self.elo0, self.elo1].map(|elo| likeliest(&seen, distance(elo)));
        let [zero, one] = likeliest;
        let terms = seen.iter().zip(one.iter().zip(zero));
        total
            * terms
                .map(|(seen, (one, zero))| seen * (one / zero).ln())
                .sum::<f64>()
    }
}

/// The distribution that makes what was seen likeliest, of those whose mean is so many of their standard
/// deviations above 1/2.
fn likeliest(seen: &[f64; 5], distance: f64) -> [f64; 5] {
    let mut likely = [0.2; 5];
    for _ in 0..ROUNDS {
        let mean: f64 = weighted(&likely, SHARES);
        let deviation = weighted(&likely, SHARES.map(|share| (share - mean).powi(2))).sqrt();
        let slopes = SHARES.map(|share| {
            let away = (share - mean) / deviation;
            share - 0.5 - 0.5 * distance * deviation * (1.0 + away * away)
        });
        let multiplier = multiplier(seen, &slopes);
        for index in 0..likely.len() {
            likely[index] = seen[index] / (1.0 + multiplier * slopes[index]);
        }
    }
    likely
}

/// The Lagrange multiplier x with Σ seen · slope / (1 + x · slope) = 0. The sum falls all the way
/// between its two poles.
fn multiplier(seen: &[f64; 5], slopes: &[f64; 5]) -> f64 {
    let (least, most) = slopes
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), slope| {
            (least.min(*slope), most.max(*slope))
        });
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let sum = weighted(seen, slopes.map(|slope| slope / (1.0 + middle * slope)));
        if sum > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn weighted(weights: &[f64; 5], values: [f64; 5]) -> f64 {
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
    fn the_ratio_is_that_of_fastchess() {
        for (sprt, pairs, ratio) in [
            (sprt(0.0, 2.0), [365, 16618, 36029 + 200, 16974, 390], 2.25),
            (sprt(-1.75, 0.25), [127, 4883, 10311 + 401, 5150, 104], 3.01),
            (sprt(0.0, 5.0), [0, 0, 0, 0, 5550], 111.82),
        ] {
            let found = sprt.ratio(&Pentanomial(pairs));
            assert!(
                (found - ratio).abs() < 0.01 * ratio.abs(),
                "{found}, not {ratio}"
            );
        }
    }

    #[test]
    fn a_test_ends_where_an_error_is_seldom_enough() {
        let [low, high] = sprt(0.0, 2.0).bounds();
        assert!((low + 2.944).abs() < 0.001 && (high - 2.944).abs() < 0.001);
        let verdict = |pairs| sprt(0.0, 10.0).verdict(&Pentanomial(pairs));
        assert_eq!(verdict([0; 5]), Verdict::Open);
        assert_eq!(verdict([10, 20, 40, 20, 10]), Verdict::Open);
        assert_eq!(verdict([0, 0, 0, 0, 1000]), Verdict::H1);
        assert_eq!(verdict([1000, 0, 0, 0, 0]), Verdict::H0);
    }
}
