//! Executes a batch of writes in one transaction.
//!
//! Events are appended with a single statement. The statement inserts a journal row only if the
//! journal ends at the position that the caller expects. If two appends race for the same position,
//! the primary key lets only one of them succeed. All servers write rows in the order of match ids,
//! so that they do not deadlock.

pub(in crate::postgres) mod account_deletion;
mod appends;
mod history;
mod leases;
mod match_creation;
mod seek_pairing;
pub(in crate::postgres) mod shared_writes;
mod takeovers;

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::MatchId;

pub(in crate::postgres) use self::history::index_all_matches;
use self::takeovers::claim_match;
use super::WriteTask;
use crate::WriteError;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::sql::SqlWrite;

/// The write tasks of a batch, and the result of each task.
pub(super) struct Batch<'a> {
    tasks: &'a [WriteTask],
    results: Vec<Result<(), WriteError>>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(tasks: &'a [WriteTask]) -> Self {
        Self {
            tasks,
            results: vec![Ok(()); tasks.len()],
        }
    }

    /// Executes the tasks. If a task conflicts with the stored data, only this task fails. The
    /// results are in the order of the tasks.
    pub(super) async fn write(
        mut self,
        connection: &PgConnection,
    ) -> Result<Vec<Result<(), WriteError>>, QueryError> {
        if self.is_single_statement() {
            self.append_all(connection).await?;
            return Ok(self.results);
        }
        // Entries of the match list are written before the transaction begins, because they lock
        // many rows. If the transaction fails, the entries remain stored, which does no harm.
        self.update_summaries(connection).await?;
        account_deletion::begin_transaction(connection, self.tasks).await?;
        self.update_leases(connection).await?;
        self.add_players(connection).await?;
        self.change_identities(connection).await?;
        self.create_all(connection).await?;
        self.change_owners(connection).await?;
        self.take_over_all(connection).await?;
        self.append_all(connection).await?;
        self.apply_other_writes(connection).await?;
        // Pairing runs last, because it holds locks until the transaction commits. These locks
        // prevent other servers from pairing seeks with the same keys.
        self.pair_seeks(connection).await?;
        connection.execute_batch("COMMIT").await?;
        Ok(self.results)
    }

    /// Executes the claims and releases of matches, in the order of match ids.
    async fn change_owners(&mut self, connection: &PgConnection) -> Result<(), QueryError> {
        let id = |task: &WriteTask| match task {
            WriteTask::Claim(id, _) | WriteTask::Release(id) => Some(*id),
            _ => None,
        };
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| Some((id(task)?, index)));
        let mut tasks: Vec<(MatchId, usize)> = tasks.collect();
        tasks.sort_unstable();
        for (_, index) in tasks {
            match &self.tasks[index] {
                WriteTask::Claim(id, owner) => {
                    self.results[index] = claim_match(connection, *id, *owner).await?
                }
                WriteTask::Release(id) => release_match(connection, *id).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether a single statement can write the batch without an explicit transaction. The
    /// batch must contain only appends without reminders, and the appended events must change
    /// nothing but the journal.
    fn is_single_statement(&self) -> bool {
        self.tasks.iter().all(|task| {
            matches!(task, WriteTask::Append { events, reminder: None, .. }
                if !events.is_empty() && events.iter().all(is_journal_only))
        })
    }
}

/// Returns whether an event changes nothing but the journal.
const fn is_journal_only(event: &Event) -> bool {
    !matches!(
        event.kind,
        EventKind::Seated { .. } | EventKind::Ended { .. }
    )
}

async fn release_match(connection: &PgConnection, id: MatchId) -> Result<(), QueryError> {
    let sql = "UPDATE matches SET node = NULL, taken_at = NULL WHERE m = $1";
    connection.execute(sql, &[id.into()]).await?;
    Ok(())
}
