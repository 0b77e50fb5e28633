//! Accuracy of each seat in a game, as a single number from 0 to 100. The computation follows
//! lichess (lila, `AccuracyPercent.scala`).
//!
//! The accuracy of a move depends on how much of the winning chance the move preserves. The
//! accuracy of a game is the average of a weighted mean and the harmonic mean of the move
//! accuracies. The weighted mean gives more weight to moves in volatile phases of the game. The
//! harmonic mean emphasises the worst moves.

use crate::game::Seat;

/// Parameters of the accuracy of a move: `SCALE * exp(-DECAY * loss) + SHIFT`, where `loss` is the
/// loss of winning chance in percentage points. `SHIFT` includes a bonus of 1 for the uncertainty
/// of the search.
const SCALE: f64 = 103.166_810_071_164_9;
const DECAY: f64 = 0.043_544_153_867_539_51;
const SHIFT: f64 = -3.166_924_740_191_411 + 1.0;

/// Returns the accuracy of both seats, from 0 to 100, or `None` for a seat that did not move.
///
/// `winning_chances` contains the winning chance of the first seat, from -1 to 1, before each ply
/// and after the last ply. For each ply, `losses` contains the seat that moved and the winning
/// chance that the seat lost by this move.
pub(super) fn accuracy(winning_chances: &[f64], losses: &[(Seat, f64)]) -> [Option<u8>; 2] {
    let wins: Vec<f64> = winning_chances
        .iter()
        .map(|chance| 50.0 + 50.0 * chance)
        .collect();
    let move_weights = volatility_weights(&wins);
    Seat::ALL.map(|seat| {
        let moves = losses.iter().zip(&move_weights);
        let own = moves.filter(|((turn, _), _)| *turn == seat);
        // Winning chances range from -1 to 1, so the factor 50 converts a loss of winning chance to
        // percentage points.
        let own: Vec<(f64, f64)> = own
            .map(|((_, loss), weight)| (move_accuracy(50.0 * loss), *weight))
            .collect();
        (!own.is_empty()).then(|| game_accuracy(&own))
    })
}

/// Returns the accuracy of a move with the given loss in percentage points.
fn move_accuracy(loss: f64) -> f64 {
    if loss <= 0.0 {
        return 100.0;
    }
    (SCALE * (-DECAY * loss).exp() + SHIFT).clamp(0.0, 100.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to 0..=100"
)]
fn game_accuracy(moves: &[(f64, f64)]) -> u8 {
    let move_count = moves.len() as f64;
    let total_weight: f64 = moves.iter().map(|(_, weight)| weight).sum();
    let weighted: f64 = moves
        .iter()
        .map(|(accuracy, weight)| accuracy * weight)
        .sum();
    let inverse: f64 = moves
        .iter()
        .map(|(accuracy, _)| 1.0 / accuracy.max(1.0))
        .sum();
    f64::midpoint(weighted / total_weight, move_count / inverse)
        .round()
        .clamp(0.0, 100.0) as u8
}

/// Returns the weight of each move. The weight is the standard deviation of the winning chances in
/// a window of several plies that includes the move.
fn volatility_weights(wins: &[f64]) -> Vec<f64> {
    let moves = wins.len().saturating_sub(1);
    let size = (moves / 10).clamp(2, 8);
    let first = &wins[..size.min(wins.len())];
    let before = std::iter::repeat_n(first, first.len().saturating_sub(2));
    let windows = before.chain(wins.windows(size));
    windows
        .map(|window| standard_deviation(window).clamp(0.5, 12.0))
        .collect()
}

fn standard_deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the loss of each move, given the winning chances before and after the moves.
    fn chance_losses(winning_chances: &[f64]) -> Vec<(Seat, f64)> {
        let moves = (0..)
            .map(Seat::to_move_after)
            .zip(winning_chances.windows(2));
        moves
            .map(|(seat, step)| match seat {
                Seat::First => (seat, step[0] - step[1]),
                Seat::Second => (seat, step[1] - step[0]),
            })
            .collect()
    }

    #[test]
    fn accuracy_is_100_without_losses() {
        let accuracies =
            |winning_chances: &[f64]| accuracy(winning_chances, &chance_losses(winning_chances));
        assert_eq!(accuracies(&[0.1; 4]), [Some(100); 2]);
        assert_eq!(accuracies(&[0.1, 0.1]), [Some(100), None]);
        assert_eq!(accuracies(&[0.0]), [None, None]);
        // The winning chances change between plies, but the test sets every loss to 0. The accuracy
        // must depend only on the losses, so it must be 100.
        let none = [(Seat::First, 0.0), (Seat::Second, 0.0)];
        assert_eq!(accuracy(&[0.1, -0.1, 0.3], &none), [Some(100); 2]);
    }

    #[test]
    fn loss_lowers_only_the_accuracy_of_its_seat() {
        let mut winning_chances = vec![0.0; 21];
        winning_chances[8..].fill(-0.9);
        // The eighth ply is a move of the second seat. It raises the winning chance of the second
        // seat, so no seat loses accuracy.
        assert_eq!(
            accuracy(&winning_chances, &chance_losses(&winning_chances)),
            [Some(100); 2]
        );
        winning_chances[7] = -0.9;
        let [first, second] = accuracy(&winning_chances, &chance_losses(&winning_chances));
        assert_eq!(second, Some(100));
        assert!(
            first.is_some_and(|first| (30..95).contains(&first)),
            "{first:?}"
        );
    }

    /// The expected values come from the formula of lichess.
    #[test]
    fn move_accuracy_matches_the_lichess_formula() {
        for (loss, expected) in [
            (0.0, 100.0),
            (5.0, 80.815),
            (10.0, 64.583),
            (50.0, 9.529),
            (99.0, 0.0),
        ] {
            assert!(
                (move_accuracy(loss) - expected).abs() < 0.01,
                "{loss}: {}",
                move_accuracy(loss)
            );
        }
    }
}
