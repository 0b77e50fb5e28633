//! The store for those who only look at it: it takes no lock and writes nothing, so it works while a
//! server runs and while none does.

mod checks;
mod json;
#[cfg(test)]
mod tests;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

pub use self::checks::{Fault, Summary};
use super::rows::{CREATION, LENGTH, Length, creation, event_from_text};
use super::{FILE, OpenError, reader, schema};
use crate::{Damage, Record};
use plyhouse_matches::Event;
use plyhouse_protocol::{MatchId, MatchRef, PlayerId};

/// Reads a store without being its server.
///
/// Every match is read as it was at one moment, and between two matches nothing is held: however
/// slowly the matches are taken, a server that runs is not hindered.
#[derive(Debug)]
pub struct SqliteArchive {
    connection: Connection,
}

/// All that is kept of a match. Its serialisation is what `plyhouse export` prints.
#[derive(Debug)]
pub struct KeptMatch {
    /// The match and its events.
    pub record: Record,
    /// When the match ended, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// The host and everybody who ever sat down, with their names; those who are known.
    pub players: Vec<(PlayerId, String)>,
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

    /// The match that was created next after this one; the first of all after none.
    ///
    /// # Errors
    ///
    /// The database cannot be read.
    pub fn next(&self, after: Option<MatchId>) -> rusqlite::Result<Option<MatchId>> {
        let sql = "SELECT id FROM matches WHERE id > ?1 AND length(id) = 16 ORDER BY id LIMIT 1";
        let after = after.as_ref().map_or(&[][..], |id| id.0.as_bytes());
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([after], |row| row.get(0)).optional()?;
        Ok(found.map(|id| MatchId(Uuid::from_bytes(id))))
    }

    /// The match with this id, or the latest with this code, a live one before all others.
    ///
    /// # Errors
    ///
    /// The database cannot be read.
    pub fn find(&self, name: MatchRef) -> rusqlite::Result<Option<MatchId>> {
        match name {
            MatchRef::Id(id) => {
                let sql = "SELECT 1 FROM matches WHERE id = ?1";
                let mut statement = self.connection.prepare_cached(sql)?;
                Ok(statement.exists([id.0.as_bytes()])?.then_some(id))
            }
            MatchRef::Code(code) => reader::by_code(&self.connection, code),
            MatchRef::Nothing => Ok(None),
        }
    }

    /// All that is kept of a match; `None` if there is none.
    ///
    /// # Errors
    ///
    /// What is kept makes no sense or cannot be read.
    pub fn read(&self, id: MatchId) -> Result<Option<KeptMatch>, Damage> {
        match self.read_rows(id) {
            Ok(None) => Ok(None),
            Ok(Some(read)) => read.map(Some).map_err(|why| Damage { id, why }),
            Err(error) => Err(Damage {
                id,
                why: format!("it cannot be read: {error}"),
            }),
        }
    }

    fn read_rows(&self, id: MatchId) -> rusqlite::Result<Option<Result<KeptMatch, String>>> {
        // One reading transaction, so that all of it is the match as it was.
        let at_once = self.connection.unchecked_transaction()?;
        let sql = format!("SELECT {CREATION}, {LENGTH} FROM matches WHERE id = ?1");
        let found = at_once
            .prepare_cached(&sql)?
            .query_row([id.0.as_bytes()], |row| {
                Ok((creation(row)?, Length::of(row, 7)?))
            })
            .optional()?;
        let Some((creation, length)) = found else {
            return Ok(None);
        };
        let events = match read_events(&at_once, id, length)? {
            Ok(read) => read,
            Err(why) => return Ok(Some(Err(why))),
        };
        let record = match creation {
            Ok(creation) => Record { creation, events },
            Err(why) => return Ok(Some(Err(why))),
        };
        let players = read_players(&at_once, &record)?;
        Ok(Some(Ok(KeptMatch {
            record,
            ended_ms: length.ended_ms,
            players,
        })))
    }
}

/// The events of a match, or what is wrong with them.
fn read_events(
    connection: &Connection,
    id: MatchId,
    length: Length,
) -> rusqlite::Result<Result<Vec<Event>, String>> {
    let sql = "SELECT seq, at_ms, event FROM events WHERE match = ?1 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, at_ms): (i64, u64) = (row.get(0)?, row.get(1)?);
        let expected = events.len() + 1;
        if i64::try_from(expected) != Ok(seq) {
            return Ok(Err(format!("event {seq} is there in place of {expected}")));
        }
        match event_from_text(row.get_ref(2)?.as_str()?) {
            Ok(kind) => events.push(kind.at(at_ms)),
            Err(why) => return Ok(Err(format!("event {seq}: {why}"))),
        }
    }
    Ok(length.check(events.len()).map(|()| events))
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
