//! The Gomocup protocol, which the tournament manager Piskvork uses (Laštovička and Petříček,
//! "Gomoku AI protocol").
//!
//! Points are written as `x,y`. The coordinates start at 0 in the upper left corner.

mod board;
mod match_timing;

use std::io::{self, Write};

use plyhouse_engine::catalog::AnalysisBoard;

use self::board::{Board, Owner, Point};
use self::match_timing::MatchTiming;
use super::protocol_loop::{NextAction, Protocol, SearchResult, WhileSearching};
use super::{EngineSettings, mib_to_bytes};

/// An engine that speaks the Piskvork protocol.
#[derive(Debug)]
pub(super) struct Piskvork {
    settings: EngineSettings,
    /// Stones on the board. `None` before the first `START`.
    board: Option<Board>,
    /// State of a `BOARD` command that has not yet received its final line `DONE`. Contains the
    /// stones placed so far, or the first error. `None` if no `BOARD` command is unfinished.
    pending_board: Option<Result<Board, &'static str>>,
    timing: MatchTiming,
}

/// The engine's reply to a protocol command.
enum Reply {
    Nothing,
    Text(String),
    /// The engine searches for a move and replies with it.
    Search,
}

const NO_GAME_STARTED: &str = "no game started: send START first";
const INVALID_POINT: &str = "invalid point: expected x,y on the board";

impl Piskvork {
    pub(super) fn new(settings: EngineSettings) -> Self {
        Self {
            settings,
            board: None,
            pending_board: None,
            timing: MatchTiming::default(),
        }
    }

    fn run_command(
        &mut self,
        line: &str,
        analysis_board: &mut Box<dyn AnalysisBoard>,
    ) -> Result<Reply, &'static str> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word.to_ascii_uppercase().as_str() {
            "START" => self.handle_start(rest),
            "RESTART" => {
                self.clear_board()?;
                self.timing.begin_match();
                Ok(Reply::Text("OK".to_owned()))
            }
            "BEGIN" => {
                self.clear_board()?;
                self.prepare_search(analysis_board.as_mut())
            }
            "TURN" => self.handle_turn(rest, analysis_board.as_mut()),
            "BOARD" => {
                self.board.as_ref().ok_or(NO_GAME_STARTED)?;
                self.pending_board = Some(Ok(Board::default()));
                Ok(Reply::Nothing)
            }
            "TAKEBACK" => self.handle_takeback(rest),
            "INFO" => {
                let warning = self.handle_info(rest, analysis_board);
                Ok(warning.map_or(Reply::Nothing, Reply::Text))
            }
            "ABOUT" => Ok(Reply::Text(about_text())),
            _ => Ok(Reply::Text("UNKNOWN command".to_owned())),
        }
    }

    fn handle_start(&mut self, size: &str) -> Result<Reply, &'static str> {
        let size: u32 = size
            .parse()
            .map_err(|_| "invalid START: expected a board size")?;
        if size != u32::from(self.settings.game.info.files) {
            return Err("unsupported board size");
        }
        self.board = Some(Board::default());
        self.timing.begin_match();
        Ok(Reply::Text("OK".to_owned()))
    }

    fn clear_board(&mut self) -> Result<(), &'static str> {
        *self.board.as_mut().ok_or(NO_GAME_STARTED)? = Board::default();
        Ok(())
    }

    /// Handles `TURN`: plays the opponent's move and prepares the search for the reply.
    fn handle_turn(
        &mut self,
        text: &str,
        analysis_board: &mut dyn AnalysisBoard,
    ) -> Result<Reply, &'static str> {
        let point = self.parse_point(text).ok_or(INVALID_POINT)?;
        let mut board = self.board.clone().ok_or(NO_GAME_STARTED)?;
        board.place(point, Owner::Opponent)?;
        let previous = self.board.replace(board);
        self.prepare_search(analysis_board)
            .inspect_err(|_| self.board = previous)
    }

    fn handle_takeback(&mut self, text: &str) -> Result<Reply, &'static str> {
        let point = self.parse_point(text).ok_or(INVALID_POINT)?;
        self.board.as_mut().ok_or(NO_GAME_STARTED)?.remove(point)?;
        Ok(Reply::Text("OK".to_owned()))
    }

    /// Reads one of the lines that follow a `BOARD` command. The line `DONE` ends the command.
    fn read_board_line(
        &mut self,
        line: &str,
        analysis_board: &mut dyn AnalysisBoard,
    ) -> Result<Reply, &'static str> {
        let mut pending = self.pending_board.take().expect("a BOARD command is open");
        if line.eq_ignore_ascii_case("DONE") {
            let previous = self.board.replace(pending?);
            return self
                .prepare_search(analysis_board)
                .inspect_err(|_| self.board = previous);
        }
        if let Ok(board) = &mut pending
            && let Err(reason) = self.add_stone(line, board)
        {
            pending = Err(reason);
        }
        self.pending_board = Some(pending);
        Ok(Reply::Nothing)
    }

    /// Adds a stone in the form `x,y,field`. The field is 1 for a stone of the engine and 2 for a
    /// stone of the opponent.
    fn add_stone(&self, line: &str, board: &mut Board) -> Result<(), &'static str> {
        let (point, field) = line.rsplit_once(',').ok_or(INVALID_POINT)?;
        let owner = match field.trim() {
            "1" => Owner::Engine,
            "2" => Owner::Opponent,
            _ => return Err("invalid field: expected 1 (own stone) or 2 (opponent's stone)"),
        };
        board.place(self.parse_point(point).ok_or(INVALID_POINT)?, owner)
    }

    /// Sets up the position for a search, with the engine to move.
    fn prepare_search(
        &self,
        analysis_board: &mut dyn AnalysisBoard,
    ) -> Result<Reply, &'static str> {
        let board = self.board.as_ref().ok_or(NO_GAME_STARTED)?;
        let position = board.to_position(self.settings.game.info.files)?;
        (analysis_board.set_up(&position)).map_err(|_| "the position cannot occur in a game")?;
        if analysis_board.position().outcome().is_some() {
            return Err("the game is over");
        }
        Ok(Reply::Search)
    }

    /// Handles `INFO`, which needs no reply. Returns a `MESSAGE` line if `INFO rule` requests an
    /// unsupported rule.
    fn handle_info(
        &mut self,
        text: &str,
        analysis_board: &mut Box<dyn AnalysisBoard>,
    ) -> Option<String> {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let number: Option<u64> = value.trim().parse().ok();
        match (key, number) {
            ("max_memory", Some(bytes_max)) => self.limit_table_size(bytes_max, analysis_board),
            ("rule", Some(0)) => {}
            ("rule", _) => {
                return Some(format!(
                    "MESSAGE unsupported rule '{value}': only 0 (freestyle) is supported"
                ));
            }
            (key, value) => self.timing.apply_info(key, value),
        }
        None
    }

    /// Limits the size of the transposition table to half of `bytes_max`. The manager sets
    /// `bytes_max` as the memory limit of the process. The other half of this memory is left for
    /// everything else in the process. A `bytes_max` of 0 means no limit.
    fn limit_table_size(&mut self, bytes_max: u64, analysis_board: &mut Box<dyn AnalysisBoard>) {
        let half = usize::try_from(bytes_max / 2).unwrap_or(usize::MAX);
        let requested = mib_to_bytes(self.settings.table_mib);
        let size = if bytes_max == 0 {
            requested
        } else {
            requested.min(half)
        };
        self.settings.reset_analysis_board(analysis_board, size);
    }

    fn parse_point(&self, text: &str) -> Option<Point> {
        Point::parse(text, self.settings.game.info.files)
    }
}

impl Protocol for Piskvork {
    fn handle_line(
        &mut self,
        line: &str,
        analysis_board: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<NextAction> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(NextAction::ReadLine);
        }
        if is_end(line) {
            return Ok(NextAction::Quit);
        }
        let reply = if self.pending_board.is_some() {
            self.read_board_line(line, analysis_board.as_mut())
        } else {
            self.run_command(line, analysis_board)
        };
        match reply {
            Ok(Reply::Nothing) => {}
            Ok(Reply::Text(text)) => writeln!(out, "{text}")?,
            Err(reason) => writeln!(out, "ERROR {reason}")?,
            Ok(Reply::Search) => {
                return Ok(NextAction::Search(
                    self.settings.search_request(self.timing.time_for_move()),
                ));
            }
        }
        Ok(NextAction::ReadLine)
    }

    fn handle_line_while_searching(
        &mut self,
        line: &str,
        _out: &mut dyn Write,
    ) -> io::Result<WhileSearching> {
        Ok(if is_end(line.trim()) {
            WhileSearching::Quit
        } else {
            WhileSearching::Queue
        })
    }

    fn on_search_end(
        &mut self,
        result: SearchResult,
        _was_stopped: bool,
        _analysis_board: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.timing.charge_move(result.search_time());
        let m = result.best_move.expect("the game is not over");
        let point = Point::from_move(&m, self.settings.game.info.files);
        let board = self.board.as_mut().expect("a game is in progress");
        let placed = board.place(point, Owner::Engine);
        placed.expect("the chosen move is legal");
        writeln!(out, "{point}")
    }
}

fn is_end(line: &str) -> bool {
    line.eq_ignore_ascii_case("END")
}

fn about_text() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "name=\"Plyhouse\", version=\"{version}\", author=\"the Plyhouse authors\", \
         country=\"International\""
    )
}

#[cfg(test)]
mod tests;
