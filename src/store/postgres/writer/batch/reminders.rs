//! What is kept to remind players of matches that nobody has in memory.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Part, Reminder};
use plyhouse_protocol::MatchId;
use uuid::Uuid;

use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session};

/// Keeps these reminders in place of those before. Each is of another match.
pub(super) async fn remind(
    session: &Session,
    reminders: &[(MatchId, &Reminder)],
) -> Result<(), Failure> {
    if reminders.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = reminders.iter().map(|(id, _)| id.0).collect();
    let wakes = reminders.iter().map(|(_, kept)| kept.wake_ms.map(integer));
    let wakes: Vec<Option<i64>> = wakes.collect();
    let sql = "UPDATE matches SET wake_ms = u.wake_ms
               FROM UNNEST($1::uuid[], $2::int8[]) AS u (m, wake_ms) WHERE matches.m = u.m";
    session.query(sql, &[&ids, &wakes]).await?;
    let sql = "DELETE FROM parts WHERE m = ANY ($1)";
    session.query(sql, &[&ids]).await?;
    add_parts(session, reminders).await
}

async fn add_parts(session: &Session, reminders: &[(MatchId, &Reminder)]) -> Result<(), Failure> {
    let parts = reminders
        .iter()
        .flat_map(|(id, kept)| kept.parts.iter().map(|part| (id.0, part)));
    let parts: Vec<(Uuid, &Part)> = parts.collect();
    let number = |seat: Seat| i16::from(seat.number());
    let players: Vec<Uuid> = each(&parts, |part| part.player.0);
    let ids: Vec<Uuid> = parts.iter().map(|(id, _)| *id).collect();
    let seats: Vec<Option<i16>> = each(&parts, |part| part.seat.map(number));
    let stood_in: Vec<Option<i16>> = each(&parts, |part| part.stood_in.map(number));
    let are_days: Vec<bool> = each(&parts, |part| part.days.is_some());
    let turns: Vec<Option<i16>> = each(&parts, |part| part.days?.turn.map(number));
    let due: Vec<Option<i64>> = each(&parts, |part| part.days?.due_ms.map(integer));
    let absent: Vec<Option<i64>> = each(&parts, |part| part.absent_ms.map(integer));
    let sql = "INSERT INTO parts (player, m, seat, stood_in, is_days, turn, due_ms, absent_ms)
               SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::int2[], $4::int2[], $5::bool[],
                                    $6::int2[], $7::int8[], $8::int8[])";
    session
        .query(
            sql,
            &[
                &players, &ids, &seats, &stood_in, &are_days, &turns, &due, &absent,
            ],
        )
        .await?;
    Ok(())
}

/// Something of each part.
fn each<T>(parts: &[(Uuid, &Part)], of: impl Fn(&Part) -> T) -> Vec<T> {
    parts.iter().map(|(_, part)| of(part)).collect()
}
