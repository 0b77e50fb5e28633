//! Reminders of matches as rows: when they are to be woken, and who has a part in them.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{DaysTurn, Part, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

/// Keeps a match's reminder in place of the one before.
pub(super) fn keep(
    connection: &Connection,
    id: MatchId,
    reminder: &Reminder,
) -> rusqlite::Result<()> {
    let sql = "UPDATE matches SET wake_ms = ?2 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((id.0.as_bytes(), reminder.wake_ms))?;
    forget(connection, id)?;
    let sql = "INSERT INTO parts (player, match, seat, stood_in, is_days, turn, due_ms, absent_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare_cached(sql)?;
    for part in &reminder.parts {
        let days = part.days;
        insert.execute((
            part.player.0.as_bytes(),
            id.0.as_bytes(),
            part.seat.map(Seat::number),
            part.stood_in.map(Seat::number),
            days.is_some(),
            days.and_then(|days| days.turn).map(Seat::number),
            days.and_then(|days| days.due_ms),
            part.absent_ms,
        ))?;
    }
    Ok(())
}

/// Nobody has a part in the match any more.
pub(super) fn forget(connection: &Connection, id: MatchId) -> rusqlite::Result<()> {
    let sql = "DELETE FROM parts WHERE match = ?1";
    let mut delete = connection.prepare_cached(sql)?;
    delete.execute([id.0.as_bytes()]).map(|_| ())
}

/// Whether the match is to be woken when this tells. What else it tells was written with that.
pub(super) fn is_kept(
    connection: &Connection,
    id: MatchId,
    reminder: &Reminder,
) -> rusqlite::Result<bool> {
    let sql = "SELECT wake_ms FROM matches WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.0.as_bytes()], |row| row.get::<_, Option<u64>>(0));
    Ok(found.optional()? == Some(reminder.wake_ms))
}

/// The matches that are to be woken after this time and this match, at most so many.
pub(super) fn due(
    connection: &Connection,
    (after_ms, after): (u64, MatchId),
    limit: usize,
) -> rusqlite::Result<Vec<(u64, MatchId)>> {
    let sql = "SELECT wake_ms, id FROM matches
               WHERE wake_ms IS NOT NULL AND (wake_ms, id) > (?1, ?2) ORDER BY wake_ms, id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after_ms, after.0.as_bytes(), limit), |row| {
        Ok((row.get(0)?, match_of(row, 1)?))
    })?;
    rows.collect()
}

/// How many matches are to be woken at some time.
pub(super) fn due_count(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM matches WHERE wake_ms IS NOT NULL";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
}

/// The matches in which this player has a part.
pub(super) fn parts(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<(MatchId, Part)>> {
    let sql = format!("SELECT {PART} FROM parts WHERE player = ?1 ORDER BY match");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([player.0.as_bytes()], part_of)?;
    rows.collect()
}

/// The reminder of a match, if it is to be woken.
pub(super) fn load(connection: &Connection, id: MatchId) -> rusqlite::Result<Option<Reminder>> {
    let sql = "SELECT wake_ms FROM matches WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let wake_ms: Option<u64> = statement.query_row([id.0.as_bytes()], |row| row.get(0))?;
    if wake_ms.is_none() {
        return Ok(None);
    }
    let sql = format!("SELECT {PART} FROM parts WHERE match = ?1 ORDER BY player");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([id.0.as_bytes()], part_of)?;
    let parts = rows.map(|row| row.map(|(_, part)| part));
    Ok(Some(Reminder {
        wake_ms,
        parts: parts.collect::<rusqlite::Result<_>>()?,
    }))
}

/// The columns that [`part_of`] reads, in their order.
const PART: &str = "match, seat, stood_in, is_days, turn, due_ms, absent_ms, player";

fn part_of(row: &Row<'_>) -> rusqlite::Result<(MatchId, Part)> {
    let days = DaysTurn {
        turn: seat_of(row, 4)?,
        due_ms: row.get(5)?,
    };
    let part = Part {
        player: PlayerId(Uuid::from_bytes(row.get(7)?)),
        seat: seat_of(row, 1)?,
        stood_in: seat_of(row, 2)?,
        days: row.get::<_, bool>(3)?.then_some(days),
        absent_ms: row.get(6)?,
    };
    Ok((match_of(row, 0)?, part))
}

pub(super) fn match_of(row: &Row<'_>, column: usize) -> rusqlite::Result<MatchId> {
    Ok(MatchId(Uuid::from_bytes(row.get(column)?)))
}

fn seat_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Seat>> {
    let number: Option<u8> = row.get(column)?;
    Ok(number.and_then(Seat::from_number))
}
