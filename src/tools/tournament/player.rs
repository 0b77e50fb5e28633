//! Players of a tournament.

use std::fmt;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};

/// A player of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Player {
    /// Plays a uniformly random legal move. The rating of this player is 0 by definition.
    Random,
    /// A bot of this level.
    Bot(Level),
}

impl Player {
    /// Returns the player's move. The game must not be over. For a given player, the move depends
    /// only on the position, the seed and the limits.
    pub(super) fn choose_move(
        self,
        pos: &dyn AnyPosition,
        seed: u64,
        limits: &Limits,
        table: &mut TranspositionTable,
    ) -> String {
        match self {
            Self::Random => {
                let mut moves = pos.legal_moves();
                let index = SeededRng::new(seed, &pos.to_string()).next_below(moves.len());
                moves.swap_remove(index)
            }
            Self::Bot(level) => {
                let choice = pos.choose_move(level, seed, limits, &Stop::new(), table);
                choice.expect("the game is not over").m
            }
        }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Bot(level) => level.fmt(f),
        }
    }
}
