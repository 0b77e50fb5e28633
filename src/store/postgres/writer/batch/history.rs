//! Adds ended matches to the history, the opening statistics and the ledger.

use std::collections::BTreeMap;

use futures::future::{try_join, try_join_all};
use plyhouse_matches::EndedMatchSummary;
use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::MatchId;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::account_deletion::pending_name_removals;
use super::ratings::{insert_waiting_rows, number_rows};
use crate::account_deletion::remove_names_from_summary;
use crate::postgres::journal_rows::{
    CREATION_COLUMN_COUNT, JournalEntries, creation_from_row, to_i64, to_u64,
};
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::records::past_matches::{opening_steps, seat_results, summary_to_text};
use crate::{MatchRecord, Tally};

/// Selects the creation data and journal rows of matches.
const SELECT_RECORDS: &str = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms,
                              j.n, j.last, j.seq, j.epoch, j.body
                       FROM matches mt JOIN journal j ON j.m = mt.m
                       WHERE mt.m = ANY ($1) ORDER BY mt.m, j.n";

const UPDATE_SUMMARIES: &str = "UPDATE matches SET summary = u.summary
                         FROM UNNEST($1::uuid[], $2::text[]) AS u (m, summary)
                         WHERE matches.m = u.m";

const INSERT_PLAYED: &str =
    "INSERT INTO played (player, ended_ms, m, seat, game, other, result, open)
                      SELECT * FROM UNNEST($1::uuid[], $2::int8[], $3::uuid[], $4::int2[],
                                           $5::text[], $6::uuid[], $7::text[], $8::bool[])
                      ON CONFLICT DO NOTHING";

/// Statement that adds counts to the opening statistics. The caller passes the rows in sorted
/// order, so that two servers do not deadlock.
const UPSERT_OPENINGS: &str =
    "INSERT INTO openings AS o (game, line, move, n, won_first, won_second, drawn)
                        SELECT * FROM UNNEST($1::text[], $2::text[], $3::text[], $4::int8[],
                                             $5::int8[], $6::int8[], $7::int8[])
                        ON CONFLICT (game, line, move) DO UPDATE SET
                            n = o.n + excluded.n, won_first = o.won_first + excluded.won_first,
                            won_second = o.won_second + excluded.won_second,
                            drawn = o.drawn + excluded.drawn";

/// Adds matches that have just ended to the history. Each match id is passed together with the end
/// time of the match.
pub(super) async fn index_ended_matches(
    connection: &PgConnection,
    ended: &[(MatchId, i64)],
) -> Result<(), QueryError> {
    let ids: Vec<Uuid> = ended.iter().map(|(id, _)| id.0).collect();
    // Both queries are sent at once, without waiting for the first response. The database executes
    // the query for pending name removals first.
    let params: Params<'_> = &[&ids];
    let (deleted, rows) = try_join(
        pending_name_removals(connection),
        connection.query(SELECT_RECORDS, params),
    )
    .await?;
    let mut matches = EndedMatches::default();
    matches.add_rows(&rows, &ended.iter().copied().collect());
    for (_, _, summary) in &mut matches.0 {
        remove_names_from_summary(summary, &deleted);
    }
    let columns = matches.to_columns();
    let statements = columns.statements();
    // The statements do not depend on each other, so they are sent together.
    let writes = statements
        .iter()
        .map(|(sql, values)| connection.query(sql, values));
    try_join_all(writes).await?;
    let (mut rated_rows, mut delayed_rows) = (Vec::new(), Vec::new());
    for (record, ended_ms, _) in &matches.0 {
        let Some(game) = record.rated_game() else {
            continue;
        };
        let row = LedgerRow::Game(Box::new(game));
        match record.numbering_due_ms(to_u64(*ended_ms)) {
            None => rated_rows.push(row),
            Some(due_ms) => delayed_rows.push((row, to_i64(due_ms))),
        }
    }
    insert_waiting_rows(connection, &delayed_rows).await?;
    number_rows(connection, &rated_rows).await
}

/// Fills the history with all matches that have already ended. The migration that introduces the
/// history calls this function.
pub(in crate::postgres) async fn index_all_matches(
    transaction: &tokio_postgres::Transaction<'_>,
) -> Result<(), tokio_postgres::Error> {
    let sql = "SELECT m, ended_ms FROM matches WHERE m > $1 AND ended_ms IS NOT NULL
               ORDER BY m LIMIT 1000";
    let mut last = Uuid::nil();
    loop {
        let ended = transaction.query(sql, &[&last]).await?;
        let Some(last_row) = ended.last() else {
            return Ok(());
        };
        last = last_row.get(0);
        let ids: Vec<Uuid> = ended.iter().map(|row| row.get(0)).collect();
        let end_times = ended.iter().map(|row| (MatchId(row.get(0)), row.get(1)));
        let rows = transaction.query(SELECT_RECORDS, &[&ids]).await?;
        let mut matches = EndedMatches::default();
        matches.add_rows(&rows, &end_times.collect());
        for (sql, values) in matches.to_columns().statements() {
            transaction.execute(sql, &values).await?;
        }
    }
}

/// Removes deleted matches from the opening statistics. Each row contains the id, game and summary
/// of a deleted match.
pub(in crate::postgres) async fn unindex_matches(
    connection: &PgConnection,
    rows: &[Row],
) -> Result<(), QueryError> {
    let mut openings = OpeningCounts::default();
    for row in rows {
        let (game, summary): (&str, Option<&str>) = (row.get(1), row.get(2));
        let summary = summary.map(crate::records::past_matches::summary_from_text);
        if let Some(Ok(summary)) = summary {
            openings.add_match(game, &summary, -1);
        }
    }
    if openings.0.is_empty() {
        return Ok(());
    }
    let columns = OpeningColumns::from_counts(&openings);
    connection.query(UPSERT_OPENINGS, &columns.params()).await?;
    let sql = "DELETE FROM openings o
               USING UNNEST($1::text[], $2::text[], $3::text[]) AS u (game, line, move)
               WHERE o.game = u.game AND o.line = u.line AND o.move = u.move AND o.n <= 0";
    let values = columns.params();
    connection.query(sql, &values[..3]).await?;
    Ok(())
}

/// Ended matches, each with its end time and summary.
#[derive(Default)]
struct EndedMatches(Vec<(MatchRecord, i64, EndedMatchSummary)>);

impl EndedMatches {
    /// Adds the matches in these rows, except corrupt matches and matches without a summary. All
    /// rows of a match must be adjacent.
    fn add_rows(&mut self, rows: &[Row], ended_ms: &BTreeMap<MatchId, i64>) {
        for rows in rows.chunk_by(|one, other| one.get::<_, Uuid>(0) == other.get::<_, Uuid>(0)) {
            let id = MatchId(rows[0].get(0));
            let read = || -> Result<Option<MatchRecord>, String> {
                let entries = JournalEntries::from_rows(id, rows, CREATION_COLUMN_COUNT);
                let read = entries.map_err(|damage| damage.reason)?.into_events();
                let creation = creation_from_row(&rows[0])?;
                Ok(read.map(|(events, _)| MatchRecord { creation, events }))
            };
            let record = read().unwrap_or_else(|why| {
                tracing::warn!(match_id = %id, why, "ended match is corrupt, not indexed");
                None
            });
            if let Some(record) = record
                && let Some(summary) = record.summary()
                && let Some(ended_ms) = ended_ms.get(&id)
            {
                self.0.push((record, *ended_ms, summary));
            }
        }
    }

    fn to_columns(&self) -> HistoryColumns<'_> {
        let mut columns = HistoryColumns::default();
        let mut openings = OpeningCounts::default();
        for (record, ended_ms, summary) in &self.0 {
            let creation = &record.creation;
            columns.ids.push(creation.id.0);
            columns.summaries.push(summary_to_text(summary));
            for seat_result in seat_results(summary) {
                columns.players.push(seat_result.player.0);
                columns.ended_ms.push(*ended_ms);
                columns.matches.push(creation.id.0);
                columns.seats.push(seat_result.seat.number().into());
                columns.games.push(creation.game.info.id);
                columns
                    .opponents
                    .push(seat_result.opponent.map(|other| other.0));
                columns.results.push(seat_result.result.as_str());
                columns.is_public.push(creation.terms.is_public());
            }
            openings.add_match(creation.game.info.id, summary, 1);
        }
        columns.openings = OpeningColumns::from_counts(&openings);
        columns
    }
}

/// Column values of the history rows.
#[derive(Default)]
struct HistoryColumns<'a> {
    ids: Vec<Uuid>,
    summaries: Vec<String>,
    players: Vec<Uuid>,
    ended_ms: Vec<i64>,
    matches: Vec<Uuid>,
    seats: Vec<i16>,
    games: Vec<&'a str>,
    opponents: Vec<Option<Uuid>>,
    results: Vec<&'a str>,
    is_public: Vec<bool>,
    openings: OpeningColumns,
}

impl HistoryColumns<'_> {
    /// Returns the statements that write the rows, with their parameters.
    fn statements(&self) -> Vec<(&'static str, Vec<&(dyn ToSql + Sync)>)> {
        let mut statements: Vec<(&'static str, Vec<&(dyn ToSql + Sync)>)> = Vec::new();
        if !self.ids.is_empty() {
            statements.push((UPDATE_SUMMARIES, vec![&self.ids, &self.summaries]));
        }
        if !self.players.is_empty() {
            let played_values: Vec<&(dyn ToSql + Sync)> = vec![
                &self.players,
                &self.ended_ms,
                &self.matches,
                &self.seats,
                &self.games,
                &self.opponents,
                &self.results,
                &self.is_public,
            ];
            statements.push((INSERT_PLAYED, played_values));
        }
        if !self.openings.games.is_empty() {
            statements.push((UPSERT_OPENINGS, self.openings.params().to_vec()));
        }
        statements
    }
}

/// Results of matches, grouped by game, opening line and next move. Each array contains the number
/// of matches, the first seat's wins, the second seat's wins, and the draws.
#[derive(Default)]
struct OpeningCounts(BTreeMap<(String, String, String), [i64; 4]>);

impl OpeningCounts {
    /// Adds the result of a match to the counts if `weight` is 1. Removes the result of the match
    /// from the counts if `weight` is -1.
    fn add_match(&mut self, game: &str, summary: &EndedMatchSummary, weight: i64) {
        let Tally {
            matches,
            wins,
            draws,
        } = Tally::from_summary(summary);
        let counts = [matches, wins[0], wins[1], draws].map(|count| weight * to_i64(count));
        for (line, m) in summary
            .opening
            .iter()
            .flat_map(|opening| opening_steps(opening))
        {
            let key = (game.to_owned(), line.to_owned(), m.to_owned());
            let totals = self.0.entry(key).or_default();
            for (total, count) in totals.iter_mut().zip(counts) {
                *total += count;
            }
        }
    }
}

/// Column values of the opening statistics.
#[derive(Default)]
struct OpeningColumns {
    games: Vec<String>,
    lines: Vec<String>,
    moves: Vec<String>,
    counts: [Vec<i64>; 4],
}

impl OpeningColumns {
    fn from_counts(openings: &OpeningCounts) -> Self {
        let mut columns = Self::default();
        for ((game, line, m), counts) in &openings.0 {
            columns.games.push(game.clone());
            columns.lines.push(line.clone());
            columns.moves.push(m.clone());
            for (column, count) in columns.counts.iter_mut().zip(counts) {
                column.push(*count);
            }
        }
        columns
    }

    fn params(&self) -> [&(dyn ToSql + Sync); 7] {
        let [n, first, second, drawn] = &self.counts;
        [
            &self.games,
            &self.lines,
            &self.moves,
            n,
            first,
            second,
            drawn,
        ]
    }
}
