//! Writes the ledger of rated matches, and the rating versions that are computed from it. Each
//! rating version is a row of the table `folds`.

use plyhouse_matches::ratings::{
    ALGORITHM_VERSION, LedgerRow, PlayerRatingChange, Rating, RatingKey, RatingState,
};
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection, Error, Row};

use crate::ratings::{
    CLEAR_ROWS_MAX, conduct_to_text, daily_ratings, ledger_row_from_text, ledger_row_keys,
    ledger_row_to_text, pair_to_text,
};
use crate::{RatingPost, RatingVersion, RatingsChange};

/// Tables that contain the data of rating versions.
const VERSION_TABLES: [&str; 5] = [
    "rating",
    "rating_days",
    "rating_changes",
    "rating_pairs",
    "conduct",
];

/// Adds a row to the ledger with the next number, and returns the number.
fn number_row(connection: &Connection, row: &LedgerRow) -> rusqlite::Result<u64> {
    let sql = "UPDATE ledger_end SET no = no + 1 RETURNING no";
    let mut increment = connection.prepare_cached(sql)?;
    let no = increment.query_row([], |row| row.get(0))?;
    drop(increment);
    insert_ledger_row(connection, no, row)?;
    Ok(no)
}

/// Adds rows to the ledger with the next numbers, and stores the numbers in the table `matches`.
pub(super) fn number_rows(connection: &Connection, rows: &[LedgerRow]) -> rusqlite::Result<()> {
    rows.iter().try_for_each(|row| {
        let no = number_row(connection, row)?;
        store_row_number(connection, no, row)
    })
}

/// Stores ledger rows that have no number yet. Each row gets its number at the time that is passed
/// together with the row, a Unix time in milliseconds.
pub(super) fn insert_waiting_rows(
    connection: &Connection,
    rows: &[(LedgerRow, u64)],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO ledger_waiting (match, due_ms, body) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(sql)?;
    for (row, due_ms) in rows {
        let id = ledger_row_keys(row).0;
        insert.execute((
            id.map(|id| id.0.into_bytes()),
            due_ms,
            ledger_row_to_text(row),
        ))?;
    }
    Ok(())
}

/// Assigns numbers to the rows in `ledger_waiting` whose due time is not later than `until_ms`.
fn number_due_rows(connection: &Connection, until_ms: u64) -> rusqlite::Result<()> {
    let sql = "SELECT body FROM ledger_waiting WHERE due_ms <= ?1 ORDER BY due_ms, match";
    let mut due = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let body = ledger_row_from_text(row.get_ref(0)?.as_str()?);
        body.map_err(|why| Error::FromSqlConversionFailure(0, Type::Text, why.into()))
    };
    let rows = due.query_map([until_ms.min(u64::MAX >> 1)], read)?;
    for row in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        let no = number_row(connection, &row)?;
        store_row_number(connection, no, &row)?;
    }
    Ok(())
}

/// Stores the number of a match's ledger row in the table `matches`, and deletes the waiting ledger
/// row.
fn store_row_number(connection: &Connection, no: u64, row: &LedgerRow) -> rusqlite::Result<()> {
    let (Some(id), _) = ledger_row_keys(row) else {
        return Ok(());
    };
    let sql = "UPDATE matches SET ended_no = ?2 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((id.0.as_bytes(), no))?;
    let sql = "DELETE FROM ledger_waiting WHERE match = ?1";
    let mut delete = connection.prepare_cached(sql)?;
    delete.execute([id.0.as_bytes()])?;
    Ok(())
}

fn insert_ledger_row(connection: &Connection, no: u64, row: &LedgerRow) -> rusqlite::Result<()> {
    let (id, unrated) = ledger_row_keys(row);
    let sql = "INSERT INTO ledger (no, match, unrated, body) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute((
        no,
        id.as_ref().map(|id| id.0.as_bytes()),
        unrated.as_ref().map(|player| player.0.as_bytes()),
        ledger_row_to_text(row),
    ))?;
    Ok(())
}

/// Applies a change to the ledger or to a rating version. Returns `false` if the change was
/// refused.
pub(super) fn apply_change(
    connection: &Connection,
    change: &RatingsChange,
) -> rusqlite::Result<bool> {
    match change {
        RatingsChange::Post(post) => return post_rows(connection, post),
        RatingsChange::BeginVersion { exclusions_cursor } => {
            begin_version(connection, *exclusions_cursor)?
        }
        RatingsChange::SwitchVersion(version) => return switch_version(connection, version),
        RatingsChange::ClearStaleVersions => clear_stale_versions(connection)?,
        RatingsChange::NumberRow(row) => {
            number_row(connection, row)?;
        }
        RatingsChange::NumberDueRows(until_ms) => number_due_rows(connection, *until_ms)?,
        RatingsChange::CopyRows(rows) => return copy_rows(connection, rows),
        RatingsChange::Reset => connection.execute_batch(
            "DELETE FROM ledger; UPDATE ledger_end SET no = 0; UPDATE matches SET ended_no = NULL;
             UPDATE folds SET place = 'stale';
             INSERT INTO folds (place, cursor, known, last_ms, started_ms)
                VALUES ('live', 0, 0, 0, 0)",
        )?,
    }
    Ok(true)
}

/// Determines from the stored data whether a ratings change was applied. Called if the outcome of
/// the commit is unknown. Returns `None` if the stored data does not show whether the change was
/// applied.
pub(super) fn is_applied(
    connection: &Connection,
    change: &RatingsChange,
) -> rusqlite::Result<Option<bool>> {
    Ok(match change {
        // It is unknown whether this change was applied, because another caller may have made an
        // identical change.
        RatingsChange::Post(_)
        | RatingsChange::BeginVersion { .. }
        | RatingsChange::SwitchVersion(_) => None,
        RatingsChange::NumberRow(_) | RatingsChange::Reset => None,
        // If the table `ledger_waiting` contains no due row, all due rows have been numbered.
        RatingsChange::NumberDueRows(until_ms) => {
            let sql = "SELECT 1 FROM ledger_waiting WHERE due_ms <= ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Some(!statement.exists([until_ms.min(&(u64::MAX >> 1))])?)
        }
        RatingsChange::ClearStaleVersions => Some(true),
        RatingsChange::CopyRows(rows) => {
            let sql = "SELECT 1 FROM ledger WHERE no = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let last = rows.last().map_or(0, |(no, _)| *no);
            Some(statement.exists([last])?)
        }
    })
}

/// Adds ledger rows that already have numbers. Returns `false` if the numbers do not directly
/// follow the last number in the ledger.
fn copy_rows(connection: &Connection, rows: &[(u64, LedgerRow)]) -> rusqlite::Result<bool> {
    let sql = "SELECT no FROM ledger_end";
    let mut end = connection.prepare_cached(sql)?;
    let last: u64 = end.query_row([], |row| row.get(0))?;
    if !rows
        .iter()
        .map(|(no, _)| *no)
        .eq(last + 1..=last + rows.len() as u64)
    {
        return Ok(false);
    }
    for (no, row) in rows {
        insert_ledger_row(connection, *no, row)?;
        store_row_number(connection, *no, row)?;
    }
    let sql = "UPDATE ledger_end SET no = ?1";
    let mut set = connection.prepare_cached(sql)?;
    set.execute([last + rows.len() as u64])?;
    Ok(true)
}

fn begin_version(connection: &Connection, exclusions_cursor: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE folds SET place = 'stale' WHERE place = 'built'";
    connection.prepare_cached(sql)?.execute([])?;
    let sql = "INSERT INTO folds (place, cursor, known, last_ms, started_ms)
               VALUES ('built', 0, ?1, 0, 0)";
    connection
        .prepare_cached(sql)?
        .execute([exclusions_cursor])?;
    Ok(())
}

fn switch_version(connection: &Connection, version: &RatingVersion) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM folds WHERE id = ?1 AND cursor = ?2 AND place = 'built'";
    let mut built = connection.prepare_cached(sql)?;
    if !built.exists((version.id, version.cursor))? {
        return Ok(false);
    }
    let sql = "UPDATE folds SET place = iif(id = ?1, 'live', 'stale') WHERE place <> 'stale'";
    connection.prepare_cached(sql)?.execute([version.id])?;
    Ok(true)
}

/// Deletes a batch of rows of stale rating versions. If no such rows remain, deletes the stale
/// rating versions themselves.
fn clear_stale_versions(connection: &Connection) -> rusqlite::Result<()> {
    for table in VERSION_TABLES {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN (
                 SELECT t.rowid FROM folds f JOIN {table} t ON t.fold = f.id
                 WHERE f.place = 'stale' LIMIT {CLEAR_ROWS_MAX})"
        );
        if connection.prepare_cached(&sql)?.execute([])? > 0 {
            return Ok(());
        }
    }
    let sql = "DELETE FROM folds WHERE place = 'stale'";
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Stores the rating changes of some ledger rows in a rating version. Returns `false` if the rating
/// version is stale, or if `post.from_row` is not the last ledger row that the version contains.
fn post_rows(connection: &Connection, post: &RatingPost) -> rusqlite::Result<bool> {
    let sql = "UPDATE folds SET cursor = ?3, last_ms = ?4, started_ms = ?5
               WHERE id = ?1 AND cursor = ?2 AND place <> 'stale'";
    let RatingState {
        last_ms,
        started_ms,
        ..
    } = post.books;
    let mut advance = connection.prepare_cached(sql)?;
    if advance.execute((
        post.version,
        post.from_row,
        post.to_row,
        last_ms,
        started_ms,
    ))? == 0
    {
        return Ok(false);
    }
    upsert_ratings(connection, post)?;
    let sql = "INSERT INTO rating_pairs (fold, one, other, body) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO UPDATE SET body = excluded.body";
    let mut upsert = connection.prepare_cached(sql)?;
    for ([one, other], pair) in &post.books.pair_histories {
        let row = (
            post.version,
            one.0.as_bytes(),
            other.0.as_bytes(),
            pair_to_text(pair),
        );
        upsert.execute(row)?;
    }
    let sql = "INSERT INTO conduct (fold, player, until_ms, body) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO UPDATE SET until_ms = excluded.until_ms, body = excluded.body";
    let mut upsert = connection.prepare_cached(sql)?;
    for (player, penalties) in &post.books.abort_penalties {
        let (until_ms, body) = (penalties.rated_ban_until_ms(), conduct_to_text(penalties));
        upsert.execute((post.version, player.0.as_bytes(), until_ms, body))?;
    }
    let sql = "INSERT INTO rating_changes (fold, no, seat, player, game, pool, at_ms, algorithm,
                   rating, deviation, volatility, new_rating, new_deviation, new_volatility)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let mut insert = connection.prepare_cached(sql)?;
    for (no, posted) in &post.posted {
        for change in &posted.changes {
            insert_change(&mut insert, (post.version, *no, posted.at_ms), change)?;
        }
    }
    Ok(true)
}

fn upsert_ratings(connection: &Connection, post: &RatingPost) -> rusqlite::Result<()> {
    let sql = "INSERT INTO rating (fold, player, game, pool,
                   rating, deviation, volatility, games, last_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation,
                   volatility = excluded.volatility, games = excluded.games,
                   last_ms = excluded.last_ms";
    let mut upsert = connection.prepare_cached(sql)?;
    for (record, rated) in &post.books.ratings {
        let (player, game, pool) = record_columns(record);
        let Rating {
            rating,
            deviation,
            volatility,
        } = rated.rating;
        let row = (post.version, player, game, pool);
        upsert.execute((
            row.0,
            row.1,
            row.2,
            row.3,
            rating,
            deviation,
            volatility,
            rated.games,
            rated.last_ms,
        ))?;
    }
    let sql = "INSERT INTO rating_days (fold, player, game, pool, day, rating)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT DO UPDATE SET rating = excluded.rating";
    let mut upsert = connection.prepare_cached(sql)?;
    for (record, day, rating) in daily_ratings(post) {
        let (player, game, pool) = record_columns(record);
        upsert.execute((post.version, player, game, pool, day, rating))?;
    }
    Ok(())
}

fn insert_change(
    insert: &mut CachedStatement<'_>,
    (version, no, at_ms): (u64, u64, u64),
    change: &PlayerRatingChange,
) -> rusqlite::Result<()> {
    let (player, game, pool) = record_columns(&change.key);
    let (before, after) = (&change.before, &change.after);
    insert.execute((
        version,
        no,
        change.seat.number(),
        player,
        game,
        pool,
        at_ms,
        ALGORITHM_VERSION,
        before.rating,
        before.deviation,
        before.volatility,
        after.rating,
        after.deviation,
        after.volatility,
    ))?;
    Ok(())
}

fn record_columns(record: &RatingKey) -> (&[u8; 16], &str, &'static str) {
    (
        record.player.0.as_bytes(),
        &record.game,
        record.pool.as_str(),
    )
}
