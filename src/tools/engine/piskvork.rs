//! The protocol of Gomocup, which its manager Piskvork speaks (Laštovička and Petříček, "Gomoku AI
//! protocol"). Coordinates count from 0, and are written `x,y` from the upper left corner.

mod board;
mod time;

use std::io::{self, Write};

use plyhouse_engine::catalog::AnalysisBoard;

pub(crate) use self::board::Point;
use self::board::{Board, Owner};
use self::time::Timing;
use super::driver::{Next, Protocol, Thought, WhileSearching};
use super::{Settings, bytes};

/// An engine that speaks it.
#[derive(Debug)]
pub(super) struct Piskvork {
    settings: Settings,
    /// The stones, once a game was begun.
    board: Option<Board>,
    /// The lines of a `BOARD` that is not done yet: what they make, or what is wrong with them.
    telling: Option<Result<Board, &'static str>>,
    timing: Timing,
}

/// What an order has come to.
enum Reply {
    Nothing,
    Text(String),
    /// A move is wanted.
    Move,
}

const NO_GAME: &str = "no game was begun: START comes first";
const NOT_A_POINT: &str = "not a point of the board";

impl Piskvork {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            board: None,
            telling: None,
            timing: Timing::default(),
        }
    }

    fn obey(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn AnalysisBoard>,
    ) -> Result<Reply, &'static str> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word.to_ascii_uppercase().as_str() {
            "START" => self.start(rest),
            "RESTART" => {
                self.empty_board()?;
                self.timing.begin_match();
                Ok(Reply::Text("OK".to_owned()))
            }
            "BEGIN" => {
                self.empty_board()?;
                self.ask(analyst.as_mut())
            }
            "TURN" => self.turn(rest, analyst.as_mut()),
            "BOARD" => {
                self.board.as_ref().ok_or(NO_GAME)?;
                self.telling = Some(Ok(Board::default()));
                Ok(Reply::Nothing)
            }
            "TAKEBACK" => self.take_back(rest),
            "INFO" => {
                let warning = self.info(rest, analyst);
                Ok(warning.map_or(Reply::Nothing, Reply::Text))
            }
            "ABOUT" => Ok(Reply::Text(about())),
            _ => Ok(Reply::Text("UNKNOWN command".to_owned())),
        }
    }

    fn start(&mut self, size: &str) -> Result<Reply, &'static str> {
        let size: u32 = size.parse().map_err(|_| "START is followed by a size")?;
        if size != u32::from(self.settings.game.info.files) {
            return Err("unsupported size");
        }
        self.board = Some(Board::default());
        self.timing.begin_match();
        Ok(Reply::Text("OK".to_owned()))
    }

    fn empty_board(&mut self) -> Result<(), &'static str> {
        *self.board.as_mut().ok_or(NO_GAME)? = Board::default();
        Ok(())
    }

    /// The opponent's move, which is answered by a move.
    fn turn(&mut self, text: &str, analyst: &mut dyn AnalysisBoard) -> Result<Reply, &'static str> {
        let point = self.point(text).ok_or(NOT_A_POINT)?;
        let mut board = self.board.clone().ok_or(NO_GAME)?;
        board.put(point, Owner::Other)?;
        let before = self.board.replace(board);
        self.ask(analyst).inspect_err(|_| self.board = before)
    }

    fn take_back(&mut self, text: &str) -> Result<Reply, &'static str> {
        let point = self.point(text).ok_or(NOT_A_POINT)?;
        self.board.as_mut().ok_or(NO_GAME)?.remove(point)?;
        Ok(Reply::Text("OK".to_owned()))
    }

    /// A line within a `BOARD`; it ends with `DONE`.
    fn tell(&mut self, line: &str, analyst: &mut dyn AnalysisBoard) -> Result<Reply, &'static str> {
        let mut telling = self.telling.take().expect("a board is being told");
        if line.eq_ignore_ascii_case("DONE") {
            let before = self.board.replace(telling?);
            return self.ask(analyst).inspect_err(|_| self.board = before);
        }
        if let Ok(board) = &mut telling
            && let Err(why) = self.add(line, board)
        {
            telling = Err(why);
        }
        self.telling = Some(telling);
        Ok(Reply::Nothing)
    }

    /// Adds a stone that is written `x,y,field`: 1 is one's own, 2 the opponent's.
    fn add(&self, line: &str, board: &mut Board) -> Result<(), &'static str> {
        let (point, field) = line.rsplit_once(',').ok_or(NOT_A_POINT)?;
        let owner = match field.trim() {
            "1" => Owner::Own,
            "2" => Owner::Other,
            _ => return Err("a field is 1 or 2"),
        };
        board.put(self.point(point).ok_or(NOT_A_POINT)?, owner)
    }

    /// Sets up the board, with the engine to move, so that a move can be thought about.
    fn ask(&self, analyst: &mut dyn AnalysisBoard) -> Result<Reply, &'static str> {
        let board = self.board.as_ref().ok_or(NO_GAME)?;
        let position = board.position(self.settings.game.info.files)?;
        (analyst.set_up(&position)).map_err(|_| "not a board that play can reach")?;
        if analyst.position().outcome().is_some() {
            return Err("the game is over");
        }
        Ok(Reply::Move)
    }

    /// `INFO`, which is never answered. What cannot be done is told as a message.
    fn info(&mut self, text: &str, analyst: &mut Box<dyn AnalysisBoard>) -> Option<String> {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let number: Option<u64> = value.trim().parse().ok();
        match (key, number) {
            ("max_memory", Some(most)) => self.fit_into(most, analyst),
            ("rule", Some(0)) => {}
            ("rule", _) => {
                return Some(format!(
                    "MESSAGE only rule 0 (freestyle) is played, not {value}"
                ));
            }
            (key, value) => self.timing.tell(key, value),
        }
        None
    }

    /// A table that leaves room for all else; 0 is no limit.
    fn fit_into(&mut self, bytes_max: u64, analyst: &mut Box<dyn AnalysisBoard>) {
        let half = usize::try_from(bytes_max / 2).unwrap_or(usize::MAX);
        let wanted = bytes(self.settings.table_mib);
        let size = if bytes_max == 0 {
            wanted
        } else {
            wanted.min(half)
        };
        self.settings.renew(analyst, size);
    }

    fn point(&self, text: &str) -> Option<Point> {
        Point::read(text, self.settings.game.info.files)
    }
}

impl Protocol for Piskvork {
    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(Next::Line);
        }
        if is_end(line) {
            return Ok(Next::Quit);
        }
        let reply = if self.telling.is_some() {
            self.tell(line, analyst.as_mut())
        } else {
            self.obey(line, analyst)
        };
        match reply {
            Ok(Reply::Nothing) => {}
            Ok(Reply::Text(text)) => writeln!(out, "{text}")?,
            Err(why) => writeln!(out, "ERROR {why}")?,
            Ok(Reply::Move) => {
                return Ok(Next::Think(self.settings.question(self.timing.share())));
            }
        }
        Ok(Next::Line)
    }

    fn meanwhile(&mut self, line: &str, _out: &mut dyn Write) -> io::Result<WhileSearching> {
        Ok(if is_end(line.trim()) {
            WhileSearching::Quit
        } else {
            WhileSearching::Wait
        })
    }

    fn found(
        &mut self,
        thought: Thought,
        _stopped: bool,
        _analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.timing.spend(thought.time());
        let m = thought.m.expect("it was asked in a game that goes on");
        let point = Point::of_move(&m, self.settings.game.info.files);
        let board = self.board.as_mut().expect("it was asked in a game");
        let put = board.put(point, Owner::Own);
        put.expect("what is chosen is legal");
        writeln!(out, "{point}")
    }
}

fn is_end(line: &str) -> bool {
    line.eq_ignore_ascii_case("END")
}

fn about() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "name=\"Plyhouse\", version=\"{version}\", author=\"the Plyhouse authors\", \
         country=\"International\""
    )
}

#[cfg(test)]
mod tests;
