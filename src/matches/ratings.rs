//! Ratings, computed from the rows of the rating ledger. The rows are numbered, and servers apply
//! them to the rating state in this order. Identical rows yield bitwise identical ratings, because
//! the computation reads no clock and uses no randomness.

mod abort_penalties;
mod farming_check;
mod glicko;
mod ledger_rows;
mod rating_state;
#[cfg(test)]
mod tests;

pub use abort_penalties::AbortPenalties;
pub use farming_check::PairHistory;
pub use glicko::{ALGORITHM_VERSION, Rating, rate_game, round_rating};
pub use ledger_rows::{Contender, LedgerRow, RatedGame, rating_pool};
pub use rating_state::{
    PlayerRatingChange, PostOutcome, RatingEntry, RatingExclusions, RatingKey, RatingState,
};

/// Length of a day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;
