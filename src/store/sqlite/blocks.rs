//! Who blocks whom, as it is read and written.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::people;
use crate::people::apart;
use crate::{BLOCKS_MAX, Blocks};

/// Has a player block another from this time on, or not any more. False if the player blocks too many.
pub(super) fn change(
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
    is_there(connection, player, other)
}

/// Whether a player blocks another.
pub(super) fn is_blocked(
    connection: &Connection,
    player: PlayerId,
    other: PlayerId,
) -> rusqlite::Result<bool> {
    is_there(connection, player.0.into_bytes(), other.0.into_bytes())
}

fn is_there(connection: &Connection, player: [u8; 16], other: [u8; 16]) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM blocks WHERE player = ?1 AND other = ?2";
    connection.prepare_cached(sql)?.exists((player, other))
}

/// Who does not want to meet whom, as far as this player is concerned.
pub(super) fn of(connection: &Connection, player: PlayerId) -> rusqlite::Result<Blocks> {
    let sql = "SELECT p.id, p.name, p.kind FROM blocks b JOIN players p ON p.id = b.other
               WHERE b.player = ?1 ORDER BY b.since_ms, b.other";
    let mut own = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| people::player_with(id(row)?, row, 1);
    let own = own.query_map([player.0.as_bytes()], read)?;
    let sql = "SELECT player FROM blocks WHERE other = ?1 ORDER BY player";
    let mut by = connection.prepare_cached(sql)?;
    let by = by.query_map([player.0.as_bytes()], id)?;
    let mut apart = connection.prepare_cached(apart!("?1"))?;
    let apart = apart.query_map([player.0.as_bytes()], id)?;
    Ok(Blocks {
        own: own.collect::<rusqlite::Result<_>>()?,
        by: by.collect::<rusqlite::Result<_>>()?,
        apart: apart.collect::<rusqlite::Result<_>>()?,
    })
}

/// Whom a player blocks, in the order of their ids, and since when.
pub(super) fn kept(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<(PlayerId, u64)>> {
    let sql = "SELECT other, since_ms FROM blocks WHERE player = ?1 ORDER BY other";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((id(row)?, row.get(1)?));
    found.query_map([player.0.as_bytes()], read)?.collect()
}

fn id(row: &Row<'_>) -> rusqlite::Result<PlayerId> {
    Ok(PlayerId(Uuid::from_bytes(row.get(0)?)))
}
