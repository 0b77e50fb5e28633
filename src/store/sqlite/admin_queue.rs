//! Queue of operator commands in a SQLite database.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use super::{DATABASE_FILE, OpenError, schema};
use crate::port::admin_queue::AdminQueue;
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
        let now = now_ms();
        let expired_ms = now.saturating_sub(COMMAND_EXPIRY_MS);
        let sql = "DELETE FROM orders WHERE asked_ms < ?1";
        self.connection.execute(sql, [expired_ms])?;
        let sql = "INSERT INTO orders (id, asked_ms, body) VALUES (randomblob(16), ?1, ?2)
                   RETURNING id";
        let id = (self.connection).query_row(sql, (now, command), |row| row.get(0))?;
        Ok(CommandId(Uuid::from_bytes(id)))
    }

    fn find_result(&self, id: CommandId) -> Result<Option<String>, StoreAccessError> {
        let sql = "SELECT answer FROM orders WHERE id = ?1";
        let found = self
            .connection
            .query_row(sql, [id.0.as_bytes()], |row| row.get(0));
        Ok(found.optional()?.flatten())
    }

    fn withdraw(&self, id: CommandId) -> Result<bool, StoreAccessError> {
        let sql = "DELETE FROM orders WHERE id = ?1 RETURNING taken";
        let was_claimed = self
            .connection
            .query_row(sql, [id.0.as_bytes()], |row| row.get(0));
        Ok(was_claimed.optional()?.unwrap_or(true))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests do not depend on this time"
)]
fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Maximum number of operator commands that are read at a time.
const COMMANDS_BATCH_SIZE: i64 = 16;

/// Returns the oldest operator commands that no server has claimed.
pub(super) fn pending_commands(
    connection: &Connection,
) -> rusqlite::Result<Vec<(CommandId, String)>> {
    let sql = "SELECT id, body FROM orders WHERE NOT taken ORDER BY asked_ms, id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((CommandId(Uuid::from_bytes(row.get(0)?)), row.get(1)?));
    statement.query_map([COMMANDS_BATCH_SIZE], read)?.collect()
}
