//! What pairs of games say: two games from one opening, with the sides swapped, are one trial with
//! five results.
//!
//! The games of a pair are not independent: an opening that is good for White is so in both. The
//! variance of pairs regards that, and is smaller than that of games where openings are unbalanced
//! (Van den Bergh, "The pentanomial model", 2019). Elo, its interval and the likelihood of superiority
//! are counted as fastchess does (`elo_pentanomial.cpp`).

use crate::tournament::estimate::{ELO_PER_NAT, ERRORS_IN_95_PERCENT};

/// What each of the five results is worth: the share of a pair's two points.
pub(super) const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// How many pairs had each result, by half-points, as the first of two players sees them: two losses,
/// a loss and a draw, two draws or a win and a loss, a draw and a win, two wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial(pub [u32; 5]);

/// A difference in Elo with its interval of 95%. Infinite where all games were won, or all lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The likeliest.
    pub elo: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Pentanomial {
    /// How many pairs there are.
    #[must_use]
    pub fn pairs(&self) -> u32 {
        self.0.iter().sum()
    }

    /// The share of the points; `None` without a pair.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let pairs = self.pairs();
        let points = SHARES.iter().zip(self.0);
        let points: f64 = points.map(|(share, count)| share * f64::from(count)).sum();
        (pairs > 0).then(|| points / f64::from(pairs))
    }

    /// The share, and its standard error by the variance of pairs. Where all pairs ended alike that would
    /// be nothing: half a pair with each of the ends of the scale is then added.
    fn estimate(&self) -> Option<[f64; 2]> {
        let share = self.share()?;
        let mut counts = self.0.map(f64::from);
        let mut pairs = f64::from(self.pairs());
        let mut middle = share;
        if self.0.iter().filter(|count| **count > 0).count() == 1 {
            counts[0] += 0.5;
            counts[4] += 0.5;
            middle = (share * pairs + 0.5) / (pairs + 1.0);
            pairs += 1.0;
        }
        let squares = SHARES.iter().zip(counts);
        let squares: f64 = squares
            .map(|(at, count)| count * (at - middle).powi(2))
            .sum();
        Some([middle, squares.sqrt() / pairs])
    }

    /// How much stronger the first player is; `None` without a pair.
    #[must_use]
    pub fn difference(&self) -> Option<Difference> {
        let [middle, error] = self.estimate()?;
        let margin = ERRORS_IN_95_PERCENT * error;
        Some(Difference {
            elo: elo(self.share()?),
            low: elo(middle - margin),
            high: elo(middle + margin),
        })
    }

    /// The likelihood of superiority: how sure it is, from 0 to 1, that the first player is the stronger
    /// one. 1/2 where nothing tells.
    #[must_use]
    pub fn superiority(&self) -> f64 {
        let Some([middle, error]) = self.estimate() else {
            return 0.5;
        };
        libm::erfc((0.5 - middle) / (std::f64::consts::SQRT_2 * error)) / 2.0
    }
}

/// The difference at which this share of the points is expected.
fn elo(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    // The order keeps a share of 0 and of 1 from dividing by nothing.
    ELO_PER_NAT * (share.ln() - (1.0 - share).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fastchess's own examples (`app/tests/elo_test.cpp`), in which two draws are told apart from a win
    /// and a loss: from two losses up to two wins.
    #[test]
    fn it_counts_as_fastchess_does() {
        for ([ll, ld, wl, dd, wd, ww], share, elo, error, superiority) in [
            ([34, 54, 31, 32, 64, 75], 0.579, 55.58, 27.65, 1.0),
            ([332, 433, 457, 41, 333, 334], 0.488, -8.64, 10.33, 0.0505),
            ([7895, 8757, 5485, 200, 568, 9999], 0.470, -21.04, 2.95, 0.0),
        ] {
            let pairs = Pentanomial([ll, ld, wl + dd, wd, ww]);
            let found = pairs.difference().expect("there are pairs");
            let near = |found: f64, wanted: f64, by: f64| {
                assert!((found - wanted).abs() < by, "{found}, not {wanted}");
            };
            near(pairs.share().expect("there are pairs"), share, 0.001);
            near(found.elo, elo, 0.01);
            near((found.high - found.low) / 2.0, error, 0.01);
            near(pairs.superiority(), superiority, 0.0001);
        }
    }

    /// Where all pairs ended alike, a few of them are no certainty.
    #[test]
    fn the_ends_of_the_scale_keep_some_doubt() {
        assert_eq!(Pentanomial::default().difference(), None);
        assert!((Pentanomial::default().superiority() - 0.5).abs() < 1e-9);
        let found = |pairs| {
            let pairs = Pentanomial(pairs);
            (
                pairs.difference().expect("there are pairs"),
                pairs.superiority(),
            )
        };
        let (drawn, even) = found([0, 0, 9, 0, 0]);
        assert!(drawn.elo.abs() < 1e-9 && (even - 0.5).abs() < 1e-9);
        assert!(drawn.high > 50.0 && drawn.high < 200.0, "{drawn:?}");
        let (won, surely) = found([0, 0, 0, 0, 9]);
        assert_eq!((won.elo, won.high), (f64::INFINITY, f64::INFINITY));
        assert!(won.low > 200.0 && won.low < 500.0, "{won:?}");
        let (lost, hardly) = found([9, 0, 0, 0, 0]);
        assert_eq!((lost.elo, lost.low), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert!(surely > 0.99 && (surely + hardly - 1.0).abs() < 1e-9);
    }
}
