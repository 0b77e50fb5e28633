//! Reads accounts and their names.

use std::collections::HashMap;

use plyhouse_protocol::PlayerId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{Reader, player_from_row};
use crate::postgres::journal_rows::to_u64;
use crate::{Account, CommandId, PasswordHash, ReadError, UniqueName};

/// Selects the accounts of some players.
pub(in crate::postgres) const SELECT_ACCOUNTS: &str =
    "SELECT a.player, a.password, a.renamed_ms, a.owner, e.name
     FROM accounts a LEFT JOIN externals e ON e.player = a.player WHERE a.player = ANY ($1)";

/// Selects the bot accounts of these owners, ordered by id.
pub(in crate::postgres) const SELECT_BOTS: &str =
    "SELECT p.id, p.name, p.kind, a.owner FROM accounts a JOIN players p ON p.id = a.player
     WHERE a.owner = ANY ($1) ORDER BY a.player";

/// Selects the unique names of these players, ordered by skeleton. The column `likeness` holds the
/// skeleton.
pub(in crate::postgres) const SELECT_NAMES: &str = r#"SELECT player, likeness, until_ms FROM names WHERE player = ANY ($1)
       ORDER BY player, likeness COLLATE "C""#;

impl Reader {
    /// Returns the oldest operator commands that no server has claimed.
    pub(in crate::postgres) async fn pending_commands(
        &self,
    ) -> Result<Vec<(CommandId, String)>, ReadError> {
        let sql = "SELECT id, body FROM orders WHERE NOT taken ORDER BY asked, id LIMIT 16";
        let rows = self.query(sql, &[]).await?;
        let orders = rows.iter().map(|row| (CommandId(row.get(0)), row.get(1)));
        Ok(orders.collect())
    }
}

/// Builds accounts from account rows, name rows and bot account rows.
pub(in crate::postgres) fn accounts_from_rows(
    account_rows: &[Row],
    names: &[Row],
    bots: &[Row],
) -> HashMap<PlayerId, Account> {
    let account = |row: &Row| Account {
        password: row.get::<_, Option<String>>(1).map(PasswordHash),
        renamed_ms: row.get::<_, Option<i64>>(2).map(to_u64),
        owner: row.get::<_, Option<Uuid>>(3).map(PlayerId),
        external_name: row.get(4),
        ..Account::default()
    };
    let accounts = account_rows
        .iter()
        .map(|row| (PlayerId(row.get(0)), account(row)));
    let mut accounts: HashMap<PlayerId, Account> = accounts.collect();
    for row in names {
        if let Some(account) = accounts.get_mut(&PlayerId(row.get(0))) {
            account.unique_names.push(UniqueName {
                skeleton: row.get(1),
                reserved_until_ms: row.get::<_, Option<i64>>(2).map(to_u64),
            });
        }
    }
    for row in bots {
        if let Some(account) = accounts.get_mut(&PlayerId(row.get(3))) {
            account.bots.push(player_from_row(row));
        }
    }
    accounts
}
