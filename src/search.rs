//! The engine: minimax in its forms, generic over a game, and the levels a bot can be given.
//!
//! A search runs on its caller's thread until a limit is reached or it is told to stop. It starts
//! no thread of its own, and what chance it needs comes from a seed, so the same question gets the
//! same answer, except where a clock cuts the thinking short.

mod alpha_beta;
mod budget;
mod choice;
mod deepening;
mod eval;
mod level;
pub mod minimax;
#[cfg(test)]
mod oracle;
mod score;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use choice::choose;
pub use level::{LEVELS_VERSION, Level, ParseLevelError};
pub use score::Score;

use crate::game::Position;

/// A position that can be valued without looking ahead. Rules know nothing of this: what is worth
/// having is the engine's opinion, and lives in `search::eval`.
pub trait Evaluate: Position {
    /// An estimate for the seat to move, of a game that is still going on.
    fn evaluate(&self) -> Score;
}

/// What a search may spend. Without any limit it ends when it knows the game's value.
///
/// The first ply is always looked at in full, so that there is an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Looks no further ahead than this many plies.
    pub depth: Option<u32>,
    /// Visits no more than this many positions. The unit to use where answers must repeat.
    pub nodes: Option<u64>,
    /// Thinks no longer than this.
    pub time: Option<Duration>,
}

/// A flag that asks a search to answer now. Clones share the flag; it cannot be lowered again.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag.
    pub fn stop(&self) {
        // Nothing else is published through the flag, so no order with other memory is needed.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag has been raised.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a search found, and what that cost. `M` is a game's move, or its text above the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<M> {
    /// The value of the position for the seat to move.
    pub score: Score,
    /// How many plies ahead were looked at in full.
    pub depth: u32,
    /// How many positions were visited.
    pub nodes: u64,
    /// How long it took.
    pub time: Duration,
    /// The principal variation: best play by both sides as far as it was seen.
    pub pv: Vec<M>,
}

/// Values `pos` and finds the best line of play; `None` once there is an outcome.
///
/// Runs on the caller's thread until a limit or `stop`, and reports its best so far then.
#[must_use]
pub fn search<P: Evaluate>(pos: &P, limits: &Limits, stop: &Stop) -> Option<Report<P::Move>> {
    deepening::deepen(pos, None, limits, stop).map(|findings| findings.report)
}
