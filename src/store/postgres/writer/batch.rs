//! One batch of writes as one transaction.
//!
//! Appends compare and add in one statement: a row is added if the last row before it is the one that
//! its writer knew, and if nobody has added one at its place. Of two that race for a place the primary
//! key lets one win. Rows are written in the order of their matches, by all servers, so that none waits
//! for another in a circle.

use std::collections::HashSet;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, Part, Reminder};
use plyhouse_protocol::MatchId;
use uuid::Uuid;

use super::Task;
use crate::postgres::journal::{Place, body, integer, length};
use crate::postgres::link::{Failure, Session};
use crate::record::terms_to_text;
use crate::{NodeId, PlayerRecord, Record, WriteError};

/// How often a take-over tries to come after what is written at the same time.
const CLAIM_TRIES: usize = 10;

/// Tasks, and what has become of each.
pub(super) struct Batch<'a> {
    tasks: &'a [Task],
    answers: Vec<Result<(), WriteError>>,
}

/// An append within a batch.
struct Append<'a> {
    index: usize,
    id: MatchId,
    after: Place,
    events: &'a [Event],
    reminder: Option<&'a Reminder>,
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
        session.command("BEGIN").await?;
        self.add_players(session).await?;
        let mut others: Vec<(MatchId, usize)> = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            match task {
                Task::Create(_, record) => others.push((record.creation.id, index)),
                Task::Claim(id, _) | Task::Release(id) => others.push((*id, index)),
                Task::Append { .. } | Task::AddPlayer(_) => {}
            }
        }
        others.sort_unstable();
        for (_, index) in others {
            self.answers[index] = match &self.tasks[index] {
                Task::Create(owner, record) => create(session, *owner, record).await?,
                Task::Claim(id, owner) => claim(session, *id, *owner).await?,
                Task::Release(id) => release(session, *id).await?,
                Task::Append { .. } | Task::AddPlayer(_) => Ok(()),
            };
        }
        self.append_all(session).await?;
        session.command("COMMIT").await?;
        Ok(self.answers)
    }

    /// Whether there is nothing but moves, which need no transaction around their one statement.
    fn is_one_statement(&self) -> bool {
        self.tasks.iter().all(|task| {
            matches!(task, Task::Append { events, reminder: None, .. }
                if events.last().is_some_and(|last| !last.is_end()))
        })
    }

    async fn add_players(&self, session: &Session) -> Result<(), Failure> {
        let players = self.tasks.iter().filter_map(|task| match task {
            Task::AddPlayer(player) => Some(player),
            _ => None,
        });
        let mut players: Vec<&PlayerRecord> = players.collect();
        if players.is_empty() {
            return Ok(());
        }
        players.sort_unstable_by_key(|player| player.id);
        let ids: Vec<Uuid> = players.iter().map(|player| player.id.0).collect();
        let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
        let tokens: Vec<&[u8]> = players.iter().map(|player| &player.token.0[..]).collect();
        let sql = "INSERT INTO players (id, name, token)
                   SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::bytea[])
                   ON CONFLICT DO NOTHING";
        session.query(sql, &[&ids, &names, &tokens]).await?;
        Ok(())
    }

    /// Makes the appends, each if the journal ends where it says.
    async fn append_all(&mut self, session: &Session) -> Result<(), Failure> {
        let mut appends = self.appends();
        appends.sort_by_key(|append| append.id);
        let rows: Vec<&Append<'_>> = appends
            .iter()
            .filter(|append| !append.events.is_empty())
            .collect();
        let made = insert(session, &rows).await?;
        for append in &appends {
            let is_made = if append.events.is_empty() {
                touch(session, append.id, append.after).await?
            } else {
                made.contains(&append.id)
            };
            if !is_made {
                self.answers[append.index] = Err(WriteError::Conflict);
                continue;
            }
            if let Some(reminder) = append.reminder {
                remind(session, append.id, reminder).await?;
            }
            if let Some(end) = append.events.last().filter(|last| last.is_end()) {
                finish(session, append.id, end).await?;
            }
        }
        Ok(())
    }

    /// The appends. Of two to one match the later is refused: it does not know of the first.
    fn appends(&mut self) -> Vec<Append<'a>> {
        let (tasks, mut taken) = (self.tasks, HashSet::new());
        let mut appends = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            let Task::Append {
                id,
                after,
                events,
                reminder,
            } = task
            else {
                continue;
            };
            if taken.insert(*id) {
                appends.push(Append {
                    index,
                    id: *id,
                    after: Place::from(*after),
                    events,
                    reminder: reminder.as_ref(),
                });
            } else {
                self.answers[index] = Err(WriteError::Conflict);
            }
        }
        appends
    }
}

/// Adds rows to the journals, and gives the matches that have got theirs.
async fn insert(session: &Session, appends: &[&Append<'_>]) -> Result<HashSet<MatchId>, Failure> {
    if appends.is_empty() {
        return Ok(HashSet::new());
    }
    let column = |of: fn(&Append<'_>) -> i64| -> Vec<i64> {
        appends.iter().map(|append| of(append)).collect()
    };
    let ids: Vec<Uuid> = appends.iter().map(|append| append.id.0).collect();
    let after = column(|append| append.after.n);
    let seqs = column(|append| append.after.seq);
    let epochs = column(|append| append.after.epoch);
    let counts = column(|append| integer(append.events.len() as u64));
    let bodies: Vec<String> = appends.iter().map(|append| body(append.events)).collect();
    // A subquery that gives one value: where it is an EXISTS, and there are no statistics yet, all of
    // the journal is read.
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, u.after + 1, u.after + u.count, u.seq + u.count, u.epoch, u.body
               FROM UNNEST($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::text[])
                   AS u (m, after, seq, epoch, count, body)
               WHERE (SELECT p.last = u.after AND p.seq = u.seq AND p.epoch = u.epoch
                      FROM journal p WHERE p.m = u.m ORDER BY p.n DESC LIMIT 1)
               ORDER BY u.m
               ON CONFLICT DO NOTHING RETURNING m";
    let rows = session
        .query(sql, &[&ids, &after, &seqs, &epochs, &counts, &bodies])
        .await?;
    Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
}

/// Writes something of no meaning to a match, if its journal ends here. Tells whether it does.
async fn touch(session: &Session, id: MatchId, after: Place) -> Result<bool, Failure> {
    let sql = "UPDATE matches SET game = game
               WHERE m = $1 AND (SELECT p.last = $2 AND p.seq = $3 AND p.epoch = $4
                                 FROM journal p WHERE p.m = $1 ORDER BY p.n DESC LIMIT 1)
               RETURNING m";
    let Place { n, seq, epoch } = after;
    let found = session.query_opt(sql, &[&id.0, &n, &seq, &epoch]).await?;
    Ok(found.is_some())
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
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING m)
               INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT m, 0, $8, $8, 0, $9 FROM made RETURNING m";
    let previous = creation.terms.previous.map(|previous| previous.id.0);
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

/// Takes a match over: whatever its owner before writes from now on is a conflict.
async fn claim(
    session: &Session,
    id: MatchId,
    owner: NodeId,
) -> Result<Result<(), WriteError>, Failure> {
    let sql = "UPDATE matches SET node = $2, epoch = epoch + 1
               WHERE m = $1 AND ended_ms IS NULL AND node IS DISTINCT FROM $2 RETURNING epoch";
    let Some(row) = session.query_opt(sql, &[&id.0, &owner.0]).await? else {
        return Ok(Ok(()));
    };
    let epoch: i64 = row.get(0);
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT m, last + 1, last + 1, seq, $2, '[]' FROM journal
               WHERE m = $1 ORDER BY n DESC LIMIT 1
               ON CONFLICT DO NOTHING RETURNING m";
    for _ in 0..CLAIM_TRIES {
        if session.query_opt(sql, &[&id.0, &epoch]).await?.is_some() {
            return Ok(Ok(()));
        }
    }
    Ok(Err(WriteError::Unknown))
}

async fn release(session: &Session, id: MatchId) -> Result<Result<(), WriteError>, Failure> {
    let sql = "UPDATE matches SET node = NULL WHERE m = $1";
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
    let sql = "UPDATE matches SET ended_ms = $2, wake_ms = NULL, node = NULL WHERE m = $1";
    let at_ms = integer(end.at_ms);
    session.query(sql, &[&id.0, &at_ms]).await?;
    let sql = "DELETE FROM parts WHERE m = $1";
    session.query(sql, &[&id.0]).await?;
    Ok(())
}
