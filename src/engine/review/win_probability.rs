//! Who will win, as far as an estimate tells: a logistic for each game.

/// How an estimate becomes a chance: by a logistic of this slope for each hundred of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogisticModel {
    /// The slope.
    pub slope: f64,
}

/// The slopes: each by `plyhouse chances GAME --games 100 --seed 1`, in Gomoku with 200 games, in Go with
/// `--games 40 --level medium --nodes 1000`. But tic-tac-toe has no estimates, as all of it is solved.
const SLOPES: [(&str, f64); 7] = [
    ("tic-tac-toe", 1.0),
    ("connect-four", 1.22),
    ("othello", 0.67),
    ("draughts", 0.68),
    ("chess", 0.56),
    ("gomoku", 1.42),
    ("go", 1.84),
];

/// How estimates of this game become chances.
#[must_use]
pub fn win_probability(game: &str) -> LogisticModel {
    let row = SLOPES.iter().find(|(id, _)| *id == game);
    // A game without a row has estimates as most others.
    let slope = row.map_or(0.5, |(_, slope)| *slope);
    LogisticModel { slope }
}

impl LogisticModel {
    /// The chance of whoever is so far ahead: from -1, which is lost, to 1.
    #[must_use]
    pub fn winning_chance(self, estimate: i32) -> f64 {
        let win = 1.0 / (1.0 + (-self.slope * f64::from(estimate) / 100.0).exp());
        2.0 * win - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    #[test]
    fn every_game_has_a_slope() {
        assert_eq!(SLOPES.len(), CATALOG.len());
        for entry in &CATALOG {
            assert!(SLOPES.iter().any(|(id, _)| *id == entry.info.id));
            let model = win_probability(entry.info.id);
            assert!(model.winning_chance(0).abs() < 1e-9);
            assert!(model.winning_chance(-100) < 0.0 && model.winning_chance(100) > 0.1);
            assert!((model.winning_chance(100) + model.winning_chance(-100)).abs() < 1e-9);
            assert!(model.winning_chance(30_000) <= 1.0);
        }
    }
}
