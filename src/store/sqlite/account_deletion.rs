//! Removes the names of deleted players from matches.

use std::collections::BTreeSet;

use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::Connection;

use crate::account_deletion::json_without_name;
use crate::sql::{query_all, query_first, run_now};

/// Returns which of the given players were deleted.
pub(super) fn deleted_players(
    connection: &Connection,
    players: Vec<PlayerId>,
) -> rusqlite::Result<BTreeSet<PlayerId>> {
    let sql = "SELECT id FROM players WHERE id = ?1 AND gone";
    let deleted = players
        .into_iter()
        .map(|id| run_now(query_first(connection, sql, &[id.into()])));
    let deleted: Vec<Option<PlayerId>> = deleted.collect::<rusqlite::Result<_>>()?;
    Ok(deleted.into_iter().flatten().collect())
}

/// Removes a player's name from the events and the summary of a match.
pub(super) fn remove_name(
    connection: &Connection,
    id: MatchId,
    player: PlayerId,
) -> rusqlite::Result<()> {
    let player_text = player.0.to_string();
    let params = [id.into(), (&player_text).into()];
    let sql = "SELECT seq, event FROM events WHERE match = ?1 AND instr(event, ?2)";
    let events: Vec<(i64, String)> = run_now(query_all(connection, sql, &params))?;
    let sql = "UPDATE events SET event = ?3 WHERE match = ?1 AND seq = ?2";
    let mut update = connection.prepare_cached(sql)?;
    for (seq, event) in events {
        if let Some(event) = json_without_name(&event, player) {
            update.execute((id.0.as_bytes(), seq, event))?;
        }
    }
    let sql = "SELECT summary FROM matches WHERE id = ?1 AND instr(summary, ?2)";
    let summary: Option<String> = run_now(query_first(connection, sql, &params))?;
    if let Some(summary) = summary.and_then(|summary| json_without_name(&summary, player)) {
        let sql = "UPDATE matches SET summary = ?2 WHERE id = ?1";
        connection
            .prepare_cached(sql)?
            .execute((id.0.as_bytes(), summary))?;
    }
    Ok(())
}
