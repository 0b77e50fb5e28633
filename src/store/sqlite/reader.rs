//! A thread that reads from the database. The thread sees only committed data, and refuses to read
//! while it is uncertain whether this data is durable.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, Row};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Health;
use super::journal_length::JournalLength;
use super::worker_thread::{JobQueue, Worker};
use crate::records::match_record::event_from_text;
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row, to_rematch};
use crate::sql::ratings::changes_of_match;
use crate::sql::{InvalidColumn, Sql, query_first, reminders, run_now};
use crate::{
    CorruptRecord, JournalPosition, JournalTail, LiveMatches, LoadedMatch, MatchRecord,
    PlayerRecord, ReadError, RematchRecord,
};
use plyhouse_matches::Event;
use plyhouse_protocol::{MatchId, PlayerId, Seq};

type ReadJob = Box<dyn FnOnce(&Mutex<Connection>) + Send>;

/// Handle to a reader thread.
#[derive(Debug)]
pub(super) struct Reader {
    worker: Worker<ReadJob>,
    health: Arc<Health>,
}

/// Reason why a read failed.
#[derive(Debug)]
pub(super) enum LoadError {
    Sqlite(rusqlite::Error),
    Corrupt(CorruptRecord),
}

impl From<rusqlite::Error> for LoadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<InvalidColumn> for LoadError {
    fn from(invalid: InvalidColumn) -> Self {
        Self::Sqlite(invalid.into())
    }
}

impl Reader {
    pub(super) fn start(
        name: &str,
        connection: Connection,
        health: &Arc<Health>,
    ) -> io::Result<Self> {
        let connection = Mutex::new(connection);
        let run = move |jobs: JobQueue<ReadJob>| {
            while let Some(job) = jobs.next() {
                job(&connection);
                jobs.release_permits(1);
            }
        };
        Ok(Self {
            worker: Worker::start(name, run)?,
            health: Arc::clone(health),
        })
    }

    /// Runs the closure `read` on the reader thread and returns the closure's result.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        self.run(move |connection| read(&connection.lock())).await
    }

    /// Runs a shared query on the reader thread, in one transaction.
    pub(super) async fn read_shared<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Mutex<Connection>) -> BoxFuture<'a, rusqlite::Result<T>>
        + Send
        + 'static,
    ) -> Result<T, ReadError> {
        self.run(|connection| {
            let execute = |sql| connection.lock().prepare_cached(sql)?.execute([]);
            execute("BEGIN")?;
            let result = run_now(query(connection));
            let ended = execute("COMMIT");
            let result = result?;
            ended?;
            Ok(result)
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Mutex<Connection>) -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let (reply, result) = oneshot::channel();
        let health = Arc::clone(&self.health);
        let job = Box::new(move |connection: &Mutex<Connection>| {
            let result = if health.is_certain() {
                read(connection).map_err(to_read_error)
            } else {
                Err(ReadError::Unavailable)
            };
            // Sending fails if the caller no longer waits for the result.
            let _ = reply.send(result);
        });
        if !self.worker.submit(job).await {
            return Err(ReadError::Unavailable);
        }
        result.await.unwrap_or(Err(ReadError::Unavailable))
    }
}

fn to_read_error(failure: LoadError) -> ReadError {
    match failure {
        LoadError::Sqlite(error) => {
            tracing::error!(%error, "cannot read from the store");
            ReadError::Unavailable
        }
        LoadError::Corrupt(corrupt) => ReadError::Corrupt(corrupt),
    }
}

/// Loads a match. Returns `None` if the match is not stored.
pub(super) fn load(connection: &Connection, id: MatchId) -> Result<Option<LoadedMatch>, LoadError> {
    // All data is read in a single transaction, so that the data is consistent.
    let transaction = connection.unchecked_transaction()?;
    let loaded = load_in_transaction(&transaction, id).and_then(|found| {
        let Some((record, _)) = found else {
            return Ok(None);
        };
        let (rematch, reminder) = match record.has_ended() {
            true => (load_rematch(&transaction, id)?, None),
            false => {
                let wake_ms = run_now(reminders::wake_ms(&*transaction, id))?;
                let reminder = reminders::load_reminder(&*transaction, id, wake_ms);
                (None, run_now(reminder)?)
            }
        };
        let changes = match record.has_ended() && record.creation.terms.rated {
            true => run_now(changes_of_match(&*transaction, id))?,
            false => None,
        };
        let loaded = LoadedMatch::from(record);
        Ok(Some(LoadedMatch {
            rematch,
            reminder,
            rating_changes: changes,
            ..loaded
        }))
    });
    loaded.map_err(|failure| blame_match(failure, id))
}

/// Reports an error that means corruption as corruption of the match that was read.
fn blame_match(failure: LoadError, id: MatchId) -> LoadError {
    match failure {
        LoadError::Sqlite(error) if is_corruption(&error) => {
            LoadError::Corrupt(corrupt_record(id, &error.to_string()))
        }
        failure => failure,
    }
}

/// Loads the creation data and the events of a match. Also returns the event count and the end time
/// that the row of the match contains.
pub(super) fn load_in_transaction(
    transaction: &Connection,
    id: MatchId,
) -> Result<Option<(MatchRecord, JournalLength)>, LoadError> {
    let sql = "SELECT id, code, game, host, terms, last_seq, ended_ms FROM matches WHERE id = ?1";
    let rows = run_now(transaction.query(sql, &[id.into()]))?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let corrupt = |why| LoadError::Corrupt(CorruptRecord { id, reason: why });
    let creation = creation_from_row(row).map_err(corrupt)?;
    let length = JournalLength {
        last_seq: row.get(CREATION_COLUMN_COUNT)?,
        ended_ms: row.get(CREATION_COLUMN_COUNT + 1)?,
    };
    let mut events = EventRows::starting_at(1);
    let mut statement = transaction
        .prepare_cached("SELECT seq, at_ms, event FROM events WHERE match = ?1 ORDER BY seq")?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    while let Some(row) = rows.next()? {
        events.push_row(row)?;
    }
    let events = events.into_events(length).map_err(corrupt)?;
    Ok(Some((MatchRecord { creation, events }, length)))
}

/// Returns the rematch that follows a match. Returns `None` if there is no rematch.
fn load_rematch(transaction: &Connection, id: MatchId) -> Result<Option<RematchRecord>, LoadError> {
    let sql = "SELECT id, code FROM matches WHERE previous = ?1";
    let found = run_now(query_first(transaction, sql, &[id.into()]))?;
    Ok(found.and_then(to_rematch))
}

/// Returns the events whose numbers are greater than `after`. Returns `None` if the match has fewer
/// than `after` events or is not stored.
pub(super) fn tail(
    connection: &Connection,
    id: MatchId,
    after: Seq,
) -> Result<Option<JournalTail>, LoadError> {
    let transaction = connection.unchecked_transaction()?;
    let read = tail_in_transaction(&transaction, id, after);
    read.map_err(|failure| blame_match(failure, id))
}

fn tail_in_transaction(
    transaction: &Connection,
    id: MatchId,
    after: Seq,
) -> Result<Option<JournalTail>, LoadError> {
    let sql = "SELECT last_seq, ended_ms FROM matches WHERE id = ?1";
    let found = run_now(query_first(transaction, sql, &[id.into()]))?;
    let Some((last_seq, ended_ms)) = found else {
        return Ok(None);
    };
    let length = JournalLength { last_seq, ended_ms };
    // Unless `after` is 0, the query also reads the event with the number `after`, to check that
    // this event exists.
    let known_events = after.0.min(1);
    let mut events = EventRows::starting_at(after.0 - known_events + 1);
    let sql = "SELECT seq, at_ms, event FROM events WHERE match = ?1 AND seq >= ?2 ORDER BY seq";
    let mut statement = transaction.prepare_cached(sql)?;
    let first_seq = i64::try_from(events.next).unwrap_or(i64::MAX);
    let mut rows = statement.query((id.0.as_bytes(), first_seq))?;
    while let Some(row) = rows.next()? {
        events.push_row(row)?;
    }
    if events.next <= after.0 && events.corruption.is_none() {
        return Ok(None);
    }
    let corrupt = |why| LoadError::Corrupt(CorruptRecord { id, reason: why });
    let mut events = events.into_events(length).map_err(corrupt)?;
    events.drain(..usize::from(known_events > 0));
    let position = JournalPosition::after_events(after.0 + events.len() as u64);
    Ok(Some(JournalTail { events, position }))
}

/// Loads the live matches that have no wake time and whose id satisfies `is_included`. A match with
/// a wake time need not be in memory. Also loads the players of these matches. A corrupt match is
/// returned as an error, and the other matches are still loaded.
pub(super) fn live_matches(
    connection: &Connection,
    is_included: impl Fn(MatchId) -> bool,
) -> Result<LiveMatches, LoadError> {
    let transaction = connection.unchecked_transaction()?;
    let mut matches = Vec::new();
    let ids = live_match_ids(&transaction)?.into_iter();
    for id in ids.filter(|id| is_included(*id)) {
        let loaded = load_in_transaction(&transaction, id);
        match loaded.map_err(|failure| blame_match(failure, id)) {
            Ok(Some((record, _))) => matches.push(Ok(record.into())),
            // If an index contains the match id but the table `matches` has no row with this id,
            // the match is corrupt.
            Ok(None) => matches.push(Err(corrupt_record(id, "the match row is missing"))),
            Err(LoadError::Corrupt(corrupt)) => matches.push(Err(corrupt)),
            Err(failure) => return Err(failure),
        }
    }
    let player_ids = involved_players(&matches);
    let sql = "SELECT id, name, kind FROM players WHERE id = ?1";
    let mut players = Vec::with_capacity(player_ids.len());
    for id in player_ids {
        match run_now(query_first(&*transaction, sql, &[id.into()])) {
            Ok(found) => players.extend::<Option<PlayerRecord>>(found),
            // An unreadable player is skipped, so that the matches can still be loaded.
            Err(error) if is_corruption(&error) => {
                tracing::error!(player = %id, %error, "cannot read player");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(LiveMatches { matches, players })
}

/// Returns the ids of the live matches without a wake time, oldest first. If a page of the database
/// is corrupt, the ids before and after this page are returned.
pub(super) fn live_match_ids(connection: &Connection) -> Result<Vec<MatchId>, LoadError> {
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
                Err(error) => tracing::error!(%error, "cannot read match id"),
            }
        }
        Ok(())
    };
    match read("ASC") {
        Ok(()) => {}
        Err(error) if is_corruption(&error) => {
            tracing::error!(%error, "cannot read some matches");
            if let Err(error) = read("DESC")
                && !is_corruption(&error)
            {
                return Err(error.into());
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(ids.into_iter().collect())
}

fn corrupt_record(id: MatchId, reason: &str) -> CorruptRecord {
    let why = reason.to_owned();
    CorruptRecord { id, reason: why }
}

/// Returns whether an error means that the stored data is corrupt. Any other error means that the
/// database cannot be read at the moment.
fn is_corruption(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(..) => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
        _ => true,
    }
}

fn involved_players(matches: &[Result<LoadedMatch, CorruptRecord>]) -> Vec<PlayerId> {
    let mut players: Vec<PlayerId> = matches
        .iter()
        .flatten()
        .flat_map(|loaded| loaded.record.involved_players())
        .collect();
    players.sort_unstable();
    players.dedup();
    players
}

/// Consecutive events of a match, collected row by row.
#[derive(Debug)]
struct EventRows {
    /// Expected number of the next event.
    next: u64,
    events: Vec<Event>,
    corruption: Option<String>,
}

impl EventRows {
    /// Creates an empty collection. The first event that is added must have the number `first`.
    const fn starting_at(first: u64) -> Self {
        Self {
            next: first,
            events: Vec::new(),
            corruption: None,
        }
    }

    /// Adds the event of a row. The first three columns are the number, the time and the JSON text
    /// of the event.
    fn push_row(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let (seq, next): (i64, u64) = (row.get(0)?, self.next);
        let event = if u64::try_from(seq) == Ok(next) {
            let at_ms = row.get(1)?;
            let parsed = event_from_text(row.get_ref(2)?.as_str()?).map(|kind| kind.at(at_ms));
            parsed.map_err(|why| format!("event {seq}: {why}"))
        } else {
            Err(format!("found event {seq} instead of event {next}"))
        };
        match event {
            Ok(event) => {
                self.events.push(event);
                self.next += 1;
            }
            Err(why) => {
                self.corruption.get_or_insert(why);
            }
        }
        Ok(())
    }

    /// Returns the events. Fails if an event row was corrupt, or if the event count is inconsistent
    /// with the row of the match.
    fn into_events(self, length: JournalLength) -> Result<Vec<Event>, String> {
        if let Some(corruption) = self.corruption {
            return Err(corruption);
        }
        length.check_event_count(self.next - 1)?;
        Ok(self.events)
    }
}
