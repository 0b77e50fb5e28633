//! `plyhouse tournament`: the command line and the progress bar of tournaments.

mod report_table;
mod tournament_report;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use crate::tournament::{Player, Tournament, TournamentPlan, default_opening_plies};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use plyhouse_cli::number_in;
use plyhouse_engine::search::{Level, Limits};

use self::tournament_report::TournamentReport;
use crate::common_args::{GameArg, exit_with_usage_error, level_parser};

/// Maximum number of games per pair of players. With this many games, the ratings are accurate to 2
/// Elo.
const GAMES_MAX: u32 = 100_000;

/// Maximum number of threads. Threads beyond the number of CPU cores would only wait for each
/// other.
const THREADS_MAX: u16 = 1024;

/// Play a tournament between bot levels and rate them
///
/// Every pair plays the same random openings, each opening once with either side. A player that
/// moves at random takes part, and its rating is 0 by definition. The games depend only on the
/// options, not on the machine or the number of threads.
///
/// The ratings are fitted to all games together (Bradley-Terry model), so the difference between
/// two players is known more precisely than from their own games. Half a win and half a loss are
/// added to the results of each pair, so that all ratings are finite. LOS is the likelihood of
/// superiority.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    /// Levels of the tournament, separated by commas
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = level_parser(),
          default_values_t = Level::ALL)]
    levels: Vec<Level>,

    /// Number of games per pair of players: an even number, two for each opening
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = parse_game_count)]
    games: u32,

    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = number_in::<u64>(..))]
    seed: u64,

    /// Maximum number of positions that a bot searches for a move
    ///
    /// A time limit would make the games depend on the machine.
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = number_in::<u64>(1..))]
    nodes: u64,

    /// Number of random plies per opening; default: a tenth of the maximum game length, 3 to 8
    #[arg(long, value_name = "N", value_parser = number_in::<u32>(..))]
    opening_plies: Option<u32>,

    /// Number of games played in parallel; default: number of CPU cores
    #[arg(long, value_name = "N", value_parser = number_in::<u16>(1..=THREADS_MAX.into()))]
    threads: Option<u16>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse tournament tic-tac-toe
  plyhouse tournament connect-four --levels easy,medium --games 1000 --seed 7 --json";

impl Args {
    /// Plays the tournament and prints its report.
    pub fn run(self) -> anyhow::Result<()> {
        let threads = self.thread_count();
        let plan = self.to_plan();
        let tournament = match Tournament::new(plan.clone()) {
            Ok(tournament) => tournament,
            Err(error) => exit_with_usage_error(error),
        };
        let progress = new_progress_bar(tournament.game_count())?;
        let pairings = tournament.play(threads, || progress.inc(1));
        progress.finish_and_clear();

        let report = TournamentReport::new(&plan, &pairings);
        let text = if self.json {
            serde_json::to_string(&report).context("cannot write the report as JSON")?
        } else {
            report.to_string()
        };
        writeln!(io::stdout(), "{}", text.trim_end()).context("cannot write to stdout")
    }

    fn to_plan(&self) -> TournamentPlan {
        let mut levels = self.levels.clone();
        levels.sort_unstable();
        levels.dedup();
        let bots = levels.into_iter().map(Player::Bot);
        TournamentPlan {
            game: self.game.game_entry(),
            players: std::iter::once(Player::Random).chain(bots).collect(),
            opening_count: self.games as usize / 2,
            opening_plies: self
                .opening_plies
                .unwrap_or_else(|| default_opening_plies(&self.game.game_entry().info)),
            limits: Limits::nodes(self.nodes),
            seed: self.seed,
        }
    }

    fn thread_count(&self) -> NonZeroUsize {
        let requested = self.threads.map(usize::from).and_then(NonZeroUsize::new);
        requested
            .or_else(|| available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }
}

/// Creates a progress bar on stderr. The bar is hidden if stderr is not a terminal.
fn new_progress_bar(games: usize) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} games, {eta} left")
        .context("cannot draw the progress bar")?;
    Ok(ProgressBar::new(games as u64).with_style(style))
}

fn parse_game_count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(games) if (2..=GAMES_MAX).contains(&games) && games.is_multiple_of(2) => Ok(games),
        Ok(_) | Err(_) => Err(format!("expected an even number from 2 to {GAMES_MAX}")),
    }
}
