//! Queue of operator commands in a SQLite database.

use std::path::Path;

use rusqlite::Connection;
use uuid::Uuid;

use super::{DATABASE_FILE, OpenError, schema, wall_clock_ms};
use crate::port::admin_queue::AdminQueue;
use crate::sql::run_now;
use crate::sql::tokens_and_admin_commands::{command_result, withdraw_command};
use crate::{CommandId, StoreAccessError};

/// Age in milliseconds at which an operator command is deleted. `plyhouse account` stops waiting
/// for the result of a command much earlier.
const COMMAND_EXPIRY_MS: u64 = 10 * 60 * 1000;

/// Stores operator commands in a SQLite database.
#[derive(Debug)]
pub struct SqliteAdminQueue {
    connection: Connection,
}

impl SqliteAdminQueue {
    /// Opens the database in this directory. The database must exist.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let connection = schema::open_admin_queue(&directory.join(DATABASE_FILE), directory)?;
        Ok(Self { connection })
    }
}

impl AdminQueue for SqliteAdminQueue {
    fn enqueue(&self, command: &str) -> Result<CommandId, StoreAccessError> {
        let now = wall_clock_ms();
        let expired_ms = now.saturating_sub(COMMAND_EXPIRY_MS);
        let sql = "DELETE FROM orders WHERE asked_ms < ?1";
        self.connection.execute(sql, [expired_ms])?;
        let sql = "INSERT INTO orders (id, asked_ms, body) VALUES (randomblob(16), ?1, ?2)
                   RETURNING id";
        let id = (self.connection).query_row(sql, (now, command), |row| row.get(0))?;
        Ok(CommandId(Uuid::from_bytes(id)))
    }

    fn find_result(&self, id: CommandId) -> Result<Option<String>, StoreAccessError> {
        Ok(run_now(command_result(&self.connection, id))?)
    }

    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError> {
        Ok(run_now(withdraw_command(&self.connection, id))?)
    }
}
