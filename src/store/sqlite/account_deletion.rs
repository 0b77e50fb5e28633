//! Removes the names of deleted players from matches.

use std::collections::BTreeSet;

use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::{Connection, OptionalExtension};

use crate::account_deletion::json_without_name;

/// Returns which of the given players were deleted.
pub(super) fn deleted_players(
    connection: &Connection,
    players: Vec<PlayerId>,
) -> rusqlite::Result<BTreeSet<PlayerId>> {
    let mut deleted = BTreeSet::new();
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM players WHERE id = ?1 AND gone")?;
    for player in players {
        if statement.exists([player.0.as_bytes()])? {
            deleted.insert(player);
        }
    }
    Ok(deleted)
}

/// Removes a player's name from the events and the summary of a match.
pub(super) fn remove_name(
    connection: &Connection,
    id: MatchId,
    player: PlayerId,
) -> rusqlite::Result<()> {
    let id = id.0.as_bytes();
    let player_text = player.0.to_string();
    let sql = "SELECT seq, event FROM events WHERE match = ?1 AND instr(event, ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let read = statement.query_map((id, &player_text), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let events: Vec<(i64, String)> = read.collect::<rusqlite::Result<_>>()?;
    let sql = "UPDATE events SET event = ?3 WHERE match = ?1 AND seq = ?2";
    let mut update = connection.prepare_cached(sql)?;
    for (seq, event) in events {
        if let Some(event) = json_without_name(&event, player) {
            update.execute((id, seq, event))?;
        }
    }
    let sql = "SELECT summary FROM matches WHERE id = ?1 AND instr(summary, ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let summary: Option<String> = statement
        .query_row((id, &player_text), |row| row.get(0))
        .optional()?;
    if let Some(summary) = summary.and_then(|summary| json_without_name(&summary, player)) {
        let sql = "UPDATE matches SET summary = ?2 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute((id, summary))?;
    }
    Ok(())
}
