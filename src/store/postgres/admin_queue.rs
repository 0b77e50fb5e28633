//! Queue of operator commands in a PostgreSQL database.

use super::one_off_connection::OneOffConnection;
use super::{ConnectionUrl, OpenError};
use crate::port::admin_queue::AdminQueue;
use crate::sql::query_first;
use crate::sql::tokens_and_admin_commands::{command_result, withdraw_command};
use crate::{CommandId, StoreAccessError};

/// Stores operator commands in a PostgreSQL database. Must not be used within an async runtime.
#[derive(Debug)]
pub struct PostgresAdminQueue(OneOffConnection);

impl PostgresAdminQueue {
    /// Connects to the database at this URL (`postgres://…`).
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`](super::OpenPostgresError).
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Ok(Self(OneOffConnection::open(
            &url.parse::<ConnectionUrl>()?,
        )?))
    }
}

impl AdminQueue for PostgresAdminQueue {
    fn enqueue(&self, command: &str) -> Result<CommandId, StoreAccessError> {
        // The statement also deletes commands that are older than ten minutes. The operator's tool
        // waits less than ten minutes for a result.
        let sql = "WITH old AS (DELETE FROM orders WHERE asked < now() - interval '10 minutes')
                   INSERT INTO orders (id, body) VALUES (gen_random_uuid(), $1) RETURNING id";
        let id = (self.0).run(async |db| query_first(db, sql, &[command.into()]).await)?;
        id.ok_or_else(|| StoreAccessError("the command was not stored".to_owned()))
    }

    fn find_result(&self, id: CommandId) -> Result<Option<String>, StoreAccessError> {
        Ok(self.0.run(async |db| command_result(db, id).await)?)
    }

    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError> {
        Ok(self.0.run(async |db| withdraw_command(db, id).await)?)
    }
}
