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

/// Formats a date, such as `2026-11-22`. `day` is the number of days since January 1, 1970.
#[must_use]
pub fn day_text(day: u64) -> String {
    // The algorithm counts in eras of 400 years that begin in March (Hinnant, "chrono-compatible
    // low-level date algorithms").
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
