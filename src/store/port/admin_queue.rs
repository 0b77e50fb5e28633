//! Queue of operator commands. The operator's command-line tool stores a command in the queue. A
//! server executes the command and stores the result.
//!
//! The command-line tool writes only to this queue. The server makes all other changes to the
//! store, so its in-memory state never becomes outdated. In SQLite, the tool stores each command in
//! one small transaction. The server's writes wait until this transaction ends. Only the operator
//! has write access to the store, so a command needs no further authentication. Commands that
//! arrive over a network port would need authentication.

use std::fmt;

use crate::{CommandId, StoreAccessError};

/// Sends operator commands to the servers that use a store.
pub trait AdminQueue: fmt::Debug {
    /// Adds a command to the queue and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    fn enqueue(&self, command: &str) -> Result<CommandId, StoreAccessError>;

    /// Returns the result of a command, or `None` if no result is stored yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn find_result(&self, id: CommandId) -> Result<Option<String>, StoreAccessError>;

    /// Removes a command and its result from the queue. Returns `false` if the command was removed
    /// before a server claimed it. A command that is removed before a server claims it never runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError>;
}
