//! Executes a batch of writes in one transaction.
//!
//! `matches.last_seq` is written when a match ends, and at intervals before that (see
//! [`update_last_seqs`]). Updating the column with each move would take a considerable part of the
//! time that storing the move takes.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior};

use super::WriteTask;
use crate::account_deletion::{
    initial_participants, remove_names_from_events, seated_players, seats_deleted_player,
};
use crate::records::to_json;
use crate::sql::history::index_ended_matches;
use crate::sql::{query_all, reminders, run_now, writes};
use crate::sqlite::account_deletion::deleted_players;
use crate::sqlite::{history, now};
use crate::{EndedMatch, MatchRecord, WriteError, conflict_unless};
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, Seq};
use prometheus_client::metrics::histogram::Histogram;

/// Reason why a batch failed.
#[derive(Debug)]
pub(super) enum BatchError {
    /// The batch failed before the commit, so nothing was written.
    NothingWritten(rusqlite::Error),
    /// The commit failed, so the outcome is unknown.
    Uncertain(rusqlite::Error),
}

/// Last event number of each match whose row may contain an older number.
pub(super) type LastSeqs = HashMap<MatchId, Seq>;

/// Executes every task that is valid for the stored data, in one transaction. The results are in
/// the order of the tasks, and the tasks are durable when this function returns.
///
/// The function records the duration of the sync in `sync` and the last events of the matches in
/// `last_seqs`. If the function fails, the caller must discard `last_seqs`.
pub(super) fn write(
    connection: &mut Connection,
    tasks: &[&WriteTask],
    sync: &Histogram,
    last_seqs: &mut LastSeqs,
) -> Result<Vec<Result<(), WriteError>>, BatchError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(BatchError::NothingWritten)?;
    // After an error, dropping the transaction rolls it back.
    let results = apply_all(&transaction, tasks, last_seqs).map_err(BatchError::NothingWritten)?;
    let sync_started = now();
    transaction.commit().map_err(BatchError::Uncertain)?;
    sync.observe((now() - sync_started).as_secs_f64());
    Ok(results)
}

fn apply_all(
    transaction: &Transaction<'_>,
    tasks: &[&WriteTask],
    last_seqs: &mut LastSeqs,
) -> rusqlite::Result<Vec<Result<(), WriteError>>> {
    let mut batch = Batch::new(transaction, last_seqs)?;
    let results = tasks.iter().map(|task| batch.apply(task));
    let results = results.collect::<rusqlite::Result<_>>()?;
    batch.file_ended_matches()?;
    Ok(results)
}

/// Stores the last event numbers in the rows of the matches, so that a lost event is detected.
pub(super) fn update_last_seqs(
    connection: &mut Connection,
    last_seqs: &LastSeqs,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "UPDATE matches SET last_seq = ?2 WHERE id = ?1";
    let mut update = transaction.prepare_cached(sql)?;
    for (id, last) in last_seqs {
        update.execute((id.0.as_bytes(), to_i64(*last)))?;
    }
    drop(update);
    transaction.commit()
}

/// Returns this error for each of the tasks.
pub(super) fn fail_all(tasks: &[&WriteTask], error: WriteError) -> Vec<Result<(), WriteError>> {
    tasks.iter().map(|_| Err(error)).collect()
}

/// Checks that the disk accepts a write of this size. The function commits this number of bytes to
/// a separate table, and then drops the table.
///
/// Even on a full disk, a smaller write may succeed, because it may fit into the space that the
/// write-ahead log already has.
pub(super) fn probe(connection: &mut Connection, bytes: usize) -> rusqlite::Result<()> {
    // If the server crashed during a probe, the table may already exist.
    connection.execute_batch("CREATE TABLE IF NOT EXISTS disk_probe (filler BLOB) STRICT")?;
    let sql = "INSERT INTO disk_probe VALUES (zeroblob(?1))";
    let inserted = connection.execute(sql, [bytes]);
    connection.execute_batch("DROP TABLE disk_probe")?;
    inserted.map(|_| ())
}

/// Determines the results of tasks whose transaction may or may not have been committed.
pub(super) fn resolve_outcomes(
    connection: &mut Connection,
    tasks: &[&WriteTask],
) -> rusqlite::Result<Vec<Result<(), WriteError>>> {
    tasks
        .iter()
        .map(|task| resolve_outcome(connection, task))
        .collect()
}

fn resolve_outcome(
    connection: &Connection,
    task: &WriteTask,
) -> rusqlite::Result<Result<(), WriteError>> {
    let is_written = match task {
        WriteTask::Create(record) => match_exists(connection, record.creation.id)?,
        WriteTask::Append {
            id,
            after,
            events,
            reminder,
            ..
        } => {
            // Only the wake time is compared, because the participations are written in the same
            // transaction.
            let wake_ms = run_now(reminders::wake_ms(connection, *id))?;
            match_exists(connection, *id)?
                && has_events_after(connection, *id, *after, events)?
                && (reminder.as_ref()).is_none_or(|reminder| reminder.wake_ms == wake_ms)
        }
        WriteTask::Shared(write) => match run_now(writes::is_applied(connection, write))? {
            Some(is_applied) => is_applied,
            None => return Ok(Err(WriteError::OutcomeUnknown)),
        },
    };
    Ok(is_written.then_some(()).ok_or(WriteError::Unavailable))
}

/// Returns whether exactly these events follow directly after event number `after` in the store.
/// Later events are ignored.
fn has_events_after(
    connection: &Connection,
    id: MatchId,
    after: Seq,
    events: &[Event],
) -> rusqlite::Result<bool> {
    let sql = "SELECT at_ms, event FROM events WHERE match = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let params = [id.into(), after.0.into(), events.len().into()];
    let stored: Vec<(u64, String)> = run_now(query_all(connection, sql, &params))?;
    let written = events
        .iter()
        .map(|event| (event.at_ms, to_json(&event.kind)));
    Ok(stored.into_iter().eq(written))
}

fn match_exists(connection: &Connection, id: MatchId) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM matches WHERE id = ?1")?;
    statement.exists([id.0.as_bytes()])
}

/// State that the writes of a batch share. With the prepared statements, storing a move is cheap in
/// comparison with the sync.
struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    last_seqs: &'a mut LastSeqs,
    count_from: CachedStatement<'a>,
    insert: CachedStatement<'a>,
    /// Matches that tasks of the batch have ended. They are filed together at the end of the batch,
    /// because most of them change the same rows of the opening statistics.
    ended: Vec<EndedMatch>,
}

impl<'a> Batch<'a> {
    fn new(
        transaction: &'a Transaction<'a>,
        last_seqs: &'a mut LastSeqs,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            last_seqs,
            count_from: transaction
                .prepare_cached("SELECT count(*) FROM events WHERE match = ?1 AND seq >= ?2")?,
            insert: transaction.prepare_cached(
                "INSERT INTO events (match, seq, at_ms, event) VALUES (?1, ?2, ?3, ?4)",
            )?,
            ended: Vec::new(),
        })
    }

    /// Executes a task. An error of the inner `Result` concerns only this task. An error of the
    /// outer `Result` concerns the whole batch.
    fn apply(&mut self, task: &WriteTask) -> rusqlite::Result<Result<(), WriteError>> {
        match task {
            WriteTask::Create(record) => self.create(record),
            WriteTask::Append {
                id,
                after,
                events,
                reminder,
                ended,
            } => {
                let appended = self.append(*id, *after, events, reminder.as_ref())?;
                if appended.is_ok() && events.last().is_some_and(Event::is_end) {
                    self.ended.extend(match ended {
                        Some(ended) => Some((**ended).clone()),
                        None => history::load_ended_match(self.transaction, *id)?,
                    });
                }
                Ok(appended)
            }
            WriteTask::Shared(write) => {
                run_now(writes::apply(&**self.transaction, write)).map(conflict_unless)
            }
        }
    }

    fn create(&mut self, record: &MatchRecord) -> rusqlite::Result<Result<(), WriteError>> {
        let MatchRecord { creation, events } = record;
        if self.is_code_taken(creation.code, creation.id)? {
            return Ok(Err(WriteError::CodeTaken));
        }
        if !deleted_players(self.transaction, initial_participants(record))?.is_empty() {
            return Ok(Err(WriteError::PlayerDeleted));
        }
        let previous = creation.terms.previous.map(|previous| previous.id);
        let sql = "INSERT INTO matches (id, code, game, host, terms, last_seq, previous)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        let inserted = self.transaction.prepare_cached(sql)?.execute((
            creation.id.0.as_bytes(),
            creation.code.to_string(),
            creation.game.info.id,
            creation.host.0.as_bytes(),
            to_json(&creation.terms),
            events.len(),
            previous.as_ref().map(|id| id.0.as_bytes()),
        ))?;
        if inserted == 0 {
            return Ok(Err(WriteError::Conflict));
        }
        self.insert_events(creation.id, Seq(0), events)?;
        if let Some(reminder) = record.reminder() {
            self.store_reminder(creation.id, &reminder)?;
        }
        if record.has_ended() {
            self.ended.extend(record.to_ended_match());
        }
        Ok(Ok(()))
    }

    /// Returns whether this code belongs to a live match other than the match with this id.
    fn is_code_taken(&self, code: MatchCode, id: MatchId) -> rusqlite::Result<bool> {
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
        if !self.is_last_event(id, after)? {
            return Ok(Err(WriteError::Conflict));
        }
        let players = seated_players(events);
        let mut written = Cow::Borrowed(events);
        if !players.is_empty() {
            let deleted = deleted_players(self.transaction, players)?;
            if seats_deleted_player(events, &deleted) {
                return Ok(Err(WriteError::PlayerDeleted));
            }
            if !deleted.is_empty() {
                remove_names_from_events(written.to_mut(), &deleted);
            }
        }
        self.insert_events(id, after, &written)?;
        if let Some(reminder) = reminder {
            self.store_reminder(id, reminder)?;
        }
        Ok(Ok(()))
    }

    fn store_reminder(&self, id: MatchId, reminder: &Reminder) -> rusqlite::Result<()> {
        let reminders = [(id, reminder)];
        run_now(reminders::store_reminders(&**self.transaction, &reminders))
    }

    /// Returns whether the match exists and its last event has the number `seq`. For a match
    /// without events, `seq` must be 0.
    fn is_last_event(&mut self, id: MatchId, seq: Seq) -> rusqlite::Result<bool> {
        if let Some(last) = self.last_seqs.get(&id) {
            return Ok(*last == seq);
        }
        let row = (id.0.as_bytes(), to_i64(seq));
        let count: u64 = self.count_from.query_row(row, |row| row.get(0))?;
        if seq == Seq(0) {
            Ok(count == 0 && match_exists(self.transaction, id)?)
        } else {
            Ok(count == 1)
        }
    }

    /// Adds the matches that the batch has ended to the histories, the opening statistics and the
    /// ledger. A match that a caller has passed may contain the name of a player who was deleted
    /// while the match was played.
    fn file_ended_matches(&mut self) -> rusqlite::Result<()> {
        if self.ended.is_empty() {
            return Ok(());
        }
        for ended in &mut self.ended {
            let deleted = deleted_players(self.transaction, ended.players())?;
            ended.remove_names(&deleted);
        }
        run_now(index_ended_matches(&**self.transaction, &self.ended))
    }

    fn insert_events(&mut self, id: MatchId, after: Seq, events: &[Event]) -> rusqlite::Result<()> {
        if events.is_empty() {
            // An append without events tests whether the store can be written, so it must execute a
            // real write.
            let sql = "UPDATE matches SET game = game WHERE id = ?1";
            let mut update = self.transaction.prepare_cached(sql)?;
            update.execute([id.0.as_bytes()])?;
        }
        let mut seq = after;
        for event in events {
            seq = seq.next();
            let row = (
                id.0.as_bytes(),
                to_i64(seq),
                event.at_ms,
                to_json(&event.kind),
            );
            self.insert.execute(row)?;
        }
        if let Some(end_event) = events.last().filter(|last| last.is_end()) {
            let sql =
                "UPDATE matches SET last_seq = ?2, ended_ms = ?3, wake_ms = NULL WHERE id = ?1";
            let mut update = self.transaction.prepare_cached(sql)?;
            update.execute((id.0.as_bytes(), to_i64(seq), end_event.at_ms))?;
            run_now(reminders::delete_participations(&**self.transaction, &[id]))?;
            self.last_seqs.remove(&id);
        } else {
            self.last_seqs.insert(id, seq);
        }
        Ok(())
    }
}

fn to_i64(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}
