//! What the operator gives somebody. While one of these changes is made, no other server makes any.

use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::{CommandId, OneTimeToken, TokenHash};

/// Keeps a pass, and forgets those whose time is over. False if too many are good.
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

/// Takes an invitation out. False if it is none, or its time is over.
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

/// Takes a pass out. False if there is none any more.
pub(super) async fn take_one_time_token(
    connection: &PgConnection,
    code: TokenHash,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM passes WHERE code = $1 RETURNING code";
    let taken = connection.query_opt(sql, &[&code.0.as_slice()]).await?;
    Ok(taken.is_some())
}

/// Takes an order on. False if somebody has, or it was taken back.
pub(super) async fn claim_command(
    connection: &PgConnection,
    id: CommandId,
) -> Result<bool, QueryError> {
    let sql = "UPDATE orders SET taken = true WHERE id = $1 AND NOT taken RETURNING id";
    Ok(connection.query_opt(sql, &[&id.0]).await?.is_some())
}

/// Keeps what an order has come to. False if it is there no more.
pub(super) async fn store_command_result(
    connection: &PgConnection,
    id: CommandId,
    answer: &String,
) -> Result<bool, QueryError> {
    let sql = "UPDATE orders SET answer = $2 WHERE id = $1 RETURNING id";
    Ok(connection.query_opt(sql, &[&id.0, answer]).await?.is_some())
}
