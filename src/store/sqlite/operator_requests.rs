//! What the operator gives somebody, and asks the server for.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use crate::{CommandId, OneTimeToken, TokenHash};

/// How many orders are read at once.
const COMMANDS_BATCH_SIZE: i64 = 16;

/// Keeps a pass, and forgets those whose time is over. False if too many are good.
pub(super) fn add_one_time_token(
    connection: &Connection,
    code: TokenHash,
    token: &OneTimeToken,
    now_ms: u64,
    max: usize,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM passes WHERE expires_ms <= ?1";
    connection.prepare_cached(sql)?.execute([now_ms])?;
    let sql = "INSERT INTO passes (code, player, expires_ms)
               SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM passes) < ?4";
    let player = token.player.map(|player| player.0.into_bytes());
    let mut insert = connection.prepare_cached(sql)?;
    Ok(insert.execute((code.0, player, token.expires_ms, max))? == 1)
}

/// The pass with this code, unless its time is over.
pub(super) fn find_one_time_token(
    connection: &Connection,
    code: TokenHash,
    now_ms: u64,
) -> rusqlite::Result<Option<OneTimeToken>> {
    let sql = "SELECT player, expires_ms FROM passes WHERE code = ?1 AND expires_ms > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement
        .query_row((code.0, now_ms), token_from_row)
        .optional()
}

/// All passes, whether their time is over or not.
pub(super) fn one_time_tokens(
    connection: &Connection,
) -> rusqlite::Result<Vec<(TokenHash, OneTimeToken)>> {
    let mut all =
        connection.prepare("SELECT player, expires_ms, code FROM passes ORDER BY code")?;
    let found = all.query_map([], |row| Ok((TokenHash(row.get(2)?), token_from_row(row)?)))?;
    found.collect()
}

fn token_from_row(row: &Row<'_>) -> rusqlite::Result<OneTimeToken> {
    let player: Option<[u8; 16]> = row.get(0)?;
    Ok(OneTimeToken {
        player: player.map(|player| PlayerId(Uuid::from_bytes(player))),
        expires_ms: row.get(1)?,
    })
}

/// Takes a pass out. False if there is none.
pub(super) fn take_one_time_token(
    connection: &Connection,
    code: TokenHash,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM passes WHERE code = ?1";
    Ok(connection.prepare_cached(sql)?.execute([code.0])? == 1)
}

/// Takes an invitation out. False if it is none, or its time is over.
pub(super) fn take_invite(
    connection: &Connection,
    code: TokenHash,
    now_ms: u64,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM passes WHERE code = ?1 AND player IS NULL AND expires_ms > ?2";
    let mut delete = connection.prepare_cached(sql)?;
    Ok(delete.execute((code.0, now_ms))? == 1)
}

/// The orders that nobody has taken, the oldest first.
pub(super) fn pending_commands(
    connection: &Connection,
) -> rusqlite::Result<Vec<(CommandId, String)>> {
    let sql = "SELECT id, body FROM orders WHERE NOT taken ORDER BY asked_ms, id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((CommandId(Uuid::from_bytes(row.get(0)?)), row.get(1)?));
    statement.query_map([COMMANDS_BATCH_SIZE], read)?.collect()
}

/// Takes an order. False if it is not there, or was taken.
pub(super) fn claim_command(connection: &Connection, id: CommandId) -> rusqlite::Result<bool> {
    let sql = "UPDATE orders SET taken = 1 WHERE id = ?1 AND NOT taken";
    let mut claim = connection.prepare_cached(sql)?;
    Ok(claim.execute([id.0.as_bytes()])? == 1)
}

/// Answers an order. False if it is not there.
pub(super) fn store_command_result(
    connection: &Connection,
    id: CommandId,
    result: &str,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE orders SET answer = ?2 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    Ok(update.execute((id.0.as_bytes(), result))? == 1)
}
