//! A program that is asked for moves by the protocol of Gomocup (Piskvork).

use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog::GameEntry;
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
    /// `INFO` lines sent since its last answer. The program may complain of each with `UNKNOWN`.
    infos: u32,
}

/// Whose stone it is, as `BOARD` tells it: that of the program, or its opponent's.
const OWN: u8 = 1;
const OTHER: u8 = 2;

impl PiskvorkPlayer {
    pub(in crate::contest) fn start(
        program: &entrant::Program,
        game: &'static GameEntry,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: Program::start(&program.command, "END").context("it cannot be started")?,
            size: game.info.files,
            has_begun: false,
            infos: 0,
        })
    }

    /// Returns the answer to `command`: the next line that is no remark. Words of the protocol may be in
    /// letters of either case.
    fn hear(&mut self, command: &str, until: Instant, stop: &Stop) -> Result<String, Fault> {
        loop {
            let line = self.program.hear(until, stop)?;
            let word = line.split_whitespace().next().unwrap_or_default();
            match word.to_ascii_uppercase().as_str() {
                "" | "MESSAGE" | "DEBUG" => {}
                // Nothing else answers an INFO, so this is about one of them.
                "UNKNOWN" if self.infos > 0 => self.infos -= 1,
                "ERROR" | "UNKNOWN" => return Err(Fault::Refused(format!("{command}: {line}"))),
                _ => {
                    self.infos = 0;
                    return Ok(line);
                }
            }
        }
    }

    fn tell_time(&mut self, turn: &Turn<'_>) -> Result<(), Fault> {
        for line in time_lines(turn) {
            self.infos += 1;
            self.program.say(&line)?;
        }
        Ok(())
    }

    fn point(&self, m: &str) -> Point {
        Point::of_move(m, self.size)
    }

    /// Sends the moves that the program does not know yet, and so asks it for a move. Returns the command
    /// that it has to answer.
    fn tell_moves(&mut self, moves: &[String]) -> Result<&'static str, Fault> {
        match moves {
            [] => {
                self.program.say("BEGIN")?;
                Ok("BEGIN")
            }
            [.., last] if self.has_begun => {
                let point = self.point(last);
                self.program.say(&format!("TURN {point}"))?;
                Ok("TURN")
            }
            all => {
                self.program.say("BOARD")?;
                for (ply, m) in all.iter().enumerate() {
                    let is_own = (all.len() - ply).is_multiple_of(2);
                    let owner = if is_own { OWN } else { OTHER };
                    let point = self.point(m);
                    self.program.say(&format!("{point},{owner}"))?;
                }
                self.program.say("DONE")?;
                Ok("BOARD")
            }
        }
    }
}

/// The lines that tell a program its time, in milliseconds.
fn time_lines(turn: &Turn<'_>) -> Vec<String> {
    let line = |key: &str, time: Duration| format!("INFO {key} {}", time.as_millis());
    match turn.pace.time {
        Time::Free => Vec::new(),
        Time::Move(time) => vec![line("timeout_turn", time)],
        // A limit of 0 is none, so the increment of the first move counts as well.
        Time::Clock(clock) => vec![
            line("timeout_match", clock.at_start()),
            line("time_left", turn.allowed().unwrap_or_default()),
        ],
    }
}

impl Player for PiskvorkPlayer {
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault> {
        self.has_begun = false;
        self.program.say(&format!("START {}", self.size))?;
        let answer = self.hear("START", Instant::now() + READY, game.stop)?;
        // The protocol lets a text follow: "OK - everything is good".
        if answer
            .get(..2)
            .is_some_and(|ok| ok.eq_ignore_ascii_case("OK"))
        {
            return Ok(());
        }
        Err(Fault::Refused(format!("START: {answer}")))
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault> {
        self.tell_time(turn)?;
        let command = self.tell_moves(turn.moves)?;
        self.has_begun = true;
        let told = self.hear(command, turn.until(), turn.stop)?;
        let point = Point::read(&told, self.size).ok_or(Fault::Illegal(told))?;
        Ok(Answer::Move {
            text: point.to_move(self.size),
            score: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::time_lines;

    #[test]
    fn time_is_told_in_milliseconds() {
        for (pace, left, lines) in [
            (
                "tc=60",
                61.5,
                &["INFO timeout_match 60000", "INFO time_left 61500"][..],
            ),
            (
                "tc=0+0.1",
                0.1,
                &["INFO timeout_match 100", "INFO time_left 100"],
            ),
            (
                "tc=1:00+1",
                2.0,
                &["INFO timeout_match 61000", "INFO time_left 2000"],
            ),
            ("st=0.25", 0.0, &["INFO timeout_turn 250"]),
            ("tc=inf", 0.0, &[]),
        ] {
            assert_eq!(with_turn(pace, left, None, time_lines), lines, "{pace}");
        }
    }
}
