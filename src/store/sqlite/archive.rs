//! The database as an archive: opened only to be looked at, without the lock.

mod checks;
#[cfg(test)]
mod tests;

use std::path::Path;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::{FILE, OpenError, accounts, blocks, operator, people, reader, schema};
use crate::archive::{Archive, KeptMatch, PEOPLE_AT_ONCE, Person, Unreadable};
use crate::{CorruptRecord, OneTimeToken, Record, TokenHash};

/// Reads the database in a directory.
#[derive(Debug)]
pub struct SqliteArchive {
    connection: Connection,
}

impl Archive for SqliteArchive {
    fn next(&self, after: Option<MatchId>) -> Result<Option<MatchId>, Unreadable> {
        let sql = "SELECT id FROM matches WHERE id > ?1 AND length(id) = 16 ORDER BY id LIMIT 1";
        let after = after.as_ref().map_or(&[][..], |id| id.0.as_bytes());
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([after], |row| row.get(0)).optional()?;
        Ok(found.map(|id| MatchId(Uuid::from_bytes(id))))
    }

    fn find(&self, name: MatchRef) -> Result<Option<MatchId>, Unreadable> {
        match name {
            MatchRef::Id(id) => {
                let sql = "SELECT 1 FROM matches WHERE id = ?1";
                let mut statement = self.connection.prepare_cached(sql)?;
                Ok(statement.exists([id.0.as_bytes()])?.then_some(id))
            }
            MatchRef::Code(code) => Ok(reader::by_code(&self.connection, code)?),
            MatchRef::Nothing => Ok(None),
        }
    }

    fn read(&self, id: MatchId) -> Result<Option<KeptMatch>, CorruptRecord> {
        self.read_rows(id).map_err(|failure| match failure {
            reader::Failure::Damaged(damage) => damage,
            reader::Failure::Sqlite(error) => CorruptRecord {
                id,
                why: format!("it cannot be read: {error}"),
            },
        })
    }

    fn players(&self) -> Result<u64, Unreadable> {
        let sql = "SELECT count(*) FROM players";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn passes(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, Unreadable> {
        Ok(operator::passes(&self.connection)?)
    }

    fn people(&self, after: Option<PlayerId>) -> Result<Vec<Person>, Unreadable> {
        let sql = "SELECT id, name, kind, gone FROM players WHERE id > ?1 ORDER BY id LIMIT ?2";
        let after = after.as_ref().map_or(&[][..], |id| id.0.as_bytes());
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map((after, PEOPLE_AT_ONCE), |row| {
            let id = PlayerId(Uuid::from_bytes(row.get(0)?));
            Ok(Person {
                player: people::player_with(id, row, 1)?,
                sessions: people::sessions(&self.connection, id)?,
                recovery: people::recovery(&self.connection, id)?,
                account: accounts::account(&self.connection, id)?,
                blocks: blocks::kept(&self.connection, id)?,
                is_gone: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn faults(&self) -> Vec<String> {
        checks::check_database(&self.connection)
    }
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl SqliteArchive {
    /// Opens the store in this directory.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: schema::open_to_look(&directory.join(FILE), directory)?,
        })
    }

    fn read_rows(&self, id: MatchId) -> Result<Option<KeptMatch>, reader::Failure> {
        // One reading transaction, so that all of it is the match as it was.
        let at_once = self.connection.unchecked_transaction()?;
        let Some((record, length)) = reader::load_within(&at_once, id)? else {
            return Ok(None);
        };
        let players = read_players(&at_once, &record)?;
        Ok(Some(KeptMatch {
            record,
            ended_ms: length.ended_ms,
            players,
        }))
    }
}

/// Those who are in a match, as far as they are known.
fn read_players(
    connection: &Connection,
    record: &Record,
) -> rusqlite::Result<Vec<(PlayerId, String)>> {
    let mut statement = connection.prepare_cached("SELECT name FROM players WHERE id = ?1")?;
    let mut involved: Vec<PlayerId> = record.involved().collect();
    involved.sort_unstable();
    involved.dedup();
    let mut players = Vec::with_capacity(involved.len());
    for id in involved {
        let name = statement.query_row([id.0.as_bytes()], |row| row.get(0));
        players.extend(name.optional()?.map(|name| (id, name)));
    }
    Ok(players)
}
