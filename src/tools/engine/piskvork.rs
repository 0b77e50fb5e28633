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
    analysis_board: Box<dyn AnalysisBoard>,
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
            analysis_board: settings.new_analysis_board(),
            settings,
            board: None,
            pending_board: None,
            timing: MatchTiming::default(),
        }
    }

    fn run_command(&mut self, line: &str) -> Result<Reply, &'static str> {
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
                self.prepare_search()
            }
            "TURN" => self.handle_turn(rest),
            "BOARD" => {
                self.board.as_ref().ok_or(NO_GAME_STARTED)?;
                self.pending_board = Some(Ok(Board::default()));
                Ok(Reply::Nothing)
            }
            "TAKEBACK" => self.handle_takeback(rest),
            "INFO" => Ok(self.handle_info(rest)),
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
    fn handle_turn(&mut self, text: &str) -> Result<Reply, &'static str> {
        let point = self.parse_point(text)?;
        let mut board = self.board.clone().ok_or(NO_GAME_STARTED)?;
        board.place(point, Owner::Opponent)?;
        self.search_board(board)
    }

    fn handle_takeback(&mut self, text: &str) -> Result<Reply, &'static str> {
        let point = self.parse_point(text)?;
        self.board.as_mut().ok_or(NO_GAME_STARTED)?.remove(point)?;
        Ok(Reply::Text("OK".to_owned()))
    }

    /// Reads one of the lines that follow a `BOARD` command. The line `DONE` ends the command.
    fn read_board_line(&mut self, line: &str) -> Result<Reply, &'static str> {
        let mut pending = self.pending_board.take().expect("a BOARD command is open");
        if line.eq_ignore_ascii_case("DONE") {
            return self.search_board(pending?);
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
        board.place(self.parse_point(point)?, owner)
    }

    /// Replaces the board and prepares a search. If the search is impossible, keeps the old board.
    fn search_board(&mut self, board: Board) -> Result<Reply, &'static str> {
        let previous = self.board.replace(board);
        self.prepare_search().inspect_err(|_| self.board = previous)
    }

    /// Sets up the position for a search, with the engine to move.
    fn prepare_search(&mut self) -> Result<Reply, &'static str> {
        let board = self.board.as_ref().ok_or(NO_GAME_STARTED)?;
        let position = board.to_position(self.settings.game.info.files)?;
        let result = self.analysis_board.set_up(&position);
        result.map_err(|_| "the position cannot occur in a game")?;
        match self.analysis_board.position().outcome() {
            None => Ok(Reply::Search),
            Some(_) => Err("the game is over"),
        }
    }

    /// Handles `INFO`. Replies with a `MESSAGE` line if `INFO rule` requests an unsupported rule.
    fn handle_info(&mut self, text: &str) -> Reply {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let number: Option<u64> = value.trim().parse().ok();
        match (key, number) {
            ("max_memory", Some(bytes_max)) => self.limit_table_size(bytes_max),
            ("rule", Some(0)) => {}
            ("rule", _) => {
                return Reply::Text(format!(
                    "MESSAGE unsupported rule '{value}': only 0 (freestyle) is supported"
                ));
            }
            (key, value) => self.timing.apply_info(key, value),
        }
        Reply::Nothing
    }

    /// Limits the size of the transposition table to half of `bytes_max`. The manager sets
    /// `bytes_max` as the memory limit of the process. The other half of this memory is left for
    /// everything else in the process. A `bytes_max` of 0 means no limit.
    fn limit_table_size(&mut self, bytes_max: u64) {
        let mut size = mib_to_bytes(self.settings.table_mib);
        if bytes_max > 0 {
            size = size.min(usize::try_from(bytes_max / 2).unwrap_or(usize::MAX));
        }
        self.settings
            .reset_analysis_board(&mut self.analysis_board, size);
    }

    fn parse_point(&self, text: &str) -> Result<Point, &'static str> {
        Point::parse(text, self.settings.game.info.files).ok_or(INVALID_POINT)
    }
}

impl Protocol for Piskvork {
    fn analysis_board(&mut self) -> &mut Box<dyn AnalysisBoard> {
        &mut self.analysis_board
    }

    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<NextAction> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(NextAction::ReadLine);
        }
        if is_end(line) {
            return Ok(NextAction::Quit);
        }
        let reply = match self.pending_board {
            Some(_) => self.read_board_line(line),
            None => self.run_command(line),
        };
        match reply {
            Ok(Reply::Nothing) => {}
            Ok(Reply::Text(text)) => writeln!(out, "{text}")?,
            Err(reason) => writeln!(out, "ERROR {reason}")?,
            Ok(Reply::Search) => {
                let request = self.settings.search_request(self.timing.time_for_move());
                return Ok(NextAction::Search(request));
            }
        }
        Ok(NextAction::ReadLine)
    }

    fn handle_line_while_searching(&mut self, line: &str) -> WhileSearching {
        match is_end(line.trim()) {
            true => WhileSearching::Quit,
            false => WhileSearching::Queue,
        }
    }

    fn on_search_end(&mut self, result: SearchResult, out: &mut dyn Write) -> io::Result<()> {
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
