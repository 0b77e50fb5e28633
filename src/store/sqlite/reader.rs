//! The thread that reads. It sees what has been committed, and nothing while that is uncertain.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, OptionalExtension, Row};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Condition;
use super::rows::{CREATION, creation, event_from_text};
use super::worker::{Queued, Worker};
use crate::matches::{Creation, Event};
use crate::protocol::{MatchCode, MatchId, PlayerId};
use crate::store::{Damage, Live, PlayerRecord, ReadError, Record, TokenHash};

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The way to the thread that reads.
#[derive(Debug)]
pub(super) struct Reader {
    worker: Worker<Job>,
    condition: Arc<Condition>,
}

/// Why something was not read.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    Damaged(Damage),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Reader {
    pub(super) fn start(connection: Connection, condition: &Arc<Condition>) -> io::Result<Self> {
        let work = move |jobs: Receiver<Queued<Job>>| {
            for Queued { job, .. } in jobs {
                job(&connection);
            }
        };
        Ok(Self {
            worker: Worker::start("store-reader", work)?,
            condition: Arc::clone(condition),
        })
    }

    /// Has something read.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ReadError> {
        let (answer, found) = oneshot::channel();
        let condition = Arc::clone(&self.condition);
        let job = Box::new(move |connection: &Connection| {
            let found = if condition.is_certain() {
                read(connection).map_err(not_read)
            } else {
                Err(ReadError::Unavailable)
            };
            // Who asked may be gone.
            let _ = answer.send(found);
        });
        if !self.worker.give(job).await {
            return Err(ReadError::Unavailable);
        }
        found.await.unwrap_or(Err(ReadError::Unavailable))
    }
}

fn not_read(failure: Failure) -> ReadError {
    match failure {
        Failure::Sqlite(error) => {
            tracing::error!(%error, "the store could not be read");
            ReadError::Unavailable
        }
        Failure::Damaged(damage) => ReadError::Damaged(damage),
    }
}

/// The record of a match.
pub(super) fn load(connection: &Connection, id: MatchId) -> Result<Option<Record>, Failure> {
    // One reading transaction, so that the events are those of the match as it was.
    let at_once = connection.unchecked_transaction()?;
    let sql = format!("SELECT {CREATION}, last_seq FROM matches WHERE id = ?1");
    let found = at_once
        .prepare_cached(&sql)?
        .query_row([id.0.as_bytes()], |row| Ok((creation(row)?, row.get(7)?)))
        .optional()?;
    let Some((creation, last_seq)) = found else {
        return Ok(None);
    };
    let damaged = |why| Failure::Damaged(Damage { id, why });
    let creation = creation.map_err(damaged)?;
    let mut events = Events::default();
    let mut statement =
        at_once.prepare_cached("SELECT seq, event FROM events WHERE match = ?1 ORDER BY seq")?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    while let Some(row) = rows.next()? {
        events.add(row, 0)?;
    }
    let record = events.finish(creation, last_seq).map_err(damaged)?;
    Ok(Some(record))
}

/// The latest match with this code, a live one before all others.
pub(super) fn by_code(
    connection: &Connection,
    code: MatchCode,
) -> rusqlite::Result<Option<MatchId>> {
    let sql =
        "SELECT id FROM matches WHERE code = ?1 ORDER BY ended_ms IS NULL DESC, id DESC LIMIT 1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([code.to_string()], |row| row.get(0))
        .optional()?;
    Ok(found.map(|id| MatchId(Uuid::from_bytes(id))))
}

/// The player with this token.
pub(super) fn player(
    connection: &Connection,
    token: TokenHash,
) -> Result<Option<PlayerRecord>, Failure> {
    let sql = "SELECT id, name, token FROM players WHERE token = ?1";
    let found = connection.prepare_cached(sql)?;
    Ok({ found }.query_row([token.0], player_of).optional()?)
}

/// Every live match and the players in them.
pub(super) fn live(connection: &Connection) -> Result<Live, Failure> {
    let at_once = connection.unchecked_transaction()?;
    let mut events: HashMap<MatchId, Events> = HashMap::new();
    let mut statement = at_once.prepare(
        "SELECT seq, event, match FROM events
         WHERE match IN (SELECT id FROM matches WHERE ended_ms IS NULL) ORDER BY match, seq",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = MatchId(Uuid::from_bytes(row.get(2)?));
        events.entry(id).or_default().add(row, 0)?;
    }
    let sql =
        format!("SELECT {CREATION}, last_seq FROM matches WHERE ended_ms IS NULL ORDER BY id");
    let mut statement = at_once.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut matches = Vec::new();
    while let Some(row) = rows.next()? {
        let id = MatchId(Uuid::from_bytes(row.get(0)?));
        let last_seq = row.get(7)?;
        let read = |creation| {
            let events = events.remove(&id).unwrap_or_default();
            events.finish(creation, last_seq)
        };
        matches.push(
            creation(row)?
                .and_then(read)
                .map_err(|why| Damage { id, why }),
        );
    }
    let involved = involved(&matches);
    let mut statement = at_once.prepare("SELECT id, name, token FROM players WHERE id = ?1")?;
    let mut players = Vec::with_capacity(involved.len());
    for id in involved {
        let found = statement.query_row([id.0.as_bytes()], player_of);
        players.extend(found.optional()?);
    }
    Ok(Live { matches, players })
}

fn involved(matches: &[Result<Record, Damage>]) -> Vec<PlayerId> {
    let mut all: Vec<PlayerId> = matches
        .iter()
        .flatten()
        .flat_map(Record::involved)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn player_of(row: &Row<'_>) -> rusqlite::Result<PlayerRecord> {
    Ok(PlayerRecord {
        id: PlayerId(Uuid::from_bytes(row.get(0)?)),
        name: row.get(1)?,
        token: TokenHash(row.get(2)?),
    })
}

/// The events of a match, as they are read one after the other.
#[derive(Debug, Default)]
pub(in crate::store) struct Events {
    events: Vec<Event>,
    damage: Option<String>,
}

impl Events {
    /// Adds the event of a row that has its number and its text in these columns.
    pub(in crate::store) fn add(&mut self, row: &Row<'_>, first: usize) -> rusqlite::Result<()> {
        let seq: i64 = row.get(first)?;
        let expected = self.events.len() as u64 + 1;
        let event = if u64::try_from(seq) == Ok(expected) {
            event_from_text(row.get_ref(first + 1)?.as_str()?)
        } else {
            Err(format!("event {expected} is missing"))
        };
        match event {
            Ok(event) => self.events.push(event),
            Err(why) => {
                self.damage
                    .get_or_insert_with(|| format!("event {expected}: {why}"));
            }
        }
        Ok(())
    }

    /// The record, if the last event is this one.
    pub(in crate::store) fn finish(
        self,
        creation: Creation,
        last_seq: i64,
    ) -> Result<Record, String> {
        let Self { events, damage } = self;
        if let Some(damage) = damage {
            return Err(damage);
        }
        if i64::try_from(events.len()) != Ok(last_seq) {
            return Err(format!("{} events are there, not {last_seq}", events.len()));
        }
        Ok(Record { creation, events })
    }
}
