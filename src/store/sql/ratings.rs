//! Ledger of rated matches, and the ratings that are computed from it.
//!
//! Each row of the table `folds` describes a rating version. The column `place` says whether the
//! version is live, being built or stale.

use plyhouse_matches::ratings::{LedgerRow, PostOutcome, RatingEntry, RatingKey, RatingState};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool};
use uuid::Uuid;

use super::{Sql, Value, query_all, query_by_key, query_first};
use crate::ratings::{POST_ROWS_MAX, SERIES_DAYS_MAX, to_rating_changes};
use crate::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, PlayerRating, RatingProgress, RatingVersion,
};

const SELECT_RATING: &str = "SELECT rating, deviation, volatility, games, last_ms FROM rating
               WHERE fold = ?1 AND player = ?2 AND game = ?3 AND pool = ?4";

const SELECT_PAIR: &str =
    "SELECT body FROM rating_pairs WHERE fold = ?1 AND one = ?2 AND other = ?3";

const SELECT_PENALTIES: &str = "SELECT body FROM conduct WHERE fold = ?1 AND player = ?2";

const SELECT_POSTED_ROW: &str = "SELECT no FROM ledger
               WHERE match = ?1 AND no <= (SELECT cursor FROM folds WHERE place = 'live')";

const SELECT_POSTED: &str = "SELECT c.no, c.at_ms, c.seat, c.player, c.game, c.pool,
                      c.rating, c.deviation, c.volatility,
                      c.new_rating, c.new_deviation, c.new_volatility
               FROM rating_changes c
               WHERE c.fold = (SELECT id FROM folds WHERE place = 'live') AND c.no > ?1 AND c.no <= ?2 ORDER BY c.no, c.seat";

const SELECT_RATINGS_PAGE: &str = "SELECT r.player, r.game, r.pool,
                      r.rating, r.deviation, r.volatility, r.games, r.last_ms
               FROM rating r
               WHERE r.fold = (SELECT id FROM folds WHERE place = 'live')
                 AND (r.player, r.game, r.pool) > (?1, ?2, ?3)
               ORDER BY r.player, r.game, r.pool LIMIT ?4";

const SELECT_RATINGS: &str = "SELECT r.game, r.pool, r.rating, r.deviation, r.volatility, r.games, r.last_ms
               FROM rating r
               WHERE r.fold = (SELECT id FROM folds WHERE place = 'live') AND r.player = ?1 ORDER BY r.game, r.pool";

const SELECT_LIVE_RATING: &str = "SELECT r.rating, r.deviation, r.volatility, r.games, r.last_ms
               FROM rating r
               WHERE r.fold = (SELECT id FROM folds WHERE place = 'live')
                 AND r.player = ?1 AND r.game = ?2 AND r.pool = ?3";

const SELECT_RATING_DAYS: &str = "SELECT d.day, d.rating FROM rating_days d
               WHERE d.fold = (SELECT id FROM folds WHERE place = 'live') AND d.player = ?1 AND d.game = ?2 AND d.pool = ?3
               ORDER BY d.day DESC LIMIT ?4";

const SELECT_BAN: &str = "SELECT c.until_ms FROM conduct c
               WHERE c.fold = (SELECT id FROM folds WHERE place = 'live') AND c.player = ?1";

/// Returns the number of the last ledger row and the progress of the rating versions. One statement
/// reads all of these values, so that they are consistent with each other.
pub(crate) async fn progress<S: Sql>(db: &S) -> Result<RatingProgress, S::Error> {
    let sql =
        "SELECT e.no, f.id, f.cursor, f.known, f.place, NULL/*pg:::uuid*/ FROM ledger_end e, folds f
         UNION ALL
         SELECT l.no, 0, 0, 0, 'unrated', l.unrated FROM ledger l WHERE l.unrated IS NOT NULL
         UNION ALL
         SELECT due_ms, 0, 0, 0, 'waits', NULL
         FROM (SELECT due_ms FROM ledger_waiting ORDER BY due_ms LIMIT 1) AS next
         ORDER BY 1";
    let mut progress = RatingProgress::default();
    for row in db.query(sql, &[]).await? {
        let version = RatingVersion {
            id: row.get(1)?,
            cursor: row.get(2)?,
            exclusions_cursor: row.get(3)?,
        };
        match row.get::<String>(4)?.as_str() {
            "unrated" => {
                progress.unrated.push((row.get(5)?, row.get(0)?));
                continue;
            }
            "waits" => {
                progress.next_numbering_ms = Some(row.get(0)?);
                continue;
            }
            "live" => progress.live = version,
            "built" => progress.building = Some(version),
            _ => progress.has_stale_version = true,
        }
        progress.last_row = row.get(0)?;
    }
    Ok(progress)
}

/// Returns at most `limit` ledger rows after row `after`, in order.
pub(crate) async fn ledger<S: Sql>(
    db: &S,
    after: u64,
    limit: usize,
) -> Result<Vec<(u64, LedgerRow)>, S::Error> {
    let sql = "SELECT no, body FROM ledger WHERE no > ?1 ORDER BY no LIMIT ?2";
    query_all(db, sql, &[after.into(), limit.into()]).await
}

/// Returns the rating changes that were posted to the live rating version. The result covers the
/// ledger rows after row `after` up to and including row `until`.
pub(crate) async fn posted_updates<S: Sql>(
    db: &S,
    after: u64,
    until: u64,
) -> Result<Vec<(u64, PostOutcome)>, S::Error> {
    let mut updates: Vec<(u64, PostOutcome)> = Vec::new();
    let changes = query_all(db, SELECT_POSTED, &[after.into(), until.into()]).await?;
    for (no, at_ms, change) in changes {
        match updates.last_mut() {
            Some((last, posted)) if *last == no => posted.changes.push(change),
            _ => {
                let posted = PostOutcome {
                    at_ms,
                    changes: vec![change],
                    reason: None,
                };
                updates.push((no, posted));
            }
        }
    }
    Ok(updates)
}

/// Returns the rating changes of a match. Returns `None` if the ledger row of the match has not
/// been posted to the live version.
pub(crate) async fn changes_of_match<S: Sql>(
    db: &S,
    id: MatchId,
) -> Result<Option<Vec<RatingChange>>, S::Error> {
    let row = query_first(db, SELECT_POSTED_ROW, &[id.into()]).await?;
    let Some(no): Option<u64> = row else {
        return Ok(None);
    };
    let updates = posted_updates(db, no.saturating_sub(1), no).await?;
    let posted = updates.first().map(|(_, posted)| &*posted.changes);
    Ok(Some(to_rating_changes(posted.unwrap_or_default())))
}

/// Loads the part of a rating version that is needed to post certain ledger rows.
///
/// On PostgreSQL, another server may post rows to the version between the queries. The store then
/// refuses the post that the caller computes from the result.
pub(crate) async fn load_ratings_for<S: Sql>(
    db: &S,
    version: u64,
    needed: &NeededRatings,
) -> Result<RatingState, S::Error> {
    let version: Value<'_> = version.into();
    let mut state = RatingState::default();
    let sql = "SELECT last_ms, started_ms FROM folds WHERE id = ?1";
    if let Some(times) = query_first(db, sql, &[version]).await? {
        (state.last_ms, state.started_ms) = times;
    }
    let keys = needed.records.iter().map(|key| {
        let (player, game, pool) = (key.player.into(), (&key.game).into(), key.pool.as_str());
        (key.clone(), vec![version, player, game, pool.into()])
    });
    state.ratings = query_by_key(db, SELECT_RATING, keys.collect()).await?;
    let pairs = needed.pairs.iter().copied();
    let keys = pairs.map(|[one, other]| ([one, other], vec![version, one.into(), other.into()]));
    state.pair_histories = query_by_key(db, SELECT_PAIR, keys.collect()).await?;
    let players = needed.players.iter().copied();
    let keys = players.map(|player| (player, vec![version, player.into()]));
    state.abort_penalties = query_by_key(db, SELECT_PENALTIES, keys.collect()).await?;
    Ok(state)
}

/// Returns a page of the live ratings, starting after `last`.
pub(crate) async fn ratings_after<S: Sql>(
    db: &S,
    last: Option<&RatingKey>,
) -> Result<Vec<(RatingKey, RatingEntry)>, S::Error> {
    let params = [
        // No player has the id of all zeros, so it precedes all ratings.
        last.map_or(PlayerId(Uuid::nil()), |key| key.player).into(),
        last.map_or("", |key| &*key.game).into(),
        last.map_or("", |key| key.pool.as_str()).into(),
        POST_ROWS_MAX.into(),
    ];
    query_all(db, SELECT_RATINGS_PAGE, &params).await
}

/// Returns a player's rating in each game and rating pool. Each entry also contains the player's
/// ratings at the end of recent days.
pub(crate) async fn ratings<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Vec<PlayerRating>, S::Error> {
    let rows: Vec<(String, RatingPool, RatingEntry)> =
        query_all(db, SELECT_RATINGS, &[player.into()]).await?;
    let mut ratings = Vec::with_capacity(rows.len());
    for (game, pool, rated) in rows {
        let (id, days_max) = (player.into(), SERIES_DAYS_MAX.into());
        let params = [id, (&game).into(), pool.as_str().into(), days_max];
        let mut series: Vec<(u64, f64)> = query_all(db, SELECT_RATING_DAYS, &params).await?;
        series.reverse();
        ratings.push(PlayerRating {
            game,
            pool,
            rated,
            series,
        });
    }
    Ok(ratings)
}

/// Returns a player's rating in one game and rating pool, if the player has one.
pub(crate) async fn rating<S: Sql>(
    db: &S,
    key: &RatingKey,
) -> Result<Option<RatingEntry>, S::Error> {
    let params = [
        key.player.into(),
        (&key.game).into(),
        key.pool.as_str().into(),
    ];
    query_first(db, SELECT_LIVE_RATING, &params).await
}

/// Rows of a leaderboard. The parameters are the game, the pool and the minimum time of the last
/// match. The maximum deviation is a literal, as in the definition of the index `rating_leaders`:
/// otherwise, the statement could not use the index.
macro_rules! leaderboard_sql {
    ($columns:literal, $order:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM rating r JOIN players p ON p.id = r.player
             WHERE r.fold = (SELECT id FROM folds WHERE place = 'live') AND r.game = ?1 AND r.pool = ?2 AND r.last_ms >= ?3
               AND r.deviation <= 75 AND p.kind IS NOT NULL ",
            $order
        )
    };
}

pub(crate) const SELECT_LEADERS: &str = leaderboard_sql!(
    "p.id, p.name, p.kind, r.rating, r.deviation, r.volatility, r.games, r.last_ms",
    "ORDER BY r.rating DESC, r.player LIMIT ?4 OFFSET ?5"
);

/// Returns a page of a leaderboard.
pub(crate) async fn leaderboard<S: Sql>(
    db: &S,
    query: &LeaderboardQuery,
) -> Result<LeaderboardPage, S::Error> {
    let mut params = vec![
        query.game.into(),
        query.pool.as_str().into(),
        query.active_since_ms().into(),
    ];
    let total = query_first(db, leaderboard_sql!("count(*)", ""), &params).await?;
    params.extend_from_slice(&[query.limit.into(), query.after.into()]);
    Ok(LeaderboardPage {
        total: total.unwrap_or(0),
        rows: query_all(db, SELECT_LEADERS, &params).await?,
    })
}

/// Returns the end of a player's ban from rated matches, as Unix time in milliseconds. Returns 0 if
/// the player was never banned.
pub(crate) async fn rated_ban_until<S: Sql>(db: &S, player: PlayerId) -> Result<u64, S::Error> {
    let until_ms = query_first(db, SELECT_BAN, &[player.into()]).await?;
    Ok(until_ms.unwrap_or(0))
}

#[cfg(test)]
pub(crate) const INDEXED_STATEMENTS: [&str; 11] = [
    SELECT_RATING,
    SELECT_PAIR,
    SELECT_PENALTIES,
    SELECT_POSTED_ROW,
    SELECT_POSTED,
    SELECT_RATINGS_PAGE,
    SELECT_RATINGS,
    SELECT_LIVE_RATING,
    SELECT_RATING_DAYS,
    SELECT_BAN,
    SELECT_LEADERS,
];
