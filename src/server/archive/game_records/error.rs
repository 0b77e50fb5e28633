//! Errors for game record requests.

use plyhouse_protocol::{ErrorCode, WireError};
use plyhouse_store::ReadError;

/// Error when requesting a game record or a link preview.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The match or player does not exist, or the file extension is not the record format of the
    /// game.
    #[error("no such match, player or record format")]
    NotFound,
    /// The server is too busy with other archive requests, or it is stopping.
    #[error("the server is busy; try again shortly")]
    Busy,
    /// The address is already downloading the records of a player.
    #[error("your IP address is already downloading the matches of a player")]
    AddressBusy,
    /// The store cannot be read.
    #[error("cannot read from the store; try again shortly")]
    StoreUnavailable,
    /// The stored match is damaged.
    #[error("the stored match is damaged")]
    Corrupt,
}

pub(crate) fn read_error(error: ReadError) -> ArchiveError {
    tracing::error!(%error, "cannot read a match");
    match error {
        ReadError::Unavailable => ArchiveError::StoreUnavailable,
        ReadError::Corrupt(_) => ArchiveError::Corrupt,
    }
}

/// Returns the error for a failed look-up of a player.
pub(crate) fn lookup_error(error: WireError) -> ArchiveError {
    match error.code {
        Some(ErrorCode::UnknownPlayer) => ArchiveError::NotFound,
        _ => ArchiveError::StoreUnavailable,
    }
}
