//! An engine: a program, the protocol it speaks, and what it may take.

mod gtp;
mod options;
mod piskvork;
mod uci;

use std::ffi::OsString;
use std::io::Write as _;
use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::program::{Deadline, Fault, Program};
use super::setup::Setup;
use super::turn::{Times, Turn};
use crate::args::EngineProtocol;
use crate::sanitize::sanitize;

/// How often in a match a program may fail and be started anew.
const RESTARTS_MAX: u32 = 3;

/// What it is told to think about a move where nothing else says how long.
const THINK: Duration = Duration::from_secs(1);

/// What a program may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// What it is told to think about a move; else what the clock allows, or a second without one.
    pub(crate) think: Option<Duration>,
    /// To be ready after it was started.
    pub(crate) start: Duration,
    /// For a move, whatever it was told.
    pub(crate) answer: Duration,
}

/// What an engine does with a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It plays this move, in the notation of the wire.
    Move(String),
    /// It gives up.
    Resign,
}

/// An engine.
#[derive(Debug)]
pub(crate) struct Engine {
    command: Vec<OsString>,
    protocol: EngineProtocol,
    /// Set by name, where the protocol knows options.
    options: Vec<(String, String)>,
    limits: Limits,
    game: GameSummary,
    /// The clock of the match.
    clock: Option<ClockControl>,
    program: Option<Program>,
    /// What it thought of its position when it moved last.
    worth: Option<i64>,
    /// The moves that the program has been told of, where the protocol tells them one by one.
    told: Vec<String>,
    restarts: u32,
}

impl Engine {
    pub(crate) const fn new(
        command: Vec<OsString>,
        protocol: EngineProtocol,
        options: Vec<(String, String)>,
        limits: Limits,
        game: GameSummary,
        clock: Option<ClockControl>,
    ) -> Self {
        Self {
            command,
            protocol,
            options,
            limits,
            game,
            clock,
            program: None,
            worth: None,
            told: Vec::new(),
            restarts: 0,
        }
    }

    /// Starts the program and waits until it is ready.
    pub(crate) async fn start(&mut self) -> Result<(), Fault> {
        let mut program = Program::start(&self.command)?;
        let deadline = Deadline::after(self.limits.start, "its start");
        match self.protocol {
            EngineProtocol::Uci => uci::greet(&mut program, &self.options, &deadline).await,
            EngineProtocol::Gtp => {
                let time = gtp::time_settings(self.clock.as_ref(), self.limits.think);
                gtp::greet(&mut program, &self.game, &time, &deadline).await
            }
            EngineProtocol::Piskvork => {
                let whole = self.clock.as_ref().map(Times::main_ms);
                let think = self.limits.think.unwrap_or(THINK);
                piskvork::greet(&mut program, &self.game, think, whole, &deadline).await
            }
        }?;
        self.told.clear();
        self.program = Some(program);
        Ok(())
    }

    /// What the engine does with this turn. A program that ends or is too slow is started anew, as
    /// often as is allowed.
    pub(crate) async fn choose(&mut self, turn: &Turn) -> Result<Answer, Fault> {
        loop {
            let fault = match self.try_to_choose(turn).await {
                Err(fault @ (Fault::Gone | Fault::TooSlow(..))) => fault,
                answered => return answered,
            };
            self.program = None;
            if self.restarts == RESTARTS_MAX {
                return Err(fault);
            }
            self.restarts += 1;
            let (why, times) = (sanitize(&fault.to_string()), self.restarts);
            // Nothing can be done if standard error is closed.
            let _ = writeln!(
                anstream::stderr().lock(),
                "ply: {why}; started anew ({times} of {RESTARTS_MAX})"
            );
        }
    }

    async fn try_to_choose(&mut self, turn: &Turn) -> Result<Answer, Fault> {
        if self.program.is_none() {
            self.start().await?;
        }
        let Some(program) = &mut self.program else {
            return Err(Fault::Gone);
        };
        let Turn {
            start,
            moves,
            times,
        } = turn;
        // Of UCI positions are texts, as on the wire.
        let setup = match (start, self.protocol) {
            (Some(start), EngineProtocol::Gtp | EngineProtocol::Piskvork) => {
                let setup = Setup::of(start, &self.game);
                Some(setup.ok_or_else(|| Fault::NoPosition(start.clone()))?)
            }
            (Some(_), EngineProtocol::Uci) | (None, _) => None,
        };
        let setup = setup.as_ref();
        let most = times.map_or(0, |times| times.most_ms());
        let most = self.limits.answer.max(Duration::from_millis(most));
        let deadline = Deadline::after(most, "for a move");
        let think = self.limits.think;
        match self.protocol {
            EngineProtocol::Uci => {
                let go = uci::go(times.as_ref(), think);
                uci::choose(
                    program,
                    (start.as_deref(), moves),
                    &go,
                    &mut self.worth,
                    &deadline,
                )
                .await
            }
            EngineProtocol::Gtp => {
                if let Some(times) = times {
                    gtp::tell_times(program, times, &deadline).await?;
                }
                gtp::choose(program, &mut self.told, (setup, moves), &deadline).await
            }
            EngineProtocol::Piskvork => {
                if let Some(times) = times {
                    piskvork::tell_times(program, times, think).await?;
                }
                let board = piskvork::Board::of(&self.game);
                piskvork::choose(program, board, &mut self.told, (setup, moves), &deadline).await
            }
        }
    }

    /// What the engine thought of its position when it moved last, in hundredths of a pawn, where its
    /// protocol tells.
    pub(crate) const fn worth(&self) -> Option<i64> {
        self.worth
    }

    /// Ends the program.
    pub(crate) async fn end(self) {
        let farewell = match self.protocol {
            EngineProtocol::Uci | EngineProtocol::Gtp => "quit",
            EngineProtocol::Piskvork => "END",
        };
        if let Some(program) = self.program {
            program.end(farewell).await;
        }
    }
}

#[cfg(test)]
mod tests;
