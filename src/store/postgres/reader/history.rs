//! Ended matches as they are found again.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{MatchResult, PlayerId};
use tokio_postgres::Row;

use super::Reader;
use crate::history::{archived_from_text, last_step, result_from_text};
use crate::postgres::journal::{CREATION_COLUMNS, creation, integer, natural};
use crate::{
    CorruptRecord, Explored, HistoryQuery, Opponent, PastMatch, ReadError, Results, Tally,
};

impl Reader {
    /// What is wanted of a player's ended matches, the newest end first. `None` if the match before them
    /// has not ended.
    pub(in crate::postgres) async fn history(
        &self,
        wanted: HistoryQuery,
    ) -> Result<Option<Vec<PastMatch>>, ReadError> {
        let mut before = (i64::MAX, uuid::Uuid::max());
        if let Some(id) = wanted.before {
            let sql = "SELECT ended_ms FROM matches WHERE m = $1 AND ended_ms IS NOT NULL";
            let rows = self.query(sql, &[&id.0]).await?;
            match rows.first() {
                Some(row) => before = (row.get(0), id.0),
                None => return Ok(None),
            }
        }
        let is_with_bot = wanted.with.map(|with| with == Opponent::Bot);
        let other = match wanted.with {
            Some(Opponent::Player(id)) => Some(id.0),
            Some(Opponent::Bot) | None => None,
        };
        let (result, limit) = (
            wanted.result.map(MatchResult::as_str),
            integer(wanted.limit as u64),
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
                    &wanted.player.0,
                    &before.0,
                    &before.1,
                    &wanted.game,
                    &is_with_bot,
                    &other,
                    &result,
                    &wanted.seen_by.0,
                    &limit,
                ],
            )
            .await?;
        let found: Result<Vec<PastMatch>, ReadError> = rows.iter().map(past_match).collect();
        found.map(Some)
    }

    /// What a player's matches came to, as far as this one may see them.
    pub(in crate::postgres) async fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> Result<Results, ReadError> {
        let sql = "SELECT result, n, first_ms FROM results
                   WHERE player = $1 AND seen_by = ANY ($2)";
        let seen_by = [uuid::Uuid::nil(), seen_by.0];
        let rows = self.query(sql, &[&player.0, &seen_by.as_slice()]).await?;
        let mut results = Results::default();
        for row in &rows {
            if let Some(result) = result_from_text(row.get(0)) {
                results.add(result, natural(row.get(1)), natural(row.get(2)));
            }
        }
        Ok(results)
    }

    /// How matches of a game went on that began with this line.
    pub(in crate::postgres) async fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> Result<Explored, ReadError> {
        let (before, last) = last_step(&line);
        let sql = "SELECT '', n, won_first, won_second, drawn FROM openings
                   WHERE game = $1 AND line = $2 AND move = $3
                   UNION ALL
                   SELECT move, n, won_first, won_second, drawn FROM openings
                   WHERE game = $1 AND line = $4 AND move > ''";
        let rows = self.query(sql, &[&game, &before, &last, &line]).await?;
        let tally = |row: &Row| {
            let count = |column| natural(row.get(column));
            let tally = Tally {
                n: count(1),
                won: [count(2), count(3)],
                drawn: count(4),
            };
            (row.get(0), tally)
        };
        Ok(Explored::of(rows.iter().map(tally)))
    }
}

fn past_match(row: &Row) -> Result<PastMatch, ReadError> {
    let id = plyhouse_protocol::MatchId(row.get(0));
    let read = || -> Result<PastMatch, String> {
        let seat: i16 = row.get(CREATION_COLUMNS + 1);
        let known = u8::try_from(seat).ok().and_then(Seat::from_number);
        let summary: Option<&str> = row.get(CREATION_COLUMNS);
        Ok(PastMatch {
            creation: creation(row)?,
            archived: archived_from_text(summary.unwrap_or_default())?,
            seat: known.ok_or_else(|| format!("there is no seat {seat}"))?,
            ended_ms: natural(row.get(CREATION_COLUMNS + 2)),
        })
    };
    read().map_err(|why| ReadError::Damaged(CorruptRecord { id, why }))
}
