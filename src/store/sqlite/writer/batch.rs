//! One batch of writes as one transaction.
//!
//! What `matches.last_seq` tells is written when a match ends, and before that now and then (see
//! [`catch_up`]): with every move it would be a good part of what keeping the move costs.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior};

use super::Task;
use crate::forgetting::{named, parts, seats_any, take_names_out};
use crate::record::{event_to_text, terms_to_text};
use crate::sqlite::forgetting::gone;
use crate::sqlite::history::{self, Filed};
use crate::sqlite::{analyses, now, people, ratings, reminders};
use crate::{Record, WriteError};
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, Seq};
use prometheus_client::metrics::histogram::Histogram;

/// Why a batch was not written.
#[derive(Debug)]
pub(super) enum Failure {
    /// None of it was.
    NothingWritten(rusqlite::Error),
    /// It was to be made durable, and that failed.
    Uncertain(rusqlite::Error),
}

/// The last events of matches that have gone on, which their rows may not tell yet.
pub(super) type Heads = HashMap<MatchId, Seq>;

/// Writes every task that fits what is there, in one transaction. The answers are in the order of
/// the tasks, and true when this returns. How long the sync took goes to `sync`, and how far the
/// matches have gone to `heads`, which must be thrown away if this fails.
pub(super) fn write(
    connection: &mut Connection,
    tasks: &[&Task],
    sync: &Histogram,
    heads: &mut Heads,
) -> Result<Vec<Result<(), WriteError>>, Failure> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Failure::NothingWritten)?;
    // When this fails, the transaction is rolled back.
    let answers = apply_all(&transaction, tasks, heads).map_err(Failure::NothingWritten)?;
    let began = now();
    transaction.commit().map_err(Failure::Uncertain)?;
    sync.observe((now() - began).as_secs_f64());
    Ok(answers)
}

fn apply_all(
    transaction: &Transaction<'_>,
    tasks: &[&Task],
    heads: &mut Heads,
) -> rusqlite::Result<Vec<Result<(), WriteError>>> {
    let mut batch = Batch::new(transaction, heads)?;
    tasks.iter().map(|task| batch.apply(task)).collect()
}

/// Lets the rows of matches tell their last events, so that it is noticed if one is lost.
pub(super) fn catch_up(connection: &mut Connection, heads: &Heads) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "UPDATE matches SET last_seq = ?2 WHERE id = ?1";
    let mut update = transaction.prepare_cached(sql)?;
    for (id, last) in heads {
        update.execute((id.0.as_bytes(), integer(*last)))?;
    }
    drop(update);
    transaction.commit()
}

/// The same answer to every task.
pub(super) fn all(tasks: &[&Task], answer: WriteError) -> Vec<Result<(), WriteError>> {
    tasks.iter().map(|_| Err(answer)).collect()
}

/// Checks that this many bytes can be written: commits them to a table of its own, and drops the table again.
///
/// A smaller write proves nothing: on a full disk it may still fit into the space that the log has already.
pub(super) fn probe(connection: &mut Connection, bytes: usize) -> rusqlite::Result<()> {
    // A crash may have left the table behind.
    connection.execute_batch("CREATE TABLE IF NOT EXISTS disk_probe (filler BLOB) STRICT")?;
    let sql = "INSERT INTO disk_probe VALUES (zeroblob(?1))";
    let filled = connection.execute(sql, [bytes]);
    connection.execute_batch("DROP TABLE disk_probe")?;
    filled.map(|_| ())
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
        Task::Create(record) => is_match(connection, record.creation.id)?,
        Task::Append {
            id,
            after,
            events,
            reminder,
        } => {
            let is_kept = |reminder| reminders::is_kept(connection, *id, reminder);
            events_from(connection, *id, *after, events)?
                && reminder.as_ref().map_or(Ok(true), is_kept)?
        }
        Task::AddPlayer(player, _) => {
            let sql = "SELECT 1 FROM players WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.exists([player.id.0.as_bytes()])?
        }
        Task::ChangePeople(change) => match people::is_done(connection, change)? {
            Some(is_done) => is_done,
            None => return Ok(Err(WriteError::Unknown)),
        },
        Task::ChangeRatings(change) => match ratings::is_done(connection, change)? {
            Some(is_done) => is_done,
            None => return Ok(Err(WriteError::Unknown)),
        },
        Task::KeepAnalysis(id, analysis) => {
            let kept = analyses::of(connection, *id)?;
            kept.is_some_and(|kept| kept.nodes >= analysis.nodes)
        }
        Task::AskAnalysis(asked) => analyses::is_counted(connection, asked)?,
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
    let sql = "SELECT at_ms, event FROM events WHERE match = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let found: Vec<(u64, String)> = statement
        .query_map((id.0.as_bytes(), integer(after), events.len()), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let written = events
        .iter()
        .map(|event| (event.at_ms, event_to_text(&event.kind)));
    Ok(found.into_iter().eq(written))
}

fn is_match(connection: &Connection, id: MatchId) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM matches WHERE id = ?1")?;
    statement.exists([id.0.as_bytes()])
}

/// What the writes of a batch have in common, so that a move costs little beside the sync.
struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    heads: &'a mut Heads,
    from: CachedStatement<'a>,
    insert: CachedStatement<'a>,
}

impl<'a> Batch<'a> {
    fn new(transaction: &'a Transaction<'a>, heads: &'a mut Heads) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            heads,
            from: transaction
                .prepare_cached("SELECT count(*) FROM events WHERE match = ?1 AND seq >= ?2")?,
            insert: transaction.prepare_cached(
                "INSERT INTO events (match, seq, at_ms, event) VALUES (?1, ?2, ?3, ?4)",
            )?,
        })
    }

    /// Writes one task. The inner error is its own; the outer one is that of the whole batch.
    fn apply(&mut self, task: &Task) -> rusqlite::Result<Result<(), WriteError>> {
        match task {
            Task::Create(record) => self.create(record),
            Task::Append {
                id,
                after,
                events,
                reminder,
            } => self.append(*id, *after, events, reminder.as_ref()),
            Task::AddPlayer(player, sessions) => {
                people::add(self.transaction, player, sessions).map(Ok)
            }
            Task::ChangePeople(change) => people::change(self.transaction, change).map(unless),
            Task::ChangeRatings(change) => ratings::change(self.transaction, change).map(unless),
            Task::KeepAnalysis(id, analysis) => {
                analyses::keep(self.transaction, *id, analysis).map(unless)
            }
            Task::AskAnalysis(asked) => analyses::ask(self.transaction, asked).map(unless),
        }
    }

    fn create(&mut self, record: &Record) -> rusqlite::Result<Result<(), WriteError>> {
        let Record { creation, events } = record;
        if self.is_taken(creation.code, creation.id)? {
            return Ok(Err(WriteError::CodeTaken));
        }
        if !gone(self.transaction, parts(record))?.is_empty() {
            return Ok(Err(WriteError::Forgotten));
        }
        let previous = creation.terms.previous.map(|previous| previous.id);
        let sql = "INSERT INTO matches (id, code, game, host, terms, last_seq, previous)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        let inserted = self.transaction.prepare_cached(sql)?.execute((
            creation.id.0.as_bytes(),
            creation.code.to_string(),
            creation.game.info.id,
            creation.host.0.as_bytes(),
            terms_to_text(&creation.terms),
            events.len(),
            previous.as_ref().map(|id| id.0.as_bytes()),
        ))?;
        if inserted == 0 {
            return Ok(Err(WriteError::Conflict));
        }
        self.insert(creation.id, Seq(0), events)?;
        if let Some(reminder) = record.reminder() {
            reminders::keep(self.transaction, creation.id, &reminder)?;
        }
        Ok(Ok(()))
    }

    /// Whether a live match other than this one has a code.
    fn is_taken(&self, code: MatchCode, id: MatchId) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM matches WHERE code = ?1 AND ended_ms IS NULL AND id != ?2";
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.exists((code.to_string(), id.0.as_bytes()))
    }

    fn append(
        &mut self,
        id: MatchId,
        after: Seq,
        events: &[Event],
        reminder: Option<&Reminder>,
    ) -> rusqlite::Result<Result<(), WriteError>> {
        if !self.is_last(id, after)? {
            return Ok(Err(WriteError::Conflict));
        }
        let named = named(events);
        let mut written = Cow::Borrowed(events);
        if !named.is_empty() {
            let gone = gone(self.transaction, named)?;
            if seats_any(events, &gone) {
                return Ok(Err(WriteError::Forgotten));
            }
            if !gone.is_empty() {
                take_names_out(written.to_mut(), &gone);
            }
        }
        self.insert(id, after, &written)?;
        if let Some(reminder) = reminder {
            reminders::keep(self.transaction, id, reminder)?;
        }
        Ok(Ok(()))
    }

    /// Whether the match is there, and this is its last event; 0 if it has none.
    fn is_last(&mut self, id: MatchId, seq: Seq) -> rusqlite::Result<bool> {
        if let Some(last) = self.heads.get(&id) {
            return Ok(*last == seq);
        }
        let row = (id.0.as_bytes(), integer(seq));
        let from: u64 = self.from.query_row(row, |row| row.get(0))?;
        if seq == Seq(0) {
            Ok(from == 0 && is_match(self.transaction, id)?)
        } else {
            Ok(from == 1)
        }
    }

    fn insert(&mut self, id: MatchId, after: Seq, events: &[Event]) -> rusqlite::Result<()> {
        if events.is_empty() {
            // Whoever asks wants to know whether something can be written, so something is.
            let sql = "UPDATE matches SET game = game WHERE id = ?1";
            let mut update = self.transaction.prepare_cached(sql)?;
            update.execute([id.0.as_bytes()])?;
        }
        let mut seq = after;
        for event in events {
            seq = seq.next();
            let row = (
                id.0.as_bytes(),
                integer(seq),
                event.at_ms,
                event_to_text(&event.kind),
            );
            self.insert.execute(row)?;
        }
        if let Some(end) = events.last().filter(|last| last.is_end()) {
            let Filed { summary, ended_no } = history::file(self.transaction, id, end.at_ms)?;
            let sql =
                "UPDATE matches SET last_seq = ?2, ended_ms = ?3, wake_ms = NULL, summary = ?4,
                           ended_no = ?5
                       WHERE id = ?1";
            let mut update = self.transaction.prepare_cached(sql)?;
            let seq = integer(seq);
            update.execute((id.0.as_bytes(), seq, end.at_ms, summary, ended_no))?;
            reminders::forget(self.transaction, id)?;
            self.heads.remove(&id);
        } else {
            self.heads.insert(id, seq);
        }
        Ok(())
    }
}

/// A conflict unless it was done.
fn unless(is_done: bool) -> Result<(), WriteError> {
    is_done.then_some(()).ok_or(WriteError::Conflict)
}

fn integer(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}
