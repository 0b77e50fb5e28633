//! A player of a contest as a game meets it: it is told that a game begins, and asked for moves.

use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Level, Stop, TranspositionTable};
use tokio::time::Instant;

use super::adjudication;
use super::entrant::{Entrant, Kind, MoveLimits, Proto, Time};
use super::fault::Fault;
use super::program::{GtpPlayer, PiskvorkPlayer, UciPlayer};

/// What a search of this binary remembers, as much as a bot's.
const TABLE_BYTES: usize = 64 << 20;

/// How long may be thought where no time is kept. Whoever takes longer hangs.
const UNTIMED: Duration = Duration::from_secs(600);

/// Somebody who can be asked for moves.
pub(super) trait Player {
    /// A game begins.
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault>;

    /// The player's move, or what it does instead.
    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault>;
}

/// What is known when a game begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'a> {
    /// What chance is drawn from.
    pub(super) seed: u64,
    pub(super) stop: &'a Stop,
}

/// A player's turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<'a> {
    pub(super) pos: &'a dyn AnyPosition,
    /// In wire notation, where the moves begin; empty at the start of the game.
    pub(super) start: &'a str,
    /// All moves up to here, those of the opening, too.
    pub(super) moves: &'a [String],
    /// What is left on both clocks, by seat; of whoever has none nothing.
    pub(super) left: [Option<Duration>; 2],
    /// What is added to them.
    pub(super) increment: [Duration; 2],
    /// Own moves up to the next period of the clock, this one included. `None` if it has no periods.
    pub(super) moves_to_go: Option<u32>,
    pub(super) seat: Seat,
    pub(super) pace: &'a MoveLimits,
    /// When the player was asked.
    pub(super) began: Instant,
    pub(super) stop: &'a Stop,
}

/// What a player does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It plays a move.
    Move {
        /// As the player writes it.
        text: String,
        /// What it thinks of the position, in hundredths of a pawn or of a point; positive is good for it.
        score: Option<i32>,
    },
    /// It gives up.
    Resigns,
}

impl Turn<'_> {
    /// How long may be thought; `None` for as long as one likes.
    pub(super) fn allowed(&self) -> Option<Duration> {
        match self.pace.time {
            Time::Free => None,
            Time::Move(time) => Some(time),
            Time::Clock(_) => self.left[self.seat.index()],
        }
    }

    /// When an answer is too late.
    pub(super) fn until(&self) -> Instant {
        self.began + self.allowed().unwrap_or(UNTIMED) + self.pace.margin
    }
}

/// Brings a player to the board.
///
/// # Errors
///
/// Its program cannot be started, or does not say that it is ready.
pub(super) fn invite(
    entrant: &Entrant,
    game: &'static GameEntry,
    stop: &Stop,
) -> anyhow::Result<Box<dyn Player>> {
    Ok(match &entrant.kind {
        Kind::Level(level) => Box::new(Own {
            game,
            level: *level,
            seed: 0,
            table: TranspositionTable::new(TABLE_BYTES),
        }),
        Kind::Program(program) => match program.proto {
            Proto::Uci => Box::new(UciPlayer::start(program, stop)?),
            Proto::Gtp { komi } => Box::new(GtpPlayer::start(program, game, komi)?),
            Proto::Piskvork => Box::new(PiskvorkPlayer::start(program, game)?),
        },
    })
}

/// The engine of this binary, as it plays for a bot: it forgets everything with every move.
struct Own {
    game: &'static GameEntry,
    level: Level,
    seed: u64,
    table: TranspositionTable,
}

impl Player for Own {
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault> {
        self.seed = game.seed;
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault> {
        let time = match turn.pace.time {
            Time::Free => None,
            Time::Move(time) => Some(time),
            Time::Clock(control) => Some(
                Clock {
                    remaining: turn.allowed().unwrap_or_default(),
                    increment: control.increment,
                    moves_to_go: turn.moves_to_go,
                }
                .time_for_move(),
            ),
        };
        let limits = turn.pace.limits(time);
        let choice =
            turn.pos
                .choose_move(self.level, self.seed, &limits, turn.stop, &mut self.table);
        if turn.stop.is_stopped() {
            return Err(Fault::Stopped);
        }
        let choice = choice.expect("the game goes on");
        Ok(Answer::Move {
            score: Some(adjudication::hundredths(
                choice.report.score,
                self.game.score_per_point,
            )),
            text: choice.m,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::entrant::Setting;
    use super::*;

    /// Calls `test` with the first turn of a game of chess at this pace. A clock has so many seconds left.
    pub(in crate::contest) fn with_turn<T>(
        pace: &str,
        left: f64,
        moves_to_go: Option<u32>,
        test: impl FnOnce(&Turn<'_>) -> T,
    ) -> T {
        let game = plyhouse_engine::catalog::find_game("chess").expect("hosted");
        let settings = ["level=hard", pace].map(|word| Setting::read(word).expect(word));
        let entrant = Entrant::read(settings.iter(), game.engine_protocol).expect(pace);
        let (left, increment) = match entrant.pace.time {
            Time::Free | Time::Move(_) => (None, Duration::ZERO),
            Time::Clock(control) => (Some(Duration::from_secs_f64(left)), control.increment),
        };
        test(&Turn {
            pos: game.initial_position().as_ref(),
            start: "",
            moves: &[],
            left: [left; 2],
            increment: [increment; 2],
            moves_to_go,
            seat: Seat::First,
            pace: &entrant.pace,
            began: Instant::now(),
            stop: &Stop::new(),
        })
    }
}
