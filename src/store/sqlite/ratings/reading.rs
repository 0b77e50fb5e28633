//! How ratings are read.

use plyhouse_engine::game::Seat;
use plyhouse_matches::ratings::{Books, Change, LedgerRow, Posted, Rated, Rating, Record, Unrated};
use plyhouse_protocol::{MatchId, PlayerId, Pool, RatingChange};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row};
use uuid::Uuid;

use super::columns;
use crate::ratings::{POST_MAX, SERIES_MAX, pool_from_text, row_from_text, told};
use crate::sqlite::people;
use crate::{LeadersPage, LeadersQuery, Needed, PlayerRating, RatingState, RatingVersion};

/// The fold that is told of.
const LIVE: &str = "(SELECT id FROM folds WHERE place = 'live')";

/// How ratings stand.
pub(in crate::sqlite) fn state(connection: &Connection) -> rusqlite::Result<RatingState> {
    let at_once = connection.unchecked_transaction()?;
    let mut state = RatingState {
        last_no: at_once.query_row("SELECT no FROM ledger_end", [], |row| row.get(0))?,
        unrated: unrated(&at_once)?,
        due_ms: at_once.query_row("SELECT min(due_ms) FROM ledger_waiting", [], |row| {
            row.get(0)
        })?,
        ..RatingState::default()
    };
    let mut folds = at_once.prepare_cached("SELECT id, cursor, known, place FROM folds")?;
    let mut rows = folds.query([])?;
    while let Some(row) = rows.next()? {
        let fold = RatingVersion {
            id: row.get(0)?,
            cursor: row.get(1)?,
            known: row.get(2)?,
        };
        match row.get_ref(3)?.as_str()? {
            "live" => state.live = fold,
            "built" => state.building = Some(fold),
            _ => state.has_stale = true,
        }
    }
    Ok(state)
}

fn unrated(connection: &Connection) -> rusqlite::Result<Unrated> {
    let sql = "SELECT unrated, no FROM ledger WHERE unrated IS NOT NULL ORDER BY no";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((player(row, 0)?, row.get(1)?)))?;
    rows.collect()
}

/// The rows of the ledger after this one.
pub(in crate::sqlite) fn ledger(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<(u64, LedgerRow)>> {
    let sql = "SELECT no, body FROM ledger WHERE no > ?1 ORDER BY no LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, limit), |row| {
        let body = row_from_text(row.get_ref(1)?.as_str()?);
        let body = body.map_err(|why| Error::FromSqlConversionFailure(1, Type::Text, why.into()));
        Ok((row.get(0)?, body?))
    })?;
    rows.collect()
}

/// What rows need of the books of a fold.
pub(in crate::sqlite) fn books(
    connection: &Connection,
    fold: u64,
    needed: &Needed,
) -> rusqlite::Result<Books> {
    let at_once = connection.unchecked_transaction()?;
    let mut books = Books::default();
    let sql = "SELECT last_ms, started_ms FROM folds WHERE id = ?1";
    let mut statement = at_once.prepare_cached(sql)?;
    let times = statement.query_row([fold], |row| Ok((row.get(0)?, row.get(1)?)));
    (books.last_ms, books.started_ms) = times.optional()?.unwrap_or_default();
    let sql = "SELECT rating, deviation, volatility, games, last_ms FROM rating
               WHERE fold = ?1 AND player = ?2 AND game = ?3 AND pool = ?4";
    let mut statement = at_once.prepare_cached(sql)?;
    for record in &needed.records {
        let (player, game, pool) = columns(record);
        let found = statement.query_row((fold, player, game, pool), |row| rated(row, 0));
        if let Some(rated) = found.optional()? {
            books.ratings.insert(record.clone(), rated);
        }
    }
    let sql = "SELECT body FROM rating_pairs WHERE fold = ?1 AND one = ?2 AND other = ?3";
    let mut statement = at_once.prepare_cached(sql)?;
    for pair in &needed.pairs {
        let [one, other] = pair.each_ref().map(|player| player.0.as_bytes());
        let found = statement.query_row((fold, one, other), json);
        books
            .pairs
            .extend(found.optional()?.map(|body| (*pair, body)));
    }
    let sql = "SELECT body FROM conduct WHERE fold = ?1 AND player = ?2";
    let mut statement = at_once.prepare_cached(sql)?;
    for player in &needed.players {
        let found = statement.query_row((fold, player.0.as_bytes()), json);
        books
            .conduct
            .extend(found.optional()?.map(|body| (*player, body)));
    }
    Ok(books)
}

/// What was posted of these rows to the fold that is told of.
pub(in crate::sqlite) fn posted(
    connection: &Connection,
    after: u64,
    until: u64,
) -> rusqlite::Result<Vec<(u64, Posted)>> {
    let sql = format!(
        "SELECT no, at_ms, {CHANGE} FROM rating_changes
         WHERE fold = {LIVE} AND no > ?1 AND no <= ?2 ORDER BY no, seat"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((after, until))?;
    let mut posted: Vec<(u64, Posted)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (no, at_ms, change) = (row.get(0)?, row.get(1)?, change(row, 2)?);
        match posted.last_mut() {
            Some((last, posted)) if *last == no => posted.changes.push(change),
            _ => posted.push((
                no,
                Posted {
                    at_ms,
                    changes: vec![change],
                    why: None,
                },
            )),
        }
    }
    Ok(posted)
}

/// Some of the ratings, from the one after this on.
pub(in crate::sqlite) fn ratings_after(
    connection: &Connection,
    last: Option<&Record>,
) -> rusqlite::Result<Vec<(Record, Rated)>> {
    let sql = format!(
        "SELECT player, game, pool, rating, deviation, volatility, games, last_ms FROM rating
         WHERE fold = {LIVE} AND (player, game, pool) > (?1, ?2, ?3)
         ORDER BY player, game, pool LIMIT {POST_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let (after, game, pool) = last.map_or((&[][..], "", ""), |record| {
        let (player, game, pool) = columns(record);
        (&player[..], game, pool)
    });
    let rows = statement.query_map((after, game, pool), |row| {
        let record = Record {
            player: player(row, 0)?,
            game: row.get(1)?,
            pool: pool_of(row, 2)?,
        };
        Ok((record, rated(row, 3)?))
    })?;
    rows.collect()
}

/// The ratings of a player.
pub(in crate::sqlite) fn ratings(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<PlayerRating>> {
    let at_once = connection.unchecked_transaction()?;
    let sql = format!(
        "SELECT game, pool, rating, deviation, volatility, games, last_ms FROM rating
         WHERE fold = {LIVE} AND player = ?1 ORDER BY game, pool"
    );
    let mut statement = at_once.prepare_cached(&sql)?;
    let rows = statement.query_map([player.0.as_bytes()], |row| {
        Ok(PlayerRating {
            game: row.get(0)?,
            pool: pool_of(row, 1)?,
            rated: rated(row, 2)?,
            series: Vec::new(),
        })
    })?;
    let mut ratings: Vec<PlayerRating> = rows.collect::<rusqlite::Result<_>>()?;
    let sql = format!(
        "SELECT day, rating FROM rating_days
         WHERE fold = {LIVE} AND player = ?1 AND game = ?2 AND pool = ?3
         ORDER BY day DESC LIMIT {SERIES_MAX}"
    );
    let mut statement = at_once.prepare_cached(&sql)?;
    for rating in &mut ratings {
        let of = (player.0.as_bytes(), &rating.game, rating.pool.as_str());
        let days = statement.query_map(of, |row| Ok((row.get(0)?, row.get(1)?)))?;
        rating.series = days.collect::<rusqlite::Result<_>>()?;
        rating.series.reverse();
    }
    Ok(ratings)
}

/// A part of a leaderboard.
pub(in crate::sqlite) fn leaders(
    connection: &Connection,
    wanted: &LeadersQuery,
) -> rusqlite::Result<LeadersPage> {
    let at_once = connection.unchecked_transaction()?;
    let leads = format!(
        "FROM rating r JOIN players p ON p.id = r.player AND p.kind IS NOT NULL
         WHERE r.fold = {LIVE} AND r.game = ?1 AND r.pool = ?2 AND r.deviation <= {}
           AND r.last_ms >= ?3",
        LeadersQuery::deviation_max()
    );
    let of = (wanted.game, wanted.pool.as_str(), wanted.since_ms());
    let sql = format!("SELECT count(*) {leads}");
    let total = at_once
        .prepare_cached(&sql)?
        .query_row(of, |row| row.get(0))?;
    let sql = format!(
        "SELECT p.id, p.name, p.kind, r.rating, r.deviation, r.volatility, r.games, r.last_ms
         {leads} ORDER BY r.rating DESC, r.player LIMIT ?4 OFFSET ?5"
    );
    let mut statement = at_once.prepare_cached(&sql)?;
    let after = wanted.after.min(u64::MAX >> 1);
    let rows = statement.query_map((of.0, of.1, of.2, wanted.limit, after), |row| {
        let id = player(row, 0)?;
        Ok((people::player_with(id, row, 1)?, rated(row, 3)?))
    })?;
    Ok(LeadersPage {
        total,
        rows: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// Until when a player plays no rated matches.
pub(in crate::sqlite) fn barred_until(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<u64> {
    let sql = format!("SELECT until_ms FROM conduct WHERE fold = {LIVE} AND player = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([player.0.as_bytes()], |row| row.get(0));
    Ok(found.optional()?.unwrap_or(0))
}

/// What a rated match has changed; `None` if it was not posted.
pub(in crate::sqlite) fn changes_of(
    at_once: &Connection,
    id: MatchId,
) -> rusqlite::Result<Option<Vec<RatingChange>>> {
    let sql = "SELECT l.no FROM ledger l JOIN folds f ON f.place = 'live' AND f.cursor >= l.no
               WHERE l.match = ?1";
    let mut statement = at_once.prepare_cached(sql)?;
    let found = statement.query_row([id.0.as_bytes()], |row| row.get::<_, u64>(0));
    let Some(no) = found.optional()? else {
        return Ok(None);
    };
    let posted = posted(at_once, no - 1, no)?;
    let changes = posted.first().map(|(_, posted)| told(&posted.changes));
    Ok(Some(changes.unwrap_or_default()))
}

/// The columns of a change.
const CHANGE: &str = "seat, player, game, pool,
    rating, deviation, volatility, new_rating, new_deviation, new_volatility";

fn change(row: &Row<'_>, first: usize) -> rusqlite::Result<Change> {
    let seat: u8 = row.get(first)?;
    Ok(Change {
        seat: Seat::from_number(seat).ok_or_else(|| wrong(first))?,
        record: Record {
            player: player(row, first + 1)?,
            game: row.get(first + 2)?,
            pool: pool_of(row, first + 3)?,
        },
        before: rating(row, first + 4)?,
        after: rating(row, first + 7)?,
    })
}

fn rated(row: &Row<'_>, first: usize) -> rusqlite::Result<Rated> {
    Ok(Rated {
        rating: rating(row, first)?,
        games: row.get(first + 3)?,
        last_ms: row.get(first + 4)?,
    })
}

fn rating(row: &Row<'_>, first: usize) -> rusqlite::Result<Rating> {
    Ok(Rating {
        rating: row.get(first)?,
        deviation: row.get(first + 1)?,
        volatility: row.get(first + 2)?,
    })
}

fn player(row: &Row<'_>, column: usize) -> rusqlite::Result<PlayerId> {
    Ok(PlayerId(Uuid::from_bytes(row.get(column)?)))
}

fn pool_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Pool> {
    pool_from_text(row.get_ref(column)?.as_str()?).ok_or_else(|| wrong(column))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    let read = serde_json::from_str(row.get_ref(0)?.as_str()?);
    read.map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

fn wrong(column: usize) -> Error {
    Error::InvalidColumnType(column, "rating".to_owned(), Type::Text)
}
