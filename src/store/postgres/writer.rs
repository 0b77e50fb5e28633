//! The task that writes: batch after batch, each one transaction.

mod batch;
mod pairing;

use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use self::batch::Batch;
pub(super) use self::batch::file_all;
use self::batch::unfile;
pub(super) use self::pairing::Pairing;
use super::Condition;
use super::link::{Failure, Link, Session, because};
use crate::directory::Shown;
use crate::{
    AnalysisAsked, JournalPosition, KeptAnalysis, NodeId, PeopleChange, PlayerRecord,
    RatingsChange, Record, SessionRecord, WriteError,
};

/// How many writes are put into one transaction.
const BATCH_MAX: usize = 256;

/// How many writes may wait. Whoever has more waits with them.
const WAITING_MAX: usize = 1024;

/// How often the task looks around, however much there is to write: whether a database that was away is back,
/// and whether there is something to forget.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// How many ended matches are forgotten at once, so that nobody waits for long.
const FORGET_AT_ONCE: i64 = 100;

/// Something to write.
#[derive(Debug)]
pub(super) enum Task {
    Create(NodeId, Record),
    Append {
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    },
    Claim(MatchId, NodeId),
    /// Refused as a conflict if the match is not this one's, or was taken too lately.
    Take {
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    },
    Release(MatchId),
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    /// Refused as a conflict if it comes to nothing.
    ChangePeople(PeopleChange),
    /// Refused as a conflict if it comes to nothing.
    ChangeRatings(RatingsChange),
    /// Refused as a conflict if there is no such match that has ended.
    KeepAnalysis(MatchId, KeptAnalysis),
    /// Refused as a conflict if as many as may be are counted.
    AskAnalysis(AnalysisAsked),
    Renew(NodeId),
    Withdraw(NodeId),
    /// Refused as a conflict if somebody else is at it.
    Pair(Arc<Pairing>),
    /// Refused as a conflict if there is none, or somebody else is at it.
    EndSeek(PlayerId, NodeId),
    Show(Vec<Shown>),
}

/// A task, and where to tell what has become of it.
#[derive(Debug)]
struct Job {
    task: Task,
    answer: oneshot::Sender<Result<(), WriteError>>,
}

/// The way to the task that writes.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn start(
        link: Link,
        keep_ended: Option<Duration>,
        condition: &Arc<Condition>,
    ) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let work = Work {
            link,
            keep_ended,
            condition: Arc::clone(condition),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with the store, which aborts it"
        )]
        let task = tokio::spawn(work.run(waiting));
        Self { jobs, task }
    }

    /// Has something written, and waits until it is durable.
    pub(super) async fn write(&self, task: Task) -> Result<(), WriteError> {
        let (answer, written) = oneshot::channel();
        if self.jobs.send(Job { task, answer }).await.is_err() {
            return Err(WriteError::Unavailable);
        }
        written.await.unwrap_or(Err(WriteError::Unknown))
    }

    /// Has something written that nobody waits for, if there is room for it.
    pub(super) fn write_later(&self, task: Task) {
        let (answer, _) = oneshot::channel();
        if self.jobs.try_send(Job { task, answer }).is_err() {
            tracing::debug!("the database has too much to write");
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
struct Work {
    link: Link,
    keep_ended: Option<Duration>,
    condition: Arc<Condition>,
}

impl Work {
    async fn run(mut self, mut waiting: mpsc::Receiver<Job>) {
        let mut look_at = Instant::now() + LOOK_AROUND;
        loop {
            if Instant::now() >= look_at {
                self.look_around().await;
                look_at = Instant::now() + LOOK_AROUND;
            }
            let Ok(first) = timeout_at(look_at, waiting.recv()).await else {
                continue;
            };
            let Some(first) = first else { return };
            let mut jobs = vec![first];
            while jobs.len() < BATCH_MAX
                && let Ok(job) = waiting.try_recv()
            {
                jobs.push(job);
            }
            let (tasks, answers): (Vec<Task>, Vec<_>) =
                jobs.into_iter().map(|job| (job.task, job.answer)).unzip();
            let written = self.write(&tasks).await;
            for (answer, written) in answers.into_iter().zip(written) {
                // Whoever asked may have gone.
                let _ = answer.send(written);
            }
        }
    }

    async fn write(&mut self, tasks: &[Task]) -> Vec<Result<(), WriteError>> {
        let condition = Arc::clone(&self.condition);
        let metrics = &condition.metrics;
        let began = Instant::now();
        let (answers, is_kept) = match self.try_write(tasks).await {
            Ok(answers) => {
                metrics.batches.inc();
                metrics.writes.inc_by(tasks.len() as u64);
                metrics.sync.observe(began.elapsed().as_secs_f64());
                (answers, true)
            }
            Err(failure) => {
                let error = because(&failure);
                tracing::error!(error, writes = tasks.len(), "a batch was not written");
                metrics.failures.inc();
                let answer = match failure {
                    Failure::NotConnected | Failure::Refused(_) => WriteError::Unavailable,
                    Failure::Lost => WriteError::Unknown,
                };
                (vec![Err(answer); tasks.len()], false)
            }
        };
        condition.set_well(is_kept);
        answers
    }

    /// Writes a batch. With an error none of it is there, unless the connection was lost.
    async fn try_write(&mut self, tasks: &[Task]) -> Result<Vec<Result<(), WriteError>>, Failure> {
        let session = self.link.session().await?;
        let written = Batch::new(tasks).write(&session).await;
        if written.is_err() {
            // What it was in the middle of is rolled back with it.
            self.link.let_go(&session);
        }
        written
    }

    async fn look_around(&mut self) {
        let Ok(session) = self.link.session().await else {
            return self.condition.set_well(false);
        };
        if !self.condition.is_well() {
            // Something of no meaning, to see whether that can be done.
            let probe = session
                .command("UPDATE plyhouse SET version = version")
                .await;
            if probe.is_err() {
                self.link.let_go(&session);
            }
            self.condition.set_well(probe.is_ok());
        }
        if let Some(keep_ended) = self.keep_ended
            && let Err(failure) = forget(&session, keep_ended).await
        {
            let error = because(&failure);
            tracing::warn!(error, "ended matches are not forgotten");
            self.link.let_go(&session);
        }
    }
}

/// Forgets some of the matches that ended so long ago, by the clock of the database.
async fn forget(session: &Session, keep_ended: Duration) -> Result<(), Failure> {
    session.command("BEGIN").await?;
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
    let keep_ms = i64::try_from(keep_ended.as_millis()).unwrap_or(i64::MAX);
    let forgotten = session.query(sql, &[&keep_ms, &FORGET_AT_ONCE]).await?;
    unfile(session, &forgotten).await?;
    session.command("COMMIT").await
}
