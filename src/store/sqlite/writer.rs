//! The thread that writes: batch after batch, each one transaction and one sync.

mod batch;
mod forget;

use std::io;
use std::mem;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use self::batch::Heads;
use super::worker::{Jobs, Worker};
use super::{Condition, now, schema, wall_ms};
use crate::{
    AnalysisAsked, KeptAnalysis, PeopleChange, PlayerRecord, RatingsChange, Record, SessionRecord,
    WriteError,
};
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, Seq};

/// How many writes are put into one transaction.
const BATCH_MAX: usize = 1024;

/// How often the thread looks around when there is nothing to write: whether a disk that failed is
/// well again, and whether there is something to forget.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// After so many batches it looks around, too, however busy it is.
const LOOK_AROUND_BATCHES: u32 = 64;

/// Batches of so many tell that many matches are busy. Larger ones share their costs well already.
const BUSY: RangeInclusive<usize> = 16..=256;

/// While many matches are busy, batches begin no more often than this. A disk that syncs quickly
/// would have them small, and so each write would pay for more of the log's pages. It is what a slow
/// disk's sync takes.
const GATHER: Duration = Duration::from_millis(10);

/// Bytes that a probe writes for each refused task. The creation of a match adds about 20 KiB to the log: a page of 4 KiB
/// for each table and index that it changes.
const TASK_BYTES: usize = 64 << 10;

/// After a failure the disk counts as well once this many bytes can be written, or fewer if the refused batch was
/// smaller.
const PROBE_BYTES_MAX: usize = 4 << 20;

/// Something to write.
#[derive(Debug)]
pub(super) enum Task {
    Create(Record),
    Append {
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    },
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    /// Refused as a conflict if it comes to nothing.
    ChangePeople(PeopleChange),
    /// Refused as a conflict if it comes to nothing.
    ChangeRatings(RatingsChange),
    /// Refused as a conflict if there is no such match that has ended.
    KeepAnalysis(MatchId, KeptAnalysis),
    /// Refused as a conflict if as many as may be are counted.
    AskAnalysis(AnalysisAsked),
}

/// A task, and where to tell what has become of it. The task goes back with the answer: memory is let
/// go of best where it was asked for.
#[derive(Debug)]
struct Job {
    task: Task,
    answer: oneshot::Sender<(Result<(), WriteError>, Task)>,
}

/// The way to the thread that writes.
#[derive(Debug)]
pub(super) struct Writer {
    worker: Worker<Job>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        path: PathBuf,
        keep_ended: Option<Duration>,
        condition: &Arc<Condition>,
    ) -> io::Result<Self> {
        let work = Work {
            connection: Some(connection),
            path,
            keep_ended,
            heads: Heads::new(),
            refused_tasks: 1,
            has_traces: false,
            condition: Arc::clone(condition),
        };
        let worker = Worker::start("store-writer", move |jobs| work.run(&jobs))?;
        Ok(Self { worker })
    }

    /// Has something written, and waits until it is on the disk.
    pub(super) async fn write(&self, task: Task) -> Result<(), WriteError> {
        let (answer, written) = oneshot::channel();
        if !self.worker.give(Job { task, answer }).await {
            return Err(WriteError::Unavailable);
        }
        match written.await {
            Ok((written, _)) => written,
            Err(_) => Err(WriteError::Unknown),
        }
    }
}

/// What the thread has.
#[derive(Debug)]
struct Work {
    /// `None` after a sync that failed, until the file has been opened anew.
    connection: Option<Connection>,
    path: PathBuf,
    keep_ended: Option<Duration>,
    heads: Heads,
    /// How many tasks the last batch had that the disk refused.
    refused_tasks: usize,
    /// Somebody was forgotten whose name the log still has.
    has_traces: bool,
    condition: Arc<Condition>,
}

impl Work {
    fn run(mut self, jobs: &Jobs<Job>) {
        let mut batches = 0;
        loop {
            match jobs.next_within(LOOK_AROUND) {
                Ok(first) => {
                    let began = now();
                    let mut batch = vec![first];
                    batch.extend(jobs.waiting().take(BATCH_MAX - 1));
                    let size = batch.len();
                    self.write(batch);
                    jobs.done(size);
                    if BUSY.contains(&size) {
                        gather(GATHER.saturating_sub(now() - began));
                    }
                    batches += 1;
                    if batches < LOOK_AROUND_BATCHES {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            batches = 0;
            self.look_around();
        }
        self.catch_up();
    }

    /// Writes a batch, and answers.
    fn write(&mut self, batch: Vec<Job>) {
        let tasks: Vec<&Task> = batch.iter().map(|job| &job.task).collect();
        self.condition.begins();
        let answers = self.answers(&tasks);
        // Of the last step it is told that there is nothing more to be done.
        let is_last = |(task, answer): (&&Task, &Result<(), WriteError>)| {
            let forgets = matches!(task, Task::ChangePeople(PeopleChange::ForgetNames(_)));
            forgets && *answer == Err(WriteError::Conflict)
        };
        self.has_traces |= tasks.iter().zip(&answers).any(is_last);
        self.leave_no_traces();
        self.condition.ends();
        for (Job { task, answer }, written) in batch.into_iter().zip(answers) {
            // Who asked may be gone.
            let _ = answer.send((written, task));
        }
    }

    /// Writes all of it, or nothing, and tells what has become of it.
    fn answers(&mut self, tasks: &[&Task]) -> Vec<Result<(), WriteError>> {
        let condition = Arc::clone(&self.condition);
        let metrics = &condition.metrics;
        // Kept only if all of it is written.
        let mut heads = mem::take(&mut self.heads);
        let connection = match self.reopened() {
            Ok(connection) => connection,
            Err(error) => {
                metrics.failures.inc();
                tracing::error!(%error, "the store cannot be opened anew");
                self.condition.set_well(false);
                return batch::all(tasks, WriteError::Unavailable);
            }
        };
        match batch::write(connection, tasks, &metrics.sync, &mut heads) {
            Ok(answers) => {
                self.heads = heads;
                metrics.batches.inc();
                metrics.writes.inc_by(tasks.len() as u64);
                self.condition.set_well(true);
                answers
            }
            // What is wrong with one match is no matter of the others.
            Err(batch::Failure::NothingWritten(error))
                if tasks.len() > 1 && !is_of_the_disk(&error) =>
            {
                let alone = tasks.iter().flat_map(|task| self.answers(&[*task]));
                alone.collect()
            }
            Err(batch::Failure::NothingWritten(error)) => {
                metrics.failures.inc();
                tracing::error!(%error, "nothing could be written");
                if is_of_the_disk(&error) {
                    self.refused_tasks = tasks.len();
                    self.condition.set_well(false);
                    // Whatever it was, a new connection may not have it.
                    self.connection = None;
                }
                batch::all(tasks, WriteError::Unavailable)
            }
            Err(batch::Failure::Uncertain(error)) => {
                metrics.failures.inc();
                tracing::error!(%error, "a sync failed: the store is opened anew");
                self.doubt();
                self.what_is_there(tasks)
            }
        }
    }

    /// The disk has failed. From now on nothing counts that the file shows, until it has been opened
    /// anew.
    fn doubt(&mut self) {
        self.condition.set_well(false);
        self.condition.set_certain(false);
        self.connection = None;
    }

    /// The connection; after a failed sync a new one.
    ///
    /// The system may have let go of what it could not write and still show it (see Rebello et al.,
    /// "Can applications recover from fsync failures?", 2020). So nothing that is read counts until
    /// it has been written anew: a checkpoint copies the log into the database, and syncs that.
    fn reopened(&mut self) -> rusqlite::Result<&mut Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = schema::open_again(&self.path)?;
                self.condition.set_certain(true);
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// What has become of a batch whose sync failed.
    fn what_is_there(&mut self, tasks: &[&Task]) -> Vec<Result<(), WriteError>> {
        let looked = self
            .reopened()
            .and_then(|connection| batch::what_is_there(connection, tasks));
        looked.unwrap_or_else(|error| {
            tracing::error!(%error, "what was written cannot be told");
            batch::all(tasks, WriteError::Unknown)
        })
    }

    fn look_around(&mut self) {
        if !self.condition.has_kept() {
            let bytes = (self.refused_tasks * TASK_BYTES).min(PROBE_BYTES_MAX);
            let probed = (self.reopened()).and_then(|connection| batch::probe(connection, bytes));
            match probed {
                Ok(()) => self.condition.set_well(true),
                Err(error) => {
                    tracing::warn!(%error, "the store still cannot keep anything");
                    self.doubt();
                }
            }
        }
        self.catch_up();
        self.leave_no_traces();
        let Some(keep) = self.keep_ended else {
            return;
        };
        let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let before_ms = wall_ms().saturating_sub(keep_ms);
        let forgotten = self
            .reopened()
            .and_then(|connection| forget::forget(connection, before_ms));
        match forgotten {
            Ok(()) => {}
            Err(error) if is_of_the_disk(&error) => {
                tracing::error!(%error, "ended matches could not be forgotten");
                self.doubt();
            }
            Err(error) => {
                tracing::error!(%error, "ended matches are not forgotten any more");
                self.keep_ended = None;
            }
        }
    }

    /// Writes the log into the database and empties it, once somebody was forgotten: it has the pages as they were
    /// before. Tried again later where somebody still reads there.
    fn leave_no_traces(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|_| self.has_traces) else {
            return;
        };
        let emptied = connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| schema::checkpoint(connection));
        match connection.busy_timeout(schema::BUSY_TIMEOUT).and(emptied) {
            Ok(()) => self.has_traces = false,
            Err(error) => tracing::debug!(%error, "the log is not emptied yet"),
        }
    }

    /// Lets the rows of the matches that have gone on tell so.
    fn catch_up(&mut self) {
        if self.heads.is_empty() {
            return;
        }
        let heads = mem::take(&mut self.heads);
        let caught_up = self
            .reopened()
            .and_then(|connection| batch::catch_up(connection, &heads));
        match caught_up {
            Ok(()) => {}
            Err(error) if is_of_the_disk(&error) => {
                tracing::error!(%error, "the rows of matches could not be brought up to date");
                self.doubt();
            }
            // What is missing in them is only the means to notice a fault.
            Err(error) => tracing::error!(%error, "the rows of matches are not up to date"),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.condition.set_well(false);
        }
    }
}

/// Waits while writes gather in the queue, which nobody wakes this thread for.
fn gather(time: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the disk is shared by the machine's clock, on a thread of its own"
    )]
    std::thread::sleep(time);
}

/// Whether an error tells of the disk, and not of what was to be written or is there.
fn is_of_the_disk(error: &rusqlite::Error) -> bool {
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
