//! The thread that writes to the database in batches. Each batch is one transaction and one sync.

mod batch;
mod match_expiry;

use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use self::batch::LastSeqs;
use super::worker_thread::{JobQueue, Worker};
use super::{Health, schema, wall_clock_ms};
use crate::sql::writes::SharedWrite;
use crate::{EndedMatch, IdentityChange, MatchRecord, WriteError};
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, Seq};

/// Maximum number of writes in one batch.
const BATCH_MAX: usize = 1024;

/// How often maintenance runs while the thread is idle. Maintenance checks whether a failed disk
/// works again, updates event counts, and deletes expired matches.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// Number of batches between maintenance runs of a busy thread.
const MAINTENANCE_BATCHES: u32 = 64;

/// Number of bytes that a disk probe writes for each task that failed with a disk error. The
/// creation of a match adds about 20 KiB to the write-ahead log: a page of 4 KiB for each changed
/// table and index.
const PROBE_BYTES_PER_TASK: usize = 64 << 10;

/// Maximum size of a disk probe in bytes. A successful probe after a disk error shows that the disk
/// is writable again.
const PROBE_BYTES_MAX: usize = 4 << 20;

/// A write to the database.
#[derive(Debug)]
pub(super) enum WriteTask {
    Create(MatchRecord),
    Append {
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
        reminder: Option<Reminder>,
        /// The match after the events, if they end it and the caller has passed it.
        ended: Option<Box<EndedMatch>>,
    },
    /// Fails with a conflict if the write is refused.
    Shared(SharedWrite),
}

/// A write task and the channel for its result. The writer returns the task to the caller, because
/// memory is freed most cheaply by the thread that allocated it.
#[derive(Debug)]
struct WriteJob {
    task: WriteTask,
    reply: oneshot::Sender<(Result<(), WriteError>, WriteTask)>,
}

/// Handle to the writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    worker: Worker<WriteJob>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        path: PathBuf,
        retention: Option<Duration>,
        health: &Arc<Health>,
    ) -> io::Result<Self> {
        let thread = WriterThread {
            connection: Some(connection),
            path,
            retention,
            last_seqs: LastSeqs::new(),
            refused_tasks: 1,
            must_truncate_log: false,
            health: Arc::clone(health),
        };
        let worker = Worker::start("store-writer", move |jobs| thread.run(&jobs))?;
        Ok(Self { worker })
    }

    /// Queues a task and waits until it is durable or has failed.
    pub(super) async fn write(&self, task: WriteTask) -> Result<(), WriteError> {
        let (reply, outcome) = oneshot::channel();
        if !self.worker.submit(WriteJob { task, reply }).await {
            return Err(WriteError::Unavailable);
        }
        match outcome.await {
            Ok((result, _)) => result,
            Err(_) => Err(WriteError::OutcomeUnknown),
        }
    }
}

/// State of the writer thread.
#[derive(Debug)]
struct WriterThread {
    /// `None` after a disk error, until the database is reopened.
    connection: Option<Connection>,
    path: PathBuf,
    retention: Option<Duration>,
    last_seqs: LastSeqs,
    /// Size of the most recent batch that failed with a disk error.
    refused_tasks: usize,
    /// Whether the write-ahead log must be truncated, because it may still contain the name of a
    /// deleted player.
    must_truncate_log: bool,
    health: Arc<Health>,
}

impl WriterThread {
    fn run(mut self, jobs: &JobQueue<WriteJob>) {
        let mut batches = 0;
        loop {
            match jobs.next_timeout(MAINTENANCE_INTERVAL) {
                Ok(first) => {
                    let mut batch = vec![first];
                    batch.extend(jobs.drain().take(BATCH_MAX - 1));
                    let size = batch.len();
                    self.write(batch);
                    jobs.release_permits(size);
                    batches += 1;
                    if batches < MAINTENANCE_BATCHES {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            batches = 0;
            self.run_maintenance();
        }
        self.update_last_seqs();
    }

    /// Writes a batch and sends the results.
    fn write(&mut self, batch: Vec<WriteJob>) {
        let tasks: Vec<&WriteTask> = batch.iter().map(|job| &job.task).collect();
        self.health.begin_batch();
        let results = self.write_batch(&tasks);
        // A `RemoveNames` task fails with a conflict when no names remain to be removed.
        let completes_name_removal = |(task, result): (&&WriteTask, &Result<(), WriteError>)| {
            let removes_names = matches!(
                task,
                WriteTask::Shared(SharedWrite::ChangeIdentity(IdentityChange::RemoveNames(_)))
            );
            removes_names && *result == Err(WriteError::Conflict)
        };
        self.must_truncate_log |= tasks.iter().zip(&results).any(completes_name_removal);
        self.truncate_log();
        self.health.end_batch();
        for (WriteJob { task, reply }, result) in batch.into_iter().zip(results) {
            // Sending fails if the caller no longer waits for the result.
            let _ = reply.send((result, task));
        }
    }

    /// Writes the tasks in one transaction and returns their results. If the transaction fails, but
    /// not because of the disk, each task gets its own transaction.
    fn write_batch(&mut self, tasks: &[&WriteTask]) -> Vec<Result<(), WriteError>> {
        let health = Arc::clone(&self.health);
        let metrics = &health.metrics;
        // `self.last_seqs` is restored only if the batch is written.
        let mut last_seqs = mem::take(&mut self.last_seqs);
        let connection = match self.connection_or_reopen() {
            Ok(connection) => connection,
            Err(error) => {
                metrics.failures.inc();
                tracing::error!(%error, "cannot reopen the store");
                self.health.set_writable(false);
                return batch::fail_all(tasks, WriteError::Unavailable);
            }
        };
        match batch::write(connection, tasks, &metrics.sync_duration, &mut last_seqs) {
            Ok(results) => {
                self.last_seqs = last_seqs;
                metrics.batches.inc();
                metrics.writes.inc_by(tasks.len() as u64);
                self.health.set_writable(true);
                results
            }
            // An error in one match must not affect other matches.
            Err(batch::BatchError::NothingWritten(error))
                if tasks.len() > 1 && !is_disk_error(&error) =>
            {
                let results = tasks.iter().flat_map(|task| self.write_batch(&[*task]));
                results.collect()
            }
            Err(batch::BatchError::NothingWritten(error)) => {
                metrics.failures.inc();
                tracing::error!(%error, "batch was not written");
                if is_disk_error(&error) {
                    self.refused_tasks = tasks.len();
                    self.health.set_writable(false);
                    // The connection is dropped, because the next batch may succeed with a new
                    // connection.
                    self.connection = None;
                }
                batch::fail_all(tasks, WriteError::Unavailable)
            }
            Err(batch::BatchError::Uncertain(error)) => {
                metrics.failures.inc();
                tracing::error!(%error, "sync failed, reopening the store");
                self.discard_connection();
                self.resolve_outcomes(tasks)
            }
        }
    }

    /// Closes the connection after a disk error. The database file must be reopened before its data
    /// can be trusted.
    fn discard_connection(&mut self) {
        self.health.set_writable(false);
        self.health.set_certain(false);
        self.connection = None;
    }

    /// Returns the connection. If a disk error has closed the connection, the function reopens the
    /// database.
    ///
    /// After a failed sync, the operating system may have discarded data that it could not write.
    /// Even so, reads may still return the discarded data (see Rebello et al., "Can applications
    /// recover from fsync failures?", 2020). Data is therefore not trusted until it has been
    /// written again: a checkpoint copies the write-ahead log into the database and syncs the
    /// database.
    fn connection_or_reopen(&mut self) -> rusqlite::Result<&mut Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = schema::reopen(&self.path)?;
                self.health.set_certain(true);
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Determines the results of a batch whose commit failed.
    fn resolve_outcomes(&mut self, tasks: &[&WriteTask]) -> Vec<Result<(), WriteError>> {
        let resolved = self
            .connection_or_reopen()
            .and_then(|connection| batch::resolve_outcomes(connection, tasks));
        resolved.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot determine which writes succeeded");
            batch::fail_all(tasks, WriteError::OutcomeUnknown)
        })
    }

    fn run_maintenance(&mut self) {
        if !self.health.is_writable() {
            let bytes = (self.refused_tasks * PROBE_BYTES_PER_TASK).min(PROBE_BYTES_MAX);
            let probe_result = (self.connection_or_reopen())
                .and_then(|connection| batch::probe(connection, bytes));
            match probe_result {
                Ok(()) => self.health.set_writable(true),
                Err(error) => {
                    tracing::warn!(%error, "store still does not accept writes");
                    self.discard_connection();
                }
            }
        }
        self.update_last_seqs();
        self.truncate_log();
        let Some(retention) = self.retention else {
            return;
        };
        let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        let before_ms = wall_clock_ms().saturating_sub(retention_ms);
        let expired = self
            .connection_or_reopen()
            .and_then(|connection| match_expiry::delete_expired_matches(connection, before_ms));
        match expired {
            Ok(()) => {}
            Err(error) if is_disk_error(&error) => {
                tracing::error!(%error, "cannot delete expired matches");
                self.discard_connection();
            }
            Err(error) => {
                tracing::error!(%error, "expiry of ended matches is disabled");
                self.retention = None;
            }
        }
    }

    /// After names have been removed, copies the write-ahead log into the database and truncates
    /// the log. The log must be truncated, because it contains earlier versions of the pages. If a
    /// reader still uses the log, the writer repeats the attempt later.
    fn truncate_log(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|_| self.must_truncate_log) else {
            return;
        };
        let truncated = connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| schema::checkpoint(connection));
        match connection.busy_timeout(schema::BUSY_TIMEOUT).and(truncated) {
            Ok(()) => self.must_truncate_log = false,
            Err(error) => tracing::debug!(%error, "cannot truncate the log yet"),
        }
    }

    /// Updates `last_seq` in the rows of matches that have new events.
    fn update_last_seqs(&mut self) {
        if self.last_seqs.is_empty() {
            return;
        }
        let last_seqs = mem::take(&mut self.last_seqs);
        let updated = self
            .connection_or_reopen()
            .and_then(|connection| batch::update_last_seqs(connection, &last_seqs));
        match updated {
            Ok(()) => {}
            Err(error) if is_disk_error(&error) => {
                tracing::error!(%error, "cannot update event counts of matches");
                self.discard_connection();
            }
            // The error is only logged, because event counts only help to detect lost events.
            Err(error) => tracing::error!(%error, "event counts of matches are stale"),
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.health.set_writable(false);
        }
    }
}

/// Returns whether the disk or the operating system, rather than the data, is the cause of an
/// error.
fn is_disk_error(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
        )
    )
}

#[cfg(test)]
mod tests;
