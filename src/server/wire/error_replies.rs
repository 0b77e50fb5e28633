//! What clients are told where what they ask for is not there, or the store cannot be read or written.

use plyhouse_protocol::{ErrorCode, WireError};
use plyhouse_store::{ReadError, WriteError};

/// The answer to a request for which something would have to be read. It may be asked again, unless what
/// is there makes no sense.
pub(crate) fn store_read_error(error: &ReadError) -> WireError {
    let (code, message) = match error {
        ReadError::Unavailable => (ErrorCode::Overloaded, "the store cannot be read now"),
        ReadError::Corrupt(_) => (ErrorCode::Internal, "the match cannot be read"),
    };
    WireError::new(code, message)
}

/// The answer to a request for which something would have to be kept. It may be asked again where
/// nothing is kept for certain.
pub(crate) fn store_write_error(error: WriteError) -> WireError {
    match error {
        WriteError::OutcomeUnknown => {
            WireError::new(ErrorCode::Internal, "that may have been kept or not")
        }
        WriteError::Unavailable | WriteError::Conflict | WriteError::CodeTaken => {
            store_unavailable_error()
        }
        WriteError::PlayerDeleted => player_deleted_error(),
    }
}

/// The answer where somebody would have got a part in a match who was forgotten meanwhile.
pub(crate) fn player_deleted_error() -> WireError {
    WireError::new(ErrorCode::UnknownPlayer, "nobody is this player any more")
}

/// The answer where nothing is kept, or where to ask again changes nothing that is kept.
pub(crate) fn store_unavailable_error() -> WireError {
    WireError::new(ErrorCode::Overloaded, "the store cannot keep this now")
}

/// There is no such match, as far as anybody is concerned who asks.
pub(crate) fn unknown_match_error() -> WireError {
    WireError::new(ErrorCode::UnknownMatch, "there is no such match")
}
