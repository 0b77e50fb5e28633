//! Results of the games between two players. The statistics in this module use only these games.

use super::elo_interval::{ELO_PER_NAT, EloEstimate};
use plyhouse_engine::game::Seat;

/// Fraction of a win that is added to the results of each pair of players before any estimate. The
/// same fraction of a loss is added, so the addition amounts to one virtual game per pair.
///
/// The addition keeps the rating of a player with only wins finite, and leaves some uncertainty if
/// all games were drawn. The value 0.5 follows from Jeffreys's prior for a proportion ("An
/// invariant form for the prior probability in estimation problems", 1946). The addition removes
/// most of the bias from the estimated log-odds (Haldane 1956, Anscombe 1956). It also moves the
/// ratings of the players closer together.
pub(super) const PRIOR_POINTS: f64 = 0.5;

/// Results of a player's games against one opponent, from the player's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of won games.
    pub wins: u32,
    /// Number of drawn games.
    pub draws: u32,
    /// Number of lost games.
    pub losses: u32,
}

impl Tally {
    /// Records the winner of a game, or `None` for a draw. `seat` is the player's seat.
    pub(crate) fn record(&mut self, winner: Option<Seat>, seat: Seat) {
        match winner {
            Some(winner) if winner == seat => self.wins += 1,
            Some(_) => self.losses += 1,
            None => self.draws += 1,
        }
    }

    /// Returns the number of games.
    #[must_use]
    pub fn game_count(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Returns the player's points: 1 for a win and 1/2 for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + f64::from(self.draws) / 2.0
    }

    /// Returns the results from the opponent's point of view.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            wins: self.losses,
            draws: self.draws,
            losses: self.wins,
        }
    }

    /// Returns the strength of the player relative to the opponent, based only on the games between
    /// the two.
    ///
    /// The Elo difference is proportional to the logarithm of the odds. The delta method derives
    /// the standard error of the difference from the variance of the points per game, so draws
    /// reduce the error. Half a win and half a loss are added to the results first.
    #[must_use]
    pub fn elo_difference(&self) -> EloEstimate {
        let [wins, losses] = [self.wins, self.losses].map(|games| f64::from(games) + PRIOR_POINTS);
        let draws = f64::from(self.draws);
        let games = wins + draws + losses;
        let share = (wins + draws / 2.0) / games;
        let squares =
            wins * (1.0 - share).powi(2) + draws * (0.5 - share).powi(2) + losses * share.powi(2);
        let odds = share / (1.0 - share);
        EloEstimate {
            elo: ELO_PER_NAT * odds.ln(),
            // The delta method multiplies the standard error of the mean score by the derivative of
            // the log-odds.
            standard_error: ELO_PER_NAT * squares.sqrt() / (games * share * (1.0 - share)),
        }
    }

    /// Returns the likelihood of superiority: the probability, from 0 to 1, that the player is
    /// stronger than the opponent. Draws do not influence the result. Without decisive games, the
    /// result is 1/2.
    ///
    /// In n decisive games between equal players, the difference between wins and losses has
    /// variance n. The result is therefore Φ((wins − losses) / √(wins + losses)) (Chess Programming
    /// Wiki, "Match Statistics").
    #[must_use]
    pub fn likelihood_of_superiority(&self) -> f64 {
        let decided = f64::from(self.wins + self.losses);
        let lead = f64::from(self.wins) - f64::from(self.losses);
        if decided == 0.0 {
            return 0.5;
        }
        libm::erfc(-lead / (2.0 * decided).sqrt()) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::search::seeded_rng::SeededRng;

    const fn tally(wins: u32, draws: u32, losses: u32) -> Tally {
        Tally {
            wins,
            draws,
            losses,
        }
    }

    fn check_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.05, "{found}, not {expected}");
    }

    /// Odds of 3:1 are 190.8 Elo, and odds of 10:1 are 400 Elo. The first two tallies have exactly
    /// these odds after half a win and half a loss are added.
    #[test]
    fn differences_are_the_logarithm_of_the_odds() {
        for (tally, elo) in [
            (tally(74, 1, 24), 190.85),
            (tally(499, 1, 49), 400.0),
            (tally(3, 8, 3), 0.0),
        ] {
            check_near(tally.elo_difference().elo, elo);
            check_near(tally.reversed().elo_difference().elo, -elo);
        }
    }

    /// Without draws, the points per game have the variance of a binomial distribution, p(1 − p).
    /// If all games are drawn, the variance comes almost only from the virtual game that is added
    /// as a prior.
    #[test]
    fn draws_reduce_the_standard_error() {
        let binomial = ELO_PER_NAT / (100.0_f64 * 0.25).sqrt();
        check_near(tally(50, 0, 49).elo_difference().standard_error, binomial);
        let drawn = tally(25, 49, 25).elo_difference().standard_error;
        assert!((0.6..0.8).contains(&(drawn / binomial)), "{drawn}");
        let error = tally(0, 99, 0).elo_difference().standard_error;
        assert!((1.0..10.0).contains(&error), "{error}");
    }

    /// If a player wins 400 of 400 games, the lower bound of the 95% confidence interval for the
    /// expected score is 99.08%. This is the share p with p^400 = 2.5% (Clopper and Pearson 1934).
    /// An expected score of 99.08% corresponds to 813 Elo. The lower bound of the Elo interval must
    /// not exceed 813.
    #[test]
    fn perfect_score_has_a_finite_and_wide_interval() {
        let [low, high] = tally(400, 0, 0).elo_difference().interval();
        assert!((600.0..813.0).contains(&low), "{low}");
        assert!((1300.0..2000.0).contains(&high), "{high}");
    }

    /// The test simulates matches between players of known strength. About 95% of the confidence
    /// intervals must contain the true difference.
    #[test]
    fn interval_covers_the_true_difference_in_95_percent() {
        const MATCHES: u32 = 2000;
        for (win, draw) in [(0.3_f64, 0.4), (0.55, 0.25), (0.9, 0.0)] {
            let share = win + draw / 2.0;
            let truth = ELO_PER_NAT * (share / (1.0 - share)).ln();
            let mut rng = SeededRng::new(1, "matches");
            let mut play = || match rng.next_f64() {
                drawn if drawn < win => tally(1, 0, 0),
                drawn if drawn < win + draw => tally(0, 1, 0),
                _ => tally(0, 0, 1),
            };
            let mut held = 0;
            for _ in 0..MATCHES {
                let sum = (0..200).map(|_| play()).fold(tally(0, 0, 0), |a, b| {
                    tally(a.wins + b.wins, a.draws + b.draws, a.losses + b.losses)
                });
                let [low, high] = sum.elo_difference().interval();
                held += u32::from(low < truth && truth < high);
            }
            let held = f64::from(held) / f64::from(MATCHES);
            assert!((0.935..0.965).contains(&held), "{win} {draw}: {held}");
        }
    }

    #[test]
    fn superiority_follows_the_normal_distribution() {
        for (tally, superiority) in [
            (tally(0, 0, 0), 0.5),
            (tally(0, 9, 0), 0.5),
            (tally(7, 2, 7), 0.5),
            // In these tallies, one player leads by one or two standard deviations. The expected
            // values are from a table of the normal distribution Φ.
            (tally(10, 5, 6), 0.841_344_746),
            (tally(10, 0, 6), 0.841_344_746),
            (tally(60, 0, 40), 0.977_249_868),
            (tally(40, 9, 60), 0.022_750_132),
        ] {
            let found = tally.likelihood_of_superiority();
            assert!((found - superiority).abs() < 1e-9, "{tally:?}: {found}");
        }
    }
}
