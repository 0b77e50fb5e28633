//! Engine that is restarted after a failure.

use std::io::Write as _;
use std::time::Duration;

use plyhouse_engine_host::{
    Deadline, Decision, Engine, EngineConfig, EngineError, GamePosition, InitialPosition,
};
use plyhouse_protocol::GameSummary;

use super::bot_clock::SearchRequest;
use super::initial_stones::parse_stones;
use crate::conventions::Conventions;
use crate::sanitize::sanitize;
use crate::view;

/// Maximum number of times that `ply bot` restarts a failed engine.
const RESTARTS_MAX: u32 = 3;

/// Time limits of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineLimits {
    /// Thinking time per move, if the user sets one. Otherwise the thinking time depends on the
    /// clock.
    pub(crate) think_time: Option<Duration>,
    /// Maximum time from the start of the program until it is ready for the first game.
    pub(crate) start_timeout: Duration,
    /// Time limit for a move. If the player's clock allows a longer time for the move, the engine
    /// may use that longer time.
    pub(crate) move_timeout: Duration,
}

/// External engine that chooses moves for one seat. A program that exits or exceeds its time limit
/// is restarted at most [`RESTARTS_MAX`] times.
#[derive(Debug)]
pub(crate) struct RestartingEngine {
    config: EngineConfig,
    limits: EngineLimits,
    game: GameSummary,
    engine: Option<Engine>,
    restart_count: u32,
}

impl RestartingEngine {
    pub(crate) const fn new(config: EngineConfig, limits: EngineLimits, game: GameSummary) -> Self {
        Self {
            config,
            limits,
            game,
            engine: None,
            restart_count: 0,
        }
    }

    /// Starts the program and waits until it is ready.
    pub(crate) async fn start(&mut self) -> Result<(), EngineError> {
        let deadline = Deadline::after(self.limits.start_timeout);
        let mut engine = Engine::start(&self.config, deadline).await?;
        engine.new_game(self.game.files, deadline).await?;
        self.engine = Some(engine);
        Ok(())
    }

    /// Asks the engine for its decision in this turn.
    pub(crate) async fn choose_move(
        &mut self,
        turn: &SearchRequest,
    ) -> Result<Decision, EngineError> {
        loop {
            let error = match self.try_choose_move(turn).await {
                Err(fault @ (EngineError::Exited | EngineError::Timeout(..))) => fault,
                result => return result,
            };
            self.engine = None;
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

    async fn try_choose_move(&mut self, turn: &SearchRequest) -> Result<Decision, EngineError> {
        if self.engine.is_none() {
            self.start().await?;
        }
        let Some(engine) = &mut self.engine else {
            return Err(EngineError::Exited);
        };
        let conventions = Conventions::for_game(&self.game.game);
        let initial = turn.initial_position.as_ref().map(|text| InitialPosition {
            text: text.clone(),
            stones: parse_stones(text, &self.game),
        });
        let first_seat = initial.as_ref().map_or(0, |initial| {
            view::first_seat_to_move(conventions, &initial.text)
        });
        let position = GamePosition {
            initial: initial.as_ref(),
            moves: &turn.moves,
            seat: (first_seat + turn.moves.len()) % 2,
        };
        let limits = turn.to_search_limits(self.config.protocol, self.limits.think_time);
        let clock_limit_ms = turn.times.map_or(0, |times| times.move_limit_ms());
        let clock_limit = Duration::from_millis(clock_limit_ms);
        let deadline = Deadline::after(self.limits.move_timeout.max(clock_limit));
        engine.choose_move(position, &limits, deadline).await
    }

    /// Stops the program, if it is running.
    pub(crate) async fn quit(self) {
        if let Some(engine) = self.engine {
            engine.quit().await;
        }
    }
}

#[cfg(test)]
mod tests;
