//! The thread that reads. It sees what has been committed, and nothing while that is uncertain.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Condition;
use super::rows::{CREATION, CREATION_COLUMNS, LENGTH, Length, creation};
use super::worker::{Jobs, Worker};
use super::{people, ratings, reminders};
use crate::record::event_from_text;
use crate::{
    CorruptRecord, JournalPosition, Live, Loaded, PlayerRecord, ReadError, Record, RematchRecord,
    Tail,
};
use plyhouse_matches::Event;
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, Seq};

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
    Damaged(CorruptRecord),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Reader {
    pub(super) fn start(
        name: &str,
        connection: Connection,
        condition: &Arc<Condition>,
    ) -> io::Result<Self> {
        let work = move |jobs: Jobs<Job>| {
            while let Some(job) = jobs.next() {
                job(&connection);
                jobs.done(1);
            }
        };
        Ok(Self {
            worker: Worker::start(name, work)?,
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
pub(super) fn load(connection: &Connection, id: MatchId) -> Result<Option<Loaded>, Failure> {
    // One reading transaction, so that the events are those of the match as it was.
    let at_once = connection.unchecked_transaction()?;
    let loaded = load_within(&at_once, id).and_then(|found| {
        let Some((record, _)) = found else {
            return Ok(None);
        };
        let (next, reminder) = match record.has_ended() {
            true => (next(&at_once, id)?, None),
            false => (None, reminders::load(&at_once, id)?),
        };
        let changes = match record.has_ended() && record.creation.terms.rated {
            true => ratings::changes_of(&at_once, id)?,
            false => None,
        };
        let loaded = Loaded::from(record);
        Ok(Some(Loaded {
            next,
            reminder,
            changes,
            ..loaded
        }))
    });
    match loaded {
        Ok(found) => Ok(found),
        Err(Failure::Sqlite(error)) if is_damage(&error) => {
            Err(Failure::Damaged(damage(id, &error.to_string())))
        }
        Err(failure) => Err(failure),
    }
}

/// The record of a match, and how long its row tells that it is.
pub(super) fn load_within(
    at_once: &Connection,
    id: MatchId,
) -> Result<Option<(Record, Length)>, Failure> {
    let sql = format!("SELECT {CREATION}, {LENGTH} FROM matches WHERE id = ?1");
    let found = at_once
        .prepare_cached(&sql)?
        .query_row([id.0.as_bytes()], |row| {
            Ok((creation(row)?, Length::of(row, CREATION_COLUMNS)?))
        })
        .optional()?;
    let Some((creation, length)) = found else {
        return Ok(None);
    };
    let damaged = |why| Failure::Damaged(CorruptRecord { id, why });
    let creation = creation.map_err(damaged)?;
    let mut events = Events::from(1);
    let mut statement = at_once
        .prepare_cached("SELECT seq, at_ms, event FROM events WHERE match = ?1 ORDER BY seq")?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    while let Some(row) = rows.next()? {
        events.add(row)?;
    }
    let events = events.finish(length).map_err(damaged)?;
    Ok(Some((Record { creation, events }, length)))
}

/// The rematch of a match.
fn next(at_once: &Connection, id: MatchId) -> Result<Option<RematchRecord>, Failure> {
    let sql = "SELECT id, code FROM matches WHERE previous = ?1";
    let found = at_once
        .prepare_cached(sql)?
        .query_row([id.0.as_bytes()], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    Ok(found.and_then(|(next, code)| {
        Some(RematchRecord {
            id: MatchId(Uuid::from_bytes(next)),
            code: code.parse().ok()?,
        })
    }))
}

/// What has happened in a match since this event; `None` if it has not got that far.
pub(super) fn tail(
    connection: &Connection,
    id: MatchId,
    after: Seq,
) -> Result<Option<Tail>, Failure> {
    let at_once = connection.unchecked_transaction()?;
    match tail_within(&at_once, id, after) {
        Err(Failure::Sqlite(error)) if is_damage(&error) => {
            Err(Failure::Damaged(damage(id, &error.to_string())))
        }
        read => read,
    }
}

fn tail_within(at_once: &Connection, id: MatchId, after: Seq) -> Result<Option<Tail>, Failure> {
    let sql = format!("SELECT {LENGTH} FROM matches WHERE id = ?1");
    let length = at_once
        .prepare_cached(&sql)?
        .query_row([id.0.as_bytes()], |row| Length::of(row, 0))
        .optional()?;
    let Some(length) = length else {
        return Ok(None);
    };
    // From the event that is known on, if there is one: it shows that the match has got that far.
    let known = after.0.min(1);
    let mut events = Events::from(after.0 - known + 1);
    let sql = "SELECT seq, at_ms, event FROM events WHERE match = ?1 AND seq >= ?2 ORDER BY seq";
    let mut statement = at_once.prepare_cached(sql)?;
    let first = i64::try_from(events.next).unwrap_or(i64::MAX);
    let mut rows = statement.query((id.0.as_bytes(), first))?;
    while let Some(row) = rows.next()? {
        events.add(row)?;
    }
    if events.next <= after.0 && events.damage.is_none() {
        return Ok(None);
    }
    let damaged = |why| Failure::Damaged(CorruptRecord { id, why });
    let mut events = events.finish(length).map_err(damaged)?;
    events.drain(..usize::from(known > 0));
    let mark = JournalPosition::after(after.0 + events.len() as u64);
    Ok(Some(Tail { events, mark }))
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

/// The player with this id.
pub(super) fn player_by_id(
    connection: &Connection,
    id: PlayerId,
) -> Result<Option<PlayerRecord>, Failure> {
    let sql = "SELECT id, name, kind FROM players WHERE id = ?1 AND NOT gone";
    let found = connection.prepare_cached(sql)?;
    Ok({ found }
        .query_row([id.0.as_bytes()], player_of)
        .optional()?)
}

/// The live matches that are wanted, and the players in them. What is damaged is told match by match,
/// and the others are read.
pub(super) fn live(
    connection: &Connection,
    is_wanted: impl Fn(MatchId) -> bool,
) -> Result<Live, Failure> {
    let at_once = connection.unchecked_transaction()?;
    let mut matches = Vec::new();
    let ids = live_ids(&at_once)?.into_iter();
    for id in ids.filter(|id| is_wanted(*id)) {
        match load_within(&at_once, id) {
            Ok(Some((record, _))) => matches.push(Ok(record.into())),
            // It is in an index, and not there.
            Ok(None) => matches.push(Err(damage(id, "it has no row"))),
            Err(Failure::Damaged(damage)) => matches.push(Err(damage)),
            Err(Failure::Sqlite(error)) if is_damage(&error) => {
                matches.push(Err(damage(id, &error.to_string())));
            }
            Err(failure) => return Err(failure),
        }
    }
    let involved = involved(&matches);
    let mut statement = at_once.prepare("SELECT id, name, kind FROM players WHERE id = ?1")?;
    let mut players = Vec::with_capacity(involved.len());
    for id in involved {
        match statement.query_row([id.0.as_bytes()], player_of).optional() {
            Ok(found) => players.extend(found),
            // Who is missing is told of by whoever needs them.
            Err(error) if is_damage(&error) => {
                tracing::error!(player = %id, %error, "a player cannot be read");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Live { matches, players })
}

/// The ids of the live matches that are served all the time, oldest first. Around a damaged page they are read from
/// both sides.
pub(super) fn live_ids(connection: &Connection) -> Result<Vec<MatchId>, Failure> {
    let mut ids = BTreeSet::new();
    let mut read = |order: &str| -> rusqlite::Result<()> {
        let sql = format!(
            "SELECT id FROM matches WHERE ended_ms IS NULL AND wake_ms IS NULL ORDER BY id {order}"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get(0) {
                Ok(id) => {
                    ids.insert(MatchId(Uuid::from_bytes(id)));
                }
                Err(error) => tracing::error!(%error, "a match has no id that can be read"),
            }
        }
        Ok(())
    };
    match read("ASC") {
        Ok(()) => {}
        Err(error) if is_damage(&error) => {
            tracing::error!(%error, "part of the matches cannot be read");
            if let Err(error) = read("DESC")
                && !is_damage(&error)
            {
                return Err(error.into());
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(ids.into_iter().collect())
}

fn damage(id: MatchId, why: &str) -> CorruptRecord {
    let why = why.to_owned();
    CorruptRecord { id, why }
}

/// Whether an error tells that what is there makes no sense, and not that it cannot be read now.
fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(..) => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
        _ => true,
    }
}

fn involved(matches: &[Result<Loaded, CorruptRecord>]) -> Vec<PlayerId> {
    let mut all: Vec<PlayerId> = matches
        .iter()
        .flatten()
        .flat_map(|loaded| loaded.record.involved())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn player_of(row: &Row<'_>) -> rusqlite::Result<PlayerRecord> {
    people::player_with(PlayerId(Uuid::from_bytes(row.get(0)?)), row, 1)
}

/// The events of a match from one on, as they are read one after the other.
#[derive(Debug)]
struct Events {
    /// The number of the event to come.
    next: u64,
    events: Vec<Event>,
    damage: Option<String>,
}

impl Events {
    /// None yet, and the first is to be this one.
    const fn from(first: u64) -> Self {
        Self {
            next: first,
            events: Vec::new(),
            damage: None,
        }
    }

    /// Adds the event of a row that has its number, its time and its text in the first columns.
    fn add(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let (seq, next): (i64, u64) = (row.get(0)?, self.next);
        let event = if u64::try_from(seq) == Ok(next) {
            let at_ms = row.get(1)?;
            let read = event_from_text(row.get_ref(2)?.as_str()?).map(|kind| kind.at(at_ms));
            read.map_err(|why| format!("event {seq}: {why}"))
        } else {
            Err(format!("event {seq} is there in place of {next}"))
        };
        match event {
            Ok(event) => {
                self.events.push(event);
                self.next += 1;
            }
            Err(why) => {
                self.damage.get_or_insert(why);
            }
        }
        Ok(())
    }

    /// The events, if they end where the match's row tells.
    fn finish(self, length: Length) -> Result<Vec<Event>, String> {
        if let Some(damage) = self.damage {
            return Err(damage);
        }
        length.check(self.next - 1)?;
        Ok(self.events)
    }
}
