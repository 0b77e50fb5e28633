//! What is added to journals.

use std::collections::HashSet;

use plyhouse_matches::{Event, EventKind, Reminder};
use plyhouse_protocol::MatchId;
use uuid::Uuid;

use super::{Batch, Task, finish, remind};
use crate::WriteError;
use crate::postgres::journal::{Place, body, integer};
use crate::postgres::link::{Failure, Session};

/// An append within a batch.
struct Append<'a> {
    index: usize,
    id: MatchId,
    after: Place,
    events: &'a [Event],
    reminder: Option<&'a Reminder>,
}

impl<'a> Batch<'a> {
    /// Makes the appends, each if the journal ends where it says.
    pub(super) async fn append_all(&mut self, session: &Session) -> Result<(), Failure> {
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
            seat(session, append.id, append.events).await?;
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

/// Keeps who sits where now, in a match of which that is kept.
async fn seat(session: &Session, id: MatchId, events: &[Event]) -> Result<(), Failure> {
    let mut holders = [None, None];
    for event in events {
        if let EventKind::Seated { seat, occupant } = &event.kind {
            holders[seat.index()] = Some(occupant.holder().map(|player| player.0));
        }
    }
    let seats = (0..).zip(holders);
    let seats = seats.filter_map(|(place, holder)| Some((place, holder?)));
    let (places, players): (Vec<i16>, Vec<Option<Uuid>>) = seats.unzip();
    if places.is_empty() {
        return Ok(());
    }
    // It is kept of those whose host is.
    let sql = "INSERT INTO involved (m, place, player)
               SELECT $1, u.place, u.player FROM UNNEST($2::int2[], $3::uuid[]) AS u (place, player)
               WHERE EXISTS (SELECT FROM involved WHERE m = $1 AND place = 2)
               ON CONFLICT (m, place) DO UPDATE SET player = excluded.player";
    session.query(sql, &[&id.0, &places, &players]).await?;
    Ok(())
}
