//! External engine: its process, its protocol and its time limits.

mod gtp;
mod piskvork;
mod uci;
mod uci_options;

use std::ffi::OsString;
use std::io::Write as _;
use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::bot_clock::{ClockTimes, SearchRequest};
use super::engine_process::{Deadline, EngineError, EngineProcess};
use super::initial_stones::InitialStones;
use crate::args::EngineProtocol;
use crate::sanitize::sanitize;

/// Maximum number of times that `ply bot` restarts a failed engine.
const RESTARTS_MAX: u32 = 3;

/// Thinking time per move if neither the user nor the clock sets one.
const DEFAULT_THINK_TIME: Duration = Duration::from_secs(1);

/// Time limits of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineLimits {
    /// Thinking time per move, if the user sets one. Otherwise the thinking time depends on the
    /// clock. If the match has no clock or a fixed time per move, [`DEFAULT_THINK_TIME`] is used.
    pub(crate) think_time: Option<Duration>,
    /// Maximum time from the start of the program until it has completed the handshake.
    pub(crate) start_timeout: Duration,
    /// Time limit for a move. If the player's clock allows a longer time for the move, the engine
    /// may use that longer time.
    pub(crate) move_timeout: Duration,
}

/// Engine's choice for one turn: a move or a resignation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineDecision {
    /// The engine plays this move. The engine's move and the wire notation may differ in upper and
    /// lower case.
    Move(String),
    Resign,
}

/// External engine that chooses moves for one seat.
#[derive(Debug)]
pub(crate) struct Engine {
    command: Vec<OsString>,
    protocol: EngineProtocol,
    /// Names and values of the UCI options to set.
    options: Vec<(String, String)>,
    limits: EngineLimits,
    game: GameSummary,
    /// Clock of the match, if it is timed.
    clock: Option<ClockControl>,
    process: Option<EngineProcess>,
    /// Evaluation that the engine reported with its last move, in centipawns.
    evaluation: Option<i64>,
    /// Moves on the engine's board: the moves sent to the engine and the engine's own moves. Only
    /// the GTP and Piskvork clients use this list. The UCI client sends all moves on each turn.
    sent_moves: Vec<String>,
    restart_count: u32,
}

impl Engine {
    pub(crate) const fn new(
        command: Vec<OsString>,
        protocol: EngineProtocol,
        options: Vec<(String, String)>,
        limits: EngineLimits,
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
            process: None,
            evaluation: None,
            sent_moves: Vec::new(),
            restart_count: 0,
        }
    }

    /// Starts the program and waits until it is ready.
    pub(crate) async fn start(&mut self) -> Result<(), EngineError> {
        let mut process = EngineProcess::spawn(&self.command)?;
        let deadline = Deadline::after(self.limits.start_timeout, "start");
        match self.protocol {
            EngineProtocol::Uci => uci::initialize(&mut process, &self.options, &deadline).await,
            EngineProtocol::Gtp => {
                let time = gtp::time_settings_command(self.clock.as_ref(), self.limits.think_time);
                gtp::initialize(&mut process, &self.game, &time, &deadline).await
            }
            EngineProtocol::Piskvork => {
                let main_time_ms = self.clock.as_ref().map(ClockTimes::initial_ms);
                let think = self.limits.think_time.unwrap_or(DEFAULT_THINK_TIME);
                piskvork::initialize(&mut process, &self.game, think, main_time_ms, &deadline).await
            }
        }?;
        self.sent_moves.clear();
        self.process = Some(process);
        Ok(())
    }

    /// Asks the engine for its decision in this turn. A program that exits or exceeds its time
    /// limit is restarted at most [`RESTARTS_MAX`] times.
    pub(crate) async fn choose_move(
        &mut self,
        turn: &SearchRequest,
    ) -> Result<EngineDecision, EngineError> {
        loop {
            let error = match self.try_choose_move(turn).await {
                Err(fault @ (EngineError::Exited | EngineError::Timeout(..))) => fault,
                result => return result,
            };
            self.process = None;
            if self.restart_count == RESTARTS_MAX {
                return Err(error);
            }
            self.restart_count += 1;
            let (reason, attempt) = (sanitize(&error.to_string()), self.restart_count);
            // Errors from writing to standard error are ignored, for example if standard error is
            // closed.
            let _ = writeln!(
                anstream::stderr().lock(),
                "ply: {reason}; restarting it ({attempt} of {RESTARTS_MAX})"
            );
        }
    }

    async fn try_choose_move(
        &mut self,
        turn: &SearchRequest,
    ) -> Result<EngineDecision, EngineError> {
        if self.process.is_none() {
            self.start().await?;
        }
        let Some(process) = &mut self.process else {
            return Err(EngineError::Exited);
        };
        let SearchRequest {
            initial_position: start,
            moves,
            times,
        } = turn;
        // Only GTP and Piskvork place the initial stones one by one. The `position` command of UCI
        // contains the complete initial position.
        let setup = match (start, self.protocol) {
            (Some(start), EngineProtocol::Gtp | EngineProtocol::Piskvork) => {
                let setup = InitialStones::from_position(start, &self.game);
                Some(setup.ok_or_else(|| EngineError::UnsupportedPosition(start.clone()))?)
            }
            (Some(_), EngineProtocol::Uci) | (None, _) => None,
        };
        let setup = setup.as_ref();
        let limit = times.map_or(0, |times| times.move_limit_ms());
        let limit = self.limits.move_timeout.max(Duration::from_millis(limit));
        let deadline = Deadline::after(limit, "move");
        let think = self.limits.think_time;
        match self.protocol {
            EngineProtocol::Uci => {
                let go_command = uci::go_command(times.as_ref(), think);
                uci::choose_move(
                    process,
                    (start.as_deref(), moves),
                    &go_command,
                    &mut self.evaluation,
                    &deadline,
                )
                .await
            }
            EngineProtocol::Gtp => {
                if let Some(times) = times {
                    gtp::send_time_left(process, times, &deadline).await?;
                }
                gtp::choose_move(process, &mut self.sent_moves, (setup, moves), &deadline).await
            }
            EngineProtocol::Piskvork => {
                if let Some(times) = times {
                    piskvork::send_time_left(process, times, think).await?;
                }
                let board = piskvork::BoardSize::from_game(&self.game);
                piskvork::choose_move(
                    process,
                    board,
                    &mut self.sent_moves,
                    (setup, moves),
                    &deadline,
                )
                .await
            }
        }
    }

    /// Returns the evaluation that the engine reported with its last move, in centipawns from the
    /// engine's side. Only UCI engines report one.
    pub(crate) const fn evaluation(&self) -> Option<i64> {
        self.evaluation
    }

    /// Stops the engine process, if it is running.
    pub(crate) async fn quit(self) {
        let quit_command = match self.protocol {
            EngineProtocol::Uci | EngineProtocol::Gtp => "quit",
            EngineProtocol::Piskvork => "END",
        };
        if let Some(process) = self.process {
            process.quit(quit_command).await;
        }
    }
}

#[cfg(test)]
mod tests;
