//! Reads the ledger of rated matches, and the ratings that are computed from it.

use plyhouse_engine::game::Seat;
use plyhouse_matches::ratings::{
    LedgerRow, PlayerRatingChange, PostOutcome, Rating, RatingEntry, RatingExclusions, RatingKey,
    RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row};
use uuid::Uuid;

use super::record_columns;
use crate::ratings::{
    POST_ROWS_MAX, SERIES_DAYS_MAX, ledger_row_from_text, pool_from_text, to_rating_changes,
};
use crate::sqlite::players_and_sessions;
use crate::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, PlayerRating, RatingProgress, RatingVersion,
};

/// Subquery for the id of the live rating version.
const LIVE_VERSION: &str = "(SELECT id FROM folds WHERE place = 'live')";

/// Returns the state of the ledger. For the live rating version and a version being built, also
/// returns the last ledger row whose rating changes the version contains.
pub(crate) fn progress(connection: &Connection) -> rusqlite::Result<RatingProgress> {
    let transaction = connection.unchecked_transaction()?;
    let mut progress = RatingProgress {
        last_row: transaction.query_row("SELECT no FROM ledger_end", [], |row| row.get(0))?,
        unrated: read_exclusions(&transaction)?,
        next_numbering_ms: transaction.query_row(
            "SELECT min(due_ms) FROM ledger_waiting",
            [],
            |row| row.get(0),
        )?,
        ..RatingProgress::default()
    };
    let mut versions = transaction.prepare_cached("SELECT id, cursor, known, place FROM folds")?;
    let mut rows = versions.query([])?;
    while let Some(row) = rows.next()? {
        let version = RatingVersion {
            id: row.get(0)?,
            cursor: row.get(1)?,
            exclusions_cursor: row.get(2)?,
        };
        match row.get_ref(3)?.as_str()? {
            "live" => progress.live = version,
            "built" => progress.building = Some(version),
            _ => progress.has_stale_version = true,
        }
    }
    Ok(progress)
}

fn read_exclusions(connection: &Connection) -> rusqlite::Result<RatingExclusions> {
    let sql = "SELECT unrated, no FROM ledger WHERE unrated IS NOT NULL ORDER BY no";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((player_id(row, 0)?, row.get(1)?)))?;
    rows.collect()
}

/// Returns the ledger rows whose numbers are greater than `after`, in order. At most `limit` rows
/// are returned.
pub(crate) fn ledger(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<(u64, LedgerRow)>> {
    let sql = "SELECT no, body FROM ledger WHERE no > ?1 ORDER BY no LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, limit), |row| {
        let body = ledger_row_from_text(row.get_ref(1)?.as_str()?);
        let body = body.map_err(|why| Error::FromSqlConversionFailure(1, Type::Text, why.into()));
        Ok((row.get(0)?, body?))
    })?;
    rows.collect()
}

/// Loads the part of a rating version that is needed to post certain ledger rows. This part
/// includes ratings, pair histories and abort penalties.
pub(crate) fn load_ratings_for(
    connection: &Connection,
    version: u64,
    needed: &NeededRatings,
) -> rusqlite::Result<RatingState> {
    let transaction = connection.unchecked_transaction()?;
    let mut books = RatingState::default();
    let sql = "SELECT last_ms, started_ms FROM folds WHERE id = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let times = statement.query_row([version], |row| Ok((row.get(0)?, row.get(1)?)));
    (books.last_ms, books.started_ms) = times.optional()?.unwrap_or_default();
    let sql = "SELECT rating, deviation, volatility, games, last_ms FROM rating
               WHERE fold = ?1 AND player = ?2 AND game = ?3 AND pool = ?4";
    let mut statement = transaction.prepare_cached(sql)?;
    for record in &needed.records {
        let (player, game, pool) = record_columns(record);
        let found =
            statement.query_row((version, player, game, pool), |row| rated_from_row(row, 0));
        if let Some(rated) = found.optional()? {
            books.ratings.insert(record.clone(), rated);
        }
    }
    let sql = "SELECT body FROM rating_pairs WHERE fold = ?1 AND one = ?2 AND other = ?3";
    let mut statement = transaction.prepare_cached(sql)?;
    for pair in &needed.pairs {
        let [one, other] = pair.each_ref().map(|player| player.0.as_bytes());
        let found = statement.query_row((version, one, other), json_column);
        books
            .pair_histories
            .extend(found.optional()?.map(|body| (*pair, body)));
    }
    let sql = "SELECT body FROM conduct WHERE fold = ?1 AND player = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    for player in &needed.players {
        let found = statement.query_row((version, player.0.as_bytes()), json_column);
        books
            .abort_penalties
            .extend(found.optional()?.map(|body| (*player, body)));
    }
    Ok(books)
}

/// Returns the rating changes that the live rating version stores for a range of ledger rows. The
/// range excludes the row number `after` and includes the row number `until`.
pub(crate) fn posted_updates(
    connection: &Connection,
    after: u64,
    until: u64,
) -> rusqlite::Result<Vec<(u64, PostOutcome)>> {
    let sql = format!(
        "SELECT no, at_ms, {CHANGE_COLUMN_LIST} FROM rating_changes
         WHERE fold = {LIVE_VERSION} AND no > ?1 AND no <= ?2 ORDER BY no, seat"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((after, until))?;
    let mut updates: Vec<(u64, PostOutcome)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (no, at_ms, change) = (row.get(0)?, row.get(1)?, change_from_row(row, 2)?);
        match updates.last_mut() {
            Some((last, posted)) if *last == no => posted.changes.push(change),
            _ => updates.push((
                no,
                PostOutcome {
                    at_ms,
                    changes: vec![change],
                    reason: None,
                },
            )),
        }
    }
    Ok(updates)
}

/// Returns a page of ratings from the live rating version. The page begins with the first key after
/// `last`.
pub(crate) fn ratings_after(
    connection: &Connection,
    last: Option<&RatingKey>,
) -> rusqlite::Result<Vec<(RatingKey, RatingEntry)>> {
    let sql = format!(
        "SELECT player, game, pool, rating, deviation, volatility, games, last_ms FROM rating
         WHERE fold = {LIVE_VERSION} AND (player, game, pool) > (?1, ?2, ?3)
         ORDER BY player, game, pool LIMIT {POST_ROWS_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let (after, game, pool) = last.map_or((&[][..], "", ""), |record| {
        let (player, game, pool) = record_columns(record);
        (&player[..], game, pool)
    });
    let rows = statement.query_map((after, game, pool), |row| {
        let record = RatingKey {
            player: player_id(row, 0)?,
            game: row.get(1)?,
            pool: parse_pool(row, 2)?,
        };
        Ok((record, rated_from_row(row, 3)?))
    })?;
    rows.collect()
}

/// Returns a player's ratings, one for each game and pool. Each rating includes its values on the
/// most recent days.
pub(crate) fn ratings(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<PlayerRating>> {
    let transaction = connection.unchecked_transaction()?;
    let sql = format!(
        "SELECT game, pool, rating, deviation, volatility, games, last_ms FROM rating
         WHERE fold = {LIVE_VERSION} AND player = ?1 ORDER BY game, pool"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map([player.0.as_bytes()], |row| {
        Ok(PlayerRating {
            game: row.get(0)?,
            pool: parse_pool(row, 1)?,
            rated: rated_from_row(row, 2)?,
            series: Vec::new(),
        })
    })?;
    let mut ratings: Vec<PlayerRating> = rows.collect::<rusqlite::Result<_>>()?;
    let sql = format!(
        "SELECT day, rating FROM rating_days
         WHERE fold = {LIVE_VERSION} AND player = ?1 AND game = ?2 AND pool = ?3
         ORDER BY day DESC LIMIT {SERIES_DAYS_MAX}"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    for rating in &mut ratings {
        let key = (player.0.as_bytes(), &rating.game, rating.pool.as_str());
        let days = statement.query_map(key, |row| Ok((row.get(0)?, row.get(1)?)))?;
        rating.series = days.collect::<rusqlite::Result<_>>()?;
        rating.series.reverse();
    }
    Ok(ratings)
}

/// Returns a page of a leaderboard.
pub(crate) fn leaderboard(
    connection: &Connection,
    query: &LeaderboardQuery,
) -> rusqlite::Result<LeaderboardPage> {
    let transaction = connection.unchecked_transaction()?;
    let from_leaders = format!(
        "FROM rating r JOIN players p ON p.id = r.player AND p.kind IS NOT NULL
         WHERE r.fold = {LIVE_VERSION} AND r.game = ?1 AND r.pool = ?2 AND r.deviation <= {}
           AND r.last_ms >= ?3",
        LeaderboardQuery::deviation_max()
    );
    let key = (query.game, query.pool.as_str(), query.active_since_ms());
    let sql = format!("SELECT count(*) {from_leaders}");
    let total = transaction
        .prepare_cached(&sql)?
        .query_row(key, |row| row.get(0))?;
    let sql = format!(
        "SELECT p.id, p.name, p.kind, r.rating, r.deviation, r.volatility, r.games, r.last_ms
         {from_leaders} ORDER BY r.rating DESC, r.player LIMIT ?4 OFFSET ?5"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let after = query.after.min(u64::MAX >> 1);
    let rows = statement.query_map((key.0, key.1, key.2, query.limit, after), |row| {
        let id = player_id(row, 0)?;
        Ok((
            players_and_sessions::player_from_columns(id, row, 1)?,
            rated_from_row(row, 3)?,
        ))
    })?;
    Ok(LeaderboardPage {
        total,
        rows: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// Returns the end of a player's ban from rated matches, as Unix time in milliseconds. Returns 0 if
/// the player was never banned.
pub(crate) fn rated_ban_until(connection: &Connection, player: PlayerId) -> rusqlite::Result<u64> {
    let sql = format!("SELECT until_ms FROM conduct WHERE fold = {LIVE_VERSION} AND player = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([player.0.as_bytes()], |row| row.get(0));
    Ok(found.optional()?.unwrap_or(0))
}

/// Returns the rating changes of a match. Returns `None` if the live rating version has not posted
/// the ledger row of the match.
pub(crate) fn changes_of_match(
    transaction: &Connection,
    id: MatchId,
) -> rusqlite::Result<Option<Vec<RatingChange>>> {
    let sql = "SELECT l.no FROM ledger l JOIN folds f ON f.place = 'live' AND f.cursor >= l.no
               WHERE l.match = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let found = statement.query_row([id.0.as_bytes()], |row| row.get::<_, u64>(0));
    let Some(no) = found.optional()? else {
        return Ok(None);
    };
    let updates = posted_updates(transaction, no - 1, no)?;
    let changes = updates
        .first()
        .map(|(_, posted)| to_rating_changes(&posted.changes));
    Ok(Some(changes.unwrap_or_default()))
}

/// SQL columns that [`change_from_row`] reads, in this order.
const CHANGE_COLUMN_LIST: &str = "seat, player, game, pool,
    rating, deviation, volatility, new_rating, new_deviation, new_volatility";

fn change_from_row(row: &Row<'_>, first_column: usize) -> rusqlite::Result<PlayerRatingChange> {
    let seat: u8 = row.get(first_column)?;
    Ok(PlayerRatingChange {
        seat: Seat::from_number(seat).ok_or_else(|| invalid_column(first_column))?,
        key: RatingKey {
            player: player_id(row, first_column + 1)?,
            game: row.get(first_column + 2)?,
            pool: parse_pool(row, first_column + 3)?,
        },
        before: rating_from_row(row, first_column + 4)?,
        after: rating_from_row(row, first_column + 7)?,
    })
}

fn rated_from_row(row: &Row<'_>, first_column: usize) -> rusqlite::Result<RatingEntry> {
    Ok(RatingEntry {
        rating: rating_from_row(row, first_column)?,
        games: row.get(first_column + 3)?,
        last_ms: row.get(first_column + 4)?,
    })
}

fn rating_from_row(row: &Row<'_>, first_column: usize) -> rusqlite::Result<Rating> {
    Ok(Rating {
        rating: row.get(first_column)?,
        deviation: row.get(first_column + 1)?,
        volatility: row.get(first_column + 2)?,
    })
}

fn player_id(row: &Row<'_>, column: usize) -> rusqlite::Result<PlayerId> {
    Ok(PlayerId(Uuid::from_bytes(row.get(column)?)))
}

fn parse_pool(row: &Row<'_>, column: usize) -> rusqlite::Result<RatingPool> {
    pool_from_text(row.get_ref(column)?.as_str()?).ok_or_else(|| invalid_column(column))
}

fn json_column<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    let read = serde_json::from_str(row.get_ref(0)?.as_str()?);
    read.map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

fn invalid_column(column: usize) -> Error {
    Error::InvalidColumnType(column, "rating".to_owned(), Type::Text)
}
