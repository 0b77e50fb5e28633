//! What is added to journals.

use std::borrow::Cow;
use std::collections::HashSet;

use plyhouse_matches::{Event, EventKind, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use uuid::Uuid;

use super::forgetting::gone;
use super::history::file;
use super::reminders::remind;
use super::{Batch, Task};
use crate::WriteError;
use crate::forgetting::{named, seats_any, take_names_out};
use crate::postgres::journal::{Place, body, integer};
use crate::postgres::link::{Failure, Session};

/// An append within a batch.
struct Append<'a> {
    index: usize,
    id: MatchId,
    after: Place,
    events: Cow<'a, [Event]>,
    reminder: Option<&'a Reminder>,
}

impl Append<'_> {
    /// The event with which the match ends.
    fn end(&self) -> Option<&Event> {
        self.events.last().filter(|last| last.is_end())
    }
}

impl<'a> Batch<'a> {
    /// Makes the appends, each if the journal ends where it says.
    pub(super) async fn append_all(&mut self, session: &Session) -> Result<(), Failure> {
        let mut appends = self.appends();
        appends.sort_by_key(|append| append.id);
        self.refuse_the_forgotten(session, &mut appends).await?;
        lock(session, &appends).await?;
        let rows: Vec<&Append<'_>> = appends
            .iter()
            .filter(|append| !append.events.is_empty())
            .collect();
        let made = insert(session, &rows).await?;
        let mut kept = Vec::new();
        for append in &appends {
            let is_made = if append.events.is_empty() {
                touch(session, append.id, append.after).await?
            } else {
                made.contains(&append.id)
            };
            if is_made {
                kept.push(append);
            } else {
                self.answers[append.index] = Err(WriteError::Conflict);
            }
        }
        seat(session, &kept).await?;
        let reminders = kept
            .iter()
            .filter_map(|made| Some((made.id, made.reminder?)));
        remind(session, &reminders.collect::<Vec<_>>()).await?;
        finish(session, &kept).await
    }

    /// Keeps those who were forgotten from sitting down, and calls them by no name.
    async fn refuse_the_forgotten(
        &mut self,
        session: &Session,
        appends: &mut Vec<Append<'a>>,
    ) -> Result<(), Failure> {
        let people = appends.iter().flat_map(|append| named(&append.events));
        let gone = gone(session, &people.collect::<Vec<PlayerId>>()).await?;
        if gone.is_empty() {
            return Ok(());
        }
        appends.retain_mut(|append| {
            let is_refused = seats_any(&append.events, &gone);
            if is_refused {
                self.answers[append.index] = Err(WriteError::Forgotten);
            } else if named(&append.events)
                .iter()
                .any(|player| gone.contains(player))
            {
                take_names_out(append.events.to_mut(), &gone);
            }
            !is_refused
        });
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
                    events: Cow::Borrowed(events),
                    reminder: reminder.as_ref(),
                });
            } else {
                self.answers[index] = Err(WriteError::Conflict);
            }
        }
        appends
    }
}

/// Locks the matches of which more than the journal changes. Whoever takes matches over locks them before
/// their journals, too.
async fn lock(session: &Session, appends: &[Append<'_>]) -> Result<(), Failure> {
    let changes = |append: &&Append<'_>| append.reminder.is_some() || append.end().is_some();
    let changed = appends.iter().filter(changes);
    let ids: Vec<Uuid> = changed.map(|append| append.id.0).collect();
    if !ids.is_empty() {
        let sql = "SELECT m FROM matches WHERE m = ANY ($1) ORDER BY m FOR NO KEY UPDATE";
        session.query(sql, &[&ids]).await?;
    }
    Ok(())
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
    let bodies: Vec<String> = appends.iter().map(|append| body(&append.events)).collect();
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

/// Keeps who sits where now, in those matches of which that is kept.
async fn seat(session: &Session, appends: &[&Append<'_>]) -> Result<(), Failure> {
    let mut seats = Vec::new();
    for append in appends {
        let mut holders = [None, None];
        for event in append.events.iter() {
            if let EventKind::Seated { seat, occupant } = &event.kind {
                holders[seat.index()] = Some(occupant.holder().map(|player| player.0));
            }
        }
        let holders = (0..).zip(holders);
        seats.extend(holders.filter_map(|(place, holder)| Some((append.id.0, place, holder?))));
    }
    if seats.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = seats.iter().map(|(id, ..)| *id).collect();
    let places: Vec<i16> = seats.iter().map(|(_, place, _)| *place).collect();
    let players: Vec<Option<Uuid>> = seats.iter().map(|(.., player)| *player).collect();
    // It is kept of those whose host is.
    let sql = "INSERT INTO involved (m, place, player)
               SELECT u.m, u.place, u.player
               FROM UNNEST($1::uuid[], $2::int2[], $3::uuid[]) AS u (m, place, player)
               WHERE EXISTS (SELECT FROM involved i WHERE i.m = u.m AND i.place = 2)
               ON CONFLICT (m, place) DO UPDATE SET player = excluded.player";
    session.query(sql, &[&ids, &places, &players]).await?;
    Ok(())
}

/// The matches that end with what is appended are over: nobody need have them in memory, nor be reminded
/// of them.
async fn finish(session: &Session, appends: &[&Append<'_>]) -> Result<(), Failure> {
    let ends = appends.iter().filter_map(|append| {
        let end = append.end()?;
        Some((append.id, integer(end.at_ms)))
    });
    let ended: Vec<(MatchId, i64)> = ends.collect();
    if ended.is_empty() {
        return Ok(());
    }
    let (ids, at_ms): (Vec<Uuid>, Vec<i64>) =
        ended.iter().map(|(id, at_ms)| (id.0, *at_ms)).unzip();
    let sql = "WITH ended AS (
                   UPDATE matches SET ended_ms = u.at_ms, wake_ms = NULL
                   FROM UNNEST($1::uuid[], $2::int8[]) AS u (m, at_ms) WHERE matches.m = u.m),
               forgotten AS (DELETE FROM parts WHERE m = ANY ($1))
               DELETE FROM involved WHERE m = ANY ($1)";
    session.query(sql, &[&ids, &at_ms]).await?;
    file(session, &ended).await
}
