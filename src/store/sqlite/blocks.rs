//! Reads and writes the list of players that each player blocks.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::players_and_sessions;
use crate::records::player_identity::unpairable_players_sql;
use crate::{BLOCKS_MAX, Blocks};

/// Stores that `player` blocks `other`, and that the block began at `since_ms`. If `since_ms` is
/// `None`, the stored block is removed. Returns `false` if the player already blocks the maximum
/// number of players.
pub(super) fn change_block(
    connection: &Connection,
    player: PlayerId,
    other: PlayerId,
    since_ms: Option<u64>,
) -> rusqlite::Result<bool> {
    let (player, other) = (player.0.into_bytes(), other.0.into_bytes());
    let Some(since_ms) = since_ms else {
        let sql = "DELETE FROM blocks WHERE player = ?1 AND other = ?2";
        connection.prepare_cached(sql)?.execute((player, other))?;
        return Ok(true);
    };
    let sql = "INSERT INTO blocks (player, other, since_ms) SELECT ?1, ?2, ?3
               WHERE (SELECT count(*) FROM blocks WHERE player = ?1) < ?4
               ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((player, other, since_ms, BLOCKS_MAX))?;
    has_block(connection, player, other)
}

/// Returns whether a player blocks another player.
pub(super) fn is_blocked(
    connection: &Connection,
    player: PlayerId,
    other: PlayerId,
) -> rusqlite::Result<bool> {
    has_block(connection, player.0.into_bytes(), other.0.into_bytes())
}

fn has_block(connection: &Connection, player: [u8; 16], other: [u8; 16]) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM blocks WHERE player = ?1 AND other = ?2";
    connection.prepare_cached(sql)?.exists((player, other))
}

/// Loads the players that the given player blocks, and the players that block the given player.
/// Also loads the players that must not be paired with the given player.
pub(super) fn load_blocks(connection: &Connection, player: PlayerId) -> rusqlite::Result<Blocks> {
    let sql = "SELECT p.id, p.name, p.kind FROM blocks b JOIN players p ON p.id = b.other
               WHERE b.player = ?1 ORDER BY b.since_ms, b.other";
    let mut blocked = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| players_and_sessions::player_from_columns(id_from_row(row)?, row, 1);
    let blocked = blocked.query_map([player.0.as_bytes()], read)?;
    let sql = "SELECT player FROM blocks WHERE other = ?1 ORDER BY player";
    let mut blocked_by = connection.prepare_cached(sql)?;
    let blocked_by = blocked_by.query_map([player.0.as_bytes()], id_from_row)?;
    let mut unpairable = connection.prepare_cached(unpairable_players_sql!("?1"))?;
    let unpairable = unpairable.query_map([player.0.as_bytes()], id_from_row)?;
    Ok(Blocks {
        blocked: blocked.collect::<rusqlite::Result<_>>()?,
        blocked_by: blocked_by.collect::<rusqlite::Result<_>>()?,
        unpairable: unpairable.collect::<rusqlite::Result<_>>()?,
    })
}

/// Returns the players that a player blocks, and the time at which each block began. The list is
/// ordered by player id.
pub(super) fn player_blocks(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<(PlayerId, u64)>> {
    let sql = "SELECT other, since_ms FROM blocks WHERE player = ?1 ORDER BY other";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((id_from_row(row)?, row.get(1)?));
    statement.query_map([player.0.as_bytes()], read)?.collect()
}

fn id_from_row(row: &Row<'_>) -> rusqlite::Result<PlayerId> {
    Ok(PlayerId(Uuid::from_bytes(row.get(0)?)))
}
