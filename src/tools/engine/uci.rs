//! The Universal Chess Interface (Meyer-Kahlen and Huber, 2000), in the version of April 2006.
//!
//! The engine ignores unknown input, as the specification requires. If a known command fails, the
//! position stays unchanged, and the engine sends the reason as `info string`. After a rejected
//! `position` command, the engine replies to `go` with `bestmove (none)`. A move for the previous
//! position would be wrong, because the GUI would apply it to the rejected position.

mod go_command;
mod position_command;
mod uci_options;

use std::io::{self, Write};
use std::time::Duration;

use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition};
use plyhouse_engine::search::{Report, Score};

use self::go_command::GoCommand;
use self::position_command::PositionCommand;
use self::uci_options::{OptionEffect, Options};
use super::protocol_loop::{
    NextAction, Protocol, SearchGoal, SearchRequest, SearchResult, WhileSearching,
};
use super::{EngineSettings, mib_to_bytes};
use crate::engine_match::to_hundredths;

/// Supported commands. The engine skips all words before the first command in a line.
const COMMANDS: [&str; 9] = [
    "uci",
    "isready",
    "setoption",
    "ucinewgame",
    "position",
    "go",
    "ponderhit",
    "stop",
    "quit",
];

/// Reply to `go` if there is no move.
const NO_MOVE: &str = "bestmove (none)";

/// An engine that speaks UCI.
#[derive(Debug)]
pub(super) struct Uci {
    settings: EngineSettings,
    analysis_board: Box<dyn AnalysisBoard>,
    options: Options,
    position_command: PositionCommand,
    /// Reason why the last `position` command was rejected. The analysis board then still has the
    /// previous position.
    refusal: Option<String>,
    /// Move that the engine sends if the game is over but the side to move still has legal moves.
    /// For example, the game is over in a dead position.
    move_after_end: Option<String>,
    /// The last `go` command.
    go_command: GoCommand,
    /// Search time for the last `go` command, derived from the `movetime` argument and from the
    /// clock of the side to move.
    time_for_move: Option<Duration>,
    /// `bestmove` line that is withheld until `stop` or `ponderhit`.
    held_answer: Option<String>,
    /// Whether the input has ended, so that no further `stop` can arrive.
    input_has_ended: bool,
}

impl Uci {
    pub(super) fn new(settings: EngineSettings) -> Self {
        Self {
            analysis_board: settings.new_analysis_board(),
            options: Options::new(&settings),
            settings,
            position_command: PositionCommand::default(),
            refusal: None,
            move_after_end: None,
            go_command: GoCommand::default(),
            time_for_move: None,
            held_answer: None,
            input_has_ended: false,
        }
    }

    fn position(&self) -> &dyn AnyPosition {
        self.analysis_board.position()
    }

    fn send_identification(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "id name Plyhouse {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "id author the Plyhouse authors")?;
        self.options.send_options(out)?;
        writeln!(out, "uciok")
    }

    /// Sets up the position of the last valid `position` command.
    fn restore_position(&mut self) {
        let result = self.position_command.set_up(self.analysis_board.as_mut());
        result.expect("the position was set up before");
    }

    /// Creates a new analysis board with an empty transposition table and sets up the position
    /// again.
    fn reset_analysis_board(&mut self) {
        let table_bytes = mib_to_bytes(self.options.table_mib);
        self.settings
            .reset_analysis_board(&mut self.analysis_board, table_bytes);
        self.restore_position();
    }

    /// Starts a new game. Keeps the current position, unless the last `position` command was
    /// rejected. In that case, sets up the initial position.
    fn start_new_game(&mut self) {
        if self.refusal.take().is_some() {
            self.position_command = PositionCommand::default();
        }
        self.reset_analysis_board();
    }

    fn handle_position(&mut self, words: &[&str]) -> Result<(), String> {
        let command = PositionCommand::parse(words)?;
        let result = command.set_up(self.analysis_board.as_mut());
        match result {
            Ok(()) => self.position_command = command,
            Err(_) => self.restore_position(),
        }
        result
    }

    /// Handles `go`. If the last `position` command was rejected, starts no search.
    fn handle_go(&mut self, words: &[&str], out: &mut dyn Write) -> io::Result<NextAction> {
        let turn = self.position().turn();
        self.go_command = GoCommand::parse(words, turn, self.settings.default_time);
        for invalid in &self.go_command.invalid_arguments {
            writeln!(out, "info string invalid argument of go: {invalid}")?;
        }
        self.time_for_move = self.go_command.time_for_move(turn);
        let mut limits = self.go_command.search_limits(turn, self.options.threads);
        if self.input_has_ended && self.holds_answer() {
            limits.time = Some(self.settings.default_time);
            self.allow_answer();
        }
        if let Some(reason) = &self.refusal {
            writeln!(out, "info string no position to search: {reason}")?;
            self.send_or_hold_answer(NO_MOVE.to_owned(), out)?;
            return Ok(NextAction::ReadLine);
        }
        let (pos, requested) = (self.position(), &self.go_command.search_moves);
        let legal = pos.legal_moves();
        let canonical = requested.iter().filter_map(|m| pos.read_move(m).ok());
        let search_moves: Vec<_> = canonical.filter(|m| legal.contains(m)).collect();
        if search_moves.len() < requested.len() {
            writeln!(out, "info string illegal moves in searchmoves are ignored")?;
        }
        let is_over = pos.outcome().is_some();
        let first = search_moves.first().or(legal.first());
        self.move_after_end = first.filter(|_| is_over).cloned();
        Ok(NextAction::Search(SearchRequest {
            level: self.options.level,
            limits,
            goal: self.search_goal(search_moves),
        }))
    }

    fn search_goal(&self, search_moves: Vec<String>) -> SearchGoal {
        let count = self.options.multipv;
        match self.go_command.mate_in_moves {
            Some(moves) if search_moves.is_empty() => SearchGoal::Win {
                plies: moves.saturating_mul(2) - 1,
            },
            _ if search_moves.is_empty() && count == 1 => SearchGoal::BestMove,
            _ => SearchGoal::Lines {
                search_moves,
                count,
            },
        }
    }

    /// Returns whether the current search must not answer before `stop` or `ponderhit`.
    const fn holds_answer(&self) -> bool {
        self.go_command.is_infinite || self.go_command.is_pondering
    }

    /// Lets the current search answer without `stop` or `ponderhit`.
    const fn allow_answer(&mut self) {
        self.go_command.is_infinite = false;
        self.go_command.is_pondering = false;
    }

    /// Sends the answer now, or withholds it until `stop` or `ponderhit`.
    fn send_or_hold_answer(&mut self, answer: String, out: &mut dyn Write) -> io::Result<()> {
        self.held_answer = Some(answer);
        if self.holds_answer() {
            return Ok(());
        }
        self.send_held_answer(out)
    }

    fn send_held_answer(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let held_answer = self.held_answer.take();
        held_answer.map_or(Ok(()), |answer| writeln!(out, "{answer}"))
    }
}

impl Protocol for Uci {
    fn analysis_board(&mut self) -> &mut Box<dyn AnalysisBoard> {
        &mut self.analysis_board
    }

    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<NextAction> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.iter().position(|word| COMMANDS.contains(word)) else {
            return Ok(NextAction::ReadLine);
        };
        let (command, words) = (words[first], &words[first + 1..]);
        // The GUI may send a command such as `position` without sending `stop` first. The engine
        // then sends the withheld answer before it handles the command.
        let releases_answer = matches!(command, "stop" | "go" | "position" | "ucinewgame" | "quit");
        if releases_answer || command == "ponderhit" && !self.go_command.is_infinite {
            self.send_held_answer(out)?;
        }
        match command {
            "uci" => self.send_identification(out)?,
            "isready" => writeln!(out, "readyok")?,
            "setoption" => match self.options.set_option(words) {
                Ok(OptionEffect::Nothing) => {}
                Ok(OptionEffect::ResetTable) => self.reset_analysis_board(),
                Err(reason) => writeln!(out, "info string {reason}")?,
            },
            "ucinewgame" => self.start_new_game(),
            "position" => {
                self.refusal = self.handle_position(words).err();
                if let Some(reason) = &self.refusal {
                    writeln!(out, "info string position rejected: {reason}")?;
                }
            }
            "go" => return self.handle_go(words, out),
            "ponderhit" => self.go_command.is_pondering = false,
            "quit" => return Ok(NextAction::Quit),
            // The remaining command is `stop`. It has no effect, because no search is running.
            _ => {}
        }
        Ok(NextAction::ReadLine)
    }

    fn handle_line_while_searching(&mut self, line: &str) -> WhileSearching {
        match line.split_whitespace().next() {
            Some("stop") => WhileSearching::Stop,
            Some("quit") => WhileSearching::SkipSearches,
            Some("isready") => WhileSearching::Reply("readyok"),
            Some("ponderhit") if self.go_command.is_pondering => {
                self.go_command.is_pondering = false;
                let time = self.time_for_move.filter(|_| !self.go_command.is_infinite);
                time.map_or(WhileSearching::Handled, WhileSearching::StopWithin)
            }
            Some(_) | None => WhileSearching::Queue,
        }
    }

    /// After the end of the input, no `stop` can arrive. A search that waits for `stop` must
    /// therefore get a time limit.
    fn on_end_of_input(&mut self, out: &mut dyn Write) -> io::Result<Option<Duration>> {
        self.input_has_ended = true;
        self.send_held_answer(out)?;
        let search_time = self.holds_answer().then_some(self.settings.default_time);
        self.allow_answer();
        Ok(search_time)
    }

    fn on_progress(
        &mut self,
        line: usize,
        report: &Report<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let number = match self.options.multipv {
            1 => String::new(),
            _ => format!(" multipv {}", line + 1),
        };
        write!(
            out,
            "info depth {} seldepth {}{number} score {} nodes {} nps {} hashfull {} time {} pv",
            report.depth,
            report.selective_depth.max(report.depth),
            format_score(report.score, self.settings.game.score_per_point),
            report.nodes,
            report.nodes_per_second(),
            report.table_fill_per_mille,
            report.time.as_millis(),
        )?;
        for m in &report.pv {
            write!(out, " {m}")?;
        }
        writeln!(out)
    }

    fn on_search_end(&mut self, result: SearchResult, out: &mut dyn Write) -> io::Result<()> {
        for (line, report) in result.lines.iter().enumerate() {
            self.on_progress(line, report, out)?;
        }
        let mut best_move = best_move_line(&result);
        if result.best_move.is_none() {
            send_final_score(self.position(), out)?;
            if let Some(m) = &self.move_after_end {
                best_move = format!("bestmove {m}");
            }
        }
        if result.was_stopped {
            return writeln!(out, "{best_move}");
        }
        self.send_or_hold_answer(best_move, out)
    }
}

/// Returns the `bestmove` line. If the expected reply is known, the line includes it, so that the
/// GUI can start pondering.
fn best_move_line(result: &SearchResult) -> String {
    let Some(m) = &result.best_move else {
        return NO_MOVE.to_owned();
    };
    let line = result.lines.first().map(|line| line.pv.as_slice());
    match line.unwrap_or_default() {
        [first, reply, ..] if first == m => format!("bestmove {m} ponder {reply}"),
        _ => format!("bestmove {m}"),
    }
}

/// Sends the score of a finished game.
fn send_final_score(pos: &dyn AnyPosition, out: &mut dyn Write) -> io::Result<()> {
    let score = |outcome| Score::from_game_end(outcome, pos.ending(), pos.turn(), 0);
    let score = pos.outcome().map_or(Score::DRAW, score);
    writeln!(out, "info depth 0 score {}", format_score(score, None))
}

/// Formats a score for `info`. The distance to mate is given in moves and is negative if the side
/// to move is mated. In games decided by points, a point is 100 cp. In such a game,
/// `score_per_point` is the estimate for a lead of one point.
fn format_score(score: Score, score_per_point: Option<i32>) -> String {
    match score.plies_to_end() {
        Some(plies) if score > Score::DRAW => format!("mate {}", plies.div_ceil(2)),
        Some(0) => "mate 0".to_owned(),
        Some(plies) => format!("mate -{}", plies / 2),
        // The unit `cp` is a hundredth of a pawn, or of a point in games decided by points.
        None => format!("cp {}", to_hundredths(score, score_per_point)),
    }
}

#[cfg(test)]
mod tests;
