//! The ledger and its folds as rows.

use plyhouse_matches::ratings::{ALGORITHM, Change, LedgerRow, Record};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{Batch, Task};
use crate::postgres::journal::{integer, natural};
use crate::postgres::link::{Failure, Session};
use crate::ratings::{CLEAR_MAX, conduct_to_text, days, pair_to_text, row_keys, row_to_text};
use crate::{Post, RatingVersion, RatingsChange, WriteError};

/// How some rows of folds that are of no use any more are forgotten.
const CLEARS: [&str; 5] = [
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
    /// Changes what is kept of ratings: first the ledger, of which the appends have locked the end, and then the
    /// folds, so that no two servers wait for each other.
    pub(super) async fn change_ratings(&mut self, session: &Session) -> Result<(), Failure> {
        for of_ledger in [true, false] {
            for (index, task) in self.tasks.iter().enumerate() {
                if let Task::ChangeRatings(change) = task
                    && change.is_of_ledger() == of_ledger
                    && !carry_out(session, change).await?
                {
                    self.answers[index] = Err(WriteError::Conflict);
                }
            }
        }
        Ok(())
    }
}

/// Has rated matches wait for their numbers, each until a time in milliseconds since 1970.
pub(super) async fn wait(session: &Session, rows: &[(LedgerRow, i64)]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids = rows.iter().map(|(row, _)| row_keys(row).0);
    let ids: Vec<Option<Uuid>> = ids.map(|id| id.map(|id| id.0)).collect();
    let (bodies, due): (Vec<String>, Vec<i64>) = rows
        .iter()
        .map(|(row, due)| (row_to_text(row), *due))
        .unzip();
    let sql = "INSERT INTO ledger_waiting (m, due_ms, body)
               SELECT * FROM UNNEST($1::uuid[], $2::int8[], $3::text[])";
    session.query(sql, &[&ids, &due, &bodies]).await?;
    Ok(())
}

/// Gives their numbers to the matches that wait, as far as their time has come. The end of the ledger is locked
/// first, as by whoever numbers what has just ended: so no two servers wait for each other.
async fn number_due(session: &Session, until_ms: u64) -> Result<(), Failure> {
    let sql = "SELECT no FROM ledger_end FOR UPDATE";
    session.query(sql, &[]).await?;
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
    session.query(sql, &[&integer(until_ms)]).await?;
    Ok(())
}

/// Gives the next numbers to rows, in their order. Until the end of the transaction nobody else gives one, so
/// whoever sees a row sees all before it.
pub(super) async fn number(session: &Session, rows: &[LedgerRow]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE ledger_end SET no = no + $1 RETURNING no";
    let end = session
        .query_opt(sql, &[&integer(rows.len() as u64)])
        .await?;
    let end = end.map_or(0, |row| natural(row.get(0)));
    let first = end + 1 - rows.len() as u64;
    let numbered: Vec<(u64, &LedgerRow)> = (first..).zip(rows).collect();
    keep_rows(session, &numbered).await
}

async fn keep_rows(session: &Session, rows: &[(u64, &LedgerRow)]) -> Result<(), Failure> {
    let numbers: Vec<i64> = rows.iter().map(|(no, _)| integer(*no)).collect();
    let keys = rows.iter().map(|(_, row)| row_keys(row));
    let (ids, unrated): (Vec<Option<Uuid>>, Vec<Option<Uuid>>) = keys
        .map(|(id, player)| (id.map(|id| id.0), player.map(|player| player.0)))
        .unzip();
    let bodies: Vec<String> = rows.iter().map(|(_, row)| row_to_text(row)).collect();
    let sql = "WITH numbered AS (
                   INSERT INTO ledger (no, m, unrated, body)
                   SELECT * FROM UNNEST($1::int8[], $2::uuid[], $3::uuid[], $4::text[])
                   RETURNING no, m)
               UPDATE matches SET ended_no = numbered.no FROM numbered WHERE matches.m = numbered.m";
    session
        .query(sql, &[&numbers, &ids, &unrated, &bodies])
        .await?;
    Ok(())
}

/// Carries a change out. False if it came to nothing.
async fn carry_out(session: &Session, change: &RatingsChange) -> Result<bool, Failure> {
    match change {
        RatingsChange::Post(post) => return post_rows(session, post).await,
        RatingsChange::Begin { known } => {
            // One at a time: of two folds one would be refused by the index of places.
            session
                .command("LOCK TABLE folds IN EXCLUSIVE MODE")
                .await?;
            let sql = "UPDATE folds SET place = 'stale' WHERE place = 'built'";
            session.query(sql, &[]).await?;
            let sql = "INSERT INTO folds (place, cursor, known, last_ms, started_ms)
                       VALUES ('built', 0, $1, 0, 0)";
            session.query(sql, &[&integer(*known)]).await?;
        }
        RatingsChange::Switch(fold) => return switch(session, fold).await,
        RatingsChange::Clear => clear(session).await?,
        RatingsChange::Number(row) => number(session, std::slice::from_ref(row)).await?,
        RatingsChange::NumberDue(until_ms) => number_due(session, *until_ms).await?,
        RatingsChange::Copy(rows) => return copy(session, rows).await,
        RatingsChange::Forget => {
            let sql = "DELETE FROM ledger;
                       UPDATE ledger_end SET no = 0;
                       UPDATE matches SET ended_no = NULL WHERE ended_no IS NOT NULL;
                       UPDATE folds SET place = 'stale';
                       INSERT INTO folds (place, cursor, known, last_ms, started_ms)
                           VALUES ('live', 0, 0, 0, 0)";
            session.command(sql).await?;
        }
    }
    Ok(true)
}

/// Adds rows with numbers of their own, which must be the next ones.
async fn copy(session: &Session, rows: &[(u64, LedgerRow)]) -> Result<bool, Failure> {
    let Some((end, _)) = rows.last() else {
        return Ok(true);
    };
    let before = end - rows.len() as u64;
    if !rows.iter().map(|(no, _)| *no).eq(before + 1..=*end) {
        return Ok(false);
    }
    let sql = "UPDATE ledger_end SET no = $2 WHERE no = $1 RETURNING no";
    let values = [integer(before), integer(*end)];
    if session
        .query_opt(sql, &[&values[0], &values[1]])
        .await?
        .is_none()
    {
        return Ok(false);
    }
    let ids = rows.iter().filter_map(|(_, row)| row_keys(row).0);
    let ids: Vec<Uuid> = ids.map(|id| id.0).collect();
    let sql = "DELETE FROM ledger_waiting WHERE m = ANY ($1)";
    session.query(sql, &[&ids]).await?;
    let rows: Vec<(u64, &LedgerRow)> = rows.iter().map(|(no, row)| (*no, row)).collect();
    keep_rows(session, &rows).await?;
    Ok(true)
}

async fn switch(session: &Session, fold: &RatingVersion) -> Result<bool, Failure> {
    session
        .command("LOCK TABLE folds IN EXCLUSIVE MODE")
        .await?;
    let sql = "SELECT id FROM folds WHERE id = $1 AND cursor = $2 AND place = 'built'";
    let (id, cursor) = (integer(fold.id), integer(fold.cursor));
    if session.query_opt(sql, &[&id, &cursor]).await?.is_none() {
        return Ok(false);
    }
    // One after the other: there is no moment with two.
    let sql = "UPDATE folds SET place = 'stale' WHERE place = 'live'";
    session.query(sql, &[]).await?;
    let sql = "UPDATE folds SET place = 'live' WHERE id = $1";
    session.query(sql, &[&id]).await?;
    Ok(true)
}

/// Forgets some rows of folds that are of no use any more, and such a fold when it has none.
async fn clear(session: &Session) -> Result<(), Failure> {
    let limit = integer(CLEAR_MAX as u64);
    for sql in CLEARS {
        if !session.query(sql, &[&limit]).await?.is_empty() {
            return Ok(());
        }
    }
    let sql = "DELETE FROM folds WHERE place = 'stale'";
    session.query(sql, &[]).await?;
    Ok(())
}

/// Posts rows, if the fold is where it is said to be.
async fn post_rows(session: &Session, post: &Post) -> Result<bool, Failure> {
    let sql = "UPDATE folds SET cursor = $3, last_ms = $4, started_ms = $5
               WHERE id = $1 AND cursor = $2 AND place <> 'stale' RETURNING id";
    let fold = integer(post.fold);
    let [from, to, last_ms, started_ms] = [
        post.from,
        post.to,
        post.books.last_ms,
        post.books.started_ms,
    ]
    .map(integer);
    let values: [&(dyn ToSql + Sync); 5] = [&fold, &from, &to, &last_ms, &started_ms];
    if session.query_opt(sql, &values).await?.is_none() {
        return Ok(false);
    }
    keep_ratings(session, post).await?;
    keep_days(session, post).await?;
    keep_pairs(session, post).await?;
    keep_changes(session, post).await?;
    Ok(true)
}

async fn keep_ratings(session: &Session, post: &Post) -> Result<(), Failure> {
    let rows = &post.books.ratings;
    let records = Records::of(rows.keys());
    let column = |of: fn(&plyhouse_matches::ratings::Rated) -> f64| -> Vec<f64> {
        rows.values().map(of).collect()
    };
    let ratings = column(|rated| rated.rating.rating);
    let deviations = column(|rated| rated.rating.deviation);
    let volatilities = column(|rated| rated.rating.volatility);
    let games: Vec<i64> = rows.values().map(|rated| integer(rated.games)).collect();
    let last: Vec<i64> = rows.values().map(|rated| integer(rated.last_ms)).collect();
    let sql = "INSERT INTO rating (fold, player, game, pool,
                   rating, deviation, volatility, games, last_ms)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::text[], $4::text[], $5::float8[],
                                        $6::float8[], $7::float8[], $8::int8[], $9::int8[])
               ON CONFLICT (fold, player, game, pool) DO UPDATE SET
                   rating = excluded.rating, deviation = excluded.deviation,
                   volatility = excluded.volatility, games = excluded.games,
                   last_ms = excluded.last_ms";
    let fold = integer(post.fold);
    let Records {
        players,
        games: of,
        pools,
    } = &records;
    let values: [&(dyn ToSql + Sync); 9] = [
        &fold,
        players,
        of,
        pools,
        &ratings,
        &deviations,
        &volatilities,
        &games,
        &last,
    ];
    session.query(sql, &values).await?;
    Ok(())
}

async fn keep_days(session: &Session, post: &Post) -> Result<(), Failure> {
    let mut last = std::collections::BTreeMap::new();
    for (record, day, rating) in days(post) {
        last.insert((record, day), rating);
    }
    let records = Records::of(last.keys().map(|(record, _)| *record));
    let days: Vec<i64> = last.keys().map(|(_, day)| integer(*day)).collect();
    let ratings: Vec<f64> = last.values().copied().collect();
    let sql = "INSERT INTO rating_days (fold, player, game, pool, day, rating)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::text[], $4::text[], $5::int8[],
                                        $6::float8[])
               ON CONFLICT (fold, player, game, pool, day) DO UPDATE SET rating = excluded.rating";
    let fold = integer(post.fold);
    let Records {
        players,
        games,
        pools,
    } = &records;
    let values: [&(dyn ToSql + Sync); 6] = [&fold, players, games, pools, &days, &ratings];
    session.query(sql, &values).await?;
    Ok(())
}

/// Keeps what was played between two, and how players have treated others.
async fn keep_pairs(session: &Session, post: &Post) -> Result<(), Failure> {
    let fold = integer(post.fold);
    let pairs = &post.books.pairs;
    let [ones, others] =
        [0, 1].map(|which| -> Vec<Uuid> { pairs.keys().map(|pair| pair[which].0).collect() });
    let bodies: Vec<String> = pairs.values().map(pair_to_text).collect();
    let sql = "INSERT INTO rating_pairs (fold, one, other, body)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::uuid[], $4::text[])
               ON CONFLICT (fold, one, other) DO UPDATE SET body = excluded.body";
    session
        .query(sql, &[&fold, &ones, &others, &bodies])
        .await?;
    let conduct = &post.books.conduct;
    let players: Vec<Uuid> = conduct.keys().map(|player| player.0).collect();
    let until: Vec<i64> = (conduct.values())
        .map(|conduct| integer(conduct.until_ms()))
        .collect();
    let bodies: Vec<String> = conduct.values().map(conduct_to_text).collect();
    let sql = "INSERT INTO conduct (fold, player, until_ms, body)
               SELECT $1, * FROM UNNEST($2::uuid[], $3::int8[], $4::text[])
               ON CONFLICT (fold, player) DO UPDATE SET
                   until_ms = excluded.until_ms, body = excluded.body";
    session
        .query(sql, &[&fold, &players, &until, &bodies])
        .await?;
    Ok(())
}

async fn keep_changes(session: &Session, post: &Post) -> Result<(), Failure> {
    let all = post.posted.iter().flat_map(|(no, posted)| {
        let changes = posted.changes.iter();
        changes.map(move |change| (integer(*no), integer(posted.at_ms), change))
    });
    let all: Vec<(i64, i64, &Change)> = all.collect();
    let numbers: Vec<i64> = all.iter().map(|(no, ..)| *no).collect();
    let at_ms: Vec<i64> = all.iter().map(|(_, at_ms, _)| *at_ms).collect();
    let seats: Vec<i16> = (all.iter())
        .map(|(.., change)| change.seat.number().into())
        .collect();
    let records = Records::of(all.iter().map(|(.., change)| &change.record));
    let column = |of: fn(&Change) -> f64| -> Vec<f64> {
        all.iter().map(|(.., change)| of(change)).collect()
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
    let (fold, algorithm) = (integer(post.fold), i64::from(ALGORITHM));
    let Records {
        players,
        games,
        pools,
    } = &records;
    let values: [&(dyn ToSql + Sync); 14] = [
        &fold,
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
    session.query(sql, &values).await?;
    Ok(())
}

/// What ratings are of, column by column.
struct Records<'a> {
    players: Vec<Uuid>,
    games: Vec<&'a str>,
    pools: Vec<&'static str>,
}

impl<'a> Records<'a> {
    fn of(records: impl Iterator<Item = &'a Record>) -> Self {
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
