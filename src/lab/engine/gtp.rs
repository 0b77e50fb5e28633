//! The Go Text Protocol, version 2 (Farnebäck, draft 2 of 2002).
//!
//! Every command is answered once and in order, by `=` or `?` and the number that it came with.

mod score;
mod time;

use std::io::{self, Write};

use plyhouse_engine::catalog::{Analyst, Choice, SetUpError};
use plyhouse_engine::game::Seat;

use self::score::{Komi, final_score};
use self::time::TimeSystem;
use super::Settings;
use super::driver::{Meanwhile, Next, Protocol, Question};

/// Every command, in the order of the alphabet.
const COMMANDS: [&str; 16] = [
    "boardsize",
    "clear_board",
    "final_score",
    "genmove",
    "known_command",
    "komi",
    "list_commands",
    "name",
    "play",
    "protocol_version",
    "quit",
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
    /// What was played by each command that played something.
    turns: Vec<Vec<String>>,
    time: TimeSystem,
    /// The number of the command that has the engine think, and the passes that come before its move.
    asked: Option<(String, Vec<String>)>,
}

/// What a command has come to: a text, or why not.
type Answer = Result<String, String>;

impl Gtp {
    pub(super) fn new(settings: Settings, own_komi: u32) -> Self {
        Self {
            settings,
            own_komi,
            komi: Komi::from(own_komi),
            turns: Vec::new(),
            time: TimeSystem::default(),
            asked: None,
        }
    }

    /// Does what can be done at once.
    fn answer(&mut self, command: &str, words: &[&str], analyst: &mut dyn Analyst) -> Answer {
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
                self.turns.clear();
                self.replay(analyst);
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
            "undo" => {
                self.turns.pop().ok_or("cannot undo")?;
                self.replay(analyst);
                Ok(String::new())
            }
            "time_settings" => {
                self.time = TimeSystem::read(words).ok_or(SYNTAX)?;
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
            "quit" => Ok(String::new()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn board_size(&mut self, words: &[&str], analyst: &mut dyn Analyst) -> Answer {
        let size: u32 = words
            .first()
            .and_then(|text| text.parse().ok())
            .ok_or(SYNTAX)?;
        if size != u32::from(self.settings.game.info.files) {
            return Err("unacceptable size".to_owned());
        }
        self.turns.clear();
        self.replay(analyst);
        Ok(String::new())
    }

    fn play(&mut self, words: &[&str], analyst: &mut dyn Analyst) -> Answer {
        let [color, vertex] = words else {
            return Err(SYNTAX.to_owned());
        };
        let seat = seat(color).ok_or(SYNTAX)?;
        let mut turn = self.to_the_turn_of(seat, analyst)?;
        if play_on(vertex, analyst).is_err() {
            self.replay(analyst);
            return Err("illegal move".to_owned());
        }
        turn.push((*vertex).to_owned());
        self.turns.push(turn);
        Ok(String::new())
    }

    /// Lets the other side pass if it is not this seat's turn, and tells what was played for that.
    fn to_the_turn_of(&self, seat: Seat, analyst: &mut dyn Analyst) -> Result<Vec<String>, String> {
        if analyst.position().turn() == seat {
            return Ok(Vec::new());
        }
        play_on(PASS, analyst).map_err(|_| "illegal move")?;
        Ok(vec![PASS.to_owned()])
    }

    /// Sets up what was played.
    fn replay(&self, analyst: &mut dyn Analyst) {
        analyst.set_up("").expect("nothing is the start");
        for m in self.turns.iter().flatten() {
            play_on(m, analyst).expect("it has been played before");
        }
    }

    fn genmove(
        &mut self,
        number: &str,
        words: &[&str],
        analyst: &mut dyn Analyst,
    ) -> Result<Question, String> {
        let color = words.first().ok_or(SYNTAX)?;
        let seat = seat(color).ok_or(SYNTAX)?;
        let passes = self.to_the_turn_of(seat, analyst)?;
        analyst.resume();
        self.asked = Some((number.to_owned(), passes));
        Ok(self.settings.question(self.time.share(seat)))
    }
}

/// What is told of a command whose words do not fit it, as the protocol has it.
const SYNTAX: &str = "syntax error";

impl Protocol for Gtp {
    // A script is a list of commands to be done.
    const ENDS_AT_ONCE: bool = false;

    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn Analyst>,
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
        let answer = if *command == "genmove" {
            match self.genmove(number, words, analyst.as_mut()) {
                Ok(question) => return Ok(Next::Think(question)),
                Err(why) => Err(why),
            }
        } else {
            self.answer(command, words, analyst.as_mut())
        };
        tell(number, &answer, out)?;
        Ok(if *command == "quit" {
            Next::Quit
        } else {
            Next::Line
        })
    }

    fn meanwhile(&mut self, line: &str, _out: &mut dyn Write) -> io::Result<Meanwhile> {
        let line = cleaned(line);
        let is_quit = line.split_whitespace().any(|word| word == "quit");
        Ok(if is_quit {
            Meanwhile::Hurry
        } else {
            Meanwhile::Wait
        })
    }

    fn found(
        &mut self,
        choice: Option<Choice>,
        _stopped: bool,
        analyst: &mut Box<dyn Analyst>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (number, mut turn) = self.asked.take().expect("it was asked for");
        // Only a game that has gone on for as long as any may is over here.
        let Some(choice) = choice else {
            return tell(&number, &Ok(PASS.to_owned()), out);
        };
        self.time
            .spend(analyst.position().turn(), choice.report.time);
        analyst.play(&choice.m).expect("what is chosen is legal");
        turn.push(choice.m.clone());
        self.turns.push(turn);
        tell(&number, &Ok(choice.m), out)
    }
}

/// Plays a move, also where the game is over: the protocol knows no end of a game.
fn play_on(m: &str, analyst: &mut dyn Analyst) -> Result<(), SetUpError> {
    analyst.resume();
    analyst.play(m)
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
