//! Errors of requests for game records.

use plyhouse_store::ReadError;

/// There is no scoresheet to be had.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// There is no such match or player, or the game is not kept in such files.
    #[error("there is no such record")]
    NotFound,
    /// Too many are being written.
    #[error("too many records are asked for at once")]
    Busy,
    /// One of many matches is being written for this address.
    #[error("your address reads all matches of a player already")]
    AddressBusy,
    /// The store cannot be read.
    #[error("the match cannot be read")]
    StoreUnavailable,
    /// What the store holds makes no sense.
    #[error("the match makes no sense")]
    Corrupt,
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
pub(crate) fn read_error(error: ReadError) -> ArchiveError {
    tracing::error!(%error, "cannot read a match");
    match error {
        ReadError::Unavailable => ArchiveError::StoreUnavailable,
        ReadError::Corrupt(_) => ArchiveError::Corrupt,
    }
}
