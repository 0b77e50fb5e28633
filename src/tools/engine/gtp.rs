//! The Go Text Protocol, version 2 (Farnebäck, draft 2 of 2002).
//!
//! Each command receives exactly one response, in order. A response begins with `=` or `?` and the
//! id of its command, if there is one.

mod handicap;
mod load_sgf;
mod scoring;
mod sgf_syntax;
mod time_system;

use std::io::{self, Write};
use std::mem;
use std::str::FromStr;

use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition, SetUpError};
use plyhouse_engine::game::Seat;

use self::load_sgf::{GoRecord, SetUp, Step};
use self::scoring::{Komi, final_score, stones_by_status};
use self::time_system::TimeSystem;
use super::EngineSettings;
use super::protocol_loop::{
    NextAction, Protocol, SearchGoal, SearchRequest, SearchResult, WhileSearching,
};

/// All supported commands, in alphabetical order.
const COMMANDS: [&str; 24] = [
    "boardsize",
    "clear_board",
    "final_score",
    "final_status_list",
    "fixed_handicap",
    "genmove",
    "kgs-genmove_cleanup",
    "kgs-time_settings",
    "known_command",
    "komi",
    "list_commands",
    "loadsgf",
    "name",
    "place_free_handicap",
    "play",
    "protocol_version",
    "quit",
    "reg_genmove",
    "set_free_handicap",
    "showboard",
    "time_left",
    "time_settings",
    "undo",
    "version",
];

const PASS_MOVE: &str = "pass";

/// An engine that speaks GTP.
#[derive(Debug)]
pub(super) struct Gtp {
    settings: EngineSettings,
    analysis_board: Box<dyn AnalysisBoard>,
    /// Komi that the rules of the game prescribe, in points.
    game_komi: u32,
    komi: Komi,
    /// Position before the first turn, in wire notation. Empty for the initial position.
    start_position: String,
    /// List of turns, each with its moves in wire notation. If a side moves twice in a row, its
    /// second turn begins with an implied pass of the other side.
    turns: Vec<Vec<String>>,
    time_system: TimeSystem,
    pending_genmove: Option<PendingGenmove>,
}

/// A `genmove` command, or a variant of it such as `reg_genmove`, whose search is still running.
#[derive(Debug)]
struct PendingGenmove {
    /// Command id, or an empty string if there is none.
    command_id: String,
    /// Implied passes of the other side, which are played before the generated move.
    passes: Vec<String>,
    /// Whether the generated move is played on the board. It is false for `reg_genmove`, which only
    /// returns the move.
    plays_move: bool,
}

/// Result of a command: the text of the success response, or the error message.
type CommandResult = Result<String, String>;

impl Gtp {
    pub(super) fn new(settings: EngineSettings, game_komi: u32) -> Self {
        Self {
            analysis_board: settings.new_analysis_board(),
            settings,
            game_komi,
            komi: Komi::from(game_komi),
            start_position: String::new(),
            turns: Vec::new(),
            time_system: TimeSystem::default(),
            pending_genmove: None,
        }
    }

    fn position(&self) -> &dyn AnyPosition {
        self.analysis_board.position()
    }

    /// Runs a command that needs no search.
    fn run_command(&mut self, command: &str, words: &[&str]) -> CommandResult {
        let info = &self.settings.game.info;
        match command {
            "protocol_version" => return Ok("2".to_owned()),
            "name" => return Ok("Plyhouse".to_owned()),
            "version" => return Ok(env!("CARGO_PKG_VERSION").to_owned()),
            "list_commands" => return Ok(COMMANDS.join("\n")),
            "known_command" => {
                let is_supported = words.first().is_some_and(|word| COMMANDS.contains(word));
                return Ok(is_supported.to_string());
            }
            "fixed_handicap" | "place_free_handicap" => return self.place_fixed_handicap(words),
            "showboard" => return Ok(scoring::draw_board(self.position(), info)),
            "final_score" => return Ok(final_score(self.position(), self.komi, self.game_komi)),
            "final_status_list" => {
                let stones = stones_by_status(words, self.position(), info);
                return Ok(stones.ok_or(SYNTAX_ERROR)?);
            }
            "boardsize" => self.set_board_size(words)?,
            "clear_board" => self.clear_board(),
            "komi" => self.komi = parse_first(words)?,
            "play" => self.handle_play(words)?,
            "set_free_handicap" => self.set_free_handicap(words)?,
            "loadsgf" => self.load_sgf(words)?,
            "undo" => {
                self.turns.pop().ok_or("cannot undo")?;
                self.restore_position();
            }
            "time_settings" => self.time_system = TimeSystem::parse(words).ok_or(SYNTAX_ERROR)?,
            "kgs-time_settings" => {
                self.time_system = TimeSystem::parse_kgs(words).ok_or(SYNTAX_ERROR)?;
            }
            "time_left" => {
                let (color, rest) = words.split_first().ok_or(SYNTAX_ERROR)?;
                let is_set = self.time_system.set_time_left(parse_color(color)?, rest);
                is_set.ok_or(SYNTAX_ERROR)?;
            }
            "quit" => {}
            _ => return Err("unknown command".to_owned()),
        }
        Ok(String::new())
    }

    fn set_board_size(&mut self, words: &[&str]) -> Result<(), &'static str> {
        if parse_first::<u32>(words)? != u32::from(self.settings.game.info.files) {
            return Err("unacceptable size");
        }
        self.clear_board();
        Ok(())
    }

    /// Clears the board and the list of moves.
    fn clear_board(&mut self) {
        self.start_position.clear();
        self.turns.clear();
        self.restore_position();
    }

    fn handle_play(&mut self, words: &[&str]) -> Result<(), &'static str> {
        let [color, vertex] = words else {
            return Err(SYNTAX_ERROR);
        };
        let seat = parse_color(color)?;
        if !is_vertex(vertex) {
            return Err(SYNTAX_ERROR);
        }
        self.play_vertex(seat, vertex)
    }

    fn play_vertex(&mut self, seat: Seat, vertex: &str) -> Result<(), &'static str> {
        let mut turn = self.pass_to_seat(seat)?;
        if self.resume_and_play(vertex).is_err() {
            self.restore_position();
            return Err(ILLEGAL_MOVE);
        }
        turn.push(vertex.to_owned());
        self.turns.push(turn);
        Ok(())
    }

    /// Places the fixed handicap stones and returns their points.
    fn place_fixed_handicap(&mut self, words: &[&str]) -> CommandResult {
        let count = parse_first(words)?;
        let points = handicap::handicap_points(count).ok_or("invalid number of stones")?;
        self.place_handicap(&points)?;
        Ok(points.join(" "))
    }

    fn set_free_handicap(&mut self, words: &[&str]) -> Result<(), &'static str> {
        if !words.iter().all(|word| is_vertex(word)) {
            return Err(SYNTAX_ERROR);
        }
        let is_point = |word: &&str| !word.eq_ignore_ascii_case(PASS_MOVE);
        let area = usize::from(self.settings.game.info.files).pow(2);
        if !words.iter().all(is_point) || !(2..area).contains(&words.len()) {
            return Err(BAD_VERTEX_LIST);
        }
        self.place_handicap(words)
    }

    /// Places handicap stones on an empty board. If any stone cannot be placed, the board stays
    /// empty.
    fn place_handicap(&mut self, points: &[&str]) -> Result<(), &'static str> {
        if !self.turns.is_empty() || !self.start_position.is_empty() {
            return Err("board not empty");
        }
        for point in points {
            if self.play_vertex(Seat::First, point).is_err() {
                self.clear_board();
                return Err(BAD_VERTEX_LIST);
            }
        }
        Ok(())
    }

    /// `loadsgf FILE [MOVE]`: loads the main line of a game record, up to the position before move
    /// number `MOVE`.
    fn load_sgf(&mut self, words: &[&str]) -> Result<(), String> {
        let (file, moves_max) = match words {
            [file] => (file, usize::MAX),
            [file, number] => {
                let number: usize = number.parse().map_err(|_| SYNTAX_ERROR)?;
                (file, number.saturating_sub(1))
            }
            _ => return Err(SYNTAX_ERROR.to_owned()),
        };
        let load_error = |reason| format!("cannot load file: {reason}");
        let record = GoRecord::load(file, self.settings.game.info.files).map_err(load_error)?;
        let saved = (
            mem::take(&mut self.start_position),
            mem::take(&mut self.turns),
        );
        self.restore_position();
        if let Err(reason) = self.play_record(&record, moves_max) {
            (self.start_position, self.turns) = saved;
            self.restore_position();
            return Err(load_error(reason));
        }
        self.komi = record.komi.unwrap_or(self.komi);
        Ok(())
    }

    /// Plays the first `moves_max` moves of a game record. Set-ups between the last of these moves
    /// and the next move are also applied.
    fn play_record(&mut self, record: &GoRecord, moves_max: usize) -> Result<(), String> {
        let mut number = 0;
        for (index, step) in record.steps.iter().enumerate() {
            match step {
                Step::SetUp(set_up) => {
                    let turn = match record.steps.get(index + 1) {
                        Some(Step::Move(seat, _)) => *seat,
                        _ => set_up.turn.unwrap_or(Seat::First),
                    };
                    self.apply_set_up(set_up, turn)?;
                }
                Step::Move(..) if number == moves_max => break,
                Step::Move(seat, vertex) => {
                    number += 1;
                    let side = self.settings.game.info.sides[seat.index()];
                    self.play_vertex(*seat, vertex)
                        .map_err(|reason| format!("move {number}, {side} {vertex}: {reason}"))?;
                }
            }
        }
        Ok(())
    }

    /// Applies a set-up to the board. As in GNU Go, a set-up restarts the game. The superko rule
    /// ignores positions from before the set-up. The `undo` command cannot go back before the
    /// set-up.
    fn apply_set_up(&mut self, set_up: &SetUp, turn: Seat) -> Result<(), String> {
        let before = self.position().to_string();
        let rows = before.split(' ').next().unwrap_or_default();
        self.start_position = set_up.to_position(rows, turn);
        self.turns.clear();
        let result = self.analysis_board.set_up(&self.start_position);
        result.map_err(|error| match error {
            SetUpError::Unreadable { position_error, .. } => {
                format!("invalid set-up: {}", position_error.0)
            }
            error => error.to_string(),
        })
    }

    /// Sets up the start position and replays the turns.
    fn restore_position(&mut self) {
        let is_set_up = self.analysis_board.set_up(&self.start_position);
        is_set_up.expect("the position was set up before");
        for m in self.turns.iter().flatten() {
            self.analysis_board.resume();
            let played = self.analysis_board.play_moves(m);
            played.expect("the move was played before");
        }
    }

    /// Plays a move, even if the game is over, because GTP does not define when a game ends.
    fn resume_and_play(&mut self, m: &str) -> Result<(), SetUpError> {
        self.analysis_board.resume();
        self.analysis_board.play_moves(m)
    }

    /// If `seat` is not the side to move, plays an implied pass for the other side. Returns a list
    /// that contains this pass, or an empty list if no pass was needed.
    fn pass_to_seat(&mut self, seat: Seat) -> Result<Vec<String>, &'static str> {
        if self.position().turn() == seat {
            return Ok(Vec::new());
        }
        self.resume_and_play(PASS_MOVE).map_err(|_| ILLEGAL_MOVE)?;
        Ok(vec![PASS_MOVE.to_owned()])
    }

    /// Prepares a search for a move. `plays_move` says whether the move will also be played on the
    /// board.
    fn start_genmove(
        &mut self,
        command_id: &str,
        plays_move: bool,
        words: &[&str],
    ) -> Result<SearchRequest, String> {
        let seat = parse_color(words.first().ok_or(SYNTAX_ERROR)?)?;
        let passes = self.pass_to_seat(seat)?;
        let time = self.time_system.time_for_move(seat);
        let mut request = self.settings.search_request(time);
        if passes.is_empty() {
            self.analysis_board.resume();
        } else {
            // The other side did not really pass. `genmove` for the side that is not to move only
            // implies a pass. The implied pass is cleared from the history, so that it cannot end
            // the game together with a pass by the engine. If the game would still end after a pass
            // by the engine, the engine must play a move.
            self.analysis_board.resume_without_history();
            if pass_ends_game(self.position()) {
                request.goal = goal_without_pass(self.position());
            }
        }
        self.pending_genmove = Some(PendingGenmove {
            command_id: command_id.to_owned(),
            passes,
            plays_move,
        });
        Ok(request)
    }
}

/// Returns whether the game would end if the side to move passed.
///
/// The caller must first clear the game history, because earlier passes in the history would count.
/// If the opponent has no stones, the position itself implies that the opponent has just passed.
/// That implied pass counts even without the history.
fn pass_ends_game(pos: &dyn AnyPosition) -> bool {
    let mut end = pos.clone_box();
    end.play(PASS_MOVE).is_ok() && end.outcome().is_some()
}

fn goal_without_pass(pos: &dyn AnyPosition) -> SearchGoal {
    let mut search_moves = pos.legal_moves();
    search_moves.retain(|m| m != PASS_MOVE);
    SearchGoal::Lines {
        search_moves,
        count: 1,
    }
}

/// Returns whether `text` is a vertex as GTP defines it: `pass` or a point on a board of up to
/// 25x25 points.
fn is_vertex(text: &str) -> bool {
    let (letter, number) = text.split_at_checked(1).unwrap_or_default();
    let is_column = letter
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() && !byte.eq_ignore_ascii_case(&b'i'));
    let is_row = number.parse().is_ok_and(|row: u8| (1..=25).contains(&row));
    text.eq_ignore_ascii_case(PASS_MOVE) || is_column && is_row
}

/// Error message that the specification prescribes for invalid arguments.
const SYNTAX_ERROR: &str = "syntax error";
const ILLEGAL_MOVE: &str = "illegal move";
const BAD_VERTEX_LIST: &str = "bad vertex list";

impl Protocol for Gtp {
    fn analysis_board(&mut self) -> &mut Box<dyn AnalysisBoard> {
        &mut self.analysis_board
    }

    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<NextAction> {
        let line = strip_comments_and_controls(line);
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let command_id = match words.first() {
            Some(word) if is_number(word) => words.remove(0),
            Some(_) => "",
            None => return Ok(NextAction::ReadLine),
        };
        let Some((command, words)) = words.split_first() else {
            return Ok(NextAction::ReadLine);
        };
        let result = match *command {
            // `kgs-genmove_cleanup` requests a move that captures dead stones. It is handled like
            // `genmove`, because all stones on the board count as alive, so the normal search also
            // captures dead stones.
            "genmove" | "kgs-genmove_cleanup" | "reg_genmove" => {
                let plays_move = *command != "reg_genmove";
                match self.start_genmove(command_id, plays_move, words) {
                    Ok(request) => return Ok(NextAction::Search(request)),
                    Err(reason) => Err(reason),
                }
            }
            command => self.run_command(command, words),
        };
        write_response(command_id, &result, out)?;
        Ok(match *command {
            "quit" => NextAction::Quit,
            _ => NextAction::ReadLine,
        })
    }

    fn handle_line_while_searching(&mut self, line: &str) -> WhileSearching {
        let line = strip_comments_and_controls(line);
        match line.split_whitespace().any(|word| word == "quit") {
            true => WhileSearching::SkipSearches,
            false => WhileSearching::Queue,
        }
    }

    fn on_search_end(&mut self, result: SearchResult, out: &mut dyn Write) -> io::Result<()> {
        let pending = self.pending_genmove.take().expect("a genmove is pending");
        let (command_id, time) = (pending.command_id, result.search_time());
        // A search returns no move only if the game has reached the maximum number of plies.
        let Some(m) = result.best_move else {
            return write_response(&command_id, &Ok(PASS_MOVE.to_owned()), out);
        };
        if pending.plays_move {
            let seat = self.position().turn();
            self.time_system.spend(seat, time);
            let played = self.analysis_board.play_moves(&m);
            played.expect("the chosen move is legal");
            let turn = pending.passes.into_iter().chain([m.clone()]);
            self.turns.push(turn.collect());
        } else {
            self.restore_position();
        }
        write_response(&command_id, &Ok(m), out)
    }
}

/// Removes comments and control characters, as the specification requires.
fn strip_comments_and_controls(line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default();
    line.chars()
        .filter(|c| *c == '\t' || !c.is_control())
        .collect()
}

fn write_response(command_id: &str, result: &CommandResult, out: &mut dyn Write) -> io::Result<()> {
    let (sign, text) = match result {
        Ok(text) => ('=', text),
        Err(reason) => ('?', reason),
    };
    let space = if text.is_empty() { "" } else { " " };
    write!(out, "{sign}{command_id}{space}{text}\n\n")
}

/// Parses the first word.
fn parse_first<T: FromStr>(words: &[&str]) -> Result<T, &'static str> {
    let first = words.first().and_then(|word| word.parse().ok());
    first.ok_or(SYNTAX_ERROR)
}

/// Parses a colour. Black is the first seat.
fn parse_color(color: &str) -> Result<Seat, &'static str> {
    match color.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Seat::First),
        "w" | "white" => Ok(Seat::Second),
        _ => Err(SYNTAX_ERROR),
    }
}

#[cfg(test)]
mod tests;
