//! A player of a contest as a game meets it: it is told that a game begins, and asked for moves.

use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, Entry};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Level, Stop, Table};
use tokio::time::Instant;

use super::entrant::{Entrant, Kind, Pace, Proto, Time};
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
    pub(super) seat: Seat,
    pub(super) pace: &'a Pace,
    /// When the player was asked.
    pub(super) began: Instant,
    pub(super) stop: &'a Stop,
}

/// What a player does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It plays this, as it writes it.
    Move(String),
    /// It gives up.
    Resigns,
}

impl Turn<'_> {
    /// How long may be thought; `None` for as long as one likes.
    pub(super) fn allowed(&self) -> Option<Duration> {
        match self.pace.time {
            Time::Free => None,
            Time::Move(time) => Some(time),
            Time::Clock { .. } => self.left[self.seat.index()],
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
    game: &'static Entry,
    stop: &Stop,
) -> anyhow::Result<Box<dyn Player>> {
    Ok(match &entrant.kind {
        Kind::Level(level) => Box::new(Own {
            level: *level,
            seed: 0,
            table: Table::new(TABLE_BYTES),
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
    level: Level,
    seed: u64,
    table: Table,
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
            Time::Clock { increment, .. } => Some(
                Clock {
                    left: turn.allowed().unwrap_or_default(),
                    increment,
                    moves: None,
                }
                .share(),
            ),
        };
        let limits = turn.pace.limits(time);
        let choice = turn
            .pos
            .choose(self.level, self.seed, &limits, turn.stop, &mut self.table);
        if turn.stop.is_stopped() {
            return Err(Fault::Stopped);
        }
        Ok(Answer::Move(choice.expect("the game goes on").m))
    }
}
