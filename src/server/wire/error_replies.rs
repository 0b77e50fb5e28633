//! Error replies for objects that do not exist, and for failed reads and writes of the store.

use std::time::Duration;

use plyhouse_protocol::{ErrorCode, WireError};
use plyhouse_store::{ReadError, WriteError};

/// Returns the error for a failed read. The client may retry, unless the stored data is corrupt.
pub(crate) fn store_read_error(error: ReadError) -> WireError {
    match error {
        ReadError::Unavailable => {
            let message = "cannot read from the store; try again shortly";
            WireError::new(ErrorCode::Overloaded, message)
        }
        ReadError::Corrupt(_) => damaged_match_error(),
    }
}

/// Returns the error for a stored match that cannot be replayed.
pub(crate) fn damaged_match_error() -> WireError {
    WireError::new(ErrorCode::Internal, "the stored match is damaged")
}

/// Returns the error for a failed write. The client may retry if the data was certainly not stored.
pub(crate) fn store_write_error(error: WriteError) -> WireError {
    match error {
        WriteError::OutcomeUnknown => {
            let message = "cannot tell whether the change was stored; check before retrying";
            WireError::new(ErrorCode::Internal, message)
        }
        WriteError::Unavailable | WriteError::Conflict | WriteError::CodeTaken => {
            store_unavailable_error()
        }
        WriteError::PlayerDeleted => player_deleted_error(),
    }
}

/// Returns the error for a request that fails because it involves a deleted player.
pub(crate) fn player_deleted_error() -> WireError {
    WireError::new(ErrorCode::UnknownPlayer, "this account was deleted")
}

/// Returns the error for a write that the client may repeat: the write stored nothing, or repeating
/// it is harmless.
pub(crate) fn store_unavailable_error() -> WireError {
    let message = "cannot write to the store; try again shortly";
    WireError::new(ErrorCode::Overloaded, message)
}

/// Returns the error for a match that does not exist or is hidden from the player.
pub(crate) fn unknown_match_error() -> WireError {
    WireError::new(ErrorCode::UnknownMatch, "there is no such match")
}

/// Returns the error for a request that the client may repeat after `retry_after`.
pub(crate) fn retry_error(
    code: ErrorCode,
    message: impl Into<Box<str>>,
    retry_after: Duration,
) -> WireError {
    WireError {
        // The time is rounded up to a whole millisecond, so that a client that waits this long is
        // not rejected again.
        retry_after_ms: u64::try_from(retry_after.as_micros().div_ceil(1000)).ok(),
        ..WireError::new(code, message)
    }
}

/// Returns the error for a request with an invalid field.
pub(crate) fn bad_field_error(field: &str, message: impl Into<Box<str>>) -> WireError {
    WireError {
        field: Some(field.into()),
        ..WireError::new(ErrorCode::BadField, message)
    }
}
