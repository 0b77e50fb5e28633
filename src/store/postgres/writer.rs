//! The task that writes to the database in batches.

pub(super) mod batch;
mod pairing_request;

use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use self::batch::Batch;
pub(super) use self::batch::index_all_matches;
pub(super) use self::pairing_request::SeekPairing;
use super::Health;
use super::reconnecting_connection::{
    PgConnection, QueryError, ReconnectingConnection, error_chain,
};
use crate::port::cluster_directory::MatchListing;
use crate::records::past_matches::summary_from_text;
use crate::sql::writes::SharedWrite;
use crate::sql::{history, query_all};
use crate::{JournalPosition, MatchRecord, NodeId, WriteError};

/// Maximum number of write tasks in one batch.
const BATCH_MAX: usize = 256;

/// Maximum number of queued write tasks. When the queue is full, callers wait for room.
const QUEUE_MAX: usize = 1024;

/// Interval between two runs of maintenance, even under load. Maintenance deletes expired matches.
/// After a failed write, maintenance also checks whether the database accepts writes again.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of expired matches that are deleted at a time, so that other writes are not
/// blocked for long.
const EXPIRY_BATCH_MAX: i64 = 100;

/// A write to the database.
#[derive(Debug)]
pub(super) enum WriteTask {
    Create(NodeId, MatchRecord),
    Append {
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    },
    Claim(MatchId, NodeId),
    /// Fails with a conflict if the current owner is not `from`, or if the match was taken over too
    /// recently.
    TakeOver {
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    },
    Release(MatchId),
    /// Fails with a conflict if the write is refused.
    Shared(SharedWrite),
    RenewLease(NodeId),
    WithdrawLease(NodeId),
    /// Fails with a conflict if the caller must try again. For example, another server may be
    /// pairing seeks with the same key.
    PairSeek(Arc<SeekPairing>),
    /// Fails with a conflict if the seek does not exist or another transaction has locked it.
    EndSeek(PlayerId, NodeId),
    UpdateSummaries(Vec<MatchListing>),
}

/// A write task and the channel for its result.
#[derive(Debug)]
struct WriteJob {
    task: WriteTask,
    reply: oneshot::Sender<Result<(), WriteError>>,
}

/// Handle to the writer task.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: mpsc::Sender<WriteJob>,
    task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn start(
        connection: ReconnectingConnection,
        keep_ended: Option<Duration>,
        health: &Arc<Health>,
    ) -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let worker = Worker {
            connection,
            keep_ended,
            health: Arc::clone(health),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with the store, which aborts it"
        )]
        let task = tokio::spawn(worker.run(queue));
        Self { jobs, task }
    }

    /// Queues a write task and waits until the write is durable or has failed.
    pub(super) async fn write(&self, task: WriteTask) -> Result<(), WriteError> {
        let (reply, outcome) = oneshot::channel();
        if self.jobs.send(WriteJob { task, reply }).await.is_err() {
            return Err(WriteError::Unavailable);
        }
        outcome.await.unwrap_or(Err(WriteError::OutcomeUnknown))
    }

    /// Queues a write task without waiting for its result. Drops the task if the queue is full.
    pub(super) fn write_in_background(&self, task: WriteTask) {
        let (reply, _) = oneshot::channel();
        if self.jobs.try_send(WriteJob { task, reply }).is_err() {
            tracing::debug!("write queue is full, write dropped");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// State of the writer task.
#[derive(Debug)]
struct Worker {
    connection: ReconnectingConnection,
    keep_ended: Option<Duration>,
    health: Arc<Health>,
}

impl Worker {
    async fn run(mut self, mut queue: mpsc::Receiver<WriteJob>) {
        let mut maintenance_at = Instant::now() + MAINTENANCE_INTERVAL;
        loop {
            if Instant::now() >= maintenance_at {
                self.run_maintenance().await;
                maintenance_at = Instant::now() + MAINTENANCE_INTERVAL;
            }
            let Ok(first) = timeout_at(maintenance_at, queue.recv()).await else {
                continue;
            };
            let Some(first) = first else { return };
            let mut jobs = vec![first];
            while jobs.len() < BATCH_MAX
                && let Ok(job) = queue.try_recv()
            {
                jobs.push(job);
            }
            let (tasks, replies): (Vec<WriteTask>, Vec<_>) =
                jobs.into_iter().map(|job| (job.task, job.reply)).unzip();
            let results = self.write(&tasks).await;
            for (reply, result) in replies.into_iter().zip(results) {
                // The caller may have stopped waiting for the result, so a failed send is not an
                // error.
                let _ = reply.send(result);
            }
        }
    }

    async fn write(&mut self, tasks: &[WriteTask]) -> Vec<Result<(), WriteError>> {
        let health = Arc::clone(&self.health);
        let metrics = &health.metrics;
        let began = Instant::now();
        let (results, is_written) = match self.try_write(tasks).await {
            Ok(results) => {
                metrics.batches.inc();
                metrics.writes.inc_by(tasks.len() as u64);
                metrics.sync_duration.observe(began.elapsed().as_secs_f64());
                (results, true)
            }
            Err(failure) => {
                let error = error_chain(&failure);
                tracing::error!(error, writes = tasks.len(), "batch was not written");
                metrics.failures.inc();
                let write_error = match failure {
                    QueryError::NotConnected
                    | QueryError::Rejected(_)
                    | QueryError::InvalidColumn(_) => WriteError::Unavailable,
                    QueryError::ConnectionLost => WriteError::OutcomeUnknown,
                };
                (vec![Err(write_error); tasks.len()], false)
            }
        };
        health.set_healthy(is_written);
        results
    }

    /// Writes a batch in one transaction. If the connection is lost, the outcome of the transaction
    /// is unknown. Any other error means that the transaction was not committed.
    async fn try_write(
        &mut self,
        tasks: &[WriteTask],
    ) -> Result<Vec<Result<(), WriteError>>, QueryError> {
        let connection = self.connection.connection().await?;
        let results = Batch::new(tasks).write(&connection).await;
        if results.is_err() {
            // Closing the connection rolls back the open transaction.
            self.connection.discard(&connection);
        }
        results
    }

    async fn run_maintenance(&mut self) {
        let Ok(connection) = self.connection.connection().await else {
            return self.health.set_healthy(false);
        };
        if !self.health.is_healthy() {
            // This UPDATE leaves the value unchanged. Its only purpose is to test whether the
            // database accepts writes.
            let probe = connection
                .execute_batch("UPDATE plyhouse SET version = version")
                .await;
            if probe.is_err() {
                self.connection.discard(&connection);
            }
            self.health.set_healthy(probe.is_ok());
        }
        if let Some(keep_ended) = self.keep_ended
            && let Err(failure) = delete_expired_matches(&connection, keep_ended).await
        {
            let error = error_chain(&failure);
            tracing::warn!(error, "cannot delete expired matches");
            self.connection.discard(&connection);
        }
    }
}

/// Deletes a batch of matches that ended longer than `keep_ended` ago, according to the database's
/// clock. Matches in the rating ledger are not deleted. Matches that wait for a ledger number are
/// also not deleted.
async fn delete_expired_matches(
    connection: &PgConnection,
    keep_ended: Duration,
) -> Result<(), QueryError> {
    connection.execute_batch("BEGIN").await?;
    let sql = "WITH forgotten AS (
                   DELETE FROM matches WHERE m IN (
                       SELECT m FROM matches
                       WHERE ended_ms < (extract(epoch FROM now()) * 1000)::int8 - $1
                         AND ended_no IS NULL
                         AND NOT EXISTS (SELECT 1 FROM ledger_waiting w WHERE w.m = matches.m)
                       ORDER BY ended_ms LIMIT $2 FOR UPDATE SKIP LOCKED)
                   RETURNING m, game, summary),
               journals AS (DELETE FROM journal WHERE m IN (SELECT m FROM forgotten)),
               rows AS (DELETE FROM played WHERE m IN (SELECT m FROM forgotten)),
               thoughts AS (DELETE FROM analyses WHERE m IN (SELECT m FROM forgotten))
               SELECT game, summary FROM forgotten";
    let retention_ms = i64::try_from(keep_ended.as_millis()).unwrap_or(i64::MAX);
    let params = [retention_ms.into(), EXPIRY_BATCH_MAX.into()];
    let deleted: Vec<(String, Option<String>)> = query_all(connection, sql, &params).await?;
    let summaries = deleted
        .into_iter()
        .filter_map(|(game, summary)| Some((game, summary_from_text(&summary?).ok()?)));
    history::remove_from_openings(connection, &summaries.collect::<Vec<_>>()).await?;
    connection.execute_batch("COMMIT").await
}
