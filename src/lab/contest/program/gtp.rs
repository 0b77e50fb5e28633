//! A program that is asked for moves by GTP 2. The first seat is black.

use anyhow::Context;
use plyhouse_engine::catalog::Entry;
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
        game: &'static Entry,
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

    /// Tells of the time, before the move; before each, since a game may begin with the opponent's.
    fn tell_time(&mut self, turn: &Turn<'_>) -> Result<(), Fault> {
        match turn.pace.time {
            // Seconds are whole in this protocol.
            Time::Move(time) if time.subsec_nanos() == 0 => {
                self.tell(&format!("time_settings 0 {} 1", time.as_secs()), turn.stop)
            }
            Time::Free | Time::Move(_) => Ok(()),
            Time::Clock { main, .. } => {
                let left = turn.allowed().unwrap_or_default().as_secs();
                self.tell(&format!("time_settings {} 0 0", main.as_secs()), turn.stop)?;
                self.tell(
                    &format!("time_left {} {left} 0", color(turn.seat)),
                    turn.stop,
                )
            }
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
        Ok(Answer::Move(m))
    }
}

const fn color(seat: Seat) -> &'static str {
    match seat {
        Seat::First => "b",
        Seat::Second => "w",
    }
}
