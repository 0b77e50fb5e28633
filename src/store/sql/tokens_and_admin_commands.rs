//! One-time tokens and operator commands.

use super::{Sql, SqlWrite, query_all, query_first};
use crate::{CommandId, OneTimeToken, TokenHash};

/// Stores a one-time token and deletes expired tokens. Returns `false` if `max` valid tokens are
/// already stored.
pub(crate) async fn add_one_time_token<S: SqlWrite>(
    db: &S,
    code: &TokenHash,
    token: &OneTimeToken,
    now_ms: u64,
    max: usize,
) -> Result<bool, S::Error> {
    let sql = "DELETE FROM passes WHERE expires_ms <= ?1";
    db.execute(sql, &[now_ms.into()]).await?;
    let sql = "INSERT INTO passes (code, player, expires_ms)
               SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM passes) < ?4";
    let params = [
        code.into(),
        token.player.into(),
        token.expires_ms.into(),
        max.into(),
    ];
    Ok(db.execute(sql, &params).await? == 1)
}

/// Returns the one-time token with this code, unless it has expired.
pub(crate) async fn find_one_time_token<S: Sql>(
    db: &S,
    code: &TokenHash,
    now_ms: u64,
) -> Result<Option<OneTimeToken>, S::Error> {
    let sql = "SELECT player, expires_ms FROM passes WHERE code = ?1 AND expires_ms > ?2";
    query_first(db, sql, &[code.into(), now_ms.into()]).await
}

/// Returns all stored one-time tokens, including expired ones, ordered by hash.
pub(crate) async fn one_time_tokens<S: Sql>(
    db: &S,
) -> Result<Vec<(TokenHash, OneTimeToken)>, S::Error> {
    query_all(
        db,
        "SELECT code, player, expires_ms FROM passes ORDER BY code",
        &[],
    )
    .await
}

/// Deletes a one-time token. Returns `false` if the token no longer exists.
pub(crate) async fn take_one_time_token<S: SqlWrite>(
    db: &S,
    code: &TokenHash,
) -> Result<bool, S::Error> {
    let sql = "DELETE FROM passes WHERE code = ?1";
    Ok(db.execute(sql, &[code.into()]).await? == 1)
}

/// Deletes an invitation. Returns `false` if there is no valid invitation with this code.
pub(crate) async fn take_invite<S: SqlWrite>(
    db: &S,
    code: &TokenHash,
    now_ms: u64,
) -> Result<bool, S::Error> {
    let sql = "DELETE FROM passes WHERE code = ?1 AND player IS NULL AND expires_ms > ?2";
    Ok(db.execute(sql, &[code.into(), now_ms.into()]).await? == 1)
}

/// Maximum number of operator commands that are read at a time.
const COMMANDS_BATCH_SIZE: usize = 16;

/// Returns the oldest operator commands that no server has claimed.
pub(crate) async fn pending_commands<S: Sql>(db: &S) -> Result<Vec<(CommandId, String)>, S::Error> {
    let sql = "SELECT id, body FROM orders WHERE NOT taken ORDER BY orders.asked_ms, id LIMIT ?1";
    query_all(db, sql, &[COMMANDS_BATCH_SIZE.into()]).await
}

/// Returns the result of an operator command, if a server has executed the command.
pub(crate) async fn command_result<S: Sql>(
    db: &S,
    id: CommandId,
) -> Result<Option<String>, S::Error> {
    let sql = "SELECT answer FROM orders WHERE id = ?1";
    let result = query_first::<_, Option<String>>(db, sql, &[id.into()]).await?;
    Ok(result.flatten())
}

/// Deletes an operator command. Returns whether a server had claimed the command or it was no
/// longer stored.
pub(crate) async fn withdraw_command<S: SqlWrite>(db: &S, id: CommandId) -> Result<bool, S::Error> {
    let sql = "DELETE FROM orders WHERE id = ?1 RETURNING taken";
    let is_taken = query_first(db, sql, &[id.into()]).await?;
    Ok(is_taken.unwrap_or(true))
}

/// Claims an operator command for a server. Returns `false` if another server has claimed the
/// command or it was withdrawn.
pub(crate) async fn claim_command<S: SqlWrite>(db: &S, id: CommandId) -> Result<bool, S::Error> {
    let sql = "UPDATE orders SET taken = true WHERE id = ?1 AND NOT taken";
    Ok(db.execute(sql, &[id.into()]).await? == 1)
}

/// Stores the result of an operator command. Returns `false` if the command is no longer stored.
pub(crate) async fn store_command_result<S: SqlWrite>(
    db: &S,
    id: CommandId,
    result: &str,
) -> Result<bool, S::Error> {
    let sql = "UPDATE orders SET answer = ?2 WHERE id = ?1";
    Ok(db.execute(sql, &[id.into(), result.into()]).await? == 1)
}
