//! Pentanomial statistics of game pairs. Two games from one opening with swapped sides form one
//! trial with five possible results.
//!
//! The two games of a pair are not independent: an opening that favours White does so in both
//! games. The variance of pairs accounts for this dependence. If openings are unbalanced, the
//! variance of pairs is smaller than the variance of games (Van den Bergh, "The pentanomial model",
//! 2019).
//!
//! The Elo difference, its confidence interval and the likelihood of superiority are computed as in
//! fastchess (`elo_pentanomial.cpp`).

use super::elo_interval::{ELO_PER_NAT, EloInterval, Z_SCORE_95};

/// First player's score in a pair of games, as a fraction of two points. The array contains the
/// score of each of the five pair results.
pub(crate) const PAIR_SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Number of pairs with each result, from the perspective of the first player. The results are
/// ordered by the points of the pair: 0, 1/2, 1, 3/2 and 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial(pub [u32; 5]);

impl Pentanomial {
    /// Returns the number of pairs of games.
    #[must_use]
    pub fn pair_count(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Returns the fraction of the points that the first player won. Returns `None` if there are no
    /// pairs.
    #[must_use]
    pub fn score_share(&self) -> Option<f64> {
        let pairs = self.pair_count();
        let points = PAIR_SCORES.iter().zip(self.0);
        let points: f64 = points.map(|(share, count)| share * f64::from(count)).sum();
        (pairs > 0).then(|| points / f64::from(pairs))
    }

    /// Returns the score and its standard error, computed from the variance of pairs.
    ///
    /// If all pairs have the same result, their variance is zero. To avoid a standard error of
    /// zero, 0.5 is then added to the numbers of double losses and double wins.
    fn score_estimate(&self) -> Option<[f64; 2]> {
        let share = self.score_share()?;
        let mut counts = self.0.map(f64::from);
        let mut pairs = f64::from(self.pair_count());
        let mut mean = share;
        if self.0.iter().filter(|count| **count > 0).count() == 1 {
            counts[0] += 0.5;
            counts[4] += 0.5;
            mean = (share * pairs + 0.5) / (pairs + 1.0);
            pairs += 1.0;
        }
        let squares = PAIR_SCORES.iter().zip(counts);
        let squares: f64 = squares.map(|(at, count)| count * (at - mean).powi(2)).sum();
        Some([mean, squares.sqrt() / pairs])
    }

    /// Returns the Elo difference: the first player's rating minus the second player's rating.
    /// The difference is infinite if one player won all games. Returns `None` if there are no pairs.
    #[must_use]
    pub fn elo_difference(&self) -> Option<EloInterval> {
        let [mean, error] = self.score_estimate()?;
        let margin = Z_SCORE_95 * error;
        Some(EloInterval {
            elo: elo_from_share(self.score_share()?),
            low: elo_from_share(mean - margin),
            high: elo_from_share(mean + margin),
        })
    }

    /// Returns the likelihood of superiority: the probability, from 0 to 1, that the first player
    /// is stronger. Returns 1/2 if there are no pairs.
    #[must_use]
    pub fn likelihood_of_superiority(&self) -> f64 {
        let Some([mean, error]) = self.score_estimate() else {
            return 0.5;
        };
        libm::erfc((0.5 - mean) / (std::f64::consts::SQRT_2 * error)) / 2.0
    }
}

/// Returns the Elo difference at which a player is expected to score `share` of the points.
fn elo_from_share(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    // With a fraction instead of the difference of two logarithms, a share of 1 would cause a
    // division by zero.
    ELO_PER_NAT * (share.ln() - (1.0 - share).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples from the tests of fastchess (`app/tests/elo_test.cpp`). Fastchess counts pairs with
    /// two draws separately from pairs with a win and a loss, so the test adds the two counts. The
    /// six pair counts of each example are ordered from two losses to two wins.
    #[test]
    fn elo_and_los_match_fastchess_examples() {
        for ([ll, ld, wl, dd, wd, ww], share, elo, error, superiority) in [
            ([34, 54, 31, 32, 64, 75], 0.579, 55.58, 27.65, 1.0),
            ([332, 433, 457, 41, 333, 334], 0.488, -8.64, 10.33, 0.0505),
            ([7895, 8757, 5485, 200, 568, 9999], 0.470, -21.04, 2.95, 0.0),
        ] {
            let pairs = Pentanomial([ll, ld, wl + dd, wd, ww]);
            let found = pairs.elo_difference().expect("there are pairs");
            let near = |found: f64, expected: f64, by: f64| {
                assert!((found - expected).abs() < by, "{found}, not {expected}");
            };
            near(pairs.score_share().expect("there are pairs"), share, 0.001);
            near(found.elo, elo, 0.01);
            near((found.high - found.low) / 2.0, error, 0.01);
            near(pairs.likelihood_of_superiority(), superiority, 0.0001);
        }
    }

    /// If a player wins all of a few games, the estimated Elo difference is infinite. One bound of
    /// the confidence interval must nevertheless be finite.
    #[test]
    fn uniform_results_keep_a_finite_interval_bound() {
        assert_eq!(Pentanomial::default().elo_difference(), None);
        assert!((Pentanomial::default().likelihood_of_superiority() - 0.5).abs() < 1e-9);
        let elo_and_los = |pairs| {
            let pairs = Pentanomial(pairs);
            (
                pairs.elo_difference().expect("there are pairs"),
                pairs.likelihood_of_superiority(),
            )
        };
        let (drawn, draw_los) = elo_and_los([0, 0, 9, 0, 0]);
        assert!(drawn.elo.abs() < 1e-9 && (draw_los - 0.5).abs() < 1e-9);
        assert!(drawn.high > 50.0 && drawn.high < 200.0, "{drawn:?}");
        let (won, win_los) = elo_and_los([0, 0, 0, 0, 9]);
        assert_eq!((won.elo, won.high), (f64::INFINITY, f64::INFINITY));
        assert!(won.low > 200.0 && won.low < 500.0, "{won:?}");
        let (lost, loss_los) = elo_and_los([9, 0, 0, 0, 0]);
        assert_eq!((lost.elo, lost.low), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert!(win_los > 0.99 && (win_los + loss_los - 1.0).abs() < 1e-9);
    }
}
