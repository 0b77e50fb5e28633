//! Read-only inspection of a SQLite database, with or without a running server. The inspector does
//! not lock the data directory.

mod consistency_checks;
#[cfg(test)]
mod tests;

use std::path::Path;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use rusqlite::Connection;

use super::{DATABASE_FILE, OpenError, reader, schema};
use crate::port::inspection::{InspectedMatch, InspectedPlayer, StoreAccessError, StoreInspector};
use crate::sql::matches::find_match;
use crate::sql::tokens_and_admin_commands::one_time_tokens;
use crate::sql::{Value, inspection, query_first, run_now};
use crate::{CorruptRecord, OneTimeToken, TokenHash};

/// Inspects a SQLite database without changing it.
#[derive(Debug)]
pub struct SqliteInspector {
    connection: Connection,
}

impl StoreInspector for SqliteInspector {
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError> {
        let sql = "SELECT id FROM matches WHERE id > ?1 AND length(id) = 16 ORDER BY id LIMIT 1";
        let after = after.map_or(Value::Bytes(&[]), Value::from);
        Ok(run_now(query_first(&self.connection, sql, &[after]))?)
    }

    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError> {
        Ok(run_now(find_match(&self.connection, name))?)
    }

    fn inspect_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, CorruptRecord> {
        self.read_match(id).map_err(|failure| match failure {
            reader::LoadError::Corrupt(corrupt) => corrupt,
            reader::LoadError::Sqlite(error) => CorruptRecord {
                id,
                reason: format!("it cannot be read: {error}"),
            },
        })
    }

    fn player_count(&self) -> Result<u64, StoreAccessError> {
        Ok(run_now(inspection::player_count(&self.connection))?)
    }

    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError> {
        Ok(run_now(one_time_tokens(&self.connection))?)
    }

    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError> {
        Ok(run_now(inspection::players_after(&self.connection, after))?)
    }

    fn integrity_faults(&self) -> Vec<String> {
        consistency_checks::check_database(&self.connection)
    }
}

impl From<rusqlite::Error> for StoreAccessError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl SqliteInspector {
    /// Opens the database in this directory. The database must exist.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: schema::open_inspector(&directory.join(DATABASE_FILE), directory)?,
        })
    }

    fn read_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, reader::LoadError> {
        // All data is read in a single transaction, so that the data is consistent.
        let transaction = self.connection.unchecked_transaction()?;
        let Some((record, row)) = reader::load_in_transaction(&transaction, id)? else {
            return Ok(None);
        };
        let players = run_now(inspection::involved_players(&*transaction, &record))?;
        Ok(Some(InspectedMatch {
            record,
            ended_ms: row.ended_ms,
            players,
        }))
    }
}
