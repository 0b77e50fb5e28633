//! Player that is an external program.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Stop;
use plyhouse_engine_host::{
    Clock, Deadline, Decision, Engine, EngineConfig, EngineError, GamePosition, InitialPosition,
    Protocol, SearchLimits,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use super::engine_spec::TimeLimit;
use super::forfeit_reason::ForfeitReason;
use super::player::{Player, PlayerAction, Turn};

/// Time limit for every exchange with a program except the choice of a move.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Interval at which a blocked exchange checks whether the match was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Player that is an external program.
#[derive(Debug)]
pub(crate) struct ProgramPlayer {
    /// Is `None` only while the player is dropped.
    engine: Option<Engine>,
    protocol: Protocol,
    board_size: u64,
    runtime: Runtime,
}

impl ProgramPlayer {
    pub(crate) fn start(
        config: &EngineConfig,
        game: &GameEntry,
        stop: &Stop,
    ) -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let start = Engine::start(config, Deadline::after(RESPONSE_TIMEOUT));
        let started = block_on(&runtime, stop, start).context("the match was stopped")?;
        let engine = started.map_err(|error| match error {
            EngineError::Exited | EngineError::Timeout(..) => {
                anyhow!("the engine did not become ready ({error})")
            }
            error => error.into(),
        })?;
        Ok(Self {
            engine: Some(engine),
            protocol: config.protocol,
            board_size: game.info.files.into(),
            runtime,
        })
    }
}

/// Runs an operation of an engine. Returns `None` if `stop` is set before the operation ends.
fn block_on<T>(runtime: &Runtime, stop: &Stop, operation: impl Future<Output = T>) -> Option<T> {
    let wait_for_stop = async {
        while !stop.is_stopped() {
            sleep(STOP_POLL_INTERVAL).await;
        }
    };
    runtime.block_on(async {
        tokio::select! {
            biased;
            () = wait_for_stop => None,
            result = operation => Some(result),
        }
    })
}

impl Player for ProgramPlayer {
    fn begin_game(&mut self, stop: &Stop) -> Result<(), ForfeitReason> {
        let engine = self.engine.as_mut().expect("the engine is running");
        let new_game = engine.new_game(self.board_size, Deadline::after(RESPONSE_TIMEOUT));
        let result = block_on(&self.runtime, stop, new_game);
        Ok(result.ok_or(ForfeitReason::Stopped)??)
    }

    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        let initial = (!turn.start_position.is_empty()).then(|| InitialPosition {
            text: turn.start_position.to_owned(),
            stones: None,
        });
        let position = GamePosition {
            initial: initial.as_ref(),
            moves: turn.moves,
            seat: turn.seat.index(),
        };
        let limits = search_limits(turn, self.protocol);
        let remaining = turn.deadline().saturating_duration_since(Instant::now());
        let engine = self.engine.as_mut().expect("the engine is running");
        let search = engine.choose_move(position, &limits, Deadline::after(remaining));
        let decision = block_on(&self.runtime, turn.stop, search);
        Ok(match decision.ok_or(ForfeitReason::Stopped)?? {
            Decision::Move { text, score } => PlayerAction::Move { text, score },
            Decision::Resign => PlayerAction::Resign,
        })
    }
}

impl Drop for ProgramPlayer {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.runtime.block_on(engine.quit());
        }
    }
}

impl From<EngineError> for ForfeitReason {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::SpawnFailed(..) | EngineError::Exited => Self::Crashed,
            EngineError::Timeout(..) => Self::Timeout,
            EngineError::InvalidReply(reply) => Self::IllegalMove(reply),
            EngineError::CommandRejected { command, reply } => {
                Self::CommandRefused(format!("{command}: {reply}"))
            }
            EngineError::UnknownOption { .. }
            | EngineError::InvalidOptionValue { .. }
            | EngineError::UnsupportedNotation(_) => Self::CommandRefused(error.to_string()),
        }
    }
}

/// Returns the limits that the program receives for a turn.
fn search_limits(turn: &Turn<'_>, protocol: Protocol) -> SearchLimits {
    let mut limits = SearchLimits {
        nodes: turn.limits.nodes,
        depth: turn.limits.depth,
        ..SearchLimits::default()
    };
    match turn.limits.time {
        TimeLimit::Unlimited => {}
        // GTP counts whole seconds. A program that received more time than it has would lose.
        TimeLimit::PerMove(time)
            if matches!(protocol, Protocol::Gtp { .. }) && time.subsec_nanos() > 0 => {}
        TimeLimit::PerMove(time) => limits.move_time = Some(time),
        TimeLimit::Clock(control) => {
            let start = control.initial_time();
            let (main_time, period) = match control.moves {
                None => (start, None),
                // GTP has no time control in which a period of moves repeats from the start of the
                // game. Canadian byo-yomi with a main time of 0 has the same effect.
                Some(moves) => (Duration::ZERO, Some((start, moves))),
            };
            // If the opponent has no clock, the program's own time stands for both sides, because
            // UCI requires the times of both.
            let own = turn.time_allowed().unwrap_or_default();
            let mut moves_to_go = [None; 2];
            moves_to_go[turn.seat.index()] = turn.moves_to_go;
            limits.clock = Some(Clock {
                main_time,
                period,
                remaining: turn.time_left.map(|left| left.unwrap_or(own)),
                increments: turn.increments,
                moves_to_go,
            });
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::game::Seat;

    use super::super::engine_spec::{EngineSpec, Setting};
    use super::*;

    /// Calls `test` with a `Turn` for the first move of a chess game. The engine has the given
    /// `limits`. If `limits` sets a clock, the clock shows `seconds_left` seconds.
    fn with_turn<T>(
        limits: &str,
        seconds_left: f64,
        moves_to_go: Option<u32>,
        test: impl FnOnce(&Turn<'_>) -> T,
    ) -> T {
        let game =
            plyhouse_engine::catalog::find_game("chess").expect("the game is in the catalog");
        let settings = ["level=hard", limits].map(|word| Setting::parse(word).expect(word));
        let spec = EngineSpec::from_settings(settings.iter(), game.engine_protocol).expect(limits);
        let (time_left, increment) = match spec.limits.time {
            TimeLimit::Unlimited | TimeLimit::PerMove(_) => (None, Duration::ZERO),
            TimeLimit::Clock(control) => (
                Some(Duration::from_secs_f64(seconds_left)),
                control.increment,
            ),
        };
        test(&Turn {
            pos: game.initial_position().as_ref(),
            start_position: "",
            moves: &[],
            time_left: [time_left; 2],
            increments: [increment; 2],
            moves_to_go,
            seat: Seat::First,
            seed: 0,
            limits: &spec.limits,
            started_at: Instant::now(),
            stop: &Stop::new(),
        })
    }

    #[test]
    fn clock_of_a_turn_becomes_clock_of_the_engine() {
        let ms = Duration::from_millis;
        let period = |length, moves| (0, Some((ms(length), moves)));
        for (pace, left, to_go, (main_time, period), increment) in [
            ("tc=60+0.0", 59.9, None, (60_000, None), 0),
            ("tc=0+5", 5.0, None, (5000, None), 5000),
            ("tc=40/60", 31.0, Some(7), period(60_000, 40), 0),
            ("tc=25/10:00+1", 9.0, Some(25), period(601_000, 25), 1000),
        ] {
            let limits = with_turn(pace, left, to_go, |turn| search_limits(turn, Protocol::Uci));
            let expected = Clock {
                main_time: ms(main_time),
                period,
                remaining: [Duration::from_secs_f64(left); 2],
                increments: [ms(increment); 2],
                moves_to_go: [to_go, None],
            };
            assert_eq!(limits.clock, Some(expected), "{pace}");
            assert_eq!(limits.move_time, None);
        }
    }

    #[test]
    fn gtp_engine_receives_only_whole_seconds() {
        let gtp = Protocol::Gtp { komi: 7 };
        for (pace, protocol, expected) in [
            ("st=3", gtp, Some(3000)),
            ("st=0.5", gtp, None),
            ("st=0.5", Protocol::Uci, Some(500)),
            ("st=0.5", Protocol::Piskvork, Some(500)),
            ("tc=inf", gtp, None),
        ] {
            let limits = with_turn(pace, 0.0, None, |turn| search_limits(turn, protocol));
            let expected = expected.map(Duration::from_millis);
            assert_eq!((limits.move_time, limits.clock), (expected, None), "{pace}");
        }
    }
}
