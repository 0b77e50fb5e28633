//! The thread that writes: batch after batch, each one transaction and one sync.

mod batch;
mod expiry;

use std::io;
use std::mem;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use self::batch::LastSeqs;
use super::worker_thread::{JobQueue, Worker};
use super::{Health, now, schema, wall_clock_ms};
use crate::{
    AnalysisQuotaRequest, IdentityChange, MatchRecord, PlayerRecord, RatingsChange, SessionRecord,
    StoredAnalysis, WriteError,
};
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, Seq};

/// How many writes are put into one transaction.
const BATCH_MAX: usize = 1024;

/// How often the thread looks around when there is nothing to write: whether a disk that failed is
/// well again, and whether there is something to forget.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// After so many batches it looks around, too, however busy it is.
const MAINTENANCE_BATCHES: u32 = 64;

/// Batches of so many tell that many matches are busy. Larger ones share their costs well already.
const BUSY_BATCH_SIZES: RangeInclusive<usize> = 16..=256;

/// While many matches are busy, batches begin no more often than this. A disk that syncs quickly
/// would have them small, and so each write would pay for more of the log's pages. It is what a slow
/// disk's sync takes.
const BATCH_INTERVAL_MIN: Duration = Duration::from_millis(10);

/// Bytes that a probe writes for each refused task. The creation of a match adds about 20 KiB to the log: a page of 4 KiB
/// for each table and index that it changes.
const PROBE_BYTES_PER_TASK: usize = 64 << 10;

/// After a failure the disk counts as well once this many bytes can be written, or fewer if the refused batch was
/// smaller.
const PROBE_BYTES_MAX: usize = 4 << 20;

/// Something to write.
#[derive(Debug)]
pub(super) enum WriteTask {
    Create(MatchRecord),
    Append {
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    },
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    /// Refused as a conflict if it comes to nothing.
    ChangeIdentity(IdentityChange),
    /// Refused as a conflict if it comes to nothing.
    ChangeRatings(RatingsChange),
    /// Refused as a conflict if there is no such match that has ended.
    StoreAnalysis(MatchId, StoredAnalysis),
    /// Refused as a conflict if as many as may be are counted.
    CountAnalysisRequest(AnalysisQuotaRequest),
}

/// A task, and where to tell what has become of it. The task goes back with the answer: memory is let
/// go of best where it was asked for.
#[derive(Debug)]
struct WriteJob {
    task: WriteTask,
    reply: oneshot::Sender<(Result<(), WriteError>, WriteTask)>,
}

/// The way to the thread that writes.
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

    /// Has something written, and waits until it is on the disk.
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

/// What the thread has.
#[derive(Debug)]
struct WriterThread {
    /// `None` after a sync that failed, until the file has been opened anew.
    connection: Option<Connection>,
    path: PathBuf,
    retention: Option<Duration>,
    last_seqs: LastSeqs,
    /// How many tasks the last batch had that the disk refused.
    refused_tasks: usize,
    /// Somebody was forgotten whose name the log still has.
    must_truncate_log: bool,
    health: Arc<Health>,
}

impl WriterThread {
    fn run(mut self, jobs: &JobQueue<WriteJob>) {
        let mut batches = 0;
        loop {
            match jobs.next_timeout(MAINTENANCE_INTERVAL) {
                Ok(first) => {
                    let began = now();
                    let mut batch = vec![first];
                    batch.extend(jobs.drain().take(BATCH_MAX - 1));
                    let size = batch.len();
                    self.write(batch);
                    jobs.release_permits(size);
                    if BUSY_BATCH_SIZES.contains(&size) {
                        sleep_for(BATCH_INTERVAL_MIN.saturating_sub(now() - began));
                    }
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

    /// Writes a batch, and answers.
    fn write(&mut self, batch: Vec<WriteJob>) {
        let tasks: Vec<&WriteTask> = batch.iter().map(|job| &job.task).collect();
        self.health.begin_batch();
        let results = self.write_batch(&tasks);
        // Of the last step it is told that there is nothing more to be done.
        let completes_name_removal = |(task, result): (&&WriteTask, &Result<(), WriteError>)| {
            let removes_names = matches!(
                task,
                WriteTask::ChangeIdentity(IdentityChange::RemoveNames(_))
            );
            removes_names && *result == Err(WriteError::Conflict)
        };
        self.must_truncate_log |= tasks.iter().zip(&results).any(completes_name_removal);
        self.truncate_log();
        self.health.end_batch();
        for (WriteJob { task, reply }, result) in batch.into_iter().zip(results) {
            // Who asked may be gone.
            let _ = reply.send((result, task));
        }
    }

    /// Writes all of it, or nothing, and tells what has become of it.
    fn write_batch(&mut self, tasks: &[&WriteTask]) -> Vec<Result<(), WriteError>> {
        let health = Arc::clone(&self.health);
        let metrics = &health.metrics;
        // Kept only if all of it is written.
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
            // What is wrong with one match is no matter of the others.
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
                    // Whatever it was, a new connection may not have it.
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

    /// The disk has failed. From now on nothing counts that the file shows, until it has been opened
    /// anew.
    fn discard_connection(&mut self) {
        self.health.set_writable(false);
        self.health.set_certain(false);
        self.connection = None;
    }

    /// The connection; after a failed sync a new one.
    ///
    /// The system may have let go of what it could not write and still show it (see Rebello et al.,
    /// "Can applications recover from fsync failures?", 2020). So nothing that is read counts until
    /// it has been written anew: a checkpoint copies the log into the database, and syncs that.
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

    /// What has become of a batch whose sync failed.
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
            .and_then(|connection| expiry::delete_expired_matches(connection, before_ms));
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

    /// Writes the log into the database and empties it, once somebody was forgotten: it has the pages as they were
    /// before. Tried again later where somebody still reads there.
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

    /// Lets the rows of the matches that have gone on tell so.
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
            // What is missing in them is only the means to notice a fault.
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

/// Waits while writes gather in the queue, which nobody wakes this thread for.
fn sleep_for(time: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the disk is shared by the machine's clock, on a thread of its own"
    )]
    std::thread::sleep(time);
}

/// Whether an error tells of the disk, and not of what was to be written or is there.
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
