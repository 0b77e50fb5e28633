//! A program that is asked for moves by GTP 2. The first seat is black.

use anyhow::Context;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::entrant::{self, Time};
use super::super::fault::Fault;
use super::super::player::{Answer, Beginning, Player, Turn};
use super::{Program, READY};

/// A player that speaks GTP.
#[derive(Debug)]
pub(in crate::contest) struct GtpPlayer {
    program: Program,
    size: u8,
    komi: u32,
    /// How many moves of the game it knows.
    known: usize,
}

impl GtpPlayer {
    pub(in crate::contest) fn start(
        program: &entrant::Program,
        game: &'static GameEntry,
        komi: u32,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: Program::start(&program.command, "quit").context("it cannot be started")?,
            size: game.info.files,
            komi,
            known: 0,
        })
    }

    /// Says a line, and waits for what it says to that.
    fn ask(&mut self, line: &str, until: Instant, stop: &Stop) -> Result<String, Fault> {
        self.program.say(line)?;
        loop {
            let answer = self.program.hear(until, stop)?;
            if let Some(answer) = answer.strip_prefix('=') {
                return Ok(answer.trim().to_owned());
            }
            if let Some(why) = answer.strip_prefix('?') {
                return Err(Fault::Refused(format!("{line}: {}", why.trim())));
            }
        }
    }

    fn tell(&mut self, line: &str, stop: &Stop) -> Result<(), Fault> {
        self.ask(line, Instant::now() + READY, stop).map(|_| ())
    }

    /// Sends a command that GTP 2 does not require. A program that refuses it plays on.
    fn offer(&mut self, line: &str, stop: &Stop) -> Result<(), Fault> {
        match self.tell(line, stop) {
            Err(Fault::Refused(_)) => Ok(()),
            answered => answered,
        }
    }

    /// Sends the time settings and the time left. It does so before each move, since a game may begin with the
    /// opponent's.
    fn tell_time(&mut self, turn: &Turn<'_>) -> Result<(), Fault> {
        for line in time_commands(turn) {
            self.offer(&line, turn.stop)?;
        }
        Ok(())
    }
}

/// The commands that tell a program its time. Seconds are whole in GTP.
fn time_commands(turn: &Turn<'_>) -> Vec<String> {
    match turn.pace.time {
        Time::Move(time) if time.subsec_nanos() == 0 => {
            vec![format!("time_settings 0 {} 1", time.as_secs())]
        }
        Time::Free | Time::Move(_) => Vec::new(),
        Time::Clock(clock) => {
            let start = clock.at_start().as_secs();
            let left = turn.allowed().unwrap_or_default().as_secs();
            // A time for so many moves is Canadian byo-yomi without a main time.
            let settings = match clock.moves {
                None => format!("time_settings {start} 0 0"),
                Some(moves) => format!("time_settings 0 {start} {moves}"),
            };
            let color = color(turn.seat);
            let moves = turn.moves_to_go.unwrap_or_default();
            vec![settings, format!("time_left {color} {left} {moves}")]
        }
    }
}

impl Player for GtpPlayer {
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault> {
        self.known = 0;
        let (size, komi) = (self.size, self.komi);
        self.tell(&format!("boardsize {size}"), game.stop)?;
        self.tell("clear_board", game.stop)?;
        self.tell(&format!("komi {komi}"), game.stop)
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault> {
        for (ply, m) in turn.moves.iter().enumerate().skip(self.known) {
            let color = color(if ply.is_multiple_of(2) {
                Seat::First
            } else {
                Seat::Second
            });
            self.tell(&format!("play {color} {m}"), turn.stop)?;
        }
        self.known = turn.moves.len() + 1;
        self.tell_time(turn)?;
        let m = self.ask(
            &format!("genmove {}", color(turn.seat)),
            turn.until(),
            turn.stop,
        )?;
        if m.eq_ignore_ascii_case("resign") {
            return Ok(Answer::Resigns);
        }
        Ok(Answer::Move {
            text: m,
            score: None,
        })
    }
}

const fn color(seat: Seat) -> &'static str {
    match seat {
        Seat::First => "b",
        Seat::Second => "w",
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::time_commands;

    #[test]
    fn time_is_told_in_whole_seconds() {
        for (pace, left, to_go, lines) in [
            (
                "tc=60+0.0",
                59.9,
                None,
                &["time_settings 60 0 0", "time_left b 59 0"][..],
            ),
            (
                "tc=0+5",
                5.0,
                None,
                &["time_settings 5 0 0", "time_left b 5 0"],
            ),
            (
                "tc=40/60",
                31.0,
                Some(7),
                &["time_settings 0 60 40", "time_left b 31 7"],
            ),
            (
                "tc=25/10:00+1",
                9.0,
                Some(25),
                &["time_settings 0 601 25", "time_left b 9 25"],
            ),
            ("st=3", 0.0, None, &["time_settings 0 3 1"]),
            ("st=0.5", 0.0, None, &[]),
            ("tc=inf", 0.0, None, &[]),
        ] {
            assert_eq!(with_turn(pace, left, to_go, time_commands), lines, "{pace}");
        }
    }
}
