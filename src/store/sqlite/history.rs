//! Adds ended matches to the histories of their players, and removes deleted matches.

use plyhouse_matches::EndedMatchSummary;
use plyhouse_protocol::MatchId;
use rusqlite::Connection;

use super::reader::{self, LoadError};
use crate::EndedMatch;
use crate::records::past_matches::{seat_results, summary_from_text};
use crate::sql::{Row, execute_each, history, query_all, run_now};

/// Reads an ended match from its journal. Returns `None` if the match is corrupt, did not start or
/// is excluded from histories.
pub(super) fn load_ended_match(
    connection: &Connection,
    id: MatchId,
) -> rusqlite::Result<Option<EndedMatch>> {
    match reader::load_in_transaction(connection, id) {
        Ok(found) => Ok(found.and_then(|(record, _)| record.to_ended_match())),
        Err(LoadError::Sqlite(error)) => Err(error),
        Err(LoadError::Corrupt(corrupt)) => {
            tracing::warn!(%corrupt, "ended match is corrupt, not indexed");
            Ok(None)
        }
    }
}

/// Indexes all matches that ended before the database stored a match history.
pub(super) fn index_all_matches(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT id FROM matches
               WHERE id > ?1 AND ended_ms IS NOT NULL AND length(id) = 16 ORDER BY id LIMIT 1000";
    let mut last = MatchId(uuid::Uuid::nil());
    loop {
        let ids: Vec<MatchId> = run_now(query_all(connection, sql, &[last.into()]))?;
        let Some(end) = ids.last() else {
            return Ok(());
        };
        last = *end;
        let ended = ids.iter().map(|id| load_ended_match(connection, *id));
        let ended: Vec<Option<EndedMatch>> = ended.collect::<rusqlite::Result<_>>()?;
        let ended: Vec<EndedMatch> = ended.into_iter().flatten().collect();
        run_now(history::index_ended_matches(connection, &ended))?;
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
