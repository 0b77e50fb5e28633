//! A program that is asked for moves by the protocol of Gomocup (Piskvork).

use anyhow::Context;
use plyhouse_engine::catalog::Entry;
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::entrant::{self, Time};
use super::super::fault::Fault;
use super::super::player::{Answer, Beginning, Player, Turn};
use super::{Program, READY};
use crate::engine::Point;

/// A player that speaks Piskvork.
#[derive(Debug)]
pub(in crate::contest) struct PiskvorkPlayer {
    program: Program,
    size: u8,
    /// Whether it knows the stones on the board.
    has_begun: bool,
}

/// Whose stone it is, as `BOARD` tells it: that of the program, or its opponent's.
const OWN: u8 = 1;
const OTHER: u8 = 2;

impl PiskvorkPlayer {
    pub(in crate::contest) fn start(
        program: &entrant::Program,
        game: &'static Entry,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: Program::start(&program.command, "END").context("it cannot be started")?,
            size: game.info.files,
            has_begun: false,
        })
    }

    /// The next line that is no remark.
    fn hear(&mut self, until: Instant, stop: &Stop) -> Result<String, Fault> {
        loop {
            let line = self.program.hear(until, stop)?;
            match line.split_whitespace().next() {
                Some("MESSAGE" | "DEBUG") | None => {}
                Some("ERROR" | "UNKNOWN") => return Err(Fault::Refused(line)),
                Some(_) => return Ok(line),
            }
        }
    }

    fn tell_time(&mut self, turn: &Turn<'_>) -> Result<(), Fault> {
        match turn.pace.time {
            Time::Free => Ok(()),
            Time::Move(time) => self
                .program
                .say(&format!("INFO timeout_turn {}", time.as_millis())),
            Time::Clock { main, .. } => {
                let left = turn.allowed().unwrap_or_default();
                self.program
                    .say(&format!("INFO timeout_match {}", main.as_millis()))?;
                self.program
                    .say(&format!("INFO time_left {}", left.as_millis()))
            }
        }
    }

    fn point(&self, m: &str) -> Point {
        Point::of_move(m, self.size)
    }

    /// Tells what the program does not know yet, and so asks it for a move.
    fn tell_moves(&mut self, moves: &[String]) -> Result<(), Fault> {
        match moves {
            [] => self.program.say("BEGIN"),
            [.., last] if self.has_begun => {
                let point = self.point(last);
                self.program.say(&format!("TURN {point}"))
            }
            all => {
                self.program.say("BOARD")?;
                for (ply, m) in all.iter().enumerate() {
                    let is_own = (all.len() - ply).is_multiple_of(2);
                    let owner = if is_own { OWN } else { OTHER };
                    let point = self.point(m);
                    self.program.say(&format!("{point},{owner}"))?;
                }
                self.program.say("DONE")
            }
        }
    }
}

impl Player for PiskvorkPlayer {
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault> {
        self.has_begun = false;
        self.program.say(&format!("START {}", self.size))?;
        match self.hear(Instant::now() + READY, game.stop)?.as_str() {
            "OK" => Ok(()),
            other => Err(Fault::Refused(format!("START: {other}"))),
        }
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault> {
        self.tell_time(turn)?;
        self.tell_moves(turn.moves)?;
        self.has_begun = true;
        let told = self.hear(turn.until(), turn.stop)?;
        let point = Point::read(&told, self.size);
        point
            .map(|point| Answer::Move(point.to_move(self.size)))
            .ok_or(Fault::Illegal(told))
    }
}
