//! Where orders are left beside the server that uses a directory.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::{FILE, OpenError, schema};
use crate::desk::Desk;
use crate::{OrderId, Unreadable};

/// After so long nobody waits for an answer any more, in milliseconds.
const OLD_MS: u64 = 10 * 60 * 1000;

/// Leaves orders in the database in a directory.
#[derive(Debug)]
pub struct SqliteDesk {
    connection: Connection,
}

impl SqliteDesk {
    /// Opens the database in this directory.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let connection = schema::open_to_order(&directory.join(FILE), directory)?;
        Ok(Self { connection })
    }
}

impl Desk for SqliteDesk {
    fn ask(&self, order: &str) -> Result<OrderId, Unreadable> {
        let now = now_ms();
        let old = now.saturating_sub(OLD_MS);
        let sql = "DELETE FROM orders WHERE asked_ms < ?1";
        self.connection.execute(sql, [old])?;
        let sql = "INSERT INTO orders (id, asked_ms, body) VALUES (randomblob(16), ?1, ?2)
                   RETURNING id";
        let id = (self.connection).query_row(sql, (now, order), |row| row.get(0))?;
        Ok(OrderId(Uuid::from_bytes(id)))
    }

    fn answer(&self, order: OrderId) -> Result<Option<String>, Unreadable> {
        let sql = "SELECT answer FROM orders WHERE id = ?1";
        let found = self
            .connection
            .query_row(sql, [order.0.as_bytes()], |row| row.get(0));
        Ok(found.optional()?.flatten())
    }

    fn take_back(&self, order: OrderId) -> Result<bool, Unreadable> {
        let sql = "DELETE FROM orders WHERE id = ?1 RETURNING taken";
        let taken = self
            .connection
            .query_row(sql, [order.0.as_bytes()], |row| row.get(0));
        Ok(taken.optional()?.unwrap_or(true))
    }
}

#[expect(clippy::disallowed_methods, reason = "no test waits for it")]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
