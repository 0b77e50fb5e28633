//! Changes rating versions. Each rating version is a row of the table `folds`.

use std::collections::BTreeMap;

use plyhouse_matches::ratings::{ALGORITHM_VERSION, Rating, RatingKey};

use super::{SqlWrite, Value, exists, query_first};
use crate::ratings::{CLEAR_ROWS_MAX, daily_ratings};
use crate::records::to_json;
use crate::{RatingPost, RatingVersion};

/// Statements that delete at most `?2` rows of version `?1`.
const DELETE_SOME_ROWS: [&str; 5] = [
    "DELETE FROM rating WHERE fold = ?1 AND (player, game, pool) IN
         (SELECT player, game, pool FROM rating WHERE fold = ?1 LIMIT ?2)",
    "DELETE FROM rating_days WHERE fold = ?1 AND (player, game, pool, day) IN
         (SELECT player, game, pool, day FROM rating_days WHERE fold = ?1 LIMIT ?2)",
    "DELETE FROM rating_changes WHERE fold = ?1 AND (no, seat) IN
         (SELECT no, seat FROM rating_changes WHERE fold = ?1 LIMIT ?2)",
    "DELETE FROM rating_pairs WHERE fold = ?1 AND (one, other) IN
         (SELECT one, other FROM rating_pairs WHERE fold = ?1 LIMIT ?2)",
    "DELETE FROM conduct WHERE fold = ?1 AND player IN
         (SELECT player FROM conduct WHERE fold = ?1 LIMIT ?2)",
];

/// Starts to build a new version, in place of any version that is already being built.
pub(crate) async fn begin_version<S: SqlWrite>(
    db: &S,
    exclusions_cursor: u64,
) -> Result<(), S::Error> {
    lock_versions(db).await?;
    let sql = "UPDATE folds SET place = 'stale' WHERE place = 'built'";
    db.execute(sql, &[]).await?;
    let sql = "INSERT INTO folds (place, cursor, known, last_ms, started_ms)
               VALUES ('built', 0, ?1, 0, 0)";
    db.execute(sql, &[exclusions_cursor.into()]).await?;
    Ok(())
}

/// Makes the version that is being built the live version. Returns `false` if another version is
/// being built, or if more rows were posted to the version.
pub(crate) async fn switch_version<S: SqlWrite>(
    db: &S,
    version: &RatingVersion,
) -> Result<bool, S::Error> {
    lock_versions(db).await?;
    let id = version.id.into();
    let sql = "SELECT 1 FROM folds WHERE id = ?1 AND cursor = ?2 AND place = 'built'";
    if !exists(db, sql, &[id, version.cursor.into()]).await? {
        return Ok(false);
    }
    // The old version stops being live first, because PostgreSQL permits only one live version at a
    // time.
    let sql = "UPDATE folds SET place = 'stale' WHERE place = 'live'";
    db.execute(sql, &[]).await?;
    let sql = "UPDATE folds SET place = 'live' WHERE id = ?1";
    db.execute(sql, &[id]).await?;
    Ok(true)
}

/// Prevents other transactions from changing rating versions. Otherwise, two servers could add a
/// version at the same time, and a unique index would reject one of the two.
async fn lock_versions<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    db.lock("LOCK TABLE folds IN EXCLUSIVE MODE").await
}

/// Replaces all versions by a live version without ratings.
pub(crate) async fn reset_versions<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    db.execute("UPDATE folds SET place = 'stale'", &[]).await?;
    let sql = "INSERT INTO folds (place, cursor, known, last_ms, started_ms)
               VALUES ('live', 0, 0, 0, 0)";
    db.execute(sql, &[]).await?;
    Ok(())
}

/// Deletes some rows of a stale version. If no rows are left, deletes the version itself.
pub(crate) async fn clear_stale_versions<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    let sql = "SELECT id FROM folds WHERE place = 'stale' LIMIT 1";
    let Some(version) = query_first::<_, u64>(db, sql, &[]).await? else {
        return Ok(());
    };
    let version = version.into();
    for sql in DELETE_SOME_ROWS {
        if db.execute(sql, &[version, CLEAR_ROWS_MAX.into()]).await? > 0 {
            return Ok(());
        }
    }
    let sql = "DELETE FROM folds WHERE id = ?1";
    db.execute(sql, &[version]).await?;
    Ok(())
}

/// Stores the outcomes of ledger rows in a version. Returns `false` if the version is stale, or if
/// `post.from_row` is not the last row that was posted to the version.
pub(crate) async fn post_rows<S: SqlWrite>(db: &S, post: &RatingPost) -> Result<bool, S::Error> {
    let sql = "UPDATE folds SET cursor = ?3, last_ms = ?4, started_ms = ?5
               WHERE id = ?1 AND cursor = ?2 AND place <> 'stale'";
    let params = [
        post.version.into(),
        post.from_row.into(),
        post.to_row.into(),
        post.books.last_ms.into(),
        post.books.started_ms.into(),
    ];
    if db.execute(sql, &params).await? == 0 {
        return Ok(false);
    }
    upsert_ratings(db, post).await?;
    upsert_pairs_and_penalties(db, post).await?;
    insert_changes(db, post).await?;
    Ok(true)
}

/// Stores the current ratings, and the ratings at the end of each day.
async fn upsert_ratings<S: SqlWrite>(db: &S, post: &RatingPost) -> Result<(), S::Error> {
    let sql = "INSERT INTO rating (fold, player, game, pool,
                   rating, deviation, volatility, games, last_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT (fold, player, game, pool) DO UPDATE SET
                   rating = excluded.rating, deviation = excluded.deviation,
                   volatility = excluded.volatility, games = excluded.games,
                   last_ms = excluded.last_ms";
    let rows = post.books.ratings.iter().map(|(key, entry)| {
        let columns = &[entry.games.into(), entry.last_ms.into()];
        [
            &key_columns(post.version, key)[..],
            &rating_columns(&entry.rating),
            columns,
        ]
        .concat()
    });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await?;
    let sql = "INSERT INTO rating_days (fold, player, game, pool, day, rating)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (fold, player, game, pool, day) DO UPDATE SET rating = excluded.rating";
    let daily = daily_ratings(post).map(|(key, day, rating)| ((key, day), rating));
    let daily: BTreeMap<(&RatingKey, u64), f64> = daily.collect();
    let rows = daily.iter().map(|((key, day), rating)| {
        let columns = &[(*day).into(), (*rating).into()];
        [&key_columns(post.version, key)[..], columns].concat()
    });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await
}

/// Stores the match histories of player pairs and the abort penalties of players.
async fn upsert_pairs_and_penalties<S: SqlWrite>(
    db: &S,
    post: &RatingPost,
) -> Result<(), S::Error> {
    let version = post.version.into();
    let sql = "INSERT INTO rating_pairs (fold, one, other, body) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (fold, one, other) DO UPDATE SET body = excluded.body";
    let pairs = &post.books.pair_histories;
    let bodies: Vec<String> = pairs.values().map(to_json).collect();
    let rows = pairs
        .keys()
        .zip(&bodies)
        .map(|([one, other], body)| vec![version, (*one).into(), (*other).into(), body.into()]);
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await?;
    let sql = "INSERT INTO conduct (fold, player, until_ms, body) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (fold, player) DO UPDATE SET
                   until_ms = excluded.until_ms, body = excluded.body";
    let penalties = &post.books.abort_penalties;
    let bodies: Vec<String> = penalties.values().map(to_json).collect();
    let rows = penalties
        .iter()
        .zip(&bodies)
        .map(|((player, penalties), body)| {
            let until_ms = penalties.rated_ban_until_ms().into();
            vec![version, (*player).into(), until_ms, body.into()]
        });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await
}

async fn insert_changes<S: SqlWrite>(db: &S, post: &RatingPost) -> Result<(), S::Error> {
    let sql = "INSERT INTO rating_changes (fold, player, game, pool, no, seat, at_ms, algorithm,
                   rating, deviation, volatility, new_rating, new_deviation, new_volatility)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let mut rows = Vec::new();
    for (no, posted) in &post.posted {
        for change in &posted.changes {
            let seat = change.seat.number().into();
            let columns = [*no, seat, posted.at_ms, ALGORITHM_VERSION.into()].map(Value::from);
            let row: [&[Value<'_>]; 4] = [
                &key_columns(post.version, &change.key),
                &columns,
                &rating_columns(&change.before),
                &rating_columns(&change.after),
            ];
            rows.push(row.concat());
        }
    }
    db.insert_all(sql, &rows).await
}

/// Returns the values of the columns `fold`, `player`, `game` and `pool`.
fn key_columns(version: u64, key: &RatingKey) -> [Value<'_>; 4] {
    let pool = key.pool.as_str().into();
    [version.into(), key.player.into(), (&key.game).into(), pool]
}

fn rating_columns(rating: &Rating) -> [Value<'static>; 3] {
    [rating.rating, rating.deviation, rating.volatility].map(Value::from)
}

#[cfg(test)]
pub(crate) const INDEXED_STATEMENTS: [&str; 5] = DELETE_SOME_ROWS;
