//! Reads ended matches and opening statistics.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::MatchResult;
use tokio_postgres::Row;

use super::Reader;
use crate::postgres::journal_rows::{CREATION_COLUMN_COUNT, creation_from_row, to_i64, to_u64};
use crate::records::past_matches::summary_from_text;
use crate::{CorruptRecord, HistoryQuery, Opponent, PastMatch, ReadError};

impl Reader {
    /// Returns the ended matches of a player that fit the query, most recently ended first. Returns
    /// `None` if `query.before` is not an ended match.
    pub(in crate::postgres) async fn history(
        &self,
        query: HistoryQuery,
    ) -> Result<Option<Vec<PastMatch>>, ReadError> {
        let mut before = (i64::MAX, uuid::Uuid::max());
        if let Some(id) = query.before {
            let sql = "SELECT ended_ms FROM matches WHERE m = $1 AND ended_ms IS NOT NULL";
            let rows = self.query(sql, &[&id.0]).await?;
            match rows.first() {
                Some(row) => before = (row.get(0), id.0),
                None => return Ok(None),
            }
        }
        let is_against_bot = query.opponent.map(|with| with == Opponent::Bot);
        let opponent = match query.opponent {
            Some(Opponent::Player(id)) => Some(id.0),
            Some(Opponent::Bot) | None => None,
        };
        let (result, limit) = (
            query.result.map(MatchResult::as_str),
            to_i64(query.limit as u64),
        );
        let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms, mt.summary, p.seat, p.ended_ms
                   FROM played p JOIN matches mt ON mt.m = p.m
                   WHERE p.player = $1 AND (p.ended_ms, p.m) < ($2, $3)
                     AND ($4::text IS NULL OR p.game = $4)
                     AND ($5::bool IS NULL OR ($5 AND p.other IS NULL) OR p.other = $6)
                     AND ($7::text IS NULL OR p.result = $7)
                     AND (p.open OR p.player = $8 OR p.other = $8)
                   ORDER BY p.ended_ms DESC, p.m DESC LIMIT $9";
        let rows = self
            .query(
                sql,
                &[
                    &query.player.0,
                    &before.0,
                    &before.1,
                    &query.game,
                    &is_against_bot,
                    &opponent,
                    &result,
                    &query.viewer.0,
                    &limit,
                ],
            )
            .await?;
        let found: Result<Vec<PastMatch>, ReadError> =
            rows.iter().map(past_match_from_row).collect();
        found.map(Some)
    }
}

fn past_match_from_row(row: &Row) -> Result<PastMatch, ReadError> {
    let id = plyhouse_protocol::MatchId(row.get(0));
    let read = || -> Result<PastMatch, String> {
        let seat: i16 = row.get(CREATION_COLUMN_COUNT + 1);
        let seat_number = u8::try_from(seat).ok().and_then(Seat::from_number);
        let summary: Option<&str> = row.get(CREATION_COLUMN_COUNT);
        Ok(PastMatch {
            creation: creation_from_row(row)?,
            summary: summary_from_text(summary.unwrap_or_default())?,
            seat: seat_number.ok_or_else(|| format!("invalid seat number {seat}"))?,
            ended_ms: to_u64(row.get(CREATION_COLUMN_COUNT + 2)),
        })
    };
    read().map_err(|reason| ReadError::Corrupt(CorruptRecord { id, reason }))
}
