//! Ratings as a fold over what ended: rows that are numbered in one order are posted into books, one after
//! the other, and the same rows give the same books, bit for bit. No clock is read and nothing is drawn.

mod abort_penalties;
mod farming_check;
mod glicko;
mod ledger;
mod rating_state;
#[cfg(test)]
mod tests;

pub use abort_penalties::AbortPenalties;
pub use farming_check::PairHistory;
pub use glicko::{ALGORITHM_VERSION, Rating, rate_game, round_rating};
pub use ledger::{Contender, LedgerRow, RatedGame, rating_pool};
pub use rating_state::{
    PlayerRatingChange, PostOutcome, RatingEntry, RatingExclusions, RatingKey, RatingState,
};

/// A day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;

/// A day, counted from 1970, as `2026-11-22`.
#[must_use]
pub fn day_text(day: u64) -> String {
    // By eras of 400 years that begin with March (Hinnant, "chrono-compatible low-level date algorithms").
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
