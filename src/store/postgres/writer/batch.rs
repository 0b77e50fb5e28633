//! One batch of writes as one transaction.
//!
//! Appends compare and add in one statement: a row is added if the last row before it is the one that
//! its writer knew, and if nobody has added one at its place. Of two that race for a place the primary
//! key lets one win. Rows are written in the order of their matches, by all servers, so that none waits
//! for another in a circle.

mod accounts;
mod analyses;
mod appends;
mod blocks;
mod creations;
mod forgetting;
mod hints;
mod history;
mod operator;
mod pairs;
mod people;
mod ratings;
mod reminders;
mod takes;

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::MatchId;

pub(in crate::postgres) use self::history::{file_all, unfile};
use self::takes::claim;
use super::Task;
use crate::WriteError;
use crate::postgres::link::{Failure, Session};

/// Tasks, and what has become of each.
pub(super) struct Batch<'a> {
    tasks: &'a [Task],
    answers: Vec<Result<(), WriteError>>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(tasks: &'a [Task]) -> Self {
        Self {
            tasks,
            answers: vec![Ok(()); tasks.len()],
        }
    }

    /// Writes every task that fits what is there. The answers are in the order of the tasks.
    pub(super) async fn write(
        mut self,
        session: &Session,
    ) -> Result<Vec<Result<(), WriteError>>, Failure> {
        if self.is_one_statement() {
            self.append_all(session).await?;
            return Ok(self.answers);
        }
        // By itself, so that nothing else is locked while many rows are. If the rest fails, it does no harm.
        self.show(session).await?;
        forgetting::begin(session, self.tasks).await?;
        self.keep_leases(session).await?;
        self.add_players(session).await?;
        self.change_people(session).await?;
        self.create_all(session).await?;
        self.change_owners(session).await?;
        self.take_all(session).await?;
        self.append_all(session).await?;
        self.keep_analyses(session).await?;
        self.ask_analyses(session).await?;
        // After the appends, which may have locked the end of the ledger.
        self.change_ratings(session).await?;
        // Last, since until the end nobody else can pair those who want the same.
        self.pair_all(session).await?;
        session.command("COMMIT").await?;
        Ok(self.answers)
    }

    /// Claims and releases matches, in their order.
    async fn change_owners(&mut self, session: &Session) -> Result<(), Failure> {
        let id = |task: &Task| match task {
            Task::Claim(id, _) | Task::Release(id) => Some(*id),
            _ => None,
        };
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| Some((id(task)?, index)));
        let mut tasks: Vec<(MatchId, usize)> = tasks.collect();
        tasks.sort_unstable();
        for (_, index) in tasks {
            match &self.tasks[index] {
                Task::Claim(id, owner) => self.answers[index] = claim(session, *id, *owner).await?,
                Task::Release(id) => release(session, *id).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether there is nothing but moves, which need no transaction around their one statement.
    fn is_one_statement(&self) -> bool {
        self.tasks.iter().all(|task| {
            matches!(task, Task::Append { events, reminder: None, .. }
                if !events.is_empty() && events.iter().all(is_of_journal_alone))
        })
    }
}

/// Whether nothing is to be written of an event but the event.
const fn is_of_journal_alone(event: &Event) -> bool {
    !matches!(
        event.kind,
        EventKind::Seated { .. } | EventKind::Ended { .. }
    )
}

async fn release(session: &Session, id: MatchId) -> Result<(), Failure> {
    let sql = "UPDATE matches SET node = NULL, taken_at = NULL WHERE m = $1";
    session.query(sql, &[&id.0]).await?;
    Ok(())
}
