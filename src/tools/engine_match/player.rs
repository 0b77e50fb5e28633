//! A player of a contest as a game meets it: it is told that a game begins, and asked for moves.

use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Level, Stop, TranspositionTable};
use tokio::time::Instant;

use super::adjudication;
use super::engine_process::{GtpPlayer, PiskvorkPlayer, UciPlayer};
use super::engine_spec::{EngineKind, EngineSpec, MoveLimits, ProgramProtocol, TimeLimit};
use super::forfeit_reason::ForfeitReason;

/// What a search of this binary remembers, as much as a bot's.
const TABLE_BYTES: usize = 64 << 20;

/// How long may be thought where no time is kept. Whoever takes longer hangs.
const UNLIMITED_MOVE_TIMEOUT: Duration = Duration::from_secs(600);

/// Somebody who can be asked for moves.
pub(crate) trait Player {
    /// A game begins.
    fn begin_game(&mut self, game_start: &GameStart<'_>) -> Result<(), ForfeitReason>;

    /// The player's move, or what it does instead.
    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason>;
}

/// What is known when a game begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameStart<'a> {
    /// What chance is drawn from.
    pub(crate) seed: u64,
    pub(crate) stop: &'a Stop,
}

/// A player's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) pos: &'a dyn AnyPosition,
    /// In wire notation, where the moves begin; empty at the start of the game.
    pub(crate) start_position: &'a str,
    /// All moves up to here, those of the opening, too.
    pub(crate) moves: &'a [String],
    /// What is left on both clocks, by seat; of whoever has none nothing.
    pub(crate) time_left: [Option<Duration>; 2],
    /// What is added to them.
    pub(crate) increments: [Duration; 2],
    /// Own moves up to the next period of the clock, this one included. `None` if it has no periods.
    pub(crate) moves_to_go: Option<u32>,
    pub(crate) seat: Seat,
    pub(crate) limits: &'a MoveLimits,
    /// When the player was asked.
    pub(crate) started_at: Instant,
    pub(crate) stop: &'a Stop,
}

/// What a player does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlayerAction {
    /// It plays a move.
    Move {
        /// As the player writes it.
        text: String,
        /// What it thinks of the position, in hundredths of a pawn or of a point; positive is good for it.
        score: Option<i32>,
    },
    /// It gives up.
    Resign,
}

impl Turn<'_> {
    /// How long may be thought; `None` for as long as one likes.
    pub(crate) fn time_allowed(&self) -> Option<Duration> {
        match self.limits.time {
            TimeLimit::Unlimited => None,
            TimeLimit::PerMove(time) => Some(time),
            TimeLimit::Clock(_) => self.time_left[self.seat.index()],
        }
    }

    /// When an answer is too late.
    pub(crate) fn deadline(&self) -> Instant {
        self.started_at
            + self.time_allowed().unwrap_or(UNLIMITED_MOVE_TIMEOUT)
            + self.limits.time_margin
    }
}

/// Brings a player to the board.
///
/// # Errors
///
/// Its program cannot be started, or does not say that it is ready.
pub(crate) fn start_player(
    spec: &EngineSpec,
    game: &'static GameEntry,
    stop: &Stop,
) -> anyhow::Result<Box<dyn Player>> {
    Ok(match &spec.kind {
        EngineKind::Level(level) => Box::new(LevelPlayer {
            game,
            level: *level,
            seed: 0,
            table: TranspositionTable::new(TABLE_BYTES),
        }),
        EngineKind::Program(program) => match program.protocol {
            ProgramProtocol::Uci => Box::new(UciPlayer::start(program, stop)?),
            ProgramProtocol::Gtp { komi } => Box::new(GtpPlayer::start(program, game, komi)?),
            ProgramProtocol::Piskvork => Box::new(PiskvorkPlayer::start(program, game)?),
        },
    })
}

/// The engine of this binary, as it plays for a bot: it forgets everything with every move.
struct LevelPlayer {
    game: &'static GameEntry,
    level: Level,
    seed: u64,
    table: TranspositionTable,
}

impl Player for LevelPlayer {
    fn begin_game(&mut self, game_start: &GameStart<'_>) -> Result<(), ForfeitReason> {
        self.seed = game_start.seed;
        Ok(())
    }

    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        let time = match turn.limits.time {
            TimeLimit::Unlimited => None,
            TimeLimit::PerMove(time) => Some(time),
            TimeLimit::Clock(control) => Some(
                Clock {
                    remaining: turn.time_allowed().unwrap_or_default(),
                    increment: control.increment,
                    moves_to_go: turn.moves_to_go,
                }
                .time_for_move(),
            ),
        };
        let limits = turn.limits.to_search_limits(time);
        let choice =
            turn.pos
                .choose_move(self.level, self.seed, &limits, turn.stop, &mut self.table);
        if turn.stop.is_stopped() {
            return Err(ForfeitReason::Stopped);
        }
        let choice = choice.expect("the game is not over");
        Ok(PlayerAction::Move {
            score: Some(adjudication::to_hundredths(
                choice.report.score,
                self.game.score_per_point,
            )),
            text: choice.m,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::engine_spec::Setting;
    use super::*;

    /// Calls `test` with the first turn of a game of chess at this pace. A clock has so many seconds left.
    pub(in crate::engine_match) fn with_turn<T>(
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
            limits: &spec.limits,
            started_at: Instant::now(),
            stop: &Stop::new(),
        })
    }
}
