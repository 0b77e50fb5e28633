//! Reads and writes the analyses of ended matches and the analysis quotas.

use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::{Connection, OptionalExtension};

use crate::{AnalysisQuotaRequest, StoredAnalysis};

/// Stores the analysis of a match. If the stored analysis has more searched nodes than the new
/// analysis, the stored analysis is kept. Returns `false` if the match does not exist or has not
/// ended.
pub(super) fn store_analysis(
    connection: &Connection,
    id: MatchId,
    analysis: &StoredAnalysis,
) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO analyses (match, nodes, body)
               SELECT id, ?2, ?3 FROM matches WHERE id = ?1 AND ended_ms IS NOT NULL
               ON CONFLICT (match) DO UPDATE SET nodes = excluded.nodes, body = excluded.body
                   WHERE excluded.nodes >= nodes";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((id.0.as_bytes(), analysis.nodes, &analysis.text))?;
    Ok(load_analysis(connection, id)?.is_some())
}

/// Returns the stored analysis of a match, if any.
pub(super) fn load_analysis(
    connection: &Connection,
    id: MatchId,
) -> rusqlite::Result<Option<StoredAnalysis>> {
    let sql = "SELECT nodes, body FROM analyses WHERE match = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.0.as_bytes()], |row| {
        Ok(StoredAnalysis {
            nodes: row.get(0)?,
            text: row.get(1)?,
        })
    });
    found.optional()
}

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

/// Returns the time of a player's first analysis request after `since_ms`.
pub(super) fn first_request_ms(
    connection: &Connection,
    player: PlayerId,
    since_ms: u64,
) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT min(asked_ms) FROM analyses_asked WHERE player = ?1 AND asked_ms > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row((player.0.as_bytes(), since_ms), |row| row.get(0))
}
