//! `plyhouse analyse`: evaluates a position and its moves.

mod batch_mode;
mod json_output;
mod position_report;
mod text_output;

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plyhouse_cli::number_in;
use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition};
use plyhouse_engine::search::analysis::TextbookMethod;
use plyhouse_engine::search::minimax::Scale;
use plyhouse_engine::search::{Limits, Report, Score, Stop};

use self::position_report::PositionReport;
use crate::common_args::{GameAndPosition, exit_with_usage_error};
use crate::stop_signals::stop_on_interrupt;

/// Default search time in milliseconds. It applies if no `--depth`, `--exact` or `--time` is given.
const TIME_DEFAULT_MS: u64 = 5000;

/// Used for a textbook search without `--depth`. If the game lasts at most this many more plies,
/// the search goes to the end of the game. In games where every move fills a square, plain minimax
/// searches such a position in a few seconds at most.
const FULL_DEPTH_PLIES_MAX: u32 = 10;

/// Evaluate a position and every legal move
///
/// Values are from the point of view of the side to move. A win or loss has the score that is
/// customary for the game: in Connect Four, the number of discs that the winner has left plus one;
/// in tic-tac-toe, ten minus the number of plies; in Othello and Go, the margin in discs or points.
///
/// A value is exact if the search has reached the end of the game. All other values are estimates
/// and are marked with `about` or `likely`. Estimates are in discs or points in Othello and Go. In
/// other games, 100 is an advantage that a careful player notices. If the position is close enough
/// to the end to be solved, the search looks ten plies ahead for estimates and spends the rest of
/// the time on solving. In other positions, and with --depth, it looks as far ahead as the limit
/// allows.
///
/// Ctrl-C stops the search of a single position and prints the result so far, except with --exact
/// or --method.
///
/// Go is searched with random playouts, as by its bots (Monte Carlo tree search), in one thread.
/// For each move, the report shows the number of playouts, the average margin in points and the
/// share of playouts won. With --depth, --exact or --method, Go is searched like the other games.
///
/// If the position is `-`, the command reads one position or list of moves per line from stdin and
/// prints one line for each. The answer to an invalid line is an error message, and the exit status
/// of the command is then 1. The transposition table is kept from line to line.
///
/// Positions are written as in the protocol of the server. Moves may be in any notation that
/// players of the game use, in chess `Nf3` as well as `g1f3`, with or without separators. Move
/// numbers, comments, variations and a result, as in PGN, are skipped. Forced passes may be
/// omitted. The moves may continue after a draw that a player must claim.
///
/// With --json, each answer is an object with these fields: `position`; `turn`, the side to move;
/// `outcome`, as in the protocol, if the game is over; `score`; `result`, which is win, draw or
/// loss, if known; `plies` to the win or loss, except where points decide; `exact`, true if the
/// value is exact; `depth`, the plies searched in full; `selective_depth`, the length of the
/// longest line searched; `nodes`, the positions visited (by the first thread, if there are
/// several); `nodes_per_second`; `time_us`, the time in microseconds; `table_hits`, the positions
/// found in the transposition table; `table_use`, the part of the table that this search has
/// filled, in thousandths; `pruned`, the moves skipped, if the method counts them; `playouts`, and
/// the `win_rate` of the best move from 0 to 1, if there were playouts; `best`, the best move;
/// `pv`, the principal variation; and `moves`, best first. Each move has `move`, `score`, `result`,
/// `plies`, `known` (exact, estimate, or at_most for an upper bound) and, if there were playouts,
/// `playouts` and `win_rate`. An error is an object with the field `error` only.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    subject: GameAndPosition,

    /// Moves to play before the analysis, such as e4,e5
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,

    /// Maximum search depth in plies
    #[arg(long, value_name = "N", conflicts_with_all = ["time", "exact"],
          value_parser = number_in::<u32>(1..=u64::from(u32::MAX)))]
    depth: Option<u32>,

    /// Maximum search time in milliseconds; default: 5000, or no limit with --depth or --exact
    #[arg(long, value_name = "MS", value_parser = number_in::<u64>(..))]
    time: Option<u64>,

    /// Search by a textbook method, without move ordering or a transposition table
    ///
    /// The number of nodes shows what each technique saves. Moves are searched in the order of the
    /// move generator. --depth is required if more than 10 plies are left.
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), conflicts_with_all = ["time", "exact"])]
    method: Option<TextbookMethod>,

    /// Scoring for --method: `plies` prefers faster wins, `outcome` does not
    #[arg(long, value_name = "SCALE", value_parser = scale_parser(), requires = "method",
          default_value = "plies")]
    scale: Scale,

    /// Solve the position; fail if --time ends before the exact value is known
    #[arg(long)]
    exact: bool,

    /// With --exact and `-`, solve every move instead of finding one best move
    #[arg(long, requires = "exact")]
    every_move: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Number of search threads
    ///
    /// The threads share the transposition table. With more than one thread, the visited positions
    /// and the choice between equal moves may differ from run to run.
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "method",
          value_parser = number_in::<u16>(1..=1024))]
    threads: u16,

    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64,
          value_parser = number_in::<u32>(1..=1 << 20))]
    table: u32,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse analyse tic-tac-toe --method minimax
  plyhouse analyse connect-four 4444443
  plyhouse analyse connect-four --exact --json - < positions.txt";

/// Search that `plyhouse analyse` runs on each position.
#[derive(Clone, Copy, Debug)]
enum SearchRequest {
    /// A textbook search: minimax or alpha-beta.
    Textbook {
        method: TextbookMethod,
        depth: Option<u32>,
        scale: Scale,
    },
    /// A search for the value of every legal move.
    AllMoves { exact: bool, limits: Limits },
    /// A search for the exact value of the position and one best move.
    ExactValue { limits: Limits },
}

/// Reason why a position could not be analysed.
#[derive(Debug, thiserror::Error)]
enum AnalysisError {
    #[error("up to {0} plies are left, too many for a full search; limit it with --depth")]
    DepthRequired(u32),
    #[error("the search ended before the exact value was known")]
    NotSolved,
}

impl Args {
    /// Analyses the given position and prints the result. If the position argument is `-`, analyses
    /// each position read from stdin.
    pub fn run(self) -> anyhow::Result<()> {
        let GameAndPosition { game, position } = &self.subject;
        let mut analysis_board = game.analysis_board((self.table as usize) << 20);
        if position.as_deref() == Some("-") {
            if self.moves.is_some() {
                exit_with_usage_error(
                    "--moves cannot be used with '-'; write the moves on the input lines",
                );
            }
            let lines = batch_mode::BatchAnalysis {
                info: &game.info,
                request: self.search_request(!self.every_move),
                json: self.json,
            };
            return lines.run(analysis_board.as_mut());
        }
        let position = position.as_deref().unwrap_or_default();
        let moves = self.moves.as_deref().unwrap_or_default();
        if let Err(error) =
            (analysis_board.set_up(position)).and_then(|()| analysis_board.play_record(moves))
        {
            exit_with_usage_error(error);
        }
        self.report_position(analysis_board.as_mut())
    }

    /// Analyses a single position and prints the report.
    fn report_position(&self, analysis_board: &mut dyn AnalysisBoard) -> anyhow::Result<()> {
        let (info, request) = (&self.subject.game.info, self.search_request(false));
        let position = analysis_board.position().to_string();
        let mut on_progress = progress_printer(analysis_board.position().clone_box());
        match request.run(analysis_board, &request.stop_flag()?, &mut on_progress) {
            Ok(report) => {
                let (board, scale) = (&*analysis_board, request.scale());
                self.print_report(&PositionReport::new(info, board, &position, scale, &report))
            }
            Err(error @ AnalysisError::DepthRequired(_)) => exit_with_usage_error(error),
            Err(error @ AnalysisError::NotSolved) => {
                if self.json {
                    let mut out = Vec::new();
                    json_output::write_error(&mut out, &error.to_string());
                    print_line(out)?;
                }
                Err(error.into())
            }
        }
    }

    fn print_report(&self, report: &PositionReport<'_>) -> anyhow::Result<()> {
        if self.json {
            let mut out = Vec::new();
            json_output::write_report(&mut out, report);
            return print_line(out);
        }
        print_to_stdout(text_output::FullReport(report).to_string().as_bytes())
    }

    fn search_request(&self, is_value_only: bool) -> SearchRequest {
        if let Some(method) = self.method {
            return SearchRequest::Textbook {
                method,
                depth: self.depth,
                scale: self.scale,
            };
        }
        let default = (self.depth.is_none() && !self.exact).then_some(TIME_DEFAULT_MS);
        let limits = Limits {
            depth: self.depth,
            time: self.time.or(default).map(Duration::from_millis),
            threads: NonZeroUsize::new(self.threads.into()),
            ..Limits::default()
        };
        if self.exact && is_value_only {
            SearchRequest::ExactValue { limits }
        } else {
            SearchRequest::AllMoves {
                exact: self.exact,
                limits,
            }
        }
    }
}

fn print_line(mut line: Vec<u8>) -> anyhow::Result<()> {
    line.push(b'\n');
    print_to_stdout(&line)
}

fn print_to_stdout(text: &[u8]) -> anyhow::Result<()> {
    io::stdout()
        .write_all(text)
        .context("cannot write to stdout")
}

impl SearchRequest {
    /// Searches the current position of `analysis_board`. If the game is already over, returns the
    /// game result without a search.
    fn run(
        &self,
        analysis_board: &mut dyn AnalysisBoard,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Result<Report<String>, AnalysisError> {
        let pos = analysis_board.position();
        if let Some(outcome) = pos.outcome() {
            let score = Score::from_game_end(outcome, pos.ending(), pos.turn(), 0);
            return Ok(Report::from_exact_score(score));
        }
        match self {
            Self::Textbook {
                method,
                depth,
                scale,
            } => {
                let plies_left = analysis_board.plies_left();
                let full_depth = (plies_left <= FULL_DEPTH_PLIES_MAX).then_some(plies_left);
                let depth = depth
                    .or(full_depth)
                    .ok_or(AnalysisError::DepthRequired(plies_left))?;
                Ok(analysis_board.textbook_search(*method, depth, *scale))
            }
            Self::AllMoves { exact, limits } => analysis_board
                .analyse(*exact, limits, stop, on_progress)
                .ok_or(AnalysisError::NotSolved),
            Self::ExactValue { limits } => analysis_board
                .solve(limits, stop)
                .ok_or(AnalysisError::NotSolved),
        }
    }

    const fn scale(&self) -> Scale {
        match self {
            Self::Textbook { scale, .. } => *scale,
            Self::AllMoves { .. } | Self::ExactValue { .. } => Scale::Plies,
        }
    }

    /// Returns a flag that Ctrl-C sets to stop the search. A textbook search does not check the
    /// flag, so for such a search Ctrl-C terminates the process as usual.
    fn stop_flag(&self) -> anyhow::Result<Stop> {
        match self {
            Self::Textbook { .. } => Ok(Stop::new()),
            Self::AllMoves { .. } | Self::ExactValue { .. } => stop_on_interrupt(),
        }
    }
}

/// Returns a callback that prints the progress of the search to stderr, if stderr is a terminal.
fn progress_printer(position: Box<dyn AnyPosition>) -> impl FnMut(&Report<String>) {
    let is_shown = io::stderr().is_terminal();
    move |report| {
        if is_shown {
            // A failed write to stderr must not stop the search.
            let progress = text_output::ProgressLine(position.as_ref(), report);
            let _ = writeln!(io::stderr(), "{progress}");
        }
    }
}

fn method_parser() -> impl TypedValueParser<Value = TextbookMethod> {
    PossibleValuesParser::new(["minimax", "alpha-beta"]).map(|id| match id.as_str() {
        "minimax" => TextbookMethod::Minimax,
        _ => TextbookMethod::AlphaBeta,
    })
}

fn scale_parser() -> impl TypedValueParser<Value = Scale> {
    PossibleValuesParser::new(["plies", "outcome"]).map(|id| match id.as_str() {
        "plies" => Scale::Plies,
        _ => Scale::Outcome,
    })
}
