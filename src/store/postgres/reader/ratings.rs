//! Reads the rating ledger and the ratings.
//!
//! Each row of the table `folds` describes a rating version. The column `place` says whether the
//! version is live, being built or stale.

use plyhouse_engine::game::Seat;
use plyhouse_matches::ratings::{
    LedgerRow, PlayerRatingChange, PostOutcome, Rating, RatingEntry, RatingKey, RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{Reader, player_from_row};
use crate::postgres::journal_rows::{to_i64, to_u64};
use crate::ratings::{
    POST_ROWS_MAX, SERIES_DAYS_MAX, ledger_row_from_text, pool_from_text, to_rating_changes,
};
use crate::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, PlayerRating, RatingProgress, RatingVersion,
    ReadError,
};

impl Reader {
    /// Returns the number of the last ledger row and the progress of the rating versions. One
    /// statement reads all of these values, so that they are consistent with each other.
    pub(in crate::postgres) async fn rating_progress(&self) -> Result<RatingProgress, ReadError> {
        let sql =
            "SELECT e.no, f.id, f.cursor, f.known, f.place, NULL::uuid FROM ledger_end e, folds f
                   UNION ALL
                   SELECT l.no, 0, 0, 0, 'unrated', l.unrated FROM ledger l
                   WHERE l.unrated IS NOT NULL
                   UNION ALL
                   (SELECT due_ms, 0, 0, 0, 'waits', NULL FROM ledger_waiting
                    ORDER BY due_ms LIMIT 1)
                   ORDER BY 1";
        let mut state = RatingProgress::default();
        for row in self.query(sql, &[]).await? {
            let number_column = |column| to_u64(row.get(column));
            let version = RatingVersion {
                id: number_column(1),
                cursor: number_column(2),
                exclusions_cursor: number_column(3),
            };
            match row.get(4) {
                "unrated" => {
                    state.unrated.push((PlayerId(row.get(5)), number_column(0)));
                    continue;
                }
                "waits" => {
                    state.next_numbering_ms = Some(number_column(0));
                    continue;
                }
                "live" => state.live = version,
                "built" => state.building = Some(version),
                _ => state.has_stale_version = true,
            }
            state.last_row = number_column(0);
        }
        Ok(state)
    }

    /// Returns at most `limit` ledger rows after row `after`, in order.
    pub(in crate::postgres) async fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, LedgerRow)>, ReadError> {
        let sql = "SELECT no, body FROM ledger WHERE no > $1 ORDER BY no LIMIT $2";
        let (after, limit) = (to_i64(after), to_i64(limit as u64));
        let rows = self.query(sql, &[&after, &limit]).await?;
        let read = |row: &Row| Ok((to_u64(row.get(0)), ledger_row_from_text(row.get(1))?));
        rows.iter()
            .map(read)
            .collect::<Result<_, String>>()
            .map_err(log_corrupt_ratings)
    }

    /// Loads the parts of a rating version that are needed to process some ledger rows. Another
    /// server may advance the version while this function runs its queries. If another server
    /// advances the version, the store later refuses all rating changes that the caller computes
    /// from this data.
    pub(in crate::postgres) async fn load_ratings_for(
        &self,
        version: u64,
        needed: NeededRatings,
    ) -> Result<RatingState, ReadError> {
        let version = to_i64(version);
        let mut books = RatingState::default();
        let sql = "SELECT last_ms, started_ms FROM folds WHERE id = $1";
        if let Some(row) = self.query(sql, &[&version]).await?.first() {
            books.last_ms = to_u64(row.get(0));
            books.started_ms = to_u64(row.get(1));
        }
        let records = needed.records.iter();
        let players: Vec<Uuid> = records.clone().map(|record| record.player.0).collect();
        let games: Vec<&str> = records.clone().map(|record| &*record.game).collect();
        let pools: Vec<&str> = records.map(|record| record.pool.as_str()).collect();
        let sql = "SELECT r.player, r.game, r.pool,
                          r.rating, r.deviation, r.volatility, r.games, r.last_ms
                   FROM UNNEST($2::uuid[], $3::text[], $4::text[]) AS u (player, game, pool)
                   JOIN rating r ON r.fold = $1 AND r.player = u.player AND r.game = u.game
                                AND r.pool = u.pool";
        for row in self
            .query(sql, &[&version, &players, &games, &pools])
            .await?
        {
            books
                .ratings
                .insert(record_from_row(&row, 0)?, rated_from_row(&row, 3));
        }
        let [ones, others] = [0, 1]
            .map(|which| -> Vec<Uuid> { needed.pairs.iter().map(|pair| pair[which].0).collect() });
        let sql =
            "SELECT p.one, p.other, p.body FROM UNNEST($2::uuid[], $3::uuid[]) AS u (one, other)
                   JOIN rating_pairs p ON p.fold = $1 AND p.one = u.one AND p.other = u.other";
        for row in self.query(sql, &[&version, &ones, &others]).await? {
            let pair = [PlayerId(row.get(0)), PlayerId(row.get(1))];
            books.pair_histories.insert(pair, json_column(&row, 2)?);
        }
        let players: Vec<Uuid> = needed.players.iter().map(|player| player.0).collect();
        let sql = "SELECT player, body FROM conduct WHERE fold = $1 AND player = ANY ($2)";
        for row in self.query(sql, &[&version, &players]).await? {
            books
                .abort_penalties
                .insert(PlayerId(row.get(0)), json_column(&row, 1)?);
        }
        Ok(books)
    }

    /// Returns the rating changes that were posted to the live rating version. The result covers
    /// the ledger rows after row `after` up to and including row `until`.
    pub(in crate::postgres) async fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> Result<Vec<(u64, PostOutcome)>, ReadError> {
        let sql = "SELECT c.no, c.at_ms, c.seat, c.player, c.game, c.pool,
                          c.rating, c.deviation, c.volatility,
                          c.new_rating, c.new_deviation, c.new_volatility
                   FROM folds f JOIN rating_changes c ON c.fold = f.id
                   WHERE f.place = 'live' AND c.no > $1 AND c.no <= $2 ORDER BY c.no, c.seat";
        let rows = self.query(sql, &[&to_i64(after), &to_i64(until)]).await?;
        let mut posted: Vec<(u64, PostOutcome)> = Vec::new();
        for row in &rows {
            let (no, change) = (to_u64(row.get(0)), change_from_row(row)?);
            match posted.last_mut() {
                Some((last, posted)) if *last == no => posted.changes.push(change),
                _ => posted.push((
                    no,
                    PostOutcome {
                        at_ms: to_u64(row.get(1)),
                        changes: vec![change],
                        reason: None,
                    },
                )),
            }
        }
        Ok(posted)
    }

    /// Returns a page of the live ratings, starting after `last`.
    pub(in crate::postgres) async fn ratings_after(
        &self,
        last: Option<RatingKey>,
    ) -> Result<Vec<(RatingKey, RatingEntry)>, ReadError> {
        let sql = "SELECT r.player, r.game, r.pool,
                          r.rating, r.deviation, r.volatility, r.games, r.last_ms
                   FROM folds f JOIN rating r ON r.fold = f.id
                   WHERE f.place = 'live'
                     AND ($1::uuid IS NULL OR (r.player, r.game, r.pool) > ($1, $2, $3))
                   ORDER BY r.player, r.game, r.pool LIMIT $4";
        let player = last.as_ref().map(|record| record.player.0);
        let game = last.as_ref().map_or("", |record| &*record.game);
        let pool = last.as_ref().map_or("", |record| record.pool.as_str());
        let limit = to_i64(POST_ROWS_MAX as u64);
        let rows = self.query(sql, &[&player, &game, &pool, &limit]).await?;
        let read = |row: &Row| Ok((record_from_row(row, 0)?, rated_from_row(row, 3)));
        rows.iter().map(read).collect()
    }

    /// Returns a player's rating in each game and rating pool. Each entry also contains the
    /// player's ratings at the end of recent days.
    pub(in crate::postgres) async fn ratings(
        &self,
        player: PlayerId,
    ) -> Result<Vec<PlayerRating>, ReadError> {
        let sql = "SELECT r.player, r.game, r.pool, r.rating, r.deviation, r.volatility, r.games,
                          r.last_ms,
                          ARRAY(SELECT d.day FROM rating_days d
                                WHERE d.fold = r.fold AND d.player = r.player AND d.game = r.game
                                  AND d.pool = r.pool ORDER BY d.day DESC LIMIT $2),
                          ARRAY(SELECT d.rating FROM rating_days d
                                WHERE d.fold = r.fold AND d.player = r.player AND d.game = r.game
                                  AND d.pool = r.pool ORDER BY d.day DESC LIMIT $2)
                   FROM folds f JOIN rating r ON r.fold = f.id
                   WHERE f.place = 'live' AND r.player = $1 ORDER BY r.game, r.pool";
        let series = to_i64(SERIES_DAYS_MAX as u64);
        let rows = self.query(sql, &[&player.0, &series]).await?;
        let read = |row: &Row| {
            let RatingKey { game, pool, .. } = record_from_row(row, 0)?;
            let (days, ratings): (Vec<i64>, Vec<f64>) = (row.get(8), row.get(9));
            let days = days.into_iter().map(to_u64);
            let mut series: Vec<(u64, f64)> = days.zip(ratings).collect();
            series.reverse();
            Ok(PlayerRating {
                game,
                pool,
                rated: rated_from_row(row, 3),
                series,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Returns a page of a leaderboard.
    pub(in crate::postgres) async fn leaderboard(
        &self,
        query: LeaderboardQuery,
    ) -> Result<LeaderboardPage, ReadError> {
        let (game, pool, since) = (
            query.game,
            query.pool.as_str(),
            to_i64(query.active_since_ms()),
        );
        let sql = "SELECT count(*) FROM folds f
                   JOIN rating r ON r.fold = f.id JOIN players p ON p.id = r.player
                   WHERE f.place = 'live' AND r.game = $1 AND r.pool = $2 AND r.deviation <= 75
                     AND r.last_ms >= $3 AND p.kind IS NOT NULL";
        let counted = self.query(sql, &[&game, &pool, &since]).await?;
        let total = counted.first().map_or(0, |row| to_u64(row.get(0)));
        let sql = "SELECT p.id, p.name, p.kind,
                          r.rating, r.deviation, r.volatility, r.games, r.last_ms FROM folds f
                   JOIN rating r ON r.fold = f.id JOIN players p ON p.id = r.player
                   WHERE f.place = 'live' AND r.game = $1 AND r.pool = $2 AND r.deviation <= 75
                     AND r.last_ms >= $3 AND p.kind IS NOT NULL
                   ORDER BY r.rating DESC, r.player LIMIT $4 OFFSET $5";
        let (limit, after) = (to_i64(query.limit as u64), to_i64(query.after));
        let rows = self
            .query(sql, &[&game, &pool, &since, &limit, &after])
            .await?;
        Ok(LeaderboardPage {
            total,
            rows: rows
                .iter()
                .map(|row| (player_from_row(row), rated_from_row(row, 3)))
                .collect(),
        })
    }

    /// Returns the end of a player's ban from rated matches, as Unix time in milliseconds. Returns
    /// 0 if the player was never banned.
    pub(in crate::postgres) async fn rated_ban_until(
        &self,
        player: PlayerId,
    ) -> Result<u64, ReadError> {
        let sql = "SELECT c.until_ms FROM folds f JOIN conduct c ON c.fold = f.id
                   WHERE f.place = 'live' AND c.player = $1";
        let rows = self.query(sql, &[&player.0]).await?;
        Ok(rows.first().map_or(0, |row| to_u64(row.get(0))))
    }

    /// Returns the rating changes of a match. Returns `None` if the ledger row of the match has not
    /// been posted to the live version.
    pub(in crate::postgres) async fn changes_of_match(
        &self,
        id: MatchId,
    ) -> Result<Option<Vec<RatingChange>>, ReadError> {
        let sql = "SELECT l.no FROM ledger l JOIN folds f ON f.place = 'live' AND f.cursor >= l.no
                   WHERE l.m = $1";
        let rows = self.query(sql, &[&id.0]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let no = to_u64(row.get(0));
        let posted = self.posted_updates(no.saturating_sub(1), no).await?;
        let changes = posted
            .first()
            .map(|(_, posted)| to_rating_changes(&posted.changes));
        Ok(Some(changes.unwrap_or_default()))
    }
}

fn change_from_row(row: &Row) -> Result<PlayerRatingChange, ReadError> {
    let seat: i16 = row.get(2);
    let seat_number = u8::try_from(seat).ok().and_then(Seat::from_number);
    Ok(PlayerRatingChange {
        seat: seat_number
            .ok_or_else(|| log_corrupt_ratings(format!("invalid seat number {seat}")))?,
        key: record_from_row(row, 3)?,
        before: rating_from_row(row, 6),
        after: rating_from_row(row, 9),
    })
}

fn record_from_row(row: &Row, first_column: usize) -> Result<RatingKey, ReadError> {
    Ok(RatingKey {
        player: PlayerId(row.get(first_column)),
        game: row.get(first_column + 1),
        pool: parse_pool(row.get(first_column + 2))?,
    })
}

fn parse_pool(text: &str) -> Result<RatingPool, ReadError> {
    pool_from_text(text).ok_or_else(|| log_corrupt_ratings(format!("unknown rating pool {text:?}")))
}

fn rated_from_row(row: &Row, first_column: usize) -> RatingEntry {
    RatingEntry {
        rating: rating_from_row(row, first_column),
        games: to_u64(row.get(first_column + 3)),
        last_ms: to_u64(row.get(first_column + 4)),
    }
}

fn rating_from_row(row: &Row, first_column: usize) -> Rating {
    Rating {
        rating: row.get(first_column),
        deviation: row.get(first_column + 1),
        volatility: row.get(first_column + 2),
    }
}

fn json_column<T: serde::de::DeserializeOwned>(row: &Row, column: usize) -> Result<T, ReadError> {
    serde_json::from_str(row.get(column)).map_err(|error| log_corrupt_ratings(error.to_string()))
}

/// Logs that stored ratings are corrupt, and returns the error for the caller.
fn log_corrupt_ratings(why: String) -> ReadError {
    tracing::error!(why, "stored ratings are corrupt");
    ReadError::Unavailable
}
