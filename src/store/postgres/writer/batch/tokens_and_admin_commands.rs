//! Writes one-time tokens and the results of operator commands. A lock lets only one server at a
//! time make these changes.

use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::{CommandId, OneTimeToken, TokenHash};

/// Stores a one-time token and deletes expired tokens. Returns `false` if `max` valid tokens are
/// already stored.
pub(super) async fn add_one_time_token(
    connection: &PgConnection,
    code: TokenHash,
    token: &OneTimeToken,
    now_ms: i64,
    max: usize,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM passes WHERE expires_ms <= $1";
    connection.query(sql, &[&now_ms]).await?;
    let sql = "INSERT INTO passes (code, player, expires_ms)
               SELECT $1, $2, $3 WHERE (SELECT count(*) FROM passes) < $4 RETURNING code";
    let player = token.player.map(|player| player.0);
    let (expires_ms, max) = (to_i64(token.expires_ms), to_i64(max as u64));
    let params: Params<'_> = &[&code.0.as_slice(), &player, &expires_ms, &max];
    Ok(connection.query_opt(sql, params).await?.is_some())
}

/// Deletes an invitation. Returns `false` if there is no valid invitation with this code.
pub(super) async fn take_invite(
    connection: &PgConnection,
    code: TokenHash,
    now_ms: i64,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM passes WHERE code = $1 AND player IS NULL AND expires_ms > $2
               RETURNING code";
    let params: Params<'_> = &[&code.0.as_slice(), &now_ms];
    Ok(connection.query_opt(sql, params).await?.is_some())
}

/// Deletes a one-time token. Returns `false` if the token no longer exists.
pub(super) async fn take_one_time_token(
    connection: &PgConnection,
    code: TokenHash,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM passes WHERE code = $1 RETURNING code";
    let taken = connection.query_opt(sql, &[&code.0.as_slice()]).await?;
    Ok(taken.is_some())
}

/// Claims an operator command for a server. Returns `false` if another server has claimed the
/// command or it was withdrawn.
pub(super) async fn claim_command(
    connection: &PgConnection,
    id: CommandId,
) -> Result<bool, QueryError> {
    let sql = "UPDATE orders SET taken = true WHERE id = $1 AND NOT taken RETURNING id";
    Ok(connection.query_opt(sql, &[&id.0]).await?.is_some())
}

/// Stores the result of an operator command. Returns `false` if the command is no longer stored.
pub(super) async fn store_command_result(
    connection: &PgConnection,
    id: CommandId,
    answer: &String,
) -> Result<bool, QueryError> {
    let sql = "UPDATE orders SET answer = $2 WHERE id = $1 RETURNING id";
    Ok(connection.query_opt(sql, &[&id.0, answer]).await?.is_some())
}
