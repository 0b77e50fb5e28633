//! `plyhouse engine`: runs the engine for a GUI or tournament manager. The game determines the
//! engine protocol: UCI, GTP or Piskvork.

mod gtp;
mod piskvork;
mod protocol_loop;
mod uci;

use std::io;
use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog::{AnalysisBoard, GameEntry};
use plyhouse_engine::game::EngineProtocol;
use plyhouse_engine::search::{Level, Limits};
use rand::TryRng;
use rand::rngs::SysRng;

use self::gtp::Gtp;
use self::piskvork::Piskvork;
pub(crate) use self::piskvork::Point;
use self::protocol_loop::{SearchGoal, SearchRequest};
use self::uci::Uci;
use crate::common_args::{GameArg, level_parser};

/// Plays as an engine that another program runs: an interface, or a manager of tournaments.
///
/// It reads commands from stdin and answers on stdout, in the protocol of the game: Go by GTP 2, Gomoku by
/// the protocol of Gomocup (Piskvork), all others by UCI, with moves and positions as they are on the wire.
///
/// Of a clock it spends on a move what is left, by the number of moves that are to be made with it
/// (30 where nobody says), and three quarters of the increment; at most three quarters of what is left,
/// which is counted 30 ms short for the way between the programs.
///
/// What was asked for is answered also after the end of the input. A search that only `stop` would end
/// then takes as long as --time says.
///
/// UCI: uci, isready, ucinewgame, position, go (searchmoves, ponder, wtime, btime, winc, binc, movestogo,
/// depth, nodes, mate, movetime, infinite; of what is no number an `info string` tells, and the answer then
/// comes after as long as --time says), ponderhit, stop, quit, and the options Hash, Clear Hash,
/// Threads, MultiPV, Ponder and Level (beginner, easy, medium, hard, full). With searchmoves and with
/// several lines it searches at full strength. A game that is drawn by repetition or by fifty moves, which
/// a player need not claim, is thought about as if what was before had not been.
///
/// GTP: what list_commands names. The rules are those of the server: 9 x 9, area scoring, no suicide,
/// positional superko, all stones on the board alive. Any komi up to 10000 is taken and counted by
/// final_score, but the engine plays for the server's. If one side is asked for a move out of turn, or
/// moves, the other has passed, which does not bring the end of the game nearer.
///
/// Piskvork: START, RESTART, BEGIN, TURN, BOARD, TAKEBACK, INFO (timeout_turn, timeout_match,
/// time_left, max_memory; rule 0, freestyle, is the one that is played), ABOUT, END.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    /// How strong it plays
    #[arg(long, value_name = "LEVEL", value_parser = level_parser(), default_value_t = Level::Max)]
    level: Level,

    /// How long it thinks about a move where the protocol says nothing of time, in milliseconds. In UCI
    /// a search without a limit goes on until `stop`, or this long after the end of the input
    #[arg(long, value_name = "MS", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    time: u64,

    /// The size of the transposition table in MiB, until the protocol says another
    #[arg(long, value_name = "MIB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(TABLE_MIB_MAX)))]
    table: u32,

    /// What chance is drawn from below full strength. Without it: another in every run
    #[arg(long, value_name = "S")]
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
        let seed = match self.seed {
            Some(seed) => seed,
            None => SysRng.try_next_u64().context("there is no randomness")?,
        };
        let out = io::stdout();
        match self.game.game_entry().engine_protocol {
            EngineProtocol::Uci => protocol_loop::run(Uci::new(settings), &settings, seed, out),
            EngineProtocol::Gtp { komi } => {
                protocol_loop::run(Gtp::new(settings, komi), &settings, seed, out)
            }
            EngineProtocol::Piskvork => {
                protocol_loop::run(Piskvork::new(settings), &settings, seed, out)
            }
        }
    }
}

/// Converts MiB to bytes.
const fn mib_to_bytes(mib: u32) -> usize {
    (mib as usize) << 20
}
