//! The server's side of the queue of operator commands.

use futures::FutureExt;

use super::delegation::delegatable;
use crate::{CommandId, IdentityChange, IdentityStore, ReadFuture, WriteFuture};

delegatable! {
    $ delegate_command_store
    /// Passes operator commands from an [`AdminQueue`](crate::AdminQueue) to the servers that use
    /// the store.
    pub trait CommandStore: IdentityStore {
        /// Returns whether other processes can send commands to the server through this store.
        fn accepts_commands(&self) -> bool {
            false
        }

        /// Returns operator commands that no server has claimed yet, with their text.
        fn pending_commands(&self) -> ReadFuture<'_, Vec<(CommandId, String)>> {
            futures::future::ready(Ok(Vec::new())).boxed()
        }

        /// Claims an operator command for this server. Returns `false` if another server has
        /// claimed the command or it was withdrawn.
        fn claim_command(&self, id: CommandId) -> WriteFuture<'_, bool> {
            self.change_identity(IdentityChange::ClaimCommand(id))
        }

        /// Stores the result of an operator command. Returns `false` if the command is no longer
        /// stored.
        fn store_command_result(&self, id: CommandId, result: String) -> WriteFuture<'_, bool> {
            self.change_identity(IdentityChange::StoreCommandResult(id, result))
        }
    }
}
