//! Read-only inspection of a SQLite database, with or without a running server. The inspector does
//! not lock the data directory.

mod consistency_checks;
#[cfg(test)]
mod tests;

use std::path::Path;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::{DATABASE_FILE, OpenError, players_and_sessions, reader, schema};
use crate::port::inspection::{
    InspectedMatch, InspectedPlayer, PLAYERS_PAGE_SIZE, StoreAccessError, StoreInspector,
};
use crate::sql::matches::find_by_code;
use crate::sql::tokens_and_admin_commands::one_time_tokens;
use crate::sql::{accounts, blocks, run_now, sessions};
use crate::{CorruptRecord, MatchRecord, OneTimeToken, TokenHash};

/// Inspects a SQLite database without changing it.
#[derive(Debug)]
pub struct SqliteInspector {
    connection: Connection,
}

impl StoreInspector for SqliteInspector {
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError> {
        let sql = "SELECT id FROM matches WHERE id > ?1 AND length(id) = 16 ORDER BY id LIMIT 1";
        let after = after.as_ref().map_or(&[][..], |id| id.0.as_bytes());
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([after], |row| row.get(0)).optional()?;
        Ok(found.map(|id| MatchId(Uuid::from_bytes(id))))
    }

    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError> {
        match name {
            MatchRef::Id(id) => {
                let sql = "SELECT 1 FROM matches WHERE id = ?1";
                let mut statement = self.connection.prepare_cached(sql)?;
                Ok(statement.exists([id.0.as_bytes()])?.then_some(id))
            }
            MatchRef::Code(code) => Ok(run_now(find_by_code(&self.connection, code))?),
            MatchRef::Invalid => Ok(None),
        }
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
        let sql = "SELECT count(*) FROM players";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError> {
        Ok(run_now(one_time_tokens(&self.connection))?)
    }

    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError> {
        let sql = "SELECT id, name, kind, gone FROM players WHERE id > ?1 ORDER BY id LIMIT ?2";
        let after = after.as_ref().map_or(&[][..], |id| id.0.as_bytes());
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map((after, PLAYERS_PAGE_SIZE), |row| {
            let id = PlayerId(Uuid::from_bytes(row.get(0)?));
            Ok(InspectedPlayer {
                player: players_and_sessions::player_from_columns(id, row, 1)?,
                sessions: run_now(sessions::sessions(&self.connection, id))?,
                recovery_key: run_now(sessions::recovery_key(&self.connection, id))?,
                account: run_now(accounts::account(&self.connection, id))?,
                blocks: run_now(blocks::player_blocks(&self.connection, id))?,
                is_deleted: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
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
        let players = read_players(&transaction, &record)?;
        Ok(Some(InspectedMatch {
            record,
            ended_ms: row.ended_ms,
            players,
        }))
    }
}

/// Returns the ids and names of the players of a match. Skips players that are not stored.
fn read_players(
    connection: &Connection,
    record: &MatchRecord,
) -> rusqlite::Result<Vec<(PlayerId, String)>> {
    let mut statement = connection.prepare_cached("SELECT name FROM players WHERE id = ?1")?;
    let mut player_ids: Vec<PlayerId> = record.involved_players().collect();
    player_ids.sort_unstable();
    player_ids.dedup();
    let mut players = Vec::with_capacity(player_ids.len());
    for id in player_ids {
        let name = statement.query_row([id.0.as_bytes()], |row| row.get(0));
        players.extend(name.optional()?.map(|name| (id, name)));
    }
    Ok(players)
}
