//! What was thought of ended matches, as it is read and written.

use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::{Connection, OptionalExtension};

use crate::{AnalysisQuotaRequest, StoredAnalysis};

/// Keeps what was thought of a match in place of what was thought with less effort. False if the match is
/// not kept, or has not ended.
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

/// What was thought of a match.
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

/// Counts one more that a player has asked for. False if that are as many as may be.
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

/// Whether this one was counted.
pub(super) fn is_request_counted(
    connection: &Connection,
    request: &AnalysisQuotaRequest,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM analyses_asked WHERE player = ?1 AND asked_ms = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.exists((request.player.0.as_bytes(), request.at_ms))
}

/// When the first was asked for since then.
pub(super) fn first_request_ms(
    connection: &Connection,
    player: PlayerId,
    since_ms: u64,
) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT min(asked_ms) FROM analyses_asked WHERE player = ?1 AND asked_ms > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row((player.0.as_bytes(), since_ms), |row| row.get(0))
}
