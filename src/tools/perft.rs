//! `plyhouse perft`: counts the lines of play from a position, ply by ply.

use std::fmt;

use plyhouse_cli::number_in;
use serde::Serialize;
use tokio::time::Instant;

use crate::common_args::{GameAndPosition, exit_with_usage_error};
use crate::output::{print_line, print_report};

/// Count the leaf nodes of a game tree
///
/// Prints a row for each ply: the number of lines of play with this length, the number that end the
/// game with a win of each side or with a draw, and the time. A position that several lines reach
/// counts once for each line. Each row is counted separately. The position is written as in the
/// protocol of the server.
///
/// With --json, each row is an object: `ply`; `nodes`, the lines of this length; `won`, the lines
/// that end the game with a win, by seat; `drawn`, the lines that end it without a winner; and
/// `time_us`, the time in microseconds.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    subject: GameAndPosition,

    /// Maximum number of plies
    #[arg(long, value_name = "N", value_parser = number_in::<u32>(..))]
    depth: u32,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse perft tic-tac-toe --depth 9
  plyhouse perft connect-four --depth 8 4455";

/// Output row for one ply: the number of lines of play with this length, and how many of them end
/// in a win or draw.
#[derive(Debug, Serialize)]
struct PlyRow {
    ply: u32,
    nodes: u64,
    won: [u64; 2],
    drawn: u64,
    time_us: u128,
}

impl Args {
    /// Counts the lines of play ply by ply, and prints each completed row immediately.
    pub fn run(self) -> anyhow::Result<()> {
        // Perft does not use the transposition table, so the smallest size is enough.
        let GameAndPosition { game, position } = self.subject;
        let mut analysis_board = game.analysis_board(0);
        if let Err(error) = analysis_board.set_up(position.as_deref().unwrap_or_default()) {
            exit_with_usage_error(error);
        }
        if !self.json {
            print_line(&table_header(game.info.sides))?;
        }
        for ply in 0..=self.depth.min(analysis_board.plies_left()) {
            let started_at = Instant::now();
            let counts = analysis_board.perft(ply as usize);
            let count = counts[ply as usize];
            if count.nodes == 0 {
                break;
            }
            let row = PlyRow {
                ply,
                nodes: count.nodes,
                won: count.wins,
                drawn: count.draws,
                time_us: started_at.elapsed().as_micros(),
            };
            print_report(&row, self.json)?;
        }
        Ok(())
    }
}

fn table_header([first, second]: [&str; 2]) -> String {
    let [first, second] = [first, second].map(|side| format!("{side} wins"));
    format!("ply            nodes {first:>14} {second:>14}          drawn   seconds")
}

impl fmt::Display for PlyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([first, second], seconds) = (self.won, self.time_us as f64 / 1e6);
        write!(
            f,
            "{:>3} {:>16} {first:>14} {second:>14}",
            self.ply, self.nodes
        )?;
        write!(f, " {:>14} {seconds:>9.3}", self.drawn)
    }
}
