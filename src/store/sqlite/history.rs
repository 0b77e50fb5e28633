//! Ended matches as they are found again, as rows.

use plyhouse_engine::game::Seat;
use plyhouse_matches::Archived;
use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::{MatchId, MatchResult, PlayerId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::ratings;
use super::reader::{self, Failure};
use super::reminders::match_of;
use super::rows::{CREATION_COLUMNS, creation};
use crate::history::{
    archived_from_text, archived_to_text, last_step, played, result_from_text, steps,
};
use crate::{CorruptRecord, Explored, HistoryQuery, Opponent, PastMatch, Results, Tally};

/// What is to be kept of a match that ends.
#[derive(Default)]
pub(super) struct Filed {
    /// What it came to; none if it never began, or if its events make no sense.
    pub(super) summary: Option<String>,
    /// The number in the ledger, if it was rated and does not wait for one.
    pub(super) ended_no: Option<u64>,
}

/// Files a match that ends at this time, whose last event is written, under all that it is found by.
pub(super) fn file(connection: &Connection, id: MatchId, ended_ms: u64) -> rusqlite::Result<Filed> {
    let record = match reader::load_within(connection, id) {
        Ok(Some((record, _))) => record,
        Ok(None) => return Ok(Filed::default()),
        Err(Failure::Sqlite(error)) => return Err(error),
        Err(Failure::Damaged(damage)) => {
            tracing::warn!(%damage, "an ended match is not filed");
            return Ok(Filed::default());
        }
    };
    let Some(archived) = record.archived() else {
        return Ok(Filed::default());
    };
    let game = record.rated_game().map(Box::new).map(LedgerRow::Game);
    let ended_no = match (game, record.numbered_ms(ended_ms)) {
        (None, _) => None,
        (Some(game), None) => Some(ratings::number(connection, &game)?),
        (Some(game), Some(due_ms)) => {
            ratings::wait(connection, id, &game, due_ms)?;
            None
        }
    };
    let creation = &record.creation;
    let game = creation.game.info.id;
    let sql =
        "INSERT OR IGNORE INTO played (player, ended_ms, match, seat, game, other, result, open)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare_cached(sql)?;
    for played in played(&archived) {
        insert.execute((
            played.player.0.as_bytes(),
            ended_ms,
            id.0.as_bytes(),
            played.seat.number(),
            game,
            played.other.as_ref().map(|other| other.0.as_bytes()),
            played.result.as_str(),
            creation.terms.is_public(),
        ))?;
    }
    if let Some(opening) = &archived.opening {
        count(connection, game, opening, &archived)?;
    }
    Ok(Filed {
        summary: Some(archived_to_text(&archived)),
        ended_no,
    })
}

/// Counts how a match began.
fn count(
    connection: &Connection,
    game: &str,
    opening: &str,
    archived: &Archived,
) -> rusqlite::Result<()> {
    let Tally { n, won, drawn } = Tally::of(archived);
    let sql = "INSERT INTO openings (game, line, move, n, won_first, won_second, drawn)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT DO UPDATE SET n = n + excluded.n, drawn = drawn + excluded.drawn,
                   won_first = won_first + excluded.won_first,
                   won_second = won_second + excluded.won_second";
    let mut add = connection.prepare_cached(sql)?;
    for (line, m) in steps(opening) {
        add.execute((game, line, m, n, won[0], won[1], drawn))?;
    }
    Ok(())
}

/// Takes an ended match out of all that it is found by.
pub(super) fn unfile(connection: &Connection, id: &[u8]) -> rusqlite::Result<()> {
    let sql = "SELECT game, ended_ms, summary FROM matches WHERE id = ?1 AND summary IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |row| {
        let (game, ended_ms, summary): (String, u64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((game, ended_ms, archived_from_text(&summary)))
    });
    let Some((game, ended_ms, Ok(archived))) = found.optional()? else {
        return Ok(());
    };
    let sql = "DELETE FROM played WHERE player = ?1 AND ended_ms = ?2 AND match = ?3";
    let mut delete = connection.prepare_cached(sql)?;
    for played in played(&archived) {
        delete.execute((played.player.0.as_bytes(), ended_ms, id))?;
    }
    let Some(opening) = &archived.opening else {
        return Ok(());
    };
    let Tally { n, won, drawn } = Tally::of(&archived);
    let sql = "UPDATE openings SET n = n - ?4, won_first = won_first - ?5,
                   won_second = won_second - ?6, drawn = drawn - ?7
               WHERE game = ?1 AND line = ?2 AND move = ?3";
    let mut subtract = connection.prepare_cached(sql)?;
    let sql = "DELETE FROM openings WHERE game = ?1 AND line = ?2 AND move = ?3 AND n <= 0";
    let mut clear = connection.prepare_cached(sql)?;
    for (line, m) in steps(opening) {
        subtract.execute((&game, line, m, n, won[0], won[1], drawn))?;
        clear.execute((&game, line, m))?;
    }
    Ok(())
}

/// Files all matches that ended before there was anything to find them by.
pub(super) fn file_all(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT id, ended_ms FROM matches
               WHERE id > ?1 AND ended_ms IS NOT NULL AND length(id) = 16 ORDER BY id LIMIT 1000";
    let mut some = connection.prepare(sql)?;
    let mut keep = connection.prepare("UPDATE matches SET summary = ?2 WHERE id = ?1")?;
    let mut last = Vec::new();
    loop {
        let ended = some.query_map([&last], |row| Ok((match_of(row, 0)?, row.get(1)?)))?;
        let ended: Vec<(MatchId, u64)> = ended.collect::<rusqlite::Result<_>>()?;
        let Some((end, _)) = ended.last() else {
            return Ok(());
        };
        last = end.0.as_bytes().to_vec();
        for (id, ended_ms) in ended {
            if let Some(summary) = file(connection, id, ended_ms)?.summary {
                keep.execute((id.0.as_bytes(), summary))?;
            }
        }
    }
}

/// What is wanted of a player's ended matches, the newest end first. `None` if the match before them has
/// not ended.
pub(super) fn history(
    connection: &Connection,
    wanted: &HistoryQuery,
) -> Result<Option<Vec<PastMatch>>, Failure> {
    let at_once = connection.unchecked_transaction()?;
    // After the last of all, where nothing else is said.
    let mut before = (u64::MAX >> 1, vec![u8::MAX; 16]);
    if let Some(id) = wanted.before {
        let sql = "SELECT ended_ms FROM matches WHERE id = ?1 AND ended_ms IS NOT NULL";
        let mut statement = at_once.prepare_cached(sql)?;
        let found = statement.query_row([id.0.as_bytes()], |row| row.get(0));
        match found.optional()? {
            Some(ended_ms) => before = (ended_ms, id.0.as_bytes().to_vec()),
            None => return Ok(None),
        }
    }
    let other = match &wanted.with {
        Some(Opponent::Player(id)) => Some(id.0.as_bytes()),
        Some(Opponent::Bot) | None => None,
    };
    let mut statement = at_once.prepare_cached(HISTORY)?;
    let mut rows = statement.query((
        wanted.player.0.as_bytes(),
        before.0,
        before.1,
        wanted.game,
        wanted.with.map(|_| true),
        other,
        wanted.result.map(MatchResult::as_str),
        wanted.seen_by.0.as_bytes(),
        wanted.limit,
    ))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(past_match(row)?);
    }
    Ok(Some(found))
}

/// The index is read in its order, and matches are looked up for what is shown alone.
pub(super) const HISTORY: &str =
    "SELECT m.id, m.code, m.game, m.host, m.terms, m.summary, p.seat, p.ended_ms
    FROM played p CROSS JOIN matches m ON m.id = p.match
    WHERE p.player = ?1 AND (p.ended_ms, p.match) < (?2, ?3)
      AND (?4 IS NULL OR p.game = ?4)
      AND (?5 IS NULL OR p.other IS ?6)
      AND (?7 IS NULL OR p.result = ?7)
      AND (p.open OR p.player = ?8 OR p.other = ?8)
    ORDER BY p.ended_ms DESC, p.match DESC LIMIT ?9";

fn past_match(row: &Row<'_>) -> Result<PastMatch, Failure> {
    let id = match_of(row, 0)?;
    let damaged = |why| Failure::Damaged(CorruptRecord { id, why });
    let summary: String = row.get(CREATION_COLUMNS)?;
    let seat: u8 = row.get(CREATION_COLUMNS + 1)?;
    Ok(PastMatch {
        creation: creation(row)?.map_err(damaged)?,
        archived: archived_from_text(&summary).map_err(damaged)?,
        seat: Seat::from_number(seat).ok_or_else(|| damaged(format!("there is no seat {seat}")))?,
        ended_ms: row.get(CREATION_COLUMNS + 2)?,
    })
}

/// What a player's matches came to, as far as this one may see them.
pub(super) fn results(
    connection: &Connection,
    player: PlayerId,
    seen_by: PlayerId,
) -> rusqlite::Result<Results> {
    let mut statement = connection.prepare_cached(RESULTS)?;
    let mut rows = statement.query((player.0.as_bytes(), seen_by.0.as_bytes()))?;
    let mut results = Results::default();
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        if let Some(result) = result_from_text(&word) {
            results.add(result, row.get(1)?, row.get(2)?);
        }
    }
    Ok(results)
}

/// What everybody may know of, and what this one may.
pub(super) const RESULTS: &str = "SELECT result, n, first_ms FROM results
    WHERE player = ?1 AND seen_by IN (zeroblob(16), ?2)";

/// How matches of a game went on that began with this line.
pub(super) fn explore(
    connection: &Connection,
    game: &str,
    line: &str,
) -> rusqlite::Result<Explored> {
    let (before, last) = last_step(line);
    let mut statement = connection.prepare_cached(EXPLORE)?;
    let rows = statement.query_map((game, before, last, line), |row| {
        let tally = Tally {
            n: row.get(1)?,
            won: [row.get(2)?, row.get(3)?],
            drawn: row.get(4)?,
        };
        Ok((row.get(0)?, tally))
    })?;
    let tallies: Vec<(String, Tally)> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(Explored::of(tallies))
}

/// The line itself by the empty move, and what follows on it.
pub(super) const EXPLORE: &str = "SELECT '', n, won_first, won_second, drawn FROM openings
    WHERE game = ?1 AND line = ?2 AND move = ?3
    UNION ALL
    SELECT move, n, won_first, won_second, drawn FROM openings
    WHERE game = ?1 AND line = ?4 AND move > ''";
