//! What was thought of ended matches, as it is read and written.

use plyhouse_protocol::MatchId;
use rusqlite::{Connection, OptionalExtension};

use crate::KeptAnalysis;

/// Keeps what was thought of a match in place of what was thought with less effort. False if the match is
/// not kept, or has not ended.
pub(super) fn keep(
    connection: &Connection,
    id: MatchId,
    analysis: &KeptAnalysis,
) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO analyses (match, nodes, body)
               SELECT id, ?2, ?3 FROM matches WHERE id = ?1 AND ended_ms IS NOT NULL
               ON CONFLICT (match) DO UPDATE SET nodes = excluded.nodes, body = excluded.body
                   WHERE excluded.nodes >= nodes";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((id.0.as_bytes(), analysis.nodes, &analysis.text))?;
    Ok(of(connection, id)?.is_some())
}

/// What was thought of a match.
pub(super) fn of(connection: &Connection, id: MatchId) -> rusqlite::Result<Option<KeptAnalysis>> {
    let sql = "SELECT nodes, body FROM analyses WHERE match = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let found = found.query_row([id.0.as_bytes()], |row| {
        Ok(KeptAnalysis {
            nodes: row.get(0)?,
            text: row.get(1)?,
        })
    });
    found.optional()
}
