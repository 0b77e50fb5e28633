//! The thread that writes: batch after batch, each one transaction and one sync.

mod batch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::worker::{Queued, Worker};
use super::{Condition, schema};
use crate::matches::Event;
use crate::protocol::{MatchId, Seq};
use crate::store::{PlayerRecord, Record, WriteError};

/// How many writes are put into one transaction.
const BATCH_MAX: usize = 1024;

/// How often the thread looks around when there is nothing to write: whether a disk that failed is
/// well again, and whether there is something to forget.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// How many ended matches are forgotten at once, so that nobody waits for long.
const FORGET_AT_ONCE: u32 = 100;

/// How many pages of the file are given back at once.
const VACUUM_AT_ONCE: u32 = 256;

/// Something to write.
#[derive(Debug)]
pub(super) enum Task {
    Create(Record),
    Append {
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
    },
    AddPlayer(PlayerRecord),
}

/// A task, and where to tell what has become of it.
#[derive(Debug)]
struct Job {
    task: Task,
    answer: oneshot::Sender<Result<(), WriteError>>,
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
        written.await.unwrap_or(Err(WriteError::Unknown))
    }
}

/// What the thread has.
#[derive(Debug)]
struct Work {
    /// `None` after a sync that failed, until the file has been opened anew.
    connection: Option<Connection>,
    path: PathBuf,
    keep_ended: Option<Duration>,
    condition: Arc<Condition>,
}

impl Work {
    fn run(mut self, jobs: &Receiver<Queued<Job>>) {
        loop {
            match jobs.recv_timeout(LOOK_AROUND) {
                Ok(first) => {
                    let mut batch = vec![first];
                    batch.extend(jobs.try_iter().take(BATCH_MAX - 1));
                    self.write(batch);
                }
                Err(RecvTimeoutError::Timeout) => self.look_around(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Writes all of it, or nothing, and answers.
    fn write(&mut self, batch: Vec<Queued<Job>>) {
        let tasks: Vec<&Task> = batch.iter().map(|queued| &queued.job.task).collect();
        let answers = match self.reopened() {
            Ok(connection) => match batch::write(connection, &tasks) {
                Ok(answers) => {
                    self.condition.set_well(true);
                    answers
                }
                Err(batch::Failure::NothingWritten(error)) => {
                    tracing::error!(%error, "nothing could be written");
                    self.condition.set_well(false);
                    batch::all(&tasks, WriteError::Unavailable)
                }
                Err(batch::Failure::Uncertain(error)) => {
                    tracing::error!(%error, "a sync failed: the store is opened anew");
                    self.condition.set_well(false);
                    self.condition.set_certain(false);
                    self.connection = None;
                    self.what_is_there(&tasks)
                }
            },
            Err(error) => {
                tracing::error!(%error, "the store cannot be opened anew");
                batch::all(&tasks, WriteError::Unavailable)
            }
        };
        for (queued, answer) in batch.into_iter().zip(answers) {
            // Who asked may be gone.
            let _ = queued.job.answer.send(answer);
        }
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
                let connection = schema::open_to_write(&self.path)?;
                checkpoint(&connection)?;
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
        if !self
            .condition
            .is_well
            .load(std::sync::atomic::Ordering::Relaxed)
        {
            let probed = self.reopened().and_then(batch::probe);
            match probed {
                Ok(()) => self.condition.set_well(true),
                Err(error) => tracing::warn!(%error, "the store still cannot keep anything"),
            }
        }
        if let Err(error) = self.forget() {
            tracing::error!(%error, "ended matches could not be forgotten");
            self.condition.set_well(false);
        }
    }

    /// Forgets some of the matches that ended too long ago, and gives back some of the room.
    fn forget(&mut self) -> rusqlite::Result<()> {
        let Some(keep) = self.keep_ended else {
            return Ok(());
        };
        let connection = self.reopened()?;
        let keep_ms = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        let forgotten = connection
            .prepare_cached(
                "DELETE FROM matches WHERE id IN (
                    SELECT id FROM matches
                    WHERE ended_ms < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
                    LIMIT ?2)",
            )?
            .execute((keep_ms, FORGET_AT_ONCE))?;
        if forgotten > 0 {
            tracing::debug!(forgotten, "ended matches are forgotten");
            connection
                .prepare(&format!("PRAGMA incremental_vacuum({VACUUM_AT_ONCE})"))?
                .query([])?
                .next()
                .map(|_| ())?;
        }
        Ok(())
    }
}

/// Writes the log into the database, and syncs that.
fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    let busy: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
