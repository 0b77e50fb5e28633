//! Adds ended matches to the histories of their players, and removes deleted matches.

use plyhouse_matches::EndedMatchSummary;
use plyhouse_protocol::MatchId;
use rusqlite::Connection;

use super::reader::{self, LoadError};
use crate::MatchRecord;
use crate::records::past_matches::{seat_results, summary_from_text};
use crate::sql::{Row, execute_each, history, query_all, run_now};

/// Adds matches that have ended to the histories, the opening statistics and the ledger. Each match
/// id is passed together with the end time of the match.
pub(super) fn index_ended_matches(
    connection: &Connection,
    ended: &[(MatchId, u64)],
) -> rusqlite::Result<()> {
    let mut records: Vec<(MatchRecord, u64)> = Vec::with_capacity(ended.len());
    for (id, ended_ms) in ended {
        match reader::load_in_transaction(connection, *id) {
            Ok(found) => records.extend(found.map(|(record, _)| (record, *ended_ms))),
            Err(LoadError::Sqlite(error)) => return Err(error),
            Err(LoadError::Corrupt(corrupt)) => {
                tracing::warn!(%corrupt, "ended match is corrupt, not indexed");
            }
        }
    }
    run_now(history::index_ended_matches(connection, &records))
}

/// Indexes all matches that ended before the database stored a match history.
pub(super) fn index_all_matches(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT id, ended_ms FROM matches
               WHERE id > ?1 AND ended_ms IS NOT NULL AND length(id) = 16 ORDER BY id LIMIT 1000";
    let mut last = MatchId(uuid::Uuid::nil());
    loop {
        let ended: Vec<(MatchId, u64)> = run_now(query_all(connection, sql, &[last.into()]))?;
        let Some((end, _)) = ended.last() else {
            return Ok(());
        };
        last = *end;
        index_ended_matches(connection, &ended)?;
    }
}

/// Removes matches that are being deleted from the histories and the opening statistics. Each row
/// contains the id, the game, the end time and the summary of a match.
pub(super) fn unindex_matches(connection: &Connection, rows: &[Row]) -> rusqlite::Result<()> {
    let mut played = Vec::new();
    let mut summaries: Vec<(String, EndedMatchSummary)> = Vec::new();
    for row in rows {
        let summary: Option<String> = row.get(3)?;
        let Some(Ok(summary)) = summary.map(|text| summary_from_text(&text)) else {
            continue;
        };
        let (id, ended_ms): (MatchId, u64) = (row.get(0)?, row.get(2)?);
        let keys = seat_results(&summary)
            .map(|seat_result| vec![seat_result.player.into(), ended_ms.into(), id.into()]);
        played.extend(keys);
        summaries.push((row.get(1)?, summary));
    }
    let sql = "DELETE FROM played WHERE player = ?1 AND ended_ms = ?2 AND match = ?3";
    run_now(execute_each(connection, sql, &played))?;
    run_now(history::remove_from_openings(connection, &summaries))
}
