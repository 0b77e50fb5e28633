//! Stores the history of ended matches and the opening statistics.

use plyhouse_engine::game::Seat;
use plyhouse_matches::EndedMatchSummary;
use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::{MatchId, MatchResult};
use rusqlite::{Connection, OptionalExtension, Row};

use super::match_rows::{CREATION_COLUMN_COUNT, creation_from_row};
use super::rating_ledger;
use super::reader::{self, LoadError};
use super::reminders::match_id_column;
use crate::records::past_matches::{
    opening_steps, seat_results, summary_from_text, summary_to_text,
};
use crate::{CorruptRecord, HistoryQuery, Opponent, PastMatch, Tally};

/// Values that are written to the row of an ended match.
#[derive(Default)]
pub(super) struct EndedMatchColumns {
    /// Summary of the match as JSON. The value is `None` if the match never started or its events
    /// are invalid.
    pub(super) summary: Option<String>,
    /// Number of the match's row in the ledger of rated matches. The value is `None` if the match
    /// is unrated or its ledger row has no number yet.
    pub(super) ledger_row: Option<u64>,
}

/// Adds a match that ended at `ended_ms` to the history, the opening statistics and the ledger. The
/// last event of the match must already be stored.
pub(super) fn index_ended_match(
    connection: &Connection,
    id: MatchId,
    ended_ms: u64,
) -> rusqlite::Result<EndedMatchColumns> {
    let record = match reader::load_in_transaction(connection, id) {
        Ok(Some((record, _))) => record,
        Ok(None) => return Ok(EndedMatchColumns::default()),
        Err(LoadError::Sqlite(error)) => return Err(error),
        Err(LoadError::Corrupt(corrupt)) => {
            tracing::warn!(%corrupt, "ended match is corrupt, not indexed");
            return Ok(EndedMatchColumns::default());
        }
    };
    let Some(summary) = record.summary() else {
        return Ok(EndedMatchColumns::default());
    };
    let game = record.rated_game().map(Box::new).map(LedgerRow::Game);
    let ledger_row = match (game, record.numbering_due_ms(ended_ms)) {
        (None, _) => None,
        (Some(game), None) => Some(rating_ledger::number_row(connection, &game)?),
        (Some(game), Some(due_ms)) => {
            rating_ledger::insert_waiting_row(connection, id, &game, due_ms)?;
            None
        }
    };
    let creation = &record.creation;
    let game = creation.game.info.id;
    let sql =
        "INSERT OR IGNORE INTO played (player, ended_ms, match, seat, game, other, result, open)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare_cached(sql)?;
    for seat_result in seat_results(&summary) {
        insert.execute((
            seat_result.player.0.as_bytes(),
            ended_ms,
            id.0.as_bytes(),
            seat_result.seat.number(),
            game,
            seat_result
                .opponent
                .as_ref()
                .map(|other| other.0.as_bytes()),
            seat_result.result.as_str(),
            creation.terms.is_public(),
        ))?;
    }
    if let Some(opening) = &summary.opening {
        count_opening(connection, game, opening, &summary)?;
    }
    Ok(EndedMatchColumns {
        summary: Some(summary_to_text(&summary)),
        ledger_row,
    })
}

/// Adds a match to the opening statistics.
fn count_opening(
    connection: &Connection,
    game: &str,
    opening: &str,
    summary: &EndedMatchSummary,
) -> rusqlite::Result<()> {
    let Tally {
        matches,
        wins,
        draws,
    } = Tally::from_summary(summary);
    let sql = "INSERT INTO openings (game, line, move, n, won_first, won_second, drawn)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT DO UPDATE SET n = n + excluded.n, drawn = drawn + excluded.drawn,
                   won_first = won_first + excluded.won_first,
                   won_second = won_second + excluded.won_second";
    let mut add = connection.prepare_cached(sql)?;
    for (line, m) in opening_steps(opening) {
        add.execute((game, line, m, matches, wins[0], wins[1], draws))?;
    }
    Ok(())
}

/// Removes an ended match from the history and the opening statistics.
pub(super) fn unindex(connection: &Connection, id: &[u8]) -> rusqlite::Result<()> {
    let sql = "SELECT game, ended_ms, summary FROM matches WHERE id = ?1 AND summary IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |row| {
        let (game, ended_ms, summary): (String, u64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((game, ended_ms, summary_from_text(&summary)))
    });
    let Some((game, ended_ms, Ok(summary))) = found.optional()? else {
        return Ok(());
    };
    let sql = "DELETE FROM played WHERE player = ?1 AND ended_ms = ?2 AND match = ?3";
    let mut delete = connection.prepare_cached(sql)?;
    for seat_result in seat_results(&summary) {
        delete.execute((seat_result.player.0.as_bytes(), ended_ms, id))?;
    }
    let Some(opening) = &summary.opening else {
        return Ok(());
    };
    let Tally {
        matches,
        wins,
        draws,
    } = Tally::from_summary(&summary);
    let sql = "UPDATE openings SET n = n - ?4, won_first = won_first - ?5,
                   won_second = won_second - ?6, drawn = drawn - ?7
               WHERE game = ?1 AND line = ?2 AND move = ?3";
    let mut subtract = connection.prepare_cached(sql)?;
    let sql = "DELETE FROM openings WHERE game = ?1 AND line = ?2 AND move = ?3 AND n <= 0";
    let mut clear = connection.prepare_cached(sql)?;
    for (line, m) in opening_steps(opening) {
        subtract.execute((&game, line, m, matches, wins[0], wins[1], draws))?;
        clear.execute((&game, line, m))?;
    }
    Ok(())
}

/// Indexes all matches that ended before the database stored a match history.
pub(super) fn index_all_matches(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT id, ended_ms FROM matches
               WHERE id > ?1 AND ended_ms IS NOT NULL AND length(id) = 16 ORDER BY id LIMIT 1000";
    let mut some = connection.prepare(sql)?;
    let mut update = connection.prepare("UPDATE matches SET summary = ?2 WHERE id = ?1")?;
    let mut last = Vec::new();
    loop {
        let rows = some.query_map([&last], |row| Ok((match_id_column(row, 0)?, row.get(1)?)))?;
        let matches: Vec<(MatchId, u64)> = rows.collect::<rusqlite::Result<_>>()?;
        let Some((end, _)) = matches.last() else {
            return Ok(());
        };
        last = end.0.as_bytes().to_vec();
        for (id, ended_ms) in matches {
            if let Some(summary) = index_ended_match(connection, id, ended_ms)?.summary {
                update.execute((id.0.as_bytes(), summary))?;
            }
        }
    }
}

/// Returns the ended matches of a player that satisfy the query. The match that ended most recently
/// comes first. Returns `None` if `query.before` is not the id of an ended match.
pub(super) fn history(
    connection: &Connection,
    query: &HistoryQuery,
) -> Result<Option<Vec<PastMatch>>, LoadError> {
    let transaction = connection.unchecked_transaction()?;
    // Without `query.before`, the list of matches begins with the match that ended most recently.
    let mut before = (u64::MAX >> 1, vec![u8::MAX; 16]);
    if let Some(id) = query.before {
        let sql = "SELECT ended_ms FROM matches WHERE id = ?1 AND ended_ms IS NOT NULL";
        let mut statement = transaction.prepare_cached(sql)?;
        let found = statement.query_row([id.0.as_bytes()], |row| row.get(0));
        match found.optional()? {
            Some(ended_ms) => before = (ended_ms, id.0.as_bytes().to_vec()),
            None => return Ok(None),
        }
    }
    let opponent = match &query.opponent {
        Some(Opponent::Player(id)) => Some(id.0.as_bytes()),
        Some(Opponent::Bot) | None => None,
    };
    let mut statement = transaction.prepare_cached(SELECT_HISTORY)?;
    let mut rows = statement.query((
        query.player.0.as_bytes(),
        before.0,
        before.1,
        query.game,
        query.opponent.map(|_| true),
        opponent,
        query.result.map(MatchResult::as_str),
        query.viewer.0.as_bytes(),
        query.limit,
    ))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(past_match_from_row(row)?);
    }
    Ok(Some(found))
}

/// Selects ended matches of a player. `CROSS JOIN` makes SQLite read the table `played` in
/// primary-key order. SQLite then looks up only the matches that are returned.
pub(super) const SELECT_HISTORY: &str =
    "SELECT m.id, m.code, m.game, m.host, m.terms, m.summary, p.seat, p.ended_ms
    FROM played p CROSS JOIN matches m ON m.id = p.match
    WHERE p.player = ?1 AND (p.ended_ms, p.match) < (?2, ?3)
      AND (?4 IS NULL OR p.game = ?4)
      AND (?5 IS NULL OR p.other IS ?6)
      AND (?7 IS NULL OR p.result = ?7)
      AND (p.open OR p.player = ?8 OR p.other = ?8)
    ORDER BY p.ended_ms DESC, p.match DESC LIMIT ?9";

fn past_match_from_row(row: &Row<'_>) -> Result<PastMatch, LoadError> {
    let id = match_id_column(row, 0)?;
    let corrupt = |why| LoadError::Corrupt(CorruptRecord { id, reason: why });
    let summary: String = row.get(CREATION_COLUMN_COUNT)?;
    let seat: u8 = row.get(CREATION_COLUMN_COUNT + 1)?;
    Ok(PastMatch {
        creation: creation_from_row(row)?.map_err(corrupt)?,
        summary: summary_from_text(&summary).map_err(corrupt)?,
        seat: Seat::from_number(seat)
            .ok_or_else(|| corrupt(format!("invalid seat number {seat}")))?,
        ended_ms: row.get(CREATION_COLUMN_COUNT + 2)?,
    })
}
