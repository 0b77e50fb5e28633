//! Reminders of matches. A reminder consists of a wake time and the participations of the players.

use plyhouse_matches::{CorrespondenceTurn, Participation, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};

use super::{
    Columns, FromColumns, InvalidColumn, Sql, SqlWrite, Value, execute_each, query_all, query_first,
};

/// Stores reminders in place of the previous ones. Each reminder must belong to a different match.
pub(crate) async fn store_reminders<S: SqlWrite>(
    db: &S,
    reminders: &[(MatchId, &Reminder)],
) -> Result<(), S::Error> {
    let wake_times = reminders
        .iter()
        .map(|(id, reminder)| vec![(*id).into(), reminder.wake_ms.into()]);
    let sql = "UPDATE matches SET wake_ms = ?2 WHERE matches.id = ?1";
    execute_each(db, sql, &wake_times.collect::<Vec<_>>()).await?;
    let ids: Vec<MatchId> = reminders.iter().map(|(id, _)| *id).collect();
    delete_participations(db, &ids).await?;
    let sql = "INSERT INTO parts (player, match, seat, stood_in, is_days, turn, due_ms, absent_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let participations = reminders
        .iter()
        .flat_map(|(id, reminder)| reminder.participations.iter().map(|part| (*id, part)));
    let rows = participations.map(|(id, participation)| {
        let correspondence = participation.correspondence_turn;
        vec![
            participation.player.into(),
            id.into(),
            participation.seat.into(),
            participation.substituted_seat.into(),
            correspondence.is_some().into(),
            correspondence.and_then(|days| days.turn).into(),
            correspondence.and_then(|days| days.deadline_ms).into(),
            participation.absent_since_ms.into(),
        ]
    });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await
}

/// Deletes the participations of the players in these matches.
pub(crate) async fn delete_participations<S: SqlWrite>(
    db: &S,
    matches: &[MatchId],
) -> Result<(), S::Error> {
    let ids: Vec<Vec<Value<'_>>> = matches.iter().map(|id| vec![(*id).into()]).collect();
    execute_each(db, "DELETE FROM parts WHERE match = ?1", &ids).await
}

/// Returns the wake time of a match, if it has one.
pub(crate) async fn wake_ms<S: Sql>(db: &S, id: MatchId) -> Result<Option<u64>, S::Error> {
    let sql = "SELECT wake_ms FROM matches WHERE matches.id = ?1 AND wake_ms IS NOT NULL";
    query_first(db, sql, &[id.into()]).await
}

/// Returns at most `limit` matches with a wake time, ordered by wake time and id. The list begins
/// directly after the given pair of wake time and id.
pub(crate) async fn due_reminders<S: Sql>(
    db: &S,
    (after_ms, after): (u64, MatchId),
    limit: usize,
) -> Result<Vec<(u64, MatchId)>, S::Error> {
    let sql = "SELECT wake_ms, matches.id FROM matches
               WHERE wake_ms IS NOT NULL AND (wake_ms, matches.id) > (?1, ?2)
               ORDER BY wake_ms, matches.id LIMIT ?3";
    let params = [after_ms.into(), after.into(), limit.into()];
    query_all(db, sql, &params).await
}

/// Returns the number of matches with a wake time.
pub(crate) async fn due_reminder_count<S: Sql>(db: &S) -> Result<u64, S::Error> {
    let sql = "SELECT count(*) FROM matches WHERE wake_ms IS NOT NULL";
    Ok(query_first(db, sql, &[]).await?.unwrap_or(0))
}

/// Returns the matches of this player that have a reminder, oldest first.
pub(crate) async fn participations<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Vec<(MatchId, Participation)>, S::Error> {
    let sql = "SELECT match, player, seat, stood_in, is_days, turn, due_ms, absent_ms FROM parts
               WHERE player = ?1 ORDER BY match";
    query_all(db, sql, &[player.into()]).await
}

/// Returns the reminder of a match with this wake time. Returns `None` if the match has no wake time.
pub(crate) async fn load_reminder<S: Sql>(
    db: &S,
    id: MatchId,
    wake_ms: Option<u64>,
) -> Result<Option<Reminder>, S::Error> {
    if wake_ms.is_none() {
        return Ok(None);
    }
    let sql = "SELECT player, seat, stood_in, is_days, turn, due_ms, absent_ms FROM parts
               WHERE match = ?1 ORDER BY player";
    Ok(Some(Reminder {
        wake_ms,
        participations: query_all(db, sql, &[id.into()]).await?,
    }))
}

/// Reads whether the match is a correspondence match, the seat to move, and its deadline.
impl FromColumns for Option<CorrespondenceTurn> {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        let is_correspondence: bool = columns.next()?;
        let correspondence = CorrespondenceTurn {
            turn: columns.next()?,
            deadline_ms: columns.next()?,
        };
        Ok(is_correspondence.then_some(correspondence))
    }
}
