//! The traits that every store of a server implements, and their errors.

use futures::future::BoxFuture;
use plyhouse_protocol::MatchId;

use crate::{ArchiveStore, CommandStore, IdentityStore, JournalStore, RatingStore};

/// A store for a server.
///
/// A write is durable once its future returns `Ok`.
pub trait Store: JournalStore + IdentityStore + RatingStore + ArchiveStore + CommandStore {
    /// Returns whether writes are likely to succeed. Returns `false` after a failed write, until a
    /// later write succeeds.
    fn is_healthy(&self) -> bool;
}

/// Returns a conflict if a write was refused.
pub(crate) fn conflict_unless(is_applied: bool) -> Result<(), WriteError> {
    is_applied.then_some(()).ok_or(WriteError::Conflict)
}

/// Read of a store whose result has the type `T`.
pub type ReadFuture<'a, T> = BoxFuture<'a, Result<T, ReadError>>;

/// Write to a store whose result has the type `T`.
pub type WriteFuture<'a, T> = BoxFuture<'a, Result<T, WriteError>>;

/// Error returned by a write that failed or whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Nothing was written, because the write conflicts with the stored data. For example, the
    /// journal does not end at the expected position, or the new match already exists. Creating a
    /// second rematch of a match is also a conflict.
    #[error("write conflict: the stored data has changed")]
    Conflict,
    /// Nothing was written, because a live match has the code of the new match. Only
    /// [`JournalStore::create`] returns this error.
    #[error("the code is in use by another live match")]
    CodeTaken,
    /// Nothing was written, because a deleted player cannot become a participant of a match.
    #[error("a player in the match was deleted")]
    PlayerDeleted,
    /// Nothing was written. The write may succeed if it is repeated later.
    #[error("the store is not accepting writes")]
    Unavailable,
    /// The outcome of the write is unknown. The caller must read the data again before it replies.
    #[error("the outcome of the write is unknown")]
    OutcomeUnknown,
}

/// Converts the result of a write task that reports a refused change as a conflict. A conflict
/// becomes `Ok(false)`, and success becomes `Ok(true)`.
pub(crate) fn conflict_to_false(result: Result<(), WriteError>) -> Result<bool, WriteError> {
    match result {
        Ok(()) => Ok(true),
        Err(WriteError::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Error returned by a read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store cannot be read now. A later read may succeed.
    #[error("the store cannot be read at the moment")]
    Unavailable,
    /// The stored data is corrupt.
    #[error(transparent)]
    Corrupt(CorruptRecord),
}

/// A match whose stored record is corrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of match {id} is damaged: {reason}")]
pub struct CorruptRecord {
    /// Id of the match.
    pub id: MatchId,
    /// Description of the fault.
    pub reason: String,
}
