//! `plyhouse chances`: plays games and fits the function that converts a bot's position estimate to
//! a win probability.

use std::io::{self, Write};

use anyhow::Context;
use plyhouse_cli::number_in;
use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};

use crate::common_args::{GameArg, exit_with_usage_error, level_parser};
use crate::engine_match::random_openings::{default_opening_plies, generate_openings};

/// Maximum number of positions that a bot visits for a move. Unlike a time limit, a node limit
/// makes the games reproducible on every machine.
const BOT_NODES_PER_MOVE: u64 = 20_000;

/// Number of plies from one analysed position to the next. The positions between them are skipped,
/// because they would add little information.
const SAMPLE_INTERVAL_PLIES: usize = 5;

/// Positions with an estimate of at least this absolute value are skipped, because such a game is
/// practically decided.
const ESTIMATE_MAX: i32 = 3000;

/// Number of steps of Newton's method, far more than convergence needs.
const NEWTON_STEPS: usize = 50;

/// Fit the win probability model to games of bots
///
/// The model is 1 / (1 + exp(-slope * estimate / 100)). Two bots of one level play from random
/// openings. Every fifth position is evaluated as in the analysis of a match, unless it is decided.
/// The slope is fitted to the results of the games by logistic regression through 0; a draw counts
/// as half a win. The slope depends only on the options, not on the machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    /// Level of both bots
    #[arg(long, value_name = "LEVEL", value_parser = level_parser(), default_value = "hard")]
    level: Level,

    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = number_in::<u32>(1..=100_000))]
    games: u32,

    /// Maximum number of positions searched per evaluation
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = number_in::<u64>(1..))]
    nodes: u64,

    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = number_in::<u64>(..))]
    seed: u64,
}

/// A sample for the fit: the estimate of a position and the final result of the game. Both are from
/// the point of view of the same seat. The result is 1 for a win, 0.5 for a draw and 0 for a loss.
type Sample = (i32, f64);

impl Args {
    /// Plays the games, fits the slope and prints the results.
    pub fn run(self) -> anyhow::Result<()> {
        let game = self.game.game_entry();
        let plies = default_opening_plies(&game.info);
        let openings = generate_openings(game, self.games as usize, plies, self.seed, |_| true)
            .unwrap_or_else(|error| exit_with_usage_error(error));
        let mut samples = Vec::new();
        for (number, opening) in (0..).zip(openings) {
            self.play_game(opening.pos, self.seed.wrapping_add(number), &mut samples);
        }
        let slope = fit_slope(&samples);
        let mut out = io::stdout();
        writeln!(
            out,
            "{}: slope {slope:.3} (positions: {}, games: {})",
            game.info.id,
            samples.len(),
            self.games
        )
        .and_then(|()| write_calibration(&mut out, &samples, slope))
        .context("cannot write to stdout")
    }

    /// Plays a game from the given position and adds samples from its positions, at intervals of `SAMPLE_INTERVAL_PLIES`.
    fn play_game(&self, mut position: Box<dyn AnyPosition>, seed: u64, samples: &mut Vec<Sample>) {
        let (stop, mut table) = (Stop::new(), TranspositionTable::new(16 << 20));
        let mut evaluated: Vec<(Seat, i32)> = Vec::new();
        for ply in 0_usize.. {
            if ply.is_multiple_of(SAMPLE_INTERVAL_PLIES) {
                table.clear();
                let limits = Limits::nodes(self.nodes);
                let report = position.analyse(&limits, &stop, &mut table, &mut |_| {});
                let undecided = report.filter(|report| !report.exact && !report.score.is_decided());
                let estimate = undecided.map(|report| (position.turn(), report.score.value()));
                evaluated.extend(estimate.filter(|(_, value)| value.abs() < ESTIMATE_MAX));
            }
            let limits = Limits::nodes(BOT_NODES_PER_MOVE);
            let Some(choice) = position.choose_move(self.level, seed, &limits, &stop, &mut table)
            else {
                break;
            };
            position.play(&choice.m).expect("bots choose legal moves");
        }
        let winner = position.outcome().and_then(Outcome::winner);
        let result_for = |seat| winner.map_or(0.5, |winner| f64::from(u8::from(winner == seat)));
        let evaluated = evaluated.into_iter();
        samples.extend(evaluated.map(|(seat, value)| (value, result_for(seat))));
    }
}

fn win_probability(value: i32, slope: f64) -> f64 {
    1.0 / (1.0 + (-slope * f64::from(value) / 100.0).exp())
}

/// Returns the slope that maximizes the likelihood of the samples.
fn fit_slope(samples: &[Sample]) -> f64 {
    let mut slope = 0.5;
    for _ in 0..NEWTON_STEPS {
        // If the estimates predict every result correctly, the likelihood alone would make the
        // slope infinite. A weak prior centred on slope 0 keeps the slope finite.
        let (mut gradient, mut curvature) = (-slope * 0.01, 0.01);
        for (value, won) in samples {
            let (x, p) = (f64::from(*value) / 100.0, win_probability(*value, slope));
            gradient += x * (won - p);
            curvature += x * x * p * (1.0 - p);
        }
        slope += (gradient / curvature).clamp(-0.5, 0.5);
    }
    slope
}

/// Writes a table with one row for each range of estimates. Each row compares the win rate of the
/// leading side with the rate that the slope predicts.
fn write_calibration(out: &mut impl Write, samples: &[Sample], slope: f64) -> io::Result<()> {
    for least in [0, 25, 50, 100, 200, 400] {
        let most = if least == 0 { 25 } else { 2 * least };
        let ahead = samples.iter().map(|(value, won)| match value {
            0.. => (*value, *won),
            _ => (-value, 1.0 - won),
        });
        let within: Vec<Sample> = ahead
            .filter(|(value, _)| (least..most).contains(value))
            .collect();
        let count = within.len() as f64;
        if within.is_empty() {
            continue;
        }
        let won: f64 = within.iter().map(|(_, won)| won).sum();
        let predicted: f64 = within
            .iter()
            .map(|(value, _)| win_probability(*value, slope))
            .sum();
        let (won, predicted) = (100.0 * won / count, 100.0 * predicted / count);
        writeln!(
            out,
            "  ahead by {least} to {most}: {won:.0}% won, {predicted:.0}% predicted \
             (positions: {count})"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_recovers_the_slope_of_its_samples() {
        let mut samples = Vec::new();
        for value in -400..=400 {
            // As its result, each sample has the exact win probability for a slope of 0.7.
            samples.push((value, win_probability(value, 0.7)));
        }
        assert!((fit_slope(&samples) - 0.7).abs() < 0.01);
        assert!(fit_slope(&[(100, 1.0); 50]) > 2.0);
        assert!(fit_slope(&[]).abs() < 1e-9);
    }
}
