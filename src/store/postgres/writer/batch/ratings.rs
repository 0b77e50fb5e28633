//! Writes the rating ledger and the rating versions. A rating version is a row of the table
//! `folds`.

use plyhouse_matches::ratings::{ALGORITHM_VERSION, LedgerRow, PlayerRatingChange, RatingKey};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{Batch, WriteTask};
use crate::postgres::journal_rows::{to_i64, to_u64};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::ratings::{
    CLEAR_ROWS_MAX, conduct_to_text, daily_ratings, ledger_row_keys, ledger_row_to_text,
    pair_to_text,
};
use crate::{RatingPost, RatingVersion, RatingsChange, WriteError};

/// Statements that each delete some rows of stale rating versions.
const CLEAR_STATEMENTS: [&str; 5] = [
    "DELETE FROM rating WHERE ctid = ANY (ARRAY(
         SELECT t.ctid FROM folds f JOIN rating t ON t.fold = f.id
         WHERE f.place = 'stale' LIMIT $1)) RETURNING fold",
    "DELETE FROM rating_days WHERE ctid = ANY (ARRAY(
         SELECT t.ctid FROM folds f JOIN rating_days t ON t.fold = f.id
         WHERE f.place = 'stale' LIMIT $1)) RETURNING fold",
    "DELETE FROM rating_changes WHERE ctid = ANY (ARRAY(
         SELECT t.ctid FROM folds f JOIN rating_changes t ON t.fold = f.id
         WHERE f.place = 'stale' LIMIT $1)) RETURNING fold",
    "DELETE FROM rating_pairs WHERE ctid = ANY (ARRAY(
         SELECT t.ctid FROM folds f JOIN rating_pairs t ON t.fold = f.id
         WHERE f.place = 'stale' LIMIT $1)) RETURNING fold",
    "DELETE FROM conduct WHERE ctid = ANY (ARRAY(
         SELECT t.ctid FROM folds f JOIN conduct t ON t.fold = f.id
         WHERE f.place = 'stale' LIMIT $1)) RETURNING fold",
];

impl Batch<'_> {
    /// Applies the rating changes of the batch, first to the ledger and then to the rating
    /// versions. All servers take the locks in this order, so that they do not deadlock. Appends
    /// that end a rated match lock the end of the ledger, so the batch runs them before this
    /// function.
    pub(super) async fn change_ratings(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        for is_ledger in [true, false] {
            for (index, task) in self.tasks.iter().enumerate() {
                if let WriteTask::ChangeRatings(change) = task
                    && change.is_ledger_change() == is_ledger
                    && !apply_change(connection, change).await?
                {
                    self.results[index] = Err(WriteError::Conflict);
                }
            }
        }
        Ok(())
    }
}

/// Stores ledger rows that will receive their numbers later. Each row has a due time, as Unix time
/// in milliseconds. The row receives no number before this time.
pub(in crate::postgres) async fn insert_waiting_rows(
    connection: &PgConnection,
    rows: &[(LedgerRow, u64)],
) -> Result<(), QueryError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids = rows.iter().map(|(row, _)| ledger_row_keys(row).0);
    let ids: Vec<Option<Uuid>> = ids.map(|id| id.map(|id| id.0)).collect();
    let (bodies, due_ms): (Vec<String>, Vec<i64>) = rows
        .iter()
        .map(|(row, due_ms)| (ledger_row_to_text(row), to_i64(*due_ms)))
        .unzip();
    let sql = "INSERT INTO ledger_waiting (m, due_ms, body)
               SELECT * FROM UNNEST($1::uuid[], $2::int8[], $3::text[])";
    connection.query(sql, &[&ids, &due_ms, &bodies]).await?;
    Ok(())
}

/// Assigns numbers to the waiting ledger rows that are due. Every function that assigns ledger
/// numbers locks the end of the ledger first, so two servers do not deadlock.
async fn number_due_rows(connection: &PgConnection, until_ms: u64) -> Result<(), QueryError> {
    let sql = "SELECT no FROM ledger_end FOR UPDATE";
    connection.query(sql, &[]).await?;
    let sql = "WITH due AS (
                   DELETE FROM ledger_waiting WHERE due_ms <= $1 RETURNING due_ms, m, body),
               told AS (
                   UPDATE ledger_end SET no = no + (SELECT count(*) FROM due) RETURNING no),
               numbered AS (
                   INSERT INTO ledger (no, m, body)
                   SELECT told.no - (SELECT count(*) FROM due)
                              + row_number() OVER (ORDER BY due.due_ms, due.m), due.m, due.body
                   FROM due, told
                   RETURNING no, m)
               UPDATE matches SET ended_no = numbered.no FROM numbered WHERE matches.m = numbered.m";
    connection.query(sql, &[&to_i64(until_ms)]).await?;
    Ok(())
}

/// Adds rows to the ledger and assigns them the next numbers, in order. No other transaction can
/// assign numbers until this transaction ends. A reader that sees a row therefore also sees all
/// rows before it.
pub(in crate::postgres) async fn number_rows(
    connection: &PgConnection,
    rows: &[LedgerRow],
) -> Result<(), QueryError> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE ledger_end SET no = no + $1 RETURNING no";
    let row = connection
        .query_opt(sql, &[&to_i64(rows.len() as u64)])
        .await?;
    let last_no = row.map_or(0, |row| to_u64(row.get(0)));
    let first = last_no + 1 - rows.len() as u64;
    let numbered: Vec<(u64, &LedgerRow)> = (first..).zip(rows).collect();
    insert_ledger_rows(connection, &numbered).await
}

async fn insert_ledger_rows(
    connection: &PgConnection,
    rows: &[(u64, &LedgerRow)],
) -> Result<(), QueryError> {
    let numbers: Vec<i64> = rows.iter().map(|(no, _)| to_i64(*no)).collect();
    let keys = rows.iter().map(|(_, row)| ledger_row_keys(row));
    let (ids, unrated): (Vec<Option<Uuid>>, Vec<Option<Uuid>>) = keys
        .map(|(id, player)| (id.map(|id| id.0), player.map(|player| player.0)))
        .unzip();
    let bodies: Vec<String> = rows
        .iter()
        .map(|(_, row)| ledger_row_to_text(row))
        .collect();
    let sql = "WITH numbered AS (
                   INSERT INTO ledger (no, m, unrated, body)
                   SELECT * FROM UNNEST($1::int8[], $2::uuid[], $3::uuid[], $4::text[])
                   RETURNING no, m)
               UPDATE matches SET ended_no = numbered.no FROM numbered WHERE matches.m = numbered.m";
    connection
        .query(sql, &[&numbers, &ids, &unrated, &bodies])
        .await?;
    Ok(())
}

/// Applies a rating change. Returns `false` if the change was refused.
async fn apply_change(
    connection: &PgConnection,
    change: &RatingsChange,
) -> Result<bool, QueryError> {
    match change {
        RatingsChange::Post(post) => return post_rows(connection, post).await,
        RatingsChange::BeginVersion {
            exclusions_cursor: known,
        } => {
            // The table lock serializes this change. Without the lock, another server could add a
            // version at the same time, and the unique index on `place` would reject one of the
            // two.
            connection
                .execute_batch("LOCK TABLE folds IN EXCLUSIVE MODE")
                .await?;
            let sql = "UPDATE folds SET place = 'stale' WHERE place = 'built'";
            connection.query(sql, &[]).await?;
            let sql = "INSERT INTO folds (place, cursor, known, last_ms, started_ms)
                       VALUES ('built', 0, $1, 0, 0)";
            connection.query(sql, &[&to_i64(*known)]).await?;
        }
        RatingsChange::SwitchVersion(version) => return switch_version(connection, version).await,
        RatingsChange::ClearStaleVersions => clear_stale_versions(connection).await?,
        RatingsChange::NumberRow(row) => number_rows(connection, std::slice::from_ref(row)).await?,
        RatingsChange::NumberDueRows(until_ms) => number_due_rows(connection, *until_ms).await?,
        RatingsChange::CopyRows(rows) => return copy_rows(connection, rows).await,
        RatingsChange::Reset => {
            let sql = "DELETE FROM ledger;
                       UPDATE ledger_end SET no = 0;
                       UPDATE matches SET ended_no = NULL WHERE ended_no IS NOT NULL;
                       UPDATE folds SET place = 'stale';
                       INSERT INTO folds (place, cursor, known, last_ms, started_ms)
                           VALUES ('live', 0, 0, 0, 0)";
            connection.execute_batch(sql).await?;
        }
    }
    Ok(true)
}

/// Adds ledger rows that already have numbers. Returns `false` if these numbers do not directly
/// follow the last row.
async fn copy_rows(
    connection: &PgConnection,
    rows: &[(u64, LedgerRow)],
) -> Result<bool, QueryError> {
    let Some((end, _)) = rows.last() else {
        return Ok(true);
    };
    let before = end - rows.len() as u64;
    if !rows.iter().map(|(no, _)| *no).eq(before + 1..=*end) {
        return Ok(false);
    }
    let sql = "UPDATE ledger_end SET no = $2 WHERE no = $1 RETURNING no";
    let values = [to_i64(before), to_i64(*end)];
    if connection
        .query_opt(sql, &[&values[0], &values[1]])
        .await?
        .is_none()
    {
        return Ok(false);
    }
    let ids = rows.iter().filter_map(|(_, row)| ledger_row_keys(row).0);
    let ids: Vec<Uuid> = ids.map(|id| id.0).collect();
    let sql = "DELETE FROM ledger_waiting WHERE m = ANY ($1)";
    connection.query(sql, &[&ids]).await?;
    let rows: Vec<(u64, &LedgerRow)> = rows.iter().map(|(no, row)| (*no, row)).collect();
    insert_ledger_rows(connection, &rows).await?;
    Ok(true)
}

async fn switch_version(
    connection: &PgConnection,
    version: &RatingVersion,
) -> Result<bool, QueryError> {
    connection
        .execute_batch("LOCK TABLE folds IN EXCLUSIVE MODE")
        .await?;
    let sql = "SELECT id FROM folds WHERE id = $1 AND cursor = $2 AND place = 'built'";
    let (id, cursor) = (to_i64(version.id), to_i64(version.cursor));
    if connection.query_opt(sql, &[&id, &cursor]).await?.is_none() {
        return Ok(false);
    }
    // The old version stops being live first, because the unique index permits only one live
    // version at a time.
    let sql = "UPDATE folds SET place = 'stale' WHERE place = 'live'";
    connection.query(sql, &[]).await?;
    let sql = "UPDATE folds SET place = 'live' WHERE id = $1";
    connection.query(sql, &[&id]).await?;
    Ok(true)
}

/// Deletes some rows of stale rating versions. If no rows are left, deletes the stale versions
/// themselves.
async fn clear_stale_versions(connection: &PgConnection) -> Result<(), QueryError> {
    let limit = to_i64(CLEAR_ROWS_MAX as u64);
    for sql in CLEAR_STATEMENTS {
        if !connection.query(sql, &[&limit]).await?.is_empty() {
            return Ok(());
        }
    }
    let sql = "DELETE FROM folds WHERE place = 'stale'";
    connection.query(sql, &[]).await?;
    Ok(())
}

/// Posts ledger rows to a rating version. Returns `false` if the version is stale, or if the last
/// row that was posted to the version is not `post.from_row`.
async fn post_rows(connection: &PgConnection, post: &RatingPost) -> Result<bool, QueryError> {
    let sql = "UPDATE folds SET cursor = $3, last_ms = $4, started_ms = $5
               WHERE id = $1 AND cursor = $2 AND place <> 'stale' RETURNING id";
    let version = to_i64(post.version);
    let [from, to, last_ms, started_ms] = [
        post.from_row,
        post.to_row,
        post.books.last_ms,
        post.books.started_ms,
    ]
    .map(to_i64);
    let params: [&(dyn ToSql + Sync); 5] = [&version, &from, &to, &last_ms, &started_ms];
    if connection.query_opt(sql, &params).await?.is_none() {
        return Ok(false);
    }
    upsert_ratings(connection, post).await?;
    upsert_days(connection, post).await?;
    upsert_pairs_and_conduct(connection, post).await?;
    insert_changes(connection, post).await?;
    Ok(true)
}

async fn upsert_ratings(connection: &PgConnection, post: &RatingPost) -> Result<(), QueryError> {
    let rows = &post.books.ratings;
    let records = RecordColumns::from_records(rows.keys());
    let column = |of: fn(&plyhouse_matches::ratings::RatingEntry) -> f64| -> Vec<f64> {
        rows.values().map(of).collect()
    };
    let ratings = column(|rated| rated.rating.rating);
    let deviations = column(|rated| rated.rating.deviation);
    let volatilities = column(|rated| rated.rating.volatility);
    let games: Vec<i64> = rows.values().map(|rated| to_i64(rated.games)).collect();
    let last_ms: Vec<i64> = rows.values().map(|rated| to_i64(rated.last_ms)).collect();
    let sql = "INSERT INTO rating (fold, player, game, pool,
                   rating, deviation, volatility, games, last_ms)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::text[], $4::text[], $5::float8[],
                                        $6::float8[], $7::float8[], $8::int8[], $9::int8[])
               ON CONFLICT (fold, player, game, pool) DO UPDATE SET
                   rating = excluded.rating, deviation = excluded.deviation,
                   volatility = excluded.volatility, games = excluded.games,
                   last_ms = excluded.last_ms";
    let version = to_i64(post.version);
    let RecordColumns {
        players,
        games: record_games,
        pools,
    } = &records;
    let params: [&(dyn ToSql + Sync); 9] = [
        &version,
        players,
        record_games,
        pools,
        &ratings,
        &deviations,
        &volatilities,
        &games,
        &last_ms,
    ];
    connection.query(sql, &params).await?;
    Ok(())
}

async fn upsert_days(connection: &PgConnection, post: &RatingPost) -> Result<(), QueryError> {
    let mut last_ratings = std::collections::BTreeMap::new();
    for (record, day, rating) in daily_ratings(post) {
        last_ratings.insert((record, day), rating);
    }
    let records = RecordColumns::from_records(last_ratings.keys().map(|(record, _)| *record));
    let days: Vec<i64> = last_ratings.keys().map(|(_, day)| to_i64(*day)).collect();
    let ratings: Vec<f64> = last_ratings.values().copied().collect();
    let sql = "INSERT INTO rating_days (fold, player, game, pool, day, rating)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::text[], $4::text[], $5::int8[],
                                        $6::float8[])
               ON CONFLICT (fold, player, game, pool, day) DO UPDATE SET rating = excluded.rating";
    let version = to_i64(post.version);
    let RecordColumns {
        players,
        games,
        pools,
    } = &records;
    let params: [&(dyn ToSql + Sync); 6] = [&version, players, games, pools, &days, &ratings];
    connection.query(sql, &params).await?;
    Ok(())
}

/// Stores the match histories of player pairs and the penalties of players.
async fn upsert_pairs_and_conduct(
    connection: &PgConnection,
    post: &RatingPost,
) -> Result<(), QueryError> {
    let version = to_i64(post.version);
    let pairs = &post.books.pair_histories;
    let [ones, others] =
        [0, 1].map(|which| -> Vec<Uuid> { pairs.keys().map(|pair| pair[which].0).collect() });
    let bodies: Vec<String> = pairs.values().map(pair_to_text).collect();
    let sql = "INSERT INTO rating_pairs (fold, one, other, body)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::uuid[], $4::text[])
               ON CONFLICT (fold, one, other) DO UPDATE SET body = excluded.body";
    connection
        .query(sql, &[&version, &ones, &others, &bodies])
        .await?;
    let abort_penalties = &post.books.abort_penalties;
    let players: Vec<Uuid> = abort_penalties.keys().map(|player| player.0).collect();
    let until_ms: Vec<i64> = (abort_penalties.values())
        .map(|penalties| to_i64(penalties.rated_ban_until_ms()))
        .collect();
    let bodies: Vec<String> = abort_penalties.values().map(conduct_to_text).collect();
    let sql = "INSERT INTO conduct (fold, player, until_ms, body)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::int8[], $4::text[])
               ON CONFLICT (fold, player) DO UPDATE SET
                   until_ms = excluded.until_ms, body = excluded.body";
    connection
        .query(sql, &[&version, &players, &until_ms, &bodies])
        .await?;
    Ok(())
}

async fn insert_changes(connection: &PgConnection, post: &RatingPost) -> Result<(), QueryError> {
    let changes = post.posted.iter().flat_map(|(no, posted)| {
        let changes = posted.changes.iter();
        changes.map(move |change| (to_i64(*no), to_i64(posted.at_ms), change))
    });
    let changes: Vec<(i64, i64, &PlayerRatingChange)> = changes.collect();
    let numbers: Vec<i64> = changes.iter().map(|(no, ..)| *no).collect();
    let at_ms: Vec<i64> = changes.iter().map(|(_, at_ms, _)| *at_ms).collect();
    let seats: Vec<i16> = (changes.iter())
        .map(|(.., change)| change.seat.number().into())
        .collect();
    let records = RecordColumns::from_records(changes.iter().map(|(.., change)| &change.key));
    let column = |of: fn(&PlayerRatingChange) -> f64| -> Vec<f64> {
        changes.iter().map(|(.., change)| of(change)).collect()
    };
    let (rating, deviation, volatility) = (
        column(|change| change.before.rating),
        column(|change| change.before.deviation),
        column(|change| change.before.volatility),
    );
    let (new_rating, new_deviation, new_volatility) = (
        column(|change| change.after.rating),
        column(|change| change.after.deviation),
        column(|change| change.after.volatility),
    );
    let sql = "INSERT INTO rating_changes (fold, algorithm, no, seat, player, game, pool, at_ms,
                   rating, deviation, volatility, new_rating, new_deviation, new_volatility)
               SELECT $1, $2, * FROM UNNEST($3::int8[], $4::int2[], $5::uuid[], $6::text[],
                   $7::text[], $8::int8[], $9::float8[], $10::float8[], $11::float8[],
                   $12::float8[], $13::float8[], $14::float8[])";
    let (version, algorithm) = (to_i64(post.version), i64::from(ALGORITHM_VERSION));
    let RecordColumns {
        players,
        games,
        pools,
    } = &records;
    let params: [&(dyn ToSql + Sync); 14] = [
        &version,
        &algorithm,
        &numbers,
        &seats,
        players,
        games,
        pools,
        &at_ms,
        &rating,
        &deviation,
        &volatility,
        &new_rating,
        &new_deviation,
        &new_volatility,
    ];
    connection.query(sql, &params).await?;
    Ok(())
}

/// The players, games and rating pools of several rating keys, as arrays for query parameters.
struct RecordColumns<'a> {
    players: Vec<Uuid>,
    games: Vec<&'a str>,
    pools: Vec<&'static str>,
}

impl<'a> RecordColumns<'a> {
    fn from_records(records: impl Iterator<Item = &'a RatingKey>) -> Self {
        let mut columns = Self {
            players: Vec::new(),
            games: Vec::new(),
            pools: Vec::new(),
        };
        for record in records {
            columns.players.push(record.player.0);
            columns.games.push(&record.game);
            columns.pools.push(record.pool.as_str());
        }
        columns
    }
}
