//! Writes which players block each other.

use plyhouse_protocol::PlayerId;

use crate::BLOCKS_MAX;
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};

/// Blocks the player `other` on behalf of `player`, or ends this block. If `since_ms` is given, the
/// block begins at this Unix time in milliseconds. If `since_ms` is `None`, the block ends. Returns
/// `false` if a new block would exceed the maximum number of blocks per player.
pub(super) async fn change_block(
    connection: &PgConnection,
    player: PlayerId,
    other: PlayerId,
    since_ms: Option<u64>,
) -> Result<bool, QueryError> {
    let Some(since_ms) = since_ms else {
        let sql = "DELETE FROM blocks WHERE player = $1 AND other = $2";
        connection.query(sql, &[&player.0, &other.0]).await?;
        return Ok(true);
    };
    let sql = "INSERT INTO blocks (player, other, since_ms) SELECT $1, $2, $3
               WHERE (SELECT count(*) FROM blocks WHERE player = $1) < $4
               ON CONFLICT DO NOTHING";
    let (since_ms, max) = (to_i64(since_ms), to_i64(BLOCKS_MAX as u64));
    let params: Params<'_> = &[&player.0, &other.0, &since_ms, &max];
    connection.query(sql, params).await?;
    let sql = "SELECT 1 FROM blocks WHERE player = $1 AND other = $2";
    let found = connection.query_opt(sql, &[&player.0, &other.0]).await?;
    Ok(found.is_some())
}
