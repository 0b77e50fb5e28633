//! Reads and writes the reminders of matches. A reminder consists of a wake time and the
//! participations of the players.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{CorrespondenceTurn, Participation, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

/// Stores the reminder of a match, which replaces any previous reminder.
pub(super) fn store_reminder(
    connection: &Connection,
    id: MatchId,
    reminder: &Reminder,
) -> rusqlite::Result<()> {
    let sql = "UPDATE matches SET wake_ms = ?2 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((id.0.as_bytes(), reminder.wake_ms))?;
    delete_participations(connection, id)?;
    let sql = "INSERT INTO parts (player, match, seat, stood_in, is_days, turn, due_ms, absent_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare_cached(sql)?;
    for participation in &reminder.participations {
        let correspondence = participation.correspondence_turn;
        insert.execute((
            participation.player.0.as_bytes(),
            id.0.as_bytes(),
            participation.seat.map(Seat::number),
            participation.substituted_seat.map(Seat::number),
            correspondence.is_some(),
            correspondence.and_then(|days| days.turn).map(Seat::number),
            correspondence.and_then(|days| days.deadline_ms),
            participation.absent_since_ms,
        ))?;
    }
    Ok(())
}

/// Deletes the participations of the players in a match.
pub(super) fn delete_participations(connection: &Connection, id: MatchId) -> rusqlite::Result<()> {
    let sql = "DELETE FROM parts WHERE match = ?1";
    let mut delete = connection.prepare_cached(sql)?;
    delete.execute([id.0.as_bytes()]).map(|_| ())
}

/// Returns whether the given reminder is stored for a match. Only the wake time is compared,
/// because the participations are written in the same transaction.
pub(super) fn is_reminder_stored(
    connection: &Connection,
    id: MatchId,
    reminder: &Reminder,
) -> rusqlite::Result<bool> {
    let sql = "SELECT wake_ms FROM matches WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.0.as_bytes()], |row| row.get::<_, Option<u64>>(0));
    Ok(found.optional()? == Some(reminder.wake_ms))
}

/// Returns at most `limit` matches with a wake time, ordered by wake time and id. The list begins
/// directly after the given pair of wake time and id.
pub(super) fn due_reminders(
    connection: &Connection,
    (after_ms, after): (u64, MatchId),
    limit: usize,
) -> rusqlite::Result<Vec<(u64, MatchId)>> {
    let sql = "SELECT wake_ms, id FROM matches
               WHERE wake_ms IS NOT NULL AND (wake_ms, id) > (?1, ?2) ORDER BY wake_ms, id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after_ms, after.0.as_bytes(), limit), |row| {
        Ok((row.get(0)?, match_id_column(row, 1)?))
    })?;
    rows.collect()
}

/// Returns the number of matches with a wake time.
pub(super) fn due_reminder_count(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM matches WHERE wake_ms IS NOT NULL";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
}

/// Returns the matches of this player that have a reminder, oldest first.
pub(super) fn participations(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<(MatchId, Participation)>> {
    let sql =
        format!("SELECT {PARTICIPATION_COLUMN_LIST} FROM parts WHERE player = ?1 ORDER BY match");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([player.0.as_bytes()], participation_from_row)?;
    rows.collect()
}

/// Returns the reminder of a match, if it has a wake time.
pub(super) fn load_reminder(
    connection: &Connection,
    id: MatchId,
) -> rusqlite::Result<Option<Reminder>> {
    let sql = "SELECT wake_ms FROM matches WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let wake_ms: Option<u64> = statement.query_row([id.0.as_bytes()], |row| row.get(0))?;
    if wake_ms.is_none() {
        return Ok(None);
    }
    let sql =
        format!("SELECT {PARTICIPATION_COLUMN_LIST} FROM parts WHERE match = ?1 ORDER BY player");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([id.0.as_bytes()], participation_from_row)?;
    let participations = rows.map(|row| row.map(|(_, part)| part));
    Ok(Some(Reminder {
        wake_ms,
        participations: participations.collect::<rusqlite::Result<_>>()?,
    }))
}

/// SQL columns that [`participation_from_row`] reads, in this order.
const PARTICIPATION_COLUMN_LIST: &str =
    "match, seat, stood_in, is_days, turn, due_ms, absent_ms, player";

fn participation_from_row(row: &Row<'_>) -> rusqlite::Result<(MatchId, Participation)> {
    let correspondence = CorrespondenceTurn {
        turn: seat_column(row, 4)?,
        deadline_ms: row.get(5)?,
    };
    let participation = Participation {
        player: PlayerId(Uuid::from_bytes(row.get(7)?)),
        seat: seat_column(row, 1)?,
        substituted_seat: seat_column(row, 2)?,
        correspondence_turn: row.get::<_, bool>(3)?.then_some(correspondence),
        absent_since_ms: row.get(6)?,
    };
    Ok((match_id_column(row, 0)?, participation))
}

pub(super) fn match_id_column(row: &Row<'_>, column: usize) -> rusqlite::Result<MatchId> {
    Ok(MatchId(Uuid::from_bytes(row.get(column)?)))
}

fn seat_column(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Seat>> {
    let number: Option<u8> = row.get(column)?;
    Ok(number.and_then(Seat::from_number))
}
