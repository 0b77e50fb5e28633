//! What clients are told where the store cannot be read.

use plyhouse_protocol::{ErrorCode, WireError};
use plyhouse_store::ReadError;

/// The answer to a request for which something would have to be read. It may be asked again, unless what
/// is there makes no sense.
pub(super) fn unread(error: &ReadError) -> WireError {
    let (code, message) = match error {
        ReadError::Unavailable => (ErrorCode::Overloaded, "the store cannot be read now"),
        ReadError::Damaged(_) => (ErrorCode::Internal, "the match cannot be read"),
    };
    WireError::new(code, message)
}
