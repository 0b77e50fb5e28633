//! Counts analysis requests towards the quotas of players.

use rusqlite::Connection;

use crate::AnalysisQuotaRequest;

/// Counts an analysis request towards a player's quota. Deletes the requests of all players that
/// were made at or before `since_ms`, because these requests no longer count. Returns `false` if
/// the player has used up the quota.
pub(super) fn count_request(
    connection: &Connection,
    request: &AnalysisQuotaRequest,
) -> rusqlite::Result<bool> {
    let AnalysisQuotaRequest {
        player,
        at_ms,
        since_ms,
        requests_max,
    } = request;
    let sql = "DELETE FROM analyses_asked WHERE asked_ms <= ?1";
    connection.prepare_cached(sql)?.execute([since_ms])?;
    let sql = "INSERT INTO analyses_asked (player, asked_ms)
               SELECT ?1, ?2 WHERE (SELECT count(*) FROM analyses_asked WHERE player = ?1) < ?3";
    let mut insert = connection.prepare_cached(sql)?;
    Ok(insert.execute((player.0.as_bytes(), at_ms, requests_max))? > 0)
}

/// Returns whether the given analysis request was counted towards its player's quota.
pub(super) fn is_request_counted(
    connection: &Connection,
    request: &AnalysisQuotaRequest,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM analyses_asked WHERE player = ?1 AND asked_ms = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.exists((request.player.0.as_bytes(), request.at_ms))
}
