//! Deletes players and removes their names from matches.

use std::collections::BTreeSet;

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, OptionalExtension};

use crate::PlayerDeletion;
use crate::account_deletion::{NAME_REMOVAL_BATCH_SIZE, json_without_name};
use crate::sql::{accounts, players, run_now};

/// SQL statements that delete a player's identity data and clear the player's account. The last
/// statement schedules the removal of the player's name from matches. The row in `accounts` is
/// kept, because reserved names are loaded together with the account.
const DELETE_STATEMENTS: [&str; 10] = [
    "DELETE FROM sessions WHERE player = ?1",
    "DELETE FROM pairings WHERE player = ?1",
    "DELETE FROM recoveries WHERE player = ?1",
    "DELETE FROM passes WHERE player = ?1",
    "DELETE FROM externals WHERE player = ?1",
    "DELETE FROM blocks WHERE player = ?1 OR other = ?1",
    "DELETE FROM analyses_asked WHERE player = ?1",
    "UPDATE accounts SET password = NULL, renamed_ms = NULL, owner = NULL WHERE player = ?1",
    "UPDATE players SET name = 'someone', kind = NULL, gone = 1 WHERE id = ?1",
    "INSERT INTO forgetting (player, after) VALUES (?1, x'') ON CONFLICT DO NOTHING",
];

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

/// Deletes a player and the player's bot accounts. Returns `false` if the player does not exist or
/// the proof of identity in `deletion.proof` is no longer valid.
pub(super) fn delete_player(
    connection: &Connection,
    deletion: &PlayerDeletion,
) -> rusqlite::Result<bool> {
    let player = deletion.player;
    if !run_now(players::player_exists(connection, player))? {
        return Ok(false);
    }
    if let Some(proof) = &deletion.proof
        && !run_now(accounts::is_proof_valid(connection, player, proof))?
    {
        return Ok(false);
    }
    let bots = run_now(accounts::bots_of(connection, player))?;
    for player in bots.into_iter().map(|bot| bot.id).chain([player]) {
        let id = player.0.into_bytes();
        for sql in DELETE_STATEMENTS {
            connection.prepare_cached(sql)?.execute([id])?;
        }
        let sql = "UPDATE names SET until_ms = ?2 WHERE player = ?1 AND until_ms IS NULL";
        let mut reserve = connection.prepare_cached(sql)?;
        reserve.execute((id, deletion.name_reserved_until_ms))?;
    }
    Ok(true)
}

/// Removes a player's name from the next batch of matches. Returns `false` after the last batch.
/// Also returns `false` if no name removal is scheduled for the player.
pub(super) fn remove_names(connection: &Connection, player: PlayerId) -> rusqlite::Result<bool> {
    let id = player.0.into_bytes();
    let mut after = connection.prepare_cached("SELECT after FROM forgetting WHERE player = ?1")?;
    let after: Option<Vec<u8>> = after.query_row([id], |row| row.get(0)).optional()?;
    let Some(after) = after else {
        return Ok(false);
    };
    let sql = "SELECT id FROM matches WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut next = connection.prepare_cached(sql)?;
    let matches = next.query_map((after, NAME_REMOVAL_BATCH_SIZE), |row| row.get(0))?;
    let matches: Vec<[u8; 16]> = matches.collect::<rusqlite::Result<_>>()?;
    for match_id in &matches {
        remove_name(connection, match_id, player)?;
    }
    let is_last = (matches.len() as u64) < NAME_REMOVAL_BATCH_SIZE.unsigned_abs();
    if is_last {
        let mut delete = connection.prepare_cached("DELETE FROM forgetting WHERE player = ?1")?;
        delete.execute([id])?;
    } else if let Some(last) = matches.last() {
        let sql = "UPDATE forgetting SET after = ?2 WHERE player = ?1";
        connection.prepare_cached(sql)?.execute((id, last))?;
    }
    Ok(!is_last)
}

/// Removes a player's name from the events and the summary of a match.
fn remove_name(connection: &Connection, id: &[u8; 16], player: PlayerId) -> rusqlite::Result<()> {
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
