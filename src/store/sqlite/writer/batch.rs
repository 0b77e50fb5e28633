//! One batch of writes as one transaction.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::Task;
use crate::matches::Event;
use crate::protocol::{MatchId, Seq};
use crate::store::sqlite::now;
use crate::store::sqlite::rows::event_to_text;
use crate::store::{PlayerRecord, Record, WriteError};
use crate::tally::Timings;

/// The present, by the clock of the machine, in milliseconds since 1970.
const NOW_MS: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// Why a batch was not written.
#[derive(Debug)]
pub(super) enum Failure {
    /// None of it was.
    NothingWritten(rusqlite::Error),
    /// It was to be made durable, and that failed.
    Uncertain(rusqlite::Error),
}

/// Writes every task that fits what is there, in one transaction. The answers are in the order of
/// the tasks, and true when this returns. How long the sync took goes to `sync`.
pub(super) fn write(
    connection: &mut Connection,
    tasks: &[&Task],
    sync: &Timings,
) -> Result<Vec<Result<(), WriteError>>, Failure> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Failure::NothingWritten)?;
    // When this fails, the transaction is rolled back.
    let answers = apply_all(&transaction, tasks).map_err(Failure::NothingWritten)?;
    let began = now();
    transaction.commit().map_err(Failure::Uncertain)?;
    sync.took(now() - began);
    Ok(answers)
}

fn apply_all(
    transaction: &Transaction<'_>,
    tasks: &[&Task],
) -> rusqlite::Result<Vec<Result<(), WriteError>>> {
    let mut batch = Batch::new(transaction)?;
    tasks.iter().map(|task| batch.apply(task)).collect()
}

/// The same answer to every task.
pub(super) fn all(tasks: &[&Task], answer: WriteError) -> Vec<Result<(), WriteError>> {
    tasks.iter().map(|_| Err(answer)).collect()
}

/// Writes something of no meaning, to see whether that can be done.
pub(super) fn probe(connection: &mut Connection) -> rusqlite::Result<()> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    connection.pragma_update(None, "user_version", version)
}

/// What has become of tasks whose transaction may have been committed or not.
pub(super) fn what_is_there(
    connection: &mut Connection,
    tasks: &[&Task],
) -> rusqlite::Result<Vec<Result<(), WriteError>>> {
    tasks
        .iter()
        .map(|task| is_there(connection, task))
        .collect()
}

fn is_there(connection: &Connection, task: &Task) -> rusqlite::Result<Result<(), WriteError>> {
    let is_there = match task {
        Task::Create(record) => last_seq(connection, record.creation.id)?.is_some(),
        Task::Append { id, after, events } => {
            let wanted = after.0 + events.len() as u64;
            last_seq(connection, *id)?.is_some_and(|last| last >= wanted)
                && events_from(connection, *id, *after, events)?
        }
        Task::AddPlayer(player) => {
            let sql = "SELECT 1 FROM players WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.exists([player.id.0.as_bytes()])?
        }
    };
    Ok(if is_there {
        Ok(())
    } else {
        Err(WriteError::Unavailable)
    })
}

/// Whether the events after this one are these.
fn events_from(
    connection: &Connection,
    id: MatchId,
    after: Seq,
    events: &[Event],
) -> rusqlite::Result<bool> {
    let sql = "SELECT event FROM events WHERE match = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let texts: Vec<String> = statement
        .query_map((id.0.as_bytes(), integer(after), events.len()), |row| {
            row.get(0)
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(texts
        .iter()
        .eq(events.iter().map(event_to_text).collect::<Vec<_>>().iter()))
}

fn last_seq(connection: &Connection, id: MatchId) -> rusqlite::Result<Option<u64>> {
    let mut statement = connection.prepare_cached("SELECT last_seq FROM matches WHERE id = ?1")?;
    statement
        .query_row([id.0.as_bytes()], |row| row.get(0))
        .optional()
}

/// What the writes of a batch have in common, so that a move costs little beside the sync.
struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    now_ms: i64,
    go_on: CachedStatement<'a>,
    end: CachedStatement<'a>,
    insert: CachedStatement<'a>,
}

impl<'a> Batch<'a> {
    fn new(transaction: &'a Transaction<'a>) -> rusqlite::Result<Self> {
        let mut now = transaction.prepare_cached(NOW_MS)?;
        Ok(Self {
            transaction,
            now_ms: now.query_row([], |row| row.get(0))?,
            // It names no column that an index of the matches has: they are left alone.
            go_on: transaction.prepare_cached(
                "UPDATE matches SET last_seq = ?3 WHERE id = ?1 AND last_seq = ?2",
            )?,
            end: transaction.prepare_cached(
                "UPDATE matches SET last_seq = ?3, ended_ms = ?4 WHERE id = ?1 AND last_seq = ?2",
            )?,
            insert: transaction.prepare_cached(
                "INSERT INTO events (match, seq, at_ms, event) VALUES (?1, ?2, ?3, ?4)",
            )?,
        })
    }

    /// Writes one task. The inner error is its own; the outer one is that of the whole batch.
    fn apply(&mut self, task: &Task) -> rusqlite::Result<Result<(), WriteError>> {
        match task {
            Task::Create(record) => self.create(record),
            Task::Append { id, after, events } => self.append(*id, *after, events),
            Task::AddPlayer(player) => self.add_player(player).map(Ok),
        }
    }

    fn create(
        &mut self,
        Record { creation, events }: &Record,
    ) -> rusqlite::Result<Result<(), WriteError>> {
        let sql = "INSERT INTO matches (id, code, game, host, listed, pace_ms, seed, last_seq)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0) ON CONFLICT DO NOTHING";
        let inserted = self.transaction.prepare_cached(sql)?.execute((
            creation.id.0.as_bytes(),
            creation.code.to_string(),
            creation.game.info.id,
            creation.host.0.as_bytes(),
            creation.listed,
            u64::try_from(creation.pace.as_millis())
                .unwrap_or(u64::MAX)
                .min(i64::MAX.cast_unsigned()),
            creation.seed.cast_signed(),
        ))?;
        if inserted == 0 {
            return Ok(Err(WriteError::Conflict));
        }
        self.append(creation.id, Seq(0), events)
    }

    fn append(
        &mut self,
        id: MatchId,
        after: Seq,
        events: &[Event],
    ) -> rusqlite::Result<Result<(), WriteError>> {
        let (id, now_ms) = (id.0.as_bytes(), self.now_ms);
        let last = integer(Seq(after.0 + events.len() as u64));
        let updated = if matches!(events.last(), Some(Event::Ended { .. })) {
            self.end.execute((id, integer(after), last, now_ms))?
        } else {
            self.go_on.execute((id, integer(after), last))?
        };
        if updated == 0 {
            return Ok(Err(WriteError::Conflict));
        }
        let mut seq = after;
        for event in events {
            seq = seq.next();
            let text = event_to_text(event);
            self.insert.execute((id, integer(seq), now_ms, text))?;
        }
        Ok(Ok(()))
    }

    fn add_player(&self, player: &PlayerRecord) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO players (id, name, token) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.transaction.prepare_cached(sql)?.execute((
            player.id.0.as_bytes(),
            &player.name,
            player.token.0,
        ))?;
        Ok(())
    }
}

fn integer(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}
