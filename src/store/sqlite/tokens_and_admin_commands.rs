//! Reads and writes one-time tokens and operator commands.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use crate::{CommandId, OneTimeToken, TokenHash};

/// Maximum number of operator commands that are read at a time.
const COMMANDS_BATCH_SIZE: i64 = 16;

/// Stores a one-time token and deletes expired tokens. Returns `false` if `max` tokens are already
/// valid.
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

/// Returns the one-time token with this code, unless it has expired.
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

/// Returns all stored one-time tokens, including expired ones, ordered by hash.
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

/// Deletes a one-time token. Returns `false` if it no longer exists.
pub(super) fn take_one_time_token(
    connection: &Connection,
    code: TokenHash,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM passes WHERE code = ?1";
    Ok(connection.prepare_cached(sql)?.execute([code.0])? == 1)
}

/// Deletes an invitation. Returns `false` if there is no valid invitation with this code.
pub(super) fn take_invite(
    connection: &Connection,
    code: TokenHash,
    now_ms: u64,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM passes WHERE code = ?1 AND player IS NULL AND expires_ms > ?2";
    let mut delete = connection.prepare_cached(sql)?;
    Ok(delete.execute((code.0, now_ms))? == 1)
}

/// Returns the oldest operator commands that no server has claimed.
pub(super) fn pending_commands(
    connection: &Connection,
) -> rusqlite::Result<Vec<(CommandId, String)>> {
    let sql = "SELECT id, body FROM orders WHERE NOT taken ORDER BY asked_ms, id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((CommandId(Uuid::from_bytes(row.get(0)?)), row.get(1)?));
    statement.query_map([COMMANDS_BATCH_SIZE], read)?.collect()
}

/// Claims an operator command, so that only one server executes it. Returns `false` if the command
/// was already claimed or was withdrawn.
pub(super) fn claim_command(connection: &Connection, id: CommandId) -> rusqlite::Result<bool> {
    let sql = "UPDATE orders SET taken = 1 WHERE id = ?1 AND NOT taken";
    let mut claim = connection.prepare_cached(sql)?;
    Ok(claim.execute([id.0.as_bytes()])? == 1)
}

/// Stores the result of an operator command. Returns `false` if the command is no longer stored.
pub(super) fn store_command_result(
    connection: &Connection,
    id: CommandId,
    result: &str,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE orders SET answer = ?2 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    Ok(update.execute((id.0.as_bytes(), result))? == 1)
}
