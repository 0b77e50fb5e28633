//! Writes the reminders of matches. A reminder consists of a wake time and the participations of
//! the players.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Participation, Reminder};
use plyhouse_protocol::MatchId;
use uuid::Uuid;

use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};

/// Stores reminders in place of the previous ones. Each reminder must belong to a different match.
pub(super) async fn store_reminders(
    connection: &PgConnection,
    reminders: &[(MatchId, &Reminder)],
) -> Result<(), QueryError> {
    if reminders.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = reminders.iter().map(|(id, _)| id.0).collect();
    let wake_times = reminders
        .iter()
        .map(|(_, reminder)| reminder.wake_ms.map(to_i64));
    let wake_times: Vec<Option<i64>> = wake_times.collect();
    let sql = "UPDATE matches SET wake_ms = u.wake_ms
               FROM UNNEST($1::uuid[], $2::int8[]) AS u (m, wake_ms) WHERE matches.m = u.m";
    connection.query(sql, &[&ids, &wake_times]).await?;
    let sql = "DELETE FROM parts WHERE m = ANY ($1)";
    connection.query(sql, &[&ids]).await?;
    insert_participations(connection, reminders).await
}

async fn insert_participations(
    connection: &PgConnection,
    reminders: &[(MatchId, &Reminder)],
) -> Result<(), QueryError> {
    let participations = reminders
        .iter()
        .flat_map(|(id, reminder)| reminder.participations.iter().map(|part| (id.0, part)));
    let participations: Vec<(Uuid, &Participation)> = participations.collect();
    let number = |seat: Seat| i16::from(seat.number());
    let players: Vec<Uuid> = map_participations(&participations, |part| part.player.0);
    let ids: Vec<Uuid> = participations.iter().map(|(id, _)| *id).collect();
    let seats: Vec<Option<i16>> = map_participations(&participations, |part| part.seat.map(number));
    let stood_in: Vec<Option<i16>> =
        map_participations(&participations, |part| part.substituted_seat.map(number));
    let is_correspondence: Vec<bool> =
        map_participations(&participations, |part| part.correspondence_turn.is_some());
    let turns: Vec<Option<i16>> = map_participations(&participations, |part| {
        part.correspondence_turn?.turn.map(number)
    });
    let due_ms: Vec<Option<i64>> = map_participations(&participations, |part| {
        part.correspondence_turn?.deadline_ms.map(to_i64)
    });
    let absent_ms: Vec<Option<i64>> =
        map_participations(&participations, |part| part.absent_since_ms.map(to_i64));
    let sql = "INSERT INTO parts (player, m, seat, stood_in, is_days, turn, due_ms, absent_ms)
               SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::int2[], $4::int2[], $5::bool[],
                                    $6::int2[], $7::int8[], $8::int8[])";
    connection
        .query(
            sql,
            &[
                &players,
                &ids,
                &seats,
                &stood_in,
                &is_correspondence,
                &turns,
                &due_ms,
                &absent_ms,
            ],
        )
        .await?;
    Ok(())
}

/// Returns the array of column values that `field` computes from the participations.
fn map_participations<T>(
    participations: &[(Uuid, &Participation)],
    field: impl Fn(&Participation) -> T,
) -> Vec<T> {
    participations.iter().map(|(_, part)| field(part)).collect()
}
