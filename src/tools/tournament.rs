//! `plyhouse tournament`: the bot levels play each other to measure their strength.
//!
//! Every player plays every other player from the same openings, and each opening is played twice
//! with swapped sides. The random choices of a game depend only on the seed, the players and the
//! opening. The results therefore do not depend on the number of threads. The games are played
//! without clocks, by the same code as those of `plyhouse match`.

#[cfg(test)]
mod tests;
mod tournament_report;

use std::fmt;
use std::iter;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;
use std::time::Duration;

use plyhouse_cli::number_in;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::{Level, Limits, Stop};

use self::tournament_report::TournamentReport;
use crate::common_args::{GameArg, exit_with_usage_error, level_parser};
use crate::engine_match::engine_spec::{EngineKind, EngineSpec, MoveLimits, TimeLimit};
use crate::engine_match::random_openings::{default_opening_plies, generate_openings};
use crate::engine_match::{
    AdjudicationRules, EngineMatch, Pairing, TooFewOpenings, parse_game_count, round_robin_pairings,
};
use crate::output::{print_report, progress_bar};

pub use crate::engine_match::Ratings;

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
    games: usize,

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
        let plan = self.to_plan();
        let tournament = Tournament::new(plan.clone());
        let tournament = tournament.unwrap_or_else(|error| exit_with_usage_error(error));
        let games = tournament.0.game_count();
        let progress = progress_bar(games, "{bar:40} {pos}/{len} games, {eta} left")?;
        let pairings = tournament.play(self.thread_count(), || progress.inc(1));
        progress.finish_and_clear();
        print_report(&TournamentReport::new(&plan, &pairings), self.json)
    }

    fn to_plan(&self) -> TournamentPlan {
        let game = self.game.game_entry();
        let mut levels = self.levels.clone();
        levels.sort_unstable();
        levels.dedup();
        let bots = levels.into_iter().map(Player::Bot);
        let opening_plies = self.opening_plies;
        TournamentPlan {
            game,
            players: iter::once(Player::Random).chain(bots).collect(),
            opening_count: self.games / 2,
            opening_plies: opening_plies.unwrap_or_else(|| default_opening_plies(&game.info)),
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

/// Player of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Player {
    /// Plays a uniformly random legal move. The rating of this player is 0 by definition.
    Random,
    /// A bot of this level.
    Bot(Level),
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Bot(level) => level.fmt(f),
        }
    }
}

/// Configuration of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentPlan {
    /// Game to play.
    pub game: &'static GameEntry,
    /// Players of the tournament, all different.
    pub players: Vec<Player>,
    /// Number of different openings. Each pair plays each opening twice.
    pub opening_count: usize,
    /// Number of random plies of an opening.
    pub opening_plies: u32,
    /// Search limits of a bot for each move. A time limit would make the results depend on the
    /// machine.
    pub limits: Limits,
    /// Seed of all random choices.
    pub seed: u64,
}

/// A tournament with its openings and pairs of players.
#[derive(Debug)]
pub struct Tournament(EngineMatch);

/// Size of a transposition table in bytes. A search visits few nodes and would not fill a larger
/// table. The table is cleared before each move, and clearing a larger table would take longer.
const TABLE_BYTES: usize = 8 << 20;

/// Tolerance for slow moves. It is so large that no player loses a game on time.
const TIME_MARGIN: Duration = Duration::from_secs(365 * 86_400);

impl Tournament {
    /// Creates a tournament and generates its random openings.
    ///
    /// # Errors
    ///
    /// Returns an error if the game has fewer different openings of this length than the plan
    /// requires.
    pub fn new(plan: TournamentPlan) -> Result<Self, TooFewOpenings> {
        let (game, rounds, seed) = (plan.game, plan.opening_count, plan.seed);
        let limits = MoveLimits {
            time: plan
                .limits
                .time
                .map_or(TimeLimit::Unlimited, TimeLimit::PerMove),
            nodes: plan.limits.nodes,
            depth: plan.limits.depth,
            time_margin: TIME_MARGIN,
        };
        let engines = plan.players.iter().map(|player| EngineSpec {
            name: player.to_string(),
            kind: match player {
                Player::Random => EngineKind::Random,
                Player::Bot(level) => EngineKind::Level(*level),
            },
            limits,
        });
        Ok(Self(EngineMatch {
            game,
            engines: engines.collect(),
            pairings: round_robin_pairings(plan.players.len()),
            openings: generate_openings(game, rounds, plan.opening_plies, seed, |_| true)?,
            rounds,
            seed,
            adjudication: AdjudicationRules::default(),
            table_bytes: TABLE_BYTES,
        }))
    }

    /// Plays all games on `threads` threads. Calls `on_game_end` after each game.
    #[must_use]
    pub fn play(&self, threads: NonZeroUsize, on_game_end: impl Fn()) -> Vec<Pairing> {
        let scores = self.0.play(threads, &Stop::new(), |_, _| {
            on_game_end();
            Ok(ControlFlow::Continue(()))
        });
        let scores = scores.expect("the callback never fails");
        self.0.pairing_results(&scores)
    }
}
