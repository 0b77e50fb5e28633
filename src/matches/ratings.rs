//! Ratings as a fold over what ended: rows that are numbered in one order are posted into books, one after
//! the other, and the same rows give the same books, bit for bit. No clock is read and nothing is drawn.

mod books;
mod conduct;
mod glicko;
mod ledger;
mod pair;
#[cfg(test)]
mod tests;

pub use books::{Books, Change, Posted, Rated, Record, Unrated};
pub use conduct::Conduct;
pub use glicko::{ALGORITHM, Rating, rated, shown};
pub use ledger::{Contender, LedgerRow, RatedGame, pool_of};
pub use pair::Pair;

/// A day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;

/// A day, counted from 1970, as `2026-11-22`.
#[must_use]
pub fn day_text(day: u64) -> String {
    // By eras of 400 years that begin with March (Hinnant, "chrono-compatible low-level date algorithms").
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
