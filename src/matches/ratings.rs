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
pub use glicko::{ALGORITHM, Rating, rated};
pub use ledger::{Contender, LedgerRow, RatedGame, pool_of};
pub use pair::Pair;

/// A day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;
