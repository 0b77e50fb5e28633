//! Errors for game record requests.

use plyhouse_store::ReadError;

/// Error when requesting a game record or a link preview.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The match or player does not exist, or the file extension is not the record format of the
    /// game.
    #[error("there is no such record")]
    NotFound,
    /// The server is too busy with other archive requests, or it is stopping.
    #[error("too many records are asked for at once")]
    Busy,
    /// The address is already downloading the records of a player.
    #[error("your address reads all matches of a player already")]
    AddressBusy,
    /// The store cannot be read.
    #[error("the match cannot be read")]
    StoreUnavailable,
    /// The stored match is damaged.
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
