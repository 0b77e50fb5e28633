//! What the operator gives somebody. While one of these changes is made, no other server makes any.

use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::{OneTimeToken, OrderId, TokenHash};

/// Keeps a pass, and forgets those whose time is over. False if too many are good.
pub(super) async fn add_pass(
    session: &Session,
    code: TokenHash,
    pass: &OneTimeToken,
    now_ms: i64,
    max: usize,
) -> Result<bool, Failure> {
    let sql = "DELETE FROM passes WHERE expires_ms <= $1";
    session.query(sql, &[&now_ms]).await?;
    let sql = "INSERT INTO passes (code, player, expires_ms)
               SELECT $1, $2, $3 WHERE (SELECT count(*) FROM passes) < $4 RETURNING code";
    let player = pass.player.map(|player| player.0);
    let (expires_ms, max) = (integer(pass.expires_ms), integer(max as u64));
    let values: Values<'_> = &[&code.0.as_slice(), &player, &expires_ms, &max];
    Ok(session.query_opt(sql, values).await?.is_some())
}

/// Takes an invitation out. False if it is none, or its time is over.
pub(super) async fn take_invite(
    session: &Session,
    code: TokenHash,
    now_ms: i64,
) -> Result<bool, Failure> {
    let sql = "DELETE FROM passes WHERE code = $1 AND player IS NULL AND expires_ms > $2
               RETURNING code";
    let values: Values<'_> = &[&code.0.as_slice(), &now_ms];
    Ok(session.query_opt(sql, values).await?.is_some())
}

/// Takes a pass out. False if there is none any more.
pub(super) async fn take_pass(session: &Session, code: TokenHash) -> Result<bool, Failure> {
    let sql = "DELETE FROM passes WHERE code = $1 RETURNING code";
    let taken = session.query_opt(sql, &[&code.0.as_slice()]).await?;
    Ok(taken.is_some())
}

/// Takes an order on. False if somebody has, or it was taken back.
pub(super) async fn take_order(session: &Session, id: OrderId) -> Result<bool, Failure> {
    let sql = "UPDATE orders SET taken = true WHERE id = $1 AND NOT taken RETURNING id";
    Ok(session.query_opt(sql, &[&id.0]).await?.is_some())
}

/// Keeps what an order has come to. False if it is there no more.
pub(super) async fn answer_order(
    session: &Session,
    id: OrderId,
    answer: &String,
) -> Result<bool, Failure> {
    let sql = "UPDATE orders SET answer = $2 WHERE id = $1 RETURNING id";
    Ok(session.query_opt(sql, &[&id.0, answer]).await?.is_some())
}
