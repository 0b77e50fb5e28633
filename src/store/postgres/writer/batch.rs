//! One batch of writes as one transaction.
//!
//! Appends compare and add in one statement: a row is added if the last row before it is the one that
//! its writer knew, and if nobody has added one at its place. Of two that race for a place the primary
//! key lets one win. Rows are written in the order of their matches, by all servers, so that none waits
//! for another in a circle.

mod appends;
mod hints;
mod pairs;
mod people;
mod takes;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind, Part, Reminder};
use plyhouse_protocol::MatchId;
use uuid::Uuid;

use self::takes::claim;
use super::Task;
use crate::postgres::journal::{body, integer, length};
use crate::postgres::link::{Failure, Session};
use crate::record::terms_to_text;
use crate::{NodeId, Record, WriteError};

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
        session.command("BEGIN").await?;
        self.keep_leases(session).await?;
        self.add_players(session).await?;
        self.change_sessions(session).await?;
        self.write_matches(session).await?;
        self.take_all(session).await?;
        self.append_all(session).await?;
        // Last, since until the end nobody else can pair those who want the same.
        self.pair_all(session).await?;
        session.command("COMMIT").await?;
        Ok(self.answers)
    }

    /// Creates, claims and releases matches, in their order.
    async fn write_matches(&mut self, session: &Session) -> Result<(), Failure> {
        let id = |task: &Task| match task {
            Task::Create(_, record) => Some(record.creation.id),
            Task::Claim(id, _) | Task::Release(id) => Some(*id),
            _ => None,
        };
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| Some((id(task)?, index)));
        let mut tasks: Vec<(MatchId, usize)> = tasks.collect();
        tasks.sort_unstable();
        for (_, index) in tasks {
            self.answers[index] = match &self.tasks[index] {
                Task::Create(owner, record) => create(session, *owner, record).await?,
                Task::Claim(id, owner) => claim(session, *id, *owner).await?,
                Task::Release(id) => release(session, *id).await?,
                _ => continue,
            };
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

async fn create(
    session: &Session,
    owner: NodeId,
    record: &Record,
) -> Result<Result<(), WriteError>, Failure> {
    let Record { creation, events } = record;
    let (id, code) = (creation.id, creation.code.to_string());
    let sql = "WITH made AS (
                   INSERT INTO matches (m, code, game, host, terms, previous, node)
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING m),
               people AS (
                   INSERT INTO involved (m, place, player)
                   SELECT made.m, u.place, u.player
                   FROM made, UNNEST($10::int2[], $11::uuid[]) AS u (place, player))
               INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT m, 0, $8, $8, 0, $9 FROM made RETURNING m";
    let previous = creation.terms.previous.map(|previous| previous.id.0);
    let (places, players) = people(record);
    let made = session
        .query_opt(
            sql,
            &[
                &id.0,
                &code,
                &creation.game.info.id,
                &creation.host.0,
                &terms_to_text(&creation.terms),
                &previous,
                &owner.0,
                &length(record),
                &body(events),
                &places,
                &players,
            ],
        )
        .await?;
    if made.is_none() {
        // If another match has this code, it is there to be seen.
        let sql = "SELECT m FROM matches WHERE code = $1 AND ended_ms IS NULL AND m <> $2";
        let taken = session.query_opt(sql, &[&code, &id.0]).await?.is_some();
        let why = if taken {
            WriteError::CodeTaken
        } else {
            WriteError::Conflict
        };
        return Ok(Err(why));
    }
    if let Some(reminder) = record.reminder() {
        remind(session, id, &reminder).await?;
    }
    Ok(Ok(()))
}

/// Whose a match is, by place. Nothing if it is played over days: then its reminder tells.
fn people(record: &Record) -> (Vec<i16>, Vec<Uuid>) {
    if record.creation.terms.is_of_days() {
        return Default::default();
    }
    let people = (0..).zip(record.people());
    let people = people.filter_map(|(place, player)| Some((place, player?.0)));
    people.unzip()
}

async fn release(session: &Session, id: MatchId) -> Result<Result<(), WriteError>, Failure> {
    let sql = "UPDATE matches SET node = NULL, taken_at = NULL WHERE m = $1";
    session.query(sql, &[&id.0]).await?;
    Ok(Ok(()))
}

/// Keeps a match's reminder in place of the one before.
async fn remind(session: &Session, id: MatchId, reminder: &Reminder) -> Result<(), Failure> {
    let sql = "UPDATE matches SET wake_ms = $2 WHERE m = $1";
    let wake_ms = reminder.wake_ms.map(integer);
    session.query(sql, &[&id.0, &wake_ms]).await?;
    let sql = "DELETE FROM parts WHERE m = $1";
    session.query(sql, &[&id.0]).await?;
    for part in &reminder.parts {
        add_part(session, id, part).await?;
    }
    Ok(())
}

async fn add_part(session: &Session, id: MatchId, part: &Part) -> Result<(), Failure> {
    let sql = "INSERT INTO parts (player, m, seat, stood_in, is_days, turn, due_ms, absent_ms)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let number = |seat: Seat| i16::from(seat.number());
    let days = part.days;
    session
        .query(
            sql,
            &[
                &part.player.0,
                &id.0,
                &part.seat.map(number),
                &part.stood_in.map(number),
                &days.is_some(),
                &days.and_then(|days| days.turn).map(number),
                &days.and_then(|days| days.due_ms).map(integer),
                &part.absent_ms.map(integer),
            ],
        )
        .await?;
    Ok(())
}

/// The match is over with this event: nobody need have it in memory, nor be reminded of it.
async fn finish(session: &Session, id: MatchId, end: &Event) -> Result<(), Failure> {
    let sql = "WITH ended AS (
                   UPDATE matches SET ended_ms = $2, wake_ms = NULL WHERE m = $1),
               forgotten AS (DELETE FROM parts WHERE m = $1)
               DELETE FROM involved WHERE m = $1";
    let at_ms = integer(end.at_ms);
    session.query(sql, &[&id.0, &at_ms]).await?;
    Ok(())
}
