//! Reads the rating ledger and the ratings.
//!
//! Each row of the table `folds` describes a rating version. The column `place` says whether the
//! version is live, being built or stale.

use plyhouse_matches::ratings::{Rating, RatingEntry, RatingKey, RatingState};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool};
use tokio_postgres::Row;
use uuid::Uuid;

use super::Reader;
use crate::postgres::journal_rows::{to_i64, to_u64};
use crate::ratings::pool_from_text;
use crate::sql::ratings::changes_of_row;
use crate::{NeededRatings, ReadError};

impl Reader {
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
        Ok(Some(changes_of_row(self, no).await?))
    }
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
