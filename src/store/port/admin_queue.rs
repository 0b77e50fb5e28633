//! A store as the operator's command sees it beside the server that uses it: where orders are left, and answers
//! found.
//!
//! Nothing else is written so. The server does what is ordered, with all that it knows: so there is one writer of
//! everything else, and what the server has in memory is never behind. In SQLite the row of an order is one small
//! transaction, which the server's writer waits for as it would for a backup; and whoever can write to the store
//! is the operator, which a port could not know.

use std::fmt;

use crate::{CommandId, StoreAccessError};

/// Leaves orders for the server of a store.
pub trait AdminQueue: fmt::Debug {
    /// Leaves an order.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    fn enqueue(&self, command: &str) -> Result<CommandId, StoreAccessError>;

    /// What has come of it, once that is known.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn find_result(&self, id: CommandId) -> Result<Option<String>, StoreAccessError>;

    /// Takes it back, if no server has taken it; and whatever has come of it otherwise. Gives whether a server
    /// had taken it.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError>;
}
