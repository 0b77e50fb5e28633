//! Ratings of all players, fitted to all of their games.
//!
//! The ratings use the model of Bradley and Terry ("Rank analysis of incomplete block designs: the
//! method of paired comparisons", Biometrika 39, 1952). If two players have the strengths a and b,
//! the expected score of the first is 1 / (1 + e^(b − a)). A draw counts as half a win and half a
//! loss. Elo ratings express these strengths in other units.

use super::elo_interval::{ELO_PER_NAT, EloEstimate};
use super::pair_tally::{PRIOR_POINTS, Tally};

/// Results of the games between two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The two players, as indices into the list of players.
    pub players: [usize; 2],
    /// Results of the games, from the first player's point of view.
    pub tally: Tally,
}

/// Ratings of a pool of players.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// Strengths in natural units. The first player's strength is 0.
    strengths: Vec<f64>,
    /// Covariance of the strengths: the inverse of the Fisher information.
    covariance: Matrix,
}

type Matrix = Vec<Vec<f64>>;

/// Maximum change of a player's strength per step of Newton's method.
///
/// With this limit, the difference between two strengths changes by at most 2/3 per step. The
/// curvature of the log-likelihood then changes by a factor of at most e^(2/3) < 2. Every step
/// therefore increases the likelihood. The iteration converges to the only maximum, which is finite
/// because of the prior.
const STEP_MAX: f64 = 1.0 / 3.0;

/// The iteration ends after a step that changes no strength by more than this value. Convergence
/// near the maximum is quadratic, so the remaining error is far below a millionth of an Elo.
const CONVERGED_STEP_MAX: f64 = 1e-6;

impl Ratings {
    /// Fits the strengths of the players to the results by maximum likelihood, with Newton's
    /// method.
    ///
    /// Half a win and half a loss are added to the games of every pair, so that all strengths are
    /// finite. The standard errors assume games without draws. With draws they are somewhat too
    /// large.
    #[must_use]
    pub fn fit(players: usize, pairings: &[Pairing]) -> Self {
        let results = PairResults::new(players, pairings);
        let mut strengths = vec![0.0; players];
        loop {
            let (excess, information) = results.gradient_and_information(&strengths);
            let covariance = invert(information);
            let step: Vec<f64> = covariance.iter().map(|row| dot(row, &excess)).collect();
            let longest = step.iter().copied().map(f64::abs).fold(0.0, f64::max);
            let scale = (STEP_MAX / longest).min(1.0);
            for (strength, delta) in strengths.iter_mut().zip(&step) {
                *strength += scale * delta;
            }
            if longest <= CONVERGED_STEP_MAX {
                return Self {
                    strengths,
                    covariance,
                };
            }
        }
    }

    /// Returns the strength of the player with index `player` relative to the player with index
    /// `other`. The standard error takes the covariance of the two strengths into account.
    #[must_use]
    pub fn elo_difference(&self, player: usize, other: usize) -> EloEstimate {
        let covariance = |a: usize, b: usize| self.covariance[a][b];
        let variance =
            covariance(player, player) + covariance(other, other) - 2.0 * covariance(player, other);
        EloEstimate {
            elo: ELO_PER_NAT * (self.strengths[player] - self.strengths[other]),
            // Rounding errors could make the variance slightly negative.
            standard_error: ELO_PER_NAT * variance.max(0.0).sqrt(),
        }
    }
}

/// Games and points of each player against each other player. `count[a][b]` is the number of games
/// between a and b, and `points[a][b]` are the points of a in these games. Both include the prior.
struct PairResults {
    count: Matrix,
    points: Matrix,
}

impl PairResults {
    fn new(players: usize, pairings: &[Pairing]) -> Self {
        let mut count = vec![vec![2.0 * PRIOR_POINTS; players]; players];
        let mut points = vec![vec![PRIOR_POINTS; players]; players];
        for pairing in pairings {
            let ([a, b], tally) = (pairing.players, pairing.tally);
            count[a][b] += f64::from(tally.game_count());
            count[b][a] += f64::from(tally.game_count());
            points[a][b] += tally.points();
            points[b][a] += tally.reversed().points();
        }
        Self { count, points }
    }

    /// Returns the gradient of the log-likelihood and the Fisher information. Each gradient entry
    /// is a player's score minus the player's expected score. The Fisher information is the
    /// negative second derivative of the log-likelihood.
    ///
    /// The games determine only differences of strengths, so the first player's strength is fixed.
    /// The first player's entries in the gradient and in the information matrix stay 0.
    fn gradient_and_information(&self, strengths: &[f64]) -> (Vec<f64>, Matrix) {
        let players = strengths.len();
        let mut excess = vec![0.0; players];
        let mut information = vec![vec![0.0; players]; players];
        for a in 1..players {
            for b in (0..players).filter(|b| *b != a) {
                let expected_score = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
                let information_term = self.count[a][b] * expected_score * (1.0 - expected_score);
                excess[a] += self.points[a][b] - self.count[a][b] * expected_score;
                information[a][a] += information_term;
                if b != 0 {
                    information[a][b] -= information_term;
                }
            }
        }
        (excess, information)
    }
}

/// Inverts a symmetric matrix, excluding its first row and column. The first row and column must be
/// 0, and the function leaves them unchanged. The rest of the matrix must be positive definite.
///
/// Uses Gauss-Jordan elimination in place. A positive definite matrix needs no pivot search,
/// because every pivot is positive.
fn invert(mut matrix: Matrix) -> Matrix {
    let size = matrix.len();
    for pivot in 1..size {
        let factor = 1.0 / matrix[pivot][pivot];
        matrix[pivot][pivot] = 1.0;
        for cell in &mut matrix[pivot] {
            *cell *= factor;
        }
        let row = matrix[pivot].clone();
        for other in (1..size).filter(|other| *other != pivot) {
            let factor = std::mem::replace(&mut matrix[other][pivot], 0.0);
            for (cell, pivot_cell) in matrix[other].iter_mut().zip(&row) {
                *cell -= factor * pivot_cell;
            }
        }
    }
    matrix
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::search::seeded_rng::SeededRng;

    /// Creates a pairing. The arguments `wins`, `draws` and `losses` are the results of the second
    /// player.
    fn pairing(players: [usize; 2], wins: u32, draws: u32, losses: u32) -> Pairing {
        let tally = Tally {
            wins: losses,
            draws,
            losses: wins,
        };
        Pairing { players, tally }
    }

    fn check_difference(estimate: EloEstimate, nats: f64, variance: f64) {
        let expected = [ELO_PER_NAT * nats, ELO_PER_NAT * variance.sqrt()];
        for (found, expected) in [estimate.elo, estimate.standard_error]
            .into_iter()
            .zip(expected)
        {
            assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
        }
    }

    /// With only two players, the odds are the ratio of their points. The Fisher information is n p
    /// (1 − p) for n games with expected score p.
    #[test]
    fn two_player_ratings_match_their_odds() {
        let ratings = Ratings::fit(2, &[pairing([0, 1], 74, 1, 24)]);
        check_difference(ratings.elo_difference(1, 0), 3_f64.ln(), 1.0 / 18.75);
        check_difference(ratings.elo_difference(0, 1), -3_f64.ln(), 1.0 / 18.75);
        check_difference(ratings.elo_difference(0, 0), 0.0, 0.0);
        assert!((ratings.elo_difference(1, 0).elo - 190.85).abs() < 0.01);
    }

    /// After the prior is added, the ratios of the points in the three pairs are exactly 3:1, 3:1
    /// and 9:1. Fisher information adds up like electrical conductances: the direct games are in
    /// parallel with the path through the third player.
    #[test]
    fn three_player_ratings_combine_direct_and_indirect_games() {
        let ratings = Ratings::fit(
            3,
            &[
                pairing([0, 1], 74, 1, 24),
                pairing([0, 2], 89, 1, 9),
                pairing([1, 2], 74, 1, 24),
            ],
        );
        let (near, far) = (18.75, 9.0);
        let neighbours = 1.0 / (near + near * far / (near + far));
        check_difference(ratings.elo_difference(1, 0), 3_f64.ln(), neighbours);
        check_difference(ratings.elo_difference(2, 1), 3_f64.ln(), neighbours);
        let ends = 1.0 / (far + near / 2.0);
        check_difference(ratings.elo_difference(2, 0), 9_f64.ln(), ends);
    }

    /// At the maximum, the score of every player equals the expected score of that player. Newton's
    /// method must find the maximum even if it is far from the starting point.
    #[test]
    fn perfect_scores_stay_finite() {
        let pairs = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]];
        let pairings = pairs.map(|players| pairing(players, 100_000, 0, 0));
        let ratings = Ratings::fit(4, &pairings);
        let results = PairResults::new(4, &pairings);
        let (excess, _) = results.gradient_and_information(&ratings.strengths);
        assert!(
            excess.iter().all(|points| points.abs() < 1e-6),
            "{excess:?}"
        );
        let [low, high] = ratings.elo_difference(3, 2).interval();
        assert!(low > 1000.0 && high - low > 500.0, "{low} {high}");
    }

    /// The test simulates tournaments between players of known strength. About 95% of the
    /// confidence intervals must contain the true difference. The test compares each player with
    /// player 0 and with the next player in the list.
    #[test]
    fn intervals_cover_the_true_difference_in_95_percent() {
        const TOURNAMENTS: u32 = 1000;
        let strengths = [0.0_f64, 1.0, 1.3, 3.0];
        let mut rng = SeededRng::new(1, "tournaments");
        let mut play = |a: usize, b: usize| {
            let share = 1.0 / (1.0 + (strengths[a] - strengths[b]).exp());
            let wins = (0..100).filter(|_| rng.next_f64() < share).count();
            let wins = u32::try_from(wins).expect("at most 100");
            pairing([a, b], wins, 0, 100 - wins)
        };
        let compared_pairs = [[1, 0], [2, 1], [3, 2], [2, 0], [3, 0]];
        let mut covered_counts = compared_pairs.map(|_| 0);
        for _ in 0..TOURNAMENTS {
            let pairings = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]];
            let ratings = Ratings::fit(4, &pairings.map(|[a, b]| play(a, b)));
            for ([player, other], covered) in compared_pairs.into_iter().zip(&mut covered_counts) {
                let truth = ELO_PER_NAT * (strengths[player] - strengths[other]);
                let [low, high] = ratings.elo_difference(player, other).interval();
                *covered += u32::from(low < truth && truth < high);
            }
        }
        for (pair, held) in compared_pairs.into_iter().zip(covered_counts) {
            let held = f64::from(held) / f64::from(TOURNAMENTS);
            assert!((0.93..0.97).contains(&held), "{pair:?}: {held}");
        }
    }
}
