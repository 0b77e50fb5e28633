//! `plyhouse engine`: runs the engine for a GUI or tournament manager. The game determines the
//! engine protocol: UCI, GTP or Piskvork.

mod gtp;
mod piskvork;
mod protocol_loop;
mod uci;

use std::time::Duration;

use anyhow::Context;
use plyhouse_cli::number_in;
use plyhouse_engine::catalog::{AnalysisBoard, GameEntry};
use plyhouse_engine::game::EngineProtocol;
use plyhouse_engine::search::{Level, Limits};
use rand::TryRng;
use rand::rngs::SysRng;

use self::gtp::Gtp;
use self::piskvork::Piskvork;
use self::protocol_loop::{Protocol, SearchGoal, SearchRequest};
use self::uci::Uci;
use crate::common_args::{GameArg, level_parser};

/// Run the engine for a GUI or tournament manager
///
/// The engine reads commands from stdin and writes replies to stdout. The game determines the
/// protocol: GTP 2 for Go, the Gomocup protocol (Piskvork) for Gomoku, and UCI for all other games.
/// In UCI, moves and positions are written as in the protocol of the server.
///
/// With a clock, the engine spends on a move the remaining time divided by the number of moves to
/// the next time control (30 if unknown), plus three quarters of the increment, but at most three
/// quarters of the remaining time. It keeps a reserve of 30 ms for communication delays.
///
/// At the end of the input, the engine still completes all pending commands. A search that would
/// run until `stop` then ends after the time given by --time.
///
/// UCI: uci, isready, ucinewgame, position, go (searchmoves, ponder, wtime, btime, winc, binc,
/// movestogo, depth, nodes, mate, movetime, infinite), ponderhit, stop, quit, and the options Hash,
/// Clear Hash, Threads, MultiPV, Ponder and Level (beginner, easy, medium, hard, full). Invalid
/// numbers are reported with `info string`; if no valid limit is left, the search takes the time
/// given by --time. With searchmoves or MultiPV above 1, the engine searches at full strength. A
/// draw that players must claim, such as by repetition or the fifty-move rule, does not end the
/// game: the engine searches on without the earlier positions.
///
/// GTP: see list_commands. The engine plays by the rules of the server: 9x9 board, area scoring, no
/// suicide, positional superko. All stones on the board count as alive. The command komi accepts
/// -10000 to 10000. Only final_score uses this komi; the engine always plays for the komi of the
/// server. A move out of turn, also by genmove, implies a pass of the opponent. Such a pass does
/// not bring the end of the game closer.
///
/// Piskvork: START, RESTART, BEGIN, TURN, BOARD, TAKEBACK, INFO (timeout_turn, timeout_match,
/// time_left, max_memory, rule), ABOUT, END. The only supported rule is 0 (freestyle).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    /// Playing strength
    #[arg(long, value_name = "LEVEL", value_parser = level_parser(), default_value_t = Level::Max)]
    level: Level,

    /// Time per move in milliseconds if the protocol sets no limit
    ///
    /// In UCI, a search without a limit runs until `stop`, or for this time after the end of the
    /// input.
    #[arg(long, value_name = "MS", default_value_t = 1000,
          value_parser = number_in::<u64>(1..=86_400_000))]
    time: u64,

    /// Initial size of the transposition table in MiB
    ///
    /// The option Hash (UCI) or INFO max_memory (Piskvork) changes the size.
    #[arg(long, value_name = "MIB", default_value_t = 64,
          value_parser = number_in::<u32>(1..=u64::from(TABLE_MIB_MAX)))]
    table: u32,

    /// Random seed for levels below full strength (default: a new seed in every run)
    #[arg(long, value_name = "SEED", value_parser = number_in::<u64>(..))]
    seed: Option<u64>,
}

/// Maximum size of the transposition table in MiB. A larger table would not fill up even in a
/// search that runs for a whole day.
const TABLE_MIB_MAX: u32 = 1 << 16;

const EXAMPLES: &str = "\
Examples:
  printf 'uci\\nposition startpos moves e2e4\\ngo movetime 500\\n' | plyhouse engine chess
  plyhouse engine go --level medium";

/// Settings from the command line.
#[derive(Clone, Copy, Debug)]
struct EngineSettings {
    game: &'static GameEntry,
    level: Level,
    /// Time that the engine spends on a move if the protocol sets no time limit.
    default_time: Duration,
    table_mib: u32,
}

impl EngineSettings {
    /// Creates a request to find the best move within `time`. If `time` is `None`, the search may
    /// take the default time.
    fn search_request(&self, time: Option<Duration>) -> SearchRequest {
        SearchRequest {
            level: self.level,
            limits: Limits::time(time.unwrap_or(self.default_time)),
            goal: SearchGoal::BestMove,
        }
    }

    /// Creates a board with the initial position and a transposition table of the initial size.
    fn new_analysis_board(&self) -> Box<dyn AnalysisBoard> {
        self.game.analysis_board(mib_to_bytes(self.table_mib))
    }

    /// Resets the board to the initial position, with an empty transposition table of `table_bytes`
    /// bytes.
    fn reset_analysis_board(
        &self,
        analysis_board: &mut Box<dyn AnalysisBoard>,
        table_bytes: usize,
    ) {
        // Drop the old table before allocating the new one, so that both are never in memory
        // together.
        *analysis_board = self.game.analysis_board(0);
        *analysis_board = self.game.analysis_board(table_bytes);
    }
}

impl Args {
    /// Runs the protocol until the `quit` command or the end of the input.
    pub fn run(self) -> anyhow::Result<()> {
        let settings = EngineSettings {
            game: self.game.game_entry(),
            level: self.level,
            default_time: Duration::from_millis(self.time),
            table_mib: self.table,
        };
        let seed = self.seed.map_or_else(|| SysRng.try_next_u64(), Ok);
        let seed = seed.context("cannot get a random seed from the system")?;
        let protocol: Box<dyn Protocol> = match settings.game.engine_protocol {
            EngineProtocol::Uci => Box::new(Uci::new(settings)),
            EngineProtocol::Gtp { komi } => Box::new(Gtp::new(settings, komi)),
            EngineProtocol::Piskvork => Box::new(Piskvork::new(settings)),
        };
        protocol_loop::run(protocol, settings.game, seed)
    }
}

/// Converts MiB to bytes.
const fn mib_to_bytes(mib: u32) -> usize {
    (mib as usize) << 20
}
