//! Interface of the players of an engine match. A player is notified of the start of each game and
//! chooses moves.

use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{Clock, Level, Limits, Stop, TranspositionTable};
use tokio::time::Instant;

use super::EngineMatch;
use super::adjudication::to_hundredths;
use super::engine_spec::{EngineKind, MoveLimits, TimeLimit};
use super::forfeit_reason::ForfeitReason;
use super::program_player::ProgramPlayer;

/// Maximum time for a move if the player has no time limit. The match assumes that a player that
/// takes longer hangs.
const UNLIMITED_MOVE_TIMEOUT: Duration = Duration::from_secs(600);

/// Player of a match: an external program or a level of the built-in engine.
pub(crate) trait Player {
    /// Prepares the player for a new game.
    fn begin_game(&mut self, _stop: &Stop) -> Result<(), ForfeitReason> {
        Ok(())
    }

    /// Returns the player's move or resignation.
    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason>;
}

/// Data that a player receives when it must move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) pos: &'a dyn AnyPosition,
    /// Position before the first move, in the server's notation. Empty if the moves begin at the
    /// start of the game.
    pub(crate) start_position: &'a str,
    /// All moves of the game so far, including the opening.
    pub(crate) moves: &'a [String],
    /// Time left on both clocks, by seat. `None` for a player without a clock.
    pub(crate) time_left: [Option<Duration>; 2],
    /// Increments of both clocks, by seat.
    pub(crate) increments: [Duration; 2],
    /// Number of moves that remain in the player's current period, including this move. `None` if
    /// the clock has no periods.
    pub(crate) moves_to_go: Option<u32>,
    pub(crate) seat: Seat,
    /// Random seed of the player for this game.
    pub(crate) seed: u64,
    pub(crate) limits: &'a MoveLimits,
    /// Time at which the move was requested.
    pub(crate) started_at: Instant,
    pub(crate) stop: &'a Stop,
}

/// Action of a player on its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlayerAction {
    /// Plays a move.
    Move {
        /// Text of the move, exactly as the player wrote it.
        text: String,
        /// Player's score of the position in hundredths of a pawn or point. Positive scores are
        /// good for the player.
        score: Option<i32>,
    },
    /// Resigns the game.
    Resign,
}

impl Turn<'_> {
    /// Returns the time that the player has for this move, or `None` if the time is unlimited.
    pub(crate) fn time_allowed(&self) -> Option<Duration> {
        match self.limits.time {
            TimeLimit::Unlimited => None,
            TimeLimit::PerMove(time) => Some(time),
            TimeLimit::Clock(_) => self.time_left[self.seat.index()],
        }
    }

    /// Returns the latest time for the player's move, including the tolerance for late moves.
    pub(crate) fn deadline(&self) -> Instant {
        self.started_at
            + self.time_allowed().unwrap_or(UNLIMITED_MOVE_TIMEOUT)
            + self.limits.time_margin
    }
}

/// Starts the player with the given index in the list of engines.
///
/// # Errors
///
/// Returns an error if the program cannot be started or does not become ready.
pub(crate) fn start_player(
    engine_match: &EngineMatch,
    index: usize,
    stop: &Stop,
) -> anyhow::Result<Box<dyn Player>> {
    let game = engine_match.game;
    Ok(match &engine_match.engines[index].kind {
        EngineKind::Random => Box::new(RandomPlayer),
        EngineKind::Level(level) => Box::new(LevelPlayer {
            game,
            level: *level,
            table: TranspositionTable::new(engine_match.table_bytes),
        }),
        EngineKind::Program(config) => Box::new(ProgramPlayer::start(config, game, stop)?),
    })
}

/// Player that plays a uniformly random legal move. The move depends only on the position and the
/// seed.
struct RandomPlayer;

impl Player for RandomPlayer {
    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        let mut moves = turn.pos.legal_moves();
        let index = SeededRng::new(turn.seed, &turn.pos.to_string()).next_below(moves.len());
        Ok(PlayerAction::Move {
            text: moves.swap_remove(index),
            score: None,
        })
    }
}

/// Player that is a level of the built-in engine. Like the server's bots, the player searches each
/// move with an empty transposition table.
struct LevelPlayer {
    game: &'static GameEntry,
    level: Level,
    table: TranspositionTable,
}

impl Player for LevelPlayer {
    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        let clock = turn.limits.time.clock().map(|control| Clock {
            remaining: turn.time_allowed().unwrap_or_default(),
            increment: control.increment,
            moves_to_go: turn.moves_to_go,
        });
        let time = clock.map_or_else(|| turn.time_allowed(), |clock| Some(clock.time_for_move()));
        let limits = Limits {
            depth: turn.limits.depth,
            nodes: turn.limits.nodes,
            time,
            threads: None,
        };
        let (pos, table) = (turn.pos, &mut self.table);
        let choice = pos.choose_move(self.level, turn.seed, &limits, turn.stop, table);
        if turn.stop.is_stopped() {
            return Err(ForfeitReason::Stopped);
        }
        let choice = choice.expect("the game is not over");
        let score = to_hundredths(choice.report.score, self.game.score_per_point);
        Ok(PlayerAction::Move {
            text: choice.m,
            score: Some(score),
        })
    }
}
