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

/// Train the evaluation weights of a game from self-play
///
/// The engine plays with the weights that it was built with. For a second round, copy the written
/// file over these weights, then build and run the program again.
#[derive(Debug, Parser)]
struct Args {
    /// Game to train
    #[arg(value_enum)]
    game: Game,

    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Number of games to play; 0 trains on the existing positions
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    games: u32,

    /// Search depth in plies (Othello: 3 by default; draughts: 6 by default)
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// Number of nodes per move in chess
    #[arg(long, value_name = "N", default_value_t = 150)]
    nodes: u64,

    /// Play Othello games perfectly from this number of empty squares
    #[arg(long = "solved", value_name = "N", default_value_t = 12)]
    solve_empties_max: u32,

    /// Number of passes over all positions
    #[arg(long = "rounds", value_name = "N", default_value_t = 20)]
    epochs: u32,

    /// Ridge regularization of Othello and draughts, as an equivalent number of positions
    #[arg(long = "restraint", value_name = "X", default_value_t = 30.0)]
    ridge_strength: f32,

    /// File of additional positions from earlier games (can be repeated)
    #[arg(long = "add", value_name = "FILE")]
    extra_positions: Vec<PathBuf>,

    /// File of the positions; by default a file in the directory for temporary files
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,

    /// Output file of the weights
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
