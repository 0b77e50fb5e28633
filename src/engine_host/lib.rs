//! Host side of the engine protocols UCI, GTP 2 and Piskvork (Gomocup).
//!
//! An [`Engine`] is a running engine program that chooses moves. All functions are asynchronous and
//! need a tokio runtime with its I/O and time drivers. Every exchange with a program has a
//! [`Deadline`]. After an error or a cancelled call, the state of the program is unknown, so the
//! caller must drop the engine.

mod engine_error;
mod engine_process;
mod gtp;
mod line_decoder;
mod piskvork;
mod search_input;
#[cfg(test)]
mod tests;
mod uci;

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

pub use engine_error::EngineError;
pub use engine_process::EngineCommand;
pub use line_decoder::LineDecoder;
pub use search_input::{Clock, GamePosition, InitialPosition, SearchLimits};
pub use uci::MATE_SCORE;

use engine_process::EngineProcess;
use gtp::GtpDriver;
use piskvork::PiskvorkDriver;
use uci::UciDriver;

/// Protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Universal Chess Interface. In games other than chess, positions and moves have the same
    /// notation as in the wire protocol.
    Uci,
    /// Go Text Protocol, version 2.
    Gtp {
        /// Points that White receives as compensation for moving second.
        komi: u32,
    },
    /// Gomocup protocol.
    Piskvork,
}

/// Command, protocol and options of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Command that starts the program.
    pub command: EngineCommand,
    /// Protocol that the program speaks.
    pub protocol: Protocol,
    /// Names and values of UCI options. Other protocols ignore them.
    pub options: Vec<(String, String)>,
}

/// Time at which an exchange with an engine fails with [`EngineError::Timeout`].
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Creates a deadline that expires after `timeout`.
    #[must_use]
    pub fn after(timeout: Duration) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
        }
    }

    /// Runs an exchange with the engine until the deadline. `action` is a verb for the error.
    async fn limit<T>(
        self,
        action: &'static str,
        exchange: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let timeout_error = EngineError::Timeout(action, self.timeout);
        (timeout_at(self.at, exchange).await).unwrap_or(Err(timeout_error))
    }
}

/// Engine's choice for one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The engine plays a move.
    Move {
        /// Move in the notation of the wire protocol. Letter case may differ.
        text: String,
        /// Score that a UCI engine reported with the move, in centipawns from the engine's side.
        /// The score of a forced mate is [`MATE_SCORE`] or its negative.
        score: Option<i32>,
    },
    /// The engine resigns.
    Resign,
}

/// Running engine program. Dropping the value kills the program and its descendants.
#[derive(Debug)]
pub struct Engine(Driver);

#[derive(Debug)]
enum Driver {
    Uci(UciDriver),
    Gtp(GtpDriver),
    Piskvork(PiskvorkDriver),
}

impl Engine {
    /// Starts the program. A UCI engine also completes the handshake and receives its options.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started, does not become ready, or does not
    /// support an option.
    pub async fn start(config: &EngineConfig, deadline: Deadline) -> Result<Self, EngineError> {
        let process = EngineProcess::spawn(&config.command)?;
        Ok(Self(match config.protocol {
            Protocol::Uci => {
                let start = UciDriver::start(process, &config.options);
                Driver::Uci(deadline.limit("start", start).await?)
            }
            Protocol::Gtp { komi } => Driver::Gtp(GtpDriver::new(process, komi)),
            Protocol::Piskvork => Driver::Piskvork(PiskvorkDriver::new(process)),
        }))
    }

    /// Prepares the engine for a new game on a board with `board_size` rows and columns. UCI
    /// engines ignore the size. Must be called before the first [`Self::choose_move`].
    ///
    /// # Errors
    ///
    /// Returns an error if the program exits, is silent, or rejects a required command.
    pub async fn new_game(
        &mut self,
        board_size: u64,
        deadline: Deadline,
    ) -> Result<(), EngineError> {
        let prepare = async {
            match &mut self.0 {
                Driver::Uci(uci) => uci.new_game().await,
                Driver::Gtp(gtp) => gtp.new_game(board_size).await,
                Driver::Piskvork(piskvork) => piskvork.new_game(board_size).await,
            }
        };
        deadline.limit("start a game", prepare).await
    }

    /// Sends the position to the engine and returns its decision. The moves need not continue those
    /// of the last call: the engine may receive a position after a takeback.
    ///
    /// # Errors
    ///
    /// Returns an error if the program exits, is silent, rejects a required command, or replies
    /// with something that is not a move.
    pub async fn choose_move(
        &mut self,
        position: GamePosition<'_>,
        limits: &SearchLimits,
        deadline: Deadline,
    ) -> Result<Decision, EngineError> {
        let search = async {
            match &mut self.0 {
                Driver::Uci(uci) => uci.choose_move(position, limits).await,
                Driver::Gtp(gtp) => gtp.choose_move(position, limits).await,
                Driver::Piskvork(piskvork) => piskvork.choose_move(position, limits).await,
            }
        };
        deadline.limit("move", search).await
    }

    /// Asks the program to exit, and kills it if it is still running a second later.
    pub async fn quit(self) {
        match self.0 {
            Driver::Uci(UciDriver { process }) | Driver::Gtp(GtpDriver { process, .. }) => {
                process.quit("quit").await;
            }
            Driver::Piskvork(PiskvorkDriver { process, .. }) => process.quit("END").await,
        }
    }
}
