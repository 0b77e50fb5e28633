//! The task that writes: batch after batch, each one transaction.

mod batch;
mod seek_pairing;

use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use self::batch::Batch;
pub(super) use self::batch::index_all_matches;
use self::batch::unindex_matches;
pub(super) use self::seek_pairing::SeekPairing;
use super::Health;
use super::reconnecting_connection::{
    PgConnection, QueryError, ReconnectingConnection, error_chain,
};
use crate::port::cluster_directory::MatchListing;
use crate::{
    AnalysisQuotaRequest, IdentityChange, JournalPosition, MatchRecord, NodeId, PlayerRecord,
    RatingsChange, SessionRecord, StoredAnalysis, WriteError,
};

/// How many writes are put into one transaction.
const BATCH_MAX: usize = 256;

/// How many writes may wait. Whoever has more waits with them.
const QUEUE_MAX: usize = 1024;

/// How often the task looks around, however much there is to write: whether a database that was away is back,
/// and whether there is something to forget.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// How many ended matches are forgotten at once, so that nobody waits for long.
const EXPIRY_BATCH_MAX: i64 = 100;

/// Something to write.
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
    /// Refused as a conflict if the match is not this one's, or was taken too lately.
    TakeOver {
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    },
    Release(MatchId),
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    /// Refused as a conflict if it comes to nothing.
    ChangeIdentity(IdentityChange),
    /// Refused as a conflict if it comes to nothing.
    ChangeRatings(RatingsChange),
    /// Refused as a conflict if there is no such match that has ended.
    StoreAnalysis(MatchId, StoredAnalysis),
    /// Refused as a conflict if as many as may be are counted.
    CountAnalysisRequest(AnalysisQuotaRequest),
    RenewLease(NodeId),
    WithdrawLease(NodeId),
    /// Refused as a conflict if somebody else is at it.
    PairSeek(Arc<SeekPairing>),
    /// Refused as a conflict if there is none, or somebody else is at it.
    EndSeek(PlayerId, NodeId),
    UpdateSummaries(Vec<MatchListing>),
}

/// A task, and where to tell what has become of it.
#[derive(Debug)]
struct WriteJob {
    task: WriteTask,
    reply: oneshot::Sender<Result<(), WriteError>>,
}

/// The way to the task that writes.
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

    /// Has something written, and waits until it is durable.
    pub(super) async fn write(&self, task: WriteTask) -> Result<(), WriteError> {
        let (reply, outcome) = oneshot::channel();
        if self.jobs.send(WriteJob { task, reply }).await.is_err() {
            return Err(WriteError::Unavailable);
        }
        outcome.await.unwrap_or(Err(WriteError::OutcomeUnknown))
    }

    /// Has something written that nobody waits for, if there is room for it.
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

/// What the task has.
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
                // Whoever asked may have gone.
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
                    QueryError::NotConnected | QueryError::Rejected(_) => WriteError::Unavailable,
                    QueryError::ConnectionLost => WriteError::OutcomeUnknown,
                };
                (vec![Err(write_error); tasks.len()], false)
            }
        };
        health.set_healthy(is_written);
        results
    }

    /// Writes a batch. With an error none of it is there, unless the connection was lost.
    async fn try_write(
        &mut self,
        tasks: &[WriteTask],
    ) -> Result<Vec<Result<(), WriteError>>, QueryError> {
        let connection = self.connection.connection().await?;
        let results = Batch::new(tasks).write(&connection).await;
        if results.is_err() {
            // What it was in the middle of is rolled back with it.
            self.connection.discard(&connection);
        }
        results
    }

    async fn run_maintenance(&mut self) {
        let Ok(connection) = self.connection.connection().await else {
            return self.health.set_healthy(false);
        };
        if !self.health.is_healthy() {
            // Something of no meaning, to see whether that can be done.
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

/// Forgets some of the matches that ended so long ago, by the clock of the database.
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
               SELECT m, game, summary FROM forgotten";
    let retention_ms = i64::try_from(keep_ended.as_millis()).unwrap_or(i64::MAX);
    let rows = connection
        .query(sql, &[&retention_ms, &EXPIRY_BATCH_MAX])
        .await?;
    unindex_matches(connection, &rows).await?;
    connection.execute_batch("COMMIT").await
}
