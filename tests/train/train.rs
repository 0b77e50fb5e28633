//! Trains evaluation weights from self-play games. To run the training: `cargo run --release
//! --example train -- othello --seed 1`. With the same options and the same weights of the playing
//! engine, the program always writes the same file.

mod chess;
mod draughts;
mod gomoku;
mod network_trainer;
mod othello;
mod pattern_trainer;
mod position_files;
mod win_probability;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Plays games, fits the weights of an evaluation to how they ended, and writes them to a file.
///
/// The engine plays by the weights that it was built with: put the file in their place and run it again for
/// a second round.
#[derive(Debug, Parser)]
struct Args {
    /// The game
    #[arg(value_enum)]
    game: Game,

    /// What all chance is drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// How many games are played; if none, the positions are those that are there
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    games: u32,

    /// How many plies are looked ahead in them
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// How many positions are visited for each move, in chess
    #[arg(long, value_name = "N", default_value_t = 150)]
    nodes: u64,

    /// With so many free squares or fewer they are played perfectly
    #[arg(long = "solved", value_name = "N", default_value_t = 12)]
    solve_empties_max: u32,

    /// How many times all positions are gone through
    #[arg(long = "rounds", value_name = "N", default_value_t = 20)]
    epochs: u32,

    /// How strongly weights are held back to nothing: as much as so many positions could say
    #[arg(long = "restraint", value_name = "X", default_value_t = 30.0)]
    ridge_strength: f32,

    /// Positions of earlier games, to learn from as well
    #[arg(long = "add", value_name = "FILE")]
    extra_positions: Vec<PathBuf>,

    /// Where the positions are kept; if nothing is said, where temporary files are
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,

    /// Where the weights are written
    #[arg(long, value_name = "FILE", default_value = "target/learnt.weights")]
    out: PathBuf,
}

/// A game whose evaluation is learnt.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Game {
    Othello,
    Draughts,
    Chess,
    Gomoku,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    match args.game {
        Game::Othello => othello::train(&args),
        Game::Draughts => draughts::train(&args),
        Game::Chess => chess::train(&args),
        Game::Gomoku => gomoku::train(&args),
    }
}
