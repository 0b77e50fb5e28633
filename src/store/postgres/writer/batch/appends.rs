//! Appends events to journals.

use std::borrow::Cow;
use std::collections::HashSet;

use plyhouse_matches::{Event, EventKind, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};

use super::account_deletion::deleted_players;
use super::history::index_ended_matches;
use super::{Batch, WriteTask};
use crate::account_deletion::{remove_names_from_events, seated_players, seats_deleted_player};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::records::to_json;
use crate::sql::exists;
use crate::sql::reminders::store_reminders;
use crate::{JournalPosition, WriteError};

/// An append in a batch.
struct Append<'a> {
    index: usize,
    id: MatchId,
    after: JournalPosition,
    events: Cow<'a, [Event]>,
    reminder: Option<&'a Reminder>,
}

impl Append<'_> {
    /// Returns the event that ends the match, if there is one.
    fn end_event(&self) -> Option<&Event> {
        self.events.last().filter(|last| last.is_end())
    }
}

impl<'a> Batch<'a> {
    /// Executes the appends. An append succeeds only if the journal of the match ends at the
    /// expected position.
    pub(super) async fn append_all(&mut self, connection: &PgConnection) -> Result<(), QueryError> {
        let mut appends = self.collect_appends();
        appends.sort_by_key(|append| append.id);
        self.refuse_deleted_players(connection, &mut appends)
            .await?;
        lock_matches(connection, &appends).await?;
        let inserted = insert_entries(connection, &appends).await?;
        let mut accepted = Vec::new();
        for append in &appends {
            let is_accepted = if append.events.is_empty() {
                touch_match(connection, append.id, append.after).await?
            } else {
                inserted.contains(&append.id)
            };
            if is_accepted {
                accepted.push(append);
            } else {
                self.results[append.index] = Err(WriteError::Conflict);
            }
        }
        update_seats(connection, &accepted).await?;
        let reminders = accepted
            .iter()
            .filter_map(|append| Some((append.id, append.reminder?)));
        store_reminders(connection, &reminders.collect::<Vec<_>>()).await?;
        finish_matches(connection, &accepted).await
    }

    /// Refuses appends that seat a deleted player, and removes the names of deleted players from
    /// the other appends.
    async fn refuse_deleted_players(
        &mut self,
        connection: &PgConnection,
        appends: &mut Vec<Append<'a>>,
    ) -> Result<(), QueryError> {
        let players = appends
            .iter()
            .flat_map(|append| seated_players(&append.events));
        let deleted = deleted_players(connection, players).await?;
        if deleted.is_empty() {
            return Ok(());
        }
        appends.retain_mut(|append| {
            let is_refused = seats_deleted_player(&append.events, &deleted);
            if is_refused {
                self.results[append.index] = Err(WriteError::PlayerDeleted);
            } else if seated_players(&append.events)
                .iter()
                .any(|player| deleted.contains(player))
            {
                remove_names_from_events(append.events.to_mut(), &deleted);
            }
            !is_refused
        });
        Ok(())
    }

    /// Collects the appends of the batch. If a batch contains two appends to the same match, the
    /// later append is refused, because the earlier append changes the end of the journal.
    fn collect_appends(&mut self) -> Vec<Append<'a>> {
        let (tasks, mut match_ids) = (self.tasks, HashSet::new());
        let mut appends = Vec::new();
        for (index, task) in tasks.iter().enumerate() {
            let WriteTask::Append {
                id,
                after,
                events,
                reminder,
            } = task
            else {
                continue;
            };
            if match_ids.insert(*id) {
                appends.push(Append {
                    index,
                    id: *id,
                    after: *after,
                    events: Cow::Borrowed(events),
                    reminder: reminder.as_ref(),
                });
            } else {
                self.results[index] = Err(WriteError::Conflict);
            }
        }
        appends
    }
}

/// Locks the row of each match that an append ends, and of each match that receives a new reminder.
/// Takeovers use the same lock order: they also lock the row of a match before they append to its
/// journal.
async fn lock_matches(connection: &PgConnection, appends: &[Append<'_>]) -> Result<(), QueryError> {
    let changes_match =
        |append: &&Append<'_>| append.reminder.is_some() || append.end_event().is_some();
    let changing = appends.iter().filter(changes_match);
    let ids = changing.map(|append| vec![append.id.into()]);
    let sql = "SELECT m FROM matches WHERE m = ANY ($1) ORDER BY m FOR NO KEY UPDATE";
    connection.execute_arrays(sql, ids.collect()).await
}

/// Inserts journal rows for the appends with events, and returns the ids of the matches whose rows
/// were inserted.
async fn insert_entries(
    connection: &PgConnection,
    appends: &[Append<'_>],
) -> Result<HashSet<MatchId>, QueryError> {
    let appends = appends.iter().filter(|append| !append.events.is_empty());
    let appends: Vec<(&Append<'_>, String)> = appends
        .map(|append| (append, to_json(&append.events)))
        .collect();
    let rows = appends.iter().map(|(append, body)| {
        let JournalPosition {
            entry_no,
            seq,
            epoch,
        } = append.after;
        let count = append.events.len().into();
        let (entry_no, seq, epoch) = (entry_no.into(), seq.0.into(), epoch.into());
        vec![append.id.into(), entry_no, seq, epoch, count, body.into()]
    });
    // The condition is a scalar subquery instead of `EXISTS`. For `EXISTS`, PostgreSQL would read
    // the complete journal as long as it has no statistics about the table.
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, u.after + 1, u.after + u.count, u.seq + u.count, u.epoch, u.body
               FROM UNNEST($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::text[])
                   AS u (m, after, seq, epoch, count, body)
               WHERE (SELECT p.last = u.after AND p.seq = u.seq AND p.epoch = u.epoch
                      FROM journal p WHERE p.m = u.m ORDER BY p.n DESC LIMIT 1)
               ORDER BY u.m
               ON CONFLICT DO NOTHING RETURNING m";
    connection.query_match_ids(sql, rows.collect()).await
}

/// Tests whether the database accepts writes to a match, without changing any values. Returns
/// `false` if the journal does not end at this position.
async fn touch_match(
    connection: &PgConnection,
    id: MatchId,
    after: JournalPosition,
) -> Result<bool, QueryError> {
    let sql = "UPDATE matches SET game = game
               WHERE m = $1 AND (SELECT p.last = $2 AND p.seq = $3 AND p.epoch = $4
                                 FROM journal p WHERE p.m = $1 ORDER BY p.n DESC LIMIT 1)
               RETURNING m";
    let (entry_no, seq, epoch) = (
        after.entry_no.into(),
        after.seq.0.into(),
        after.epoch.into(),
    );
    exists(connection, sql, &[id.into(), entry_no, seq, epoch]).await
}

/// Stores who holds the seats of a match after new players were seated, except in correspondence
/// matches.
async fn update_seats(
    connection: &PgConnection,
    appends: &[&Append<'_>],
) -> Result<(), QueryError> {
    let mut seats = Vec::new();
    for append in appends {
        let mut holders = [None, None];
        for event in append.events.iter() {
            if let EventKind::Seated { seat, occupant } = &event.kind {
                holders[seat.index()] = Some(occupant.holder());
            }
        }
        let seat = |(place, holder): (u64, Option<Option<PlayerId>>)| {
            Some(vec![append.id.into(), place.into(), holder?.into()])
        };
        seats.extend((0..).zip(holders).filter_map(seat));
    }
    // The table `involved` contains the participants of a match only if it contains the host of the
    // match.
    let sql = "INSERT INTO involved (m, place, player)
               SELECT u.m, u.place, u.player
               FROM UNNEST($1::uuid[], $2::int2[], $3::uuid[]) AS u (m, place, player)
               WHERE EXISTS (SELECT FROM involved i WHERE i.m = u.m AND i.place = 2)
               ON CONFLICT (m, place) DO UPDATE SET player = excluded.player";
    connection.execute_arrays(sql, seats).await
}

/// Marks matches as ended if the appended events end them. Also deletes their wake times and
/// participants, and adds the matches to the history.
async fn finish_matches(
    connection: &PgConnection,
    appends: &[&Append<'_>],
) -> Result<(), QueryError> {
    let end_times = appends.iter().filter_map(|append| {
        let end_event = append.end_event()?;
        Some((append.id, end_event.at_ms))
    });
    let ended: Vec<(MatchId, u64)> = end_times.collect();
    if ended.is_empty() {
        return Ok(());
    }
    let rows = ended
        .iter()
        .map(|(id, at_ms)| vec![(*id).into(), (*at_ms).into()]);
    let sql = "WITH ended AS (
                   UPDATE matches SET ended_ms = u.at_ms, wake_ms = NULL
                   FROM UNNEST($1::uuid[], $2::int8[]) AS u (m, at_ms) WHERE matches.m = u.m),
               forgotten AS (DELETE FROM parts WHERE m = ANY ($1))
               DELETE FROM involved WHERE m = ANY ($1)";
    connection.execute_arrays(sql, rows.collect()).await?;
    let ids: Vec<MatchId> = ended.iter().map(|(id, _)| *id).collect();
    index_ended_matches(connection, &ids).await
}
