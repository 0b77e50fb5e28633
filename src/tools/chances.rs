//! `plyhouse chances`: how estimates become chances, fitted to games.

use std::io::{self, Write};

use anyhow::Context;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};

use crate::arguments::{GameArg, level, refuse};
use crate::tournament::{default_plies, opening};

/// A bot visits no more positions than this for a move, so that the same games are played everywhere.
const NODES_OF_BOTS: u64 = 20_000;

/// One position of so many is looked at: those beside it tell nearly the same.
const EVERY: usize = 5;

/// Estimates beyond this tell nothing that is not known.
const ESTIMATE_MAX: i32 = 3000;

/// Steps of Newton's method: it has come to rest long before.
const STEPS: usize = 50;

/// Fits the chance to win to estimates: 1 / (1 + exp(-slope * estimate / 100)).
///
/// Two bots of one level play from random openings. Every fifth position that is not decided is looked at
/// as `analyse` does in a match, and who won the game is told from the estimate by logistic regression
/// through 0, a draw being half a win. The same options give the same slope on every machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    /// Who plays
    #[arg(long, value_name = "LEVEL", value_parser = level(), default_value = "hard")]
    level: Level,

    /// How many games
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    games: u32,

    /// How many positions may be visited to value one
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,

    /// What all chance is drawn from
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
}

/// An estimate for a seat, and what the game came to for it: 1, 0.5 or 0.
type Sample = (i32, f64);

impl Args {
    /// Plays, fits, and prints the figures.
    pub fn run(self) -> anyhow::Result<()> {
        let plies = default_plies(&self.game.entry().info);
        let wanted = self.games as usize;
        let openings = match opening::draw(self.game.entry(), wanted, plies, self.seed, |_| true) {
            Ok(openings) => openings,
            Err(error) => refuse(error),
        };
        let mut samples = Vec::new();
        for (number, opening) in (0..).zip(openings) {
            self.play(&opening.moves, self.seed.wrapping_add(number), &mut samples);
        }
        let slope = fitted(&samples);
        let mut out = io::stdout();
        let id = self.game.entry().info.id;
        writeln!(
            out,
            "{id}: slope {slope:.3}, by {} positions of {} games",
            samples.len(),
            self.games
        )
        .and_then(|()| told(&mut out, &samples, slope))
        .context("cannot write to stdout")
    }

    /// Plays a game, and looks at some of its positions.
    fn play(&self, opening: &[String], seed: u64, samples: &mut Vec<Sample>) {
        let (stop, mut table) = (Stop::new(), TranspositionTable::new(16 << 20));
        let mut position = self.game.entry().initial_position();
        for m in opening {
            position.play(m).expect("openings can be played");
        }
        let mut looked: Vec<(Seat, i32)> = Vec::new();
        for ply in 0_usize.. {
            if ply.is_multiple_of(EVERY) {
                table.clear();
                let limits = Limits::nodes(self.nodes);
                let report = position.analyse(&limits, &stop, &mut table, &mut |_| {});
                let open = report.filter(|report| !report.exact && !report.score.is_decided());
                let estimate = open.map(|report| (position.turn(), report.score.value()));
                looked.extend(estimate.filter(|(_, value)| value.abs() < ESTIMATE_MAX));
            }
            let limits = Limits::nodes(NODES_OF_BOTS);
            let Some(choice) = position.choose_move(self.level, seed, &limits, &stop, &mut table)
            else {
                break;
            };
            position.play(&choice.m).expect("bots play by the rules");
        }
        let won = |seat: Seat| match position.outcome() {
            Some(Outcome::Decisive { winner }) => f64::from(u8::from(winner == seat)),
            Some(Outcome::Draw) | None => 0.5,
        };
        samples.extend(looked.into_iter().map(|(seat, value)| (value, won(seat))));
    }
}

fn chance(value: i32, slope: f64) -> f64 {
    1.0 / (1.0 + (-slope * f64::from(value) / 100.0).exp())
}

/// The slope by which what happened was most likely.
fn fitted(samples: &[Sample]) -> f64 {
    let mut slope = 0.5;
    for _ in 0..STEPS {
        // A little weight on no slope at all, so that games which estimates foretell perfectly have one, too.
        let (mut gradient, mut curvature) = (-slope * 0.01, 0.01);
        for (value, won) in samples {
            let (x, p) = (f64::from(*value) / 100.0, chance(*value, slope));
            gradient += x * (won - p);
            curvature += x * x * p * (1.0 - p);
        }
        slope += (gradient / curvature).clamp(-0.5, 0.5);
    }
    slope
}

/// How often who was so far ahead has won, beside what the slope tells.
fn told(out: &mut impl Write, samples: &[Sample], slope: f64) -> io::Result<()> {
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
        let told: f64 = within.iter().map(|(value, _)| chance(*value, slope)).sum();
        let (won, told) = (100.0 * won / count, 100.0 * told / count);
        writeln!(
            out,
            "  ahead by {least} to {most}: {won:.0}% won, {told:.0}% told, {count} positions"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_found_again() {
        let mut samples = Vec::new();
        for value in -400..=400 {
            // Won as often as a slope of 0.7 tells.
            samples.push((value, chance(value, 0.7)));
        }
        assert!((fitted(&samples) - 0.7).abs() < 0.01);
        assert!(fitted(&[(100, 1.0); 50]) > 2.0);
        assert!(fitted(&[]).abs() < 1e-9);
    }
}
