//! Reads the ledger of rated matches, and the ratings that are computed from it.

use plyhouse_matches::ratings::{Rating, RatingEntry, RatingState};
use plyhouse_protocol::{MatchId, RatingChange};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row};

use super::record_columns;
use crate::NeededRatings;
use crate::sql::ratings::changes_of_row;
use crate::sql::run_now;

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
    Ok(Some(run_now(changes_of_row(transaction, no))?))
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

fn json_column<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    let read = serde_json::from_str(row.get_ref(0)?.as_str()?);
    read.map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
