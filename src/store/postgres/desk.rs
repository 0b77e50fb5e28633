//! Where orders are left beside the servers that use a database.

use super::outside::Outside;
use super::{Address, OpenError};
use crate::desk::Desk;
use crate::{OrderId, Unreadable};

/// Leaves orders in a PostgreSQL database. Not to be used within a runtime.
#[derive(Debug)]
pub struct PostgresDesk(Outside);

impl PostgresDesk {
    /// Connects to the database at this address (`postgres://…`).
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`](super::OpenPostgresError).
    pub fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self(Outside::open(&address.parse::<Address>()?)?))
    }
}

impl Desk for PostgresDesk {
    fn ask(&self, order: &str) -> Result<OrderId, Unreadable> {
        // After so long nobody waits for an answer any more.
        let sql = "WITH old AS (DELETE FROM orders WHERE asked < now() - interval '10 minutes')
                   INSERT INTO orders (id, body) VALUES (gen_random_uuid(), $1) RETURNING id";
        let row = self.0.first(sql, &[&order])?;
        let row = row.ok_or_else(|| Unreadable("it keeps no order".to_owned()))?;
        Ok(OrderId(row.get(0)))
    }

    fn answer(&self, order: OrderId) -> Result<Option<String>, Unreadable> {
        let sql = "SELECT answer FROM orders WHERE id = $1";
        let found = self.0.first(sql, &[&order.0])?;
        Ok(found.and_then(|row| row.get(0)))
    }

    fn take_back(&self, order: OrderId) -> Result<bool, Unreadable> {
        let sql = "DELETE FROM orders WHERE id = $1 RETURNING taken";
        let found = self.0.first(sql, &[&order.0])?;
        Ok(found.is_none_or(|row| row.get(0)))
    }
}
