//! Queue of operator commands. The operator's command-line tool stores a command, and a server
//! executes it and stores the result.
//!
//! The tool writes nothing else to the store. The server makes all other changes, so its in-memory
//! state is always current. In SQLite, each command is one small transaction; the server's writer
//! waits for it as it would for a backup. Write access to the store identifies the operator, which
//! a network port could not do.

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

    /// Removes a command and its result from the queue. Returns `false` only if no server had
    /// claimed the command; such a command never runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError>;
}
