//! Converts the engine's estimates to winning chances, with a logistic model for each game.

/// Logistic model that converts an estimate to a winning chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogisticModel {
    /// Slope of the logistic function, per 100 units of the estimate.
    pub slope: f64,
}

/// Slopes of the logistic models, fitted by `plyhouse chances GAME --games 100 --seed 1`. The fit
/// for Gomoku used 200 games. The fit for Go used the options `--games 40 --level medium --nodes
/// 1000`. Tic-tac-toe is solved and has no estimates, so its slope has no effect.
const SLOPES: [(&str, f64); 7] = [
    ("tic-tac-toe", 1.0),
    ("connect-four", 1.22),
    ("othello", 0.67),
    ("draughts", 0.68),
    ("chess", 0.56),
    ("gomoku", 1.42),
    ("go", 1.84),
];

/// Returns the model for a game.
#[must_use]
pub fn win_probability(game: &str) -> LogisticModel {
    let row = SLOPES.iter().find(|(id, _)| *id == game);
    // Default for a game without a fitted slope.
    let slope = row.map_or(0.5, |(_, slope)| *slope);
    LogisticModel { slope }
}

impl LogisticModel {
    /// Returns the winning chance for an estimate, from -1 (certain loss) to 1 (certain win).
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
