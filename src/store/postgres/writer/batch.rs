//! One batch of writes as one transaction.
//!
//! Appends compare and add in one statement: a row is added if the last row before it is the one that
//! its writer knew, and if nobody has added one at its place. Of two that race for a place the primary
//! key lets one win. Rows are written in the order of their matches, by all servers, so that none waits
//! for another in a circle.

mod account_deletion;
mod accounts;
mod analyses;
mod appends;
mod blocks;
mod history;
mod identity;
mod leases;
mod match_creation;
mod matchmaking;
mod operator_requests;
mod ratings;
mod reminders;
mod takeovers;

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::MatchId;

pub(in crate::postgres) use self::history::{index_all_matches, unindex_matches};
use self::takeovers::claim_match;
use super::WriteTask;
use crate::WriteError;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};

/// Tasks, and what has become of each.
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

    /// Writes every task that fits what is there. The answers are in the order of the tasks.
    pub(super) async fn write(
        mut self,
        connection: &PgConnection,
    ) -> Result<Vec<Result<(), WriteError>>, QueryError> {
        if self.is_single_statement() {
            self.append_all(connection).await?;
            return Ok(self.results);
        }
        // By itself, so that nothing else is locked while many rows are. If the rest fails, it does no harm.
        self.update_summaries(connection).await?;
        account_deletion::begin_transaction(connection, self.tasks).await?;
        self.update_leases(connection).await?;
        self.add_players(connection).await?;
        self.change_identities(connection).await?;
        self.create_all(connection).await?;
        self.change_owners(connection).await?;
        self.take_over_all(connection).await?;
        self.append_all(connection).await?;
        self.store_analyses(connection).await?;
        self.count_analysis_requests(connection).await?;
        // After the appends, which may have locked the end of the ledger.
        self.change_ratings(connection).await?;
        // Last, since until the end nobody else can pair those who want the same.
        self.pair_seeks(connection).await?;
        connection.execute_batch("COMMIT").await?;
        Ok(self.results)
    }

    /// Claims and releases matches, in their order.
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

    /// Whether there is nothing but moves, which need no transaction around their one statement.
    fn is_single_statement(&self) -> bool {
        self.tasks.iter().all(|task| {
            matches!(task, WriteTask::Append { events, reminder: None, .. }
                if !events.is_empty() && events.iter().all(is_journal_only))
        })
    }
}

/// Whether nothing is to be written of an event but the event.
const fn is_journal_only(event: &Event) -> bool {
    !matches!(
        event.kind,
        EventKind::Seated { .. } | EventKind::Ended { .. }
    )
}

async fn release_match(connection: &PgConnection, id: MatchId) -> Result<(), QueryError> {
    let sql = "UPDATE matches SET node = NULL, taken_at = NULL WHERE m = $1";
    connection.query(sql, &[&id.0]).await?;
    Ok(())
}
