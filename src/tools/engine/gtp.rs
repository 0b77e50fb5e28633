//! The Go Text Protocol, version 2 (Farnebäck, draft 2 of 2002).
//!
//! Every command is answered once and in order, by `=` or `?` and the number that it came with.

mod handicap;
mod record;
mod score;
mod sgf;
mod time;

use std::io::{self, Write};

use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition, SetUpError};
use plyhouse_engine::game::Seat;

use self::record::{Record, SetUp, Step};
use self::score::{Komi, final_score, stones_by_status};
use self::time::TimeSystem;
use super::Settings;
use super::driver::{Aim, Next, Protocol, Question, Thought, WhileSearching};

/// Every command, in the order of the alphabet.
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

const PASS: &str = "pass";

/// An engine that speaks GTP.
#[derive(Debug)]
pub(super) struct Gtp {
    settings: Settings,
    /// What the rules of the game give the second seat.
    own_komi: u32,
    komi: Komi,
    /// The position before the first turn, in wire notation. It is empty for an empty board.
    start: String,
    /// What was played by each command that played something.
    turns: Vec<Vec<String>>,
    time: TimeSystem,
    asked: Option<Asked>,
}

/// The command that has the engine think.
#[derive(Debug)]
struct Asked {
    /// The number that it came with.
    number: String,
    /// The passes that come before the move.
    passes: Vec<String>,
    /// Whether the move is played, and not told alone.
    plays: bool,
}

/// What a command has come to: a text, or why not.
type Answer = Result<String, String>;

impl Gtp {
    pub(super) fn new(settings: Settings, own_komi: u32) -> Self {
        Self {
            settings,
            own_komi,
            komi: Komi::from(own_komi),
            start: String::new(),
            turns: Vec::new(),
            time: TimeSystem::default(),
            asked: None,
        }
    }

    /// Does what can be done at once.
    fn answer(&mut self, command: &str, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        match command {
            "protocol_version" => Ok("2".to_owned()),
            "name" => Ok("Plyhouse".to_owned()),
            "version" => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            "list_commands" => Ok(COMMANDS.join("\n")),
            "known_command" => {
                let is_known = |word: &&str| COMMANDS.contains(word);
                Ok(words.first().is_some_and(is_known).to_string())
            }
            "boardsize" => self.board_size(words, analyst),
            "clear_board" => {
                self.clear(analyst);
                Ok(String::new())
            }
            "komi" => {
                self.komi = words
                    .first()
                    .and_then(|text| text.parse().ok())
                    .ok_or(SYNTAX)?;
                Ok(String::new())
            }
            "play" => self.play(words, analyst),
            "fixed_handicap" | "place_free_handicap" => self.handicap(words, analyst),
            "set_free_handicap" => self.set_handicap(words, analyst),
            "loadsgf" => self.load(words, analyst),
            "undo" => {
                self.turns.pop().ok_or("cannot undo")?;
                self.replay(analyst);
                Ok(String::new())
            }
            "time_settings" => {
                self.time = TimeSystem::read(words).ok_or(SYNTAX)?;
                Ok(String::new())
            }
            "kgs-time_settings" => {
                self.time = TimeSystem::read_kgs(words).ok_or(SYNTAX)?;
                Ok(String::new())
            }
            "time_left" => {
                let (color, rest) = words.split_first().ok_or(SYNTAX)?;
                let seat = seat(color).ok_or(SYNTAX)?;
                self.time.tell(seat, rest).ok_or(SYNTAX)?;
                Ok(String::new())
            }
            "showboard" => Ok(score::drawn(analyst.position(), &self.settings.game.info)),
            "final_score" => Ok(final_score(analyst.position(), self.komi, self.own_komi)),
            "final_status_list" => {
                let stones = stones_by_status(words, analyst.position(), &self.settings.game.info);
                Ok(stones.ok_or(SYNTAX)?)
            }
            "quit" => Ok(String::new()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn board_size(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        let size: u32 = words
            .first()
            .and_then(|text| text.parse().ok())
            .ok_or(SYNTAX)?;
        if size != u32::from(self.settings.game.info.files) {
            return Err("unacceptable size".to_owned());
        }
        self.clear(analyst);
        Ok(String::new())
    }

    /// Empties the board.
    fn clear(&mut self, analyst: &mut dyn AnalysisBoard) {
        self.start.clear();
        self.turns.clear();
        self.replay(analyst);
    }

    fn play(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        let [color, vertex] = words else {
            return Err(SYNTAX.to_owned());
        };
        let seat = seat(color).ok_or(SYNTAX)?;
        if !is_vertex(vertex) {
            return Err(SYNTAX.to_owned());
        }
        self.play_for(seat, vertex, analyst)?;
        Ok(String::new())
    }

    fn play_for(
        &mut self,
        seat: Seat,
        vertex: &str,
        analyst: &mut dyn AnalysisBoard,
    ) -> Result<(), &'static str> {
        let mut turn = to_the_turn_of(seat, analyst)?;
        if play_on(vertex, analyst).is_err() {
            self.replay(analyst);
            return Err("illegal move");
        }
        turn.push(vertex.to_owned());
        self.turns.push(turn);
        Ok(())
    }

    /// Puts black's stones where they are by custom.
    fn handicap(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        let count = words.first().and_then(|text| text.parse().ok());
        let count: usize = count.ok_or(SYNTAX)?;
        let points = handicap::points(count).ok_or("invalid number of stones")?;
        self.put_handicap(&points, analyst)?;
        Ok(points.join(" "))
    }

    fn set_handicap(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        if !words.iter().all(|word| is_vertex(word)) {
            return Err(SYNTAX.to_owned());
        }
        let is_point = |word: &&str| !word.eq_ignore_ascii_case(PASS);
        let area = usize::from(self.settings.game.info.files).pow(2);
        if !words.iter().all(is_point) || !(2..area).contains(&words.len()) {
            return Err(BAD_VERTICES.to_owned());
        }
        self.put_handicap(words, analyst)?;
        Ok(String::new())
    }

    /// Puts black's stones on an empty board, all or none.
    fn put_handicap(
        &mut self,
        points: &[&str],
        analyst: &mut dyn AnalysisBoard,
    ) -> Result<(), &'static str> {
        if !self.turns.is_empty() || !self.start.is_empty() {
            return Err("board not empty");
        }
        for point in points {
            if self.play_for(Seat::First, point, analyst).is_err() {
                self.turns.clear();
                self.replay(analyst);
                return Err(BAD_VERTICES);
            }
        }
        Ok(())
    }

    /// `loadsgf FILE [MOVE]`: the main line of a record, up to before that move.
    fn load(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Answer {
        let (file, moves_max) = match words {
            [file] => (file, usize::MAX),
            [file, number] => {
                let number: usize = number.parse().map_err(|_| SYNTAX)?;
                (file, number.saturating_sub(1))
            }
            _ => return Err(SYNTAX.to_owned()),
        };
        let failed = |why| format!("cannot load file: {why}");
        let record = Record::load(file, self.settings.game.info.files).map_err(failed)?;
        let before = (
            std::mem::take(&mut self.start),
            std::mem::take(&mut self.turns),
        );
        self.replay(analyst);
        if let Err(why) = self.play_record(&record, moves_max, analyst) {
            (self.start, self.turns) = before;
            self.replay(analyst);
            return Err(failed(why));
        }
        self.komi = record.komi.unwrap_or(self.komi);
        Ok(String::new())
    }

    /// Plays the first `moves_max` moves of a record, and sets up what it sets up before the next move.
    fn play_record(
        &mut self,
        record: &Record,
        moves_max: usize,
        analyst: &mut dyn AnalysisBoard,
    ) -> Result<(), String> {
        let mut number = 0;
        for (at, step) in record.steps.iter().enumerate() {
            match step {
                Step::SetUp(set_up) => {
                    let turn = match record.steps.get(at + 1) {
                        Some(Step::Move(seat, _)) => *seat,
                        _ => set_up.turn.unwrap_or(Seat::First),
                    };
                    self.set_up(set_up, turn, analyst)?;
                }
                Step::Move(..) if number == moves_max => break,
                Step::Move(seat, vertex) => {
                    number += 1;
                    let side = self.settings.game.info.sides[seat.index()];
                    self.play_for(*seat, vertex, analyst)
                        .map_err(|why| format!("move {number}, {side} {vertex}: {why}"))?;
                }
            }
        }
        Ok(())
    }

    /// Changes the board. As in GNU Go the game begins here: earlier positions may come again, and
    /// `undo` goes back no farther.
    fn set_up(
        &mut self,
        set_up: &SetUp,
        turn: Seat,
        analyst: &mut dyn AnalysisBoard,
    ) -> Result<(), String> {
        let before = analyst.position().to_string();
        let rows = before.split(' ').next().unwrap_or_default();
        self.start = set_up.position(rows, turn);
        self.turns.clear();
        analyst.set_up(&self.start).map_err(|error| match error {
            SetUpError::Unreadable {
                position_error: position,
                ..
            } => format!("its set-up: {}", position.0),
            error => error.to_string(),
        })
    }

    /// Sets up the first position, and plays the turns.
    fn replay(&self, analyst: &mut dyn AnalysisBoard) {
        let is_set_up = analyst.set_up(&self.start);
        is_set_up.expect("it has been set up before");
        for m in self.turns.iter().flatten() {
            play_on(m, analyst).expect("it has been played before");
        }
    }

    /// Has the engine think about a move, which is played or told alone.
    fn genmove(
        &mut self,
        number: &str,
        plays: bool,
        words: &[&str],
        analyst: &mut dyn AnalysisBoard,
    ) -> Result<Question, String> {
        let color = words.first().ok_or(SYNTAX)?;
        let seat = seat(color).ok_or(SYNTAX)?;
        let passes = to_the_turn_of(seat, analyst)?;
        let mut question = self.settings.question(self.time.share(seat));
        if passes.is_empty() {
            analyst.resume();
        } else {
            // Nobody has really passed, so that to pass now ends nothing.
            analyst.resume_without_history();
            if ends_by_a_pass(analyst.position()) {
                question.aim = any_but_a_pass(analyst.position());
            }
        }
        self.asked = Some(Asked {
            number: number.to_owned(),
            passes,
            plays,
        });
        Ok(question)
    }
}

/// Lets the other side pass if it is not this seat's turn, and tells what was played for that.
fn to_the_turn_of(
    seat: Seat,
    analyst: &mut dyn AnalysisBoard,
) -> Result<Vec<String>, &'static str> {
    if analyst.position().turn() == seat {
        return Ok(Vec::new());
    }
    play_on(PASS, analyst).map_err(|_| "illegal move")?;
    Ok(vec![PASS.to_owned()])
}

/// Whether a pass would end the game: on a board without a stone of the side to move its opponent must
/// have passed, and that cannot be forgotten.
fn ends_by_a_pass(pos: &dyn AnyPosition) -> bool {
    let mut end = pos.clone_box();
    end.play(PASS).is_ok() && end.outcome().is_some()
}

fn any_but_a_pass(pos: &dyn AnyPosition) -> Aim {
    let mut only = pos.legal_moves();
    only.retain(|m| m != PASS);
    Aim::Lines { only, count: 1 }
}

/// Whether this is how the protocol writes a point, on whatever board, or a pass.
fn is_vertex(text: &str) -> bool {
    let (letter, number) = text.split_at_checked(1).unwrap_or_default();
    let is_column = letter
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() && !byte.eq_ignore_ascii_case(&b'i'));
    let is_row = number.parse().is_ok_and(|row: u8| (1..=25).contains(&row));
    text.eq_ignore_ascii_case(PASS) || is_column && is_row
}

/// What is told of a command whose words do not fit it, as the protocol has it.
const SYNTAX: &str = "syntax error";
const BAD_VERTICES: &str = "bad vertex list";

impl Protocol for Gtp {
    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        let line = cleaned(line);
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let number = match words.first() {
            Some(word) if is_number(word) => words.remove(0),
            Some(_) => "",
            None => return Ok(Next::Line),
        };
        let Some((command, words)) = words.split_first() else {
            return Ok(Next::Line);
        };
        let answer = match *command {
            // All stones on the board are alive, so dead ones have to be captured at any time.
            "genmove" | "kgs-genmove_cleanup" | "reg_genmove" => {
                let plays = *command != "reg_genmove";
                match self.genmove(number, plays, words, analyst.as_mut()) {
                    Ok(question) => return Ok(Next::Think(question)),
                    Err(why) => Err(why),
                }
            }
            command => self.answer(command, words, analyst.as_mut()),
        };
        tell(number, &answer, out)?;
        Ok(if *command == "quit" {
            Next::Quit
        } else {
            Next::Line
        })
    }

    fn meanwhile(&mut self, line: &str, _out: &mut dyn Write) -> io::Result<WhileSearching> {
        let line = cleaned(line);
        let is_quit = line.split_whitespace().any(|word| word == "quit");
        Ok(if is_quit {
            WhileSearching::Hurry
        } else {
            WhileSearching::Wait
        })
    }

    fn found(
        &mut self,
        thought: Thought,
        _stopped: bool,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let asked = self.asked.take().expect("it was asked for");
        let (number, time) = (asked.number, thought.time());
        // Only a game that has gone on for as long as any may is over here.
        let Some(m) = thought.m else {
            return tell(&number, &Ok(PASS.to_owned()), out);
        };
        if asked.plays {
            self.time.spend(analyst.position().turn(), time);
            analyst.play_moves(&m).expect("what is chosen is legal");
            let turn = asked.passes.into_iter().chain([m.clone()]);
            self.turns.push(turn.collect());
        } else {
            self.replay(analyst.as_mut());
        }
        tell(&number, &Ok(m), out)
    }
}

/// Plays a move, also where the game is over: the protocol knows no end of a game.
fn play_on(m: &str, analyst: &mut dyn AnalysisBoard) -> Result<(), SetUpError> {
    analyst.resume();
    analyst.play_moves(m)
}

/// The line without what the protocol has removed: comments, and characters that control a terminal.
fn cleaned(line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default();
    line.chars()
        .filter(|c| *c == '\t' || !c.is_control())
        .collect()
}

fn tell(number: &str, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let (sign, text) = match answer {
        Ok(text) => ('=', text),
        Err(why) => ('?', why),
    };
    let space = if text.is_empty() { "" } else { " " };
    write!(out, "{sign}{number}{space}{text}\n\n")
}

/// The seat of a colour: black moves first.
fn seat(color: &str) -> Option<Seat> {
    match color.to_ascii_lowercase().as_str() {
        "b" | "black" => Some(Seat::First),
        "w" | "white" => Some(Seat::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
