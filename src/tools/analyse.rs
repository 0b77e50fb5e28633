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

/// Values a position and every legal move, and tells what it took to find out.
///
/// Values are for the side to move, wins and losses on the scale that is customary for the game:
/// in Connect Four the number of the winner's own discs left and one, in tic-tac-toe ten less the
/// plies, in Othello and Go the discs or points that the game is won by. Where the end of the game can be seen they are
/// exact; else `about` so much, in discs or points there, too, and in other games in hundredths of an advantage that a
/// careful player feels, by looking ahead: in a game that can be solved from here ten plies, as the rest of the time went into solving
/// it, and with --depth or in other games as many as there was time for. Ctrl-C ends the search of one
/// position, and what is known by then is told; not so with --method.
///
/// Go is played out instead, as its bots do (Monte Carlo tree search): of every move is told how often it
/// was tried, by how many points on average, and how much of that was won, by one thread. With --depth, --exact or --method it is searched
/// as the others.
///
/// With `-` for a position it reads a position or a list of moves a line from stdin, and answers
/// each with one line. A line that cannot be answered is answered with an error, and the status is
/// then 1 in the end. What is found for one line is kept for the next.
///
/// Moves are read as players of the game write them, in chess `Nf3` as well as `g1f3`, also with nothing
/// between them. Move numbers, comments, variations and a result, as in PGN, are skipped. A forced pass may
/// be left out. The moves may continue after a draw that a player has to claim.
///
/// With --json an answer is one object: `position`; `turn`, the side to move, which all values are
/// for; `outcome`, as in the protocol, if the game is over; `score`; `result`, win, draw or loss, if
/// that is known; `plies` to the win or loss, where points do not decide; whether all this is `exact`; the `depth` that was
/// looked at in full, and the greatest, `selective_depth`; `nodes`, positions visited (by the first
/// thread, if there are several), and `nodes_per_second`; `time_us`, microseconds; `table_hits`, positions found in the table, and
/// `table_use`, how many of a thousand places this search has filled; moves `pruned`, where a method
/// counts them; `playouts`, where games were played out, and the `win_rate` of the best move, from 0 to 1;
/// the `best` move; `pv`, the principal variation; and `moves`, best first, each with
/// `move`, `score`, `result`, `plies`, and how well that is `known`: exact, estimate, or at_most
/// where the method did not need to know more; and where games were played out, `playouts` through the
/// move and its `win_rate`. An error is an object with `error` alone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    subject: GameAndPosition,

    /// Moves to play first from the position, written in the same ways
    #[arg(long, value_name = "M,M,…")]
    moves: Option<String>,

    /// Looks no further ahead than this many plies
    #[arg(long, value_name = "N", conflicts_with_all = ["time", "exact"],
          value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Thinks no longer than this many milliseconds. Without a limit: 5000, or with --exact for as
    /// long as it takes
    #[arg(long, value_name = "MS")]
    time: Option<u64>,

    /// Searches as the textbooks do, to see what each idea saves: minimax or alpha-beta, moves in
    /// the order of the rules, nothing remembered. Needs --depth where more than 10 plies are left
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), conflicts_with_all = ["time", "exact"])]
    method: Option<TextbookMethod>,

    /// How such a search scores the end of a game: `plies`, less for every ply, or `outcome`, by one
    #[arg(long, value_name = "SCALE", value_parser = scale_parser(), requires = "method",
          default_value = "plies")]
    scale: Scale,

    /// The value of the game itself or nothing: fails if --time is over before it is known
    #[arg(long)]
    exact: bool,

    /// Values every move also where `-` and --exact go together, and the value is asked for and one
    /// best move
    #[arg(long, requires = "exact")]
    every_move: bool,

    /// Prints JSON
    #[arg(long)]
    json: bool,

    /// Thinks with so many threads, which share the table. With more than one, what is visited and
    /// which of equal moves is best may differ from run to run
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "method",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,

    /// The size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
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
    #[error("{0} plies are left, too many to walk: the method needs --depth")]
    DepthRequired(u32),
    #[error("the search ended before the exact value was known")]
    NotSolved,
}

impl Args {
    /// Analyses the given position and prints the result. If the position argument is `-`, analyses
    /// each position read from stdin.
    pub fn run(self) -> anyhow::Result<()> {
        let mut analysis_board = self
            .subject
            .game
            .analysis_board((self.table as usize) << 20);
        if self.subject.position.as_deref() == Some("-") {
            if self.moves.is_some() {
                exit_with_usage_error(
                    "--moves cannot be used with `-`: a line may be a list of moves",
                );
            }
            let lines = batch_mode::BatchAnalysis {
                info: &self.subject.game.info,
                request: self.search_request(!self.every_move),
                json: self.json,
            };
            return lines.run(analysis_board.as_mut());
        }
        let position = self.subject.position.as_deref().unwrap_or_default();
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
                let scale = request.scale();
                self.print_report(&PositionReport::new(
                    info,
                    analysis_board,
                    &position,
                    scale,
                    &report,
                ))
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
            return Ok(Report::from_exact_score(Score::from_game_end(
                outcome,
                pos.ending(),
                pos.turn(),
                0,
            )));
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
