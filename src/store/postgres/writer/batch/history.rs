//! How matches that end are filed under all that they are found by.

use std::collections::BTreeMap;

use futures::future::{try_join, try_join_all};
use plyhouse_matches::Archived;
use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::MatchId;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::forgetting::still_named;
use super::ratings::{number, wait};
use crate::forgetting::take_out_of_archived;
use crate::history::{archived_to_text, played, steps};
use crate::postgres::journal::{CREATION_COLUMNS, Entries, creation, integer, natural};
use crate::postgres::link::{Failure, Session, Values};
use crate::{Record, Tally};

/// The records of matches, row by row.
const RECORDS: &str = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms,
                              j.n, j.last, j.seq, j.epoch, j.body
                       FROM matches mt JOIN journal j ON j.m = mt.m
                       WHERE mt.m = ANY ($1) ORDER BY mt.m, j.n";

const SUMMARIES: &str = "UPDATE matches SET summary = u.summary
                         FROM UNNEST($1::uuid[], $2::text[]) AS u (m, summary)
                         WHERE matches.m = u.m";

const PLAYED: &str = "INSERT INTO played (player, ended_ms, m, seat, game, other, result, open)
                      SELECT * FROM UNNEST($1::uuid[], $2::int8[], $3::uuid[], $4::int2[],
                                           $5::text[], $6::uuid[], $7::text[], $8::bool[])
                      ON CONFLICT DO NOTHING";

/// In one order, so that of two servers none waits for the other in a circle.
const OPENINGS: &str =
    "INSERT INTO openings AS o (game, line, move, n, won_first, won_second, drawn)
                        SELECT * FROM UNNEST($1::text[], $2::text[], $3::text[], $4::int8[],
                                             $5::int8[], $6::int8[], $7::int8[])
                        ON CONFLICT (game, line, move) DO UPDATE SET
                            n = o.n + excluded.n, won_first = o.won_first + excluded.won_first,
                            won_second = o.won_second + excluded.won_second,
                            drawn = o.drawn + excluded.drawn";

/// Files matches that have just ended, at these times.
pub(super) async fn file(session: &Session, ended: &[(MatchId, i64)]) -> Result<(), Failure> {
    let ids: Vec<Uuid> = ended.iter().map(|(id, _)| id.0).collect();
    // One after the other, though the first is not waited for.
    let values: Values<'_> = &[&ids];
    let (gone, rows) = try_join(still_named(session), session.query(RECORDS, values)).await?;
    let mut files = Files::default();
    files.add(&rows, &ended.iter().copied().collect());
    for (_, _, archived) in &mut files.0 {
        take_out_of_archived(archived, &gone);
    }
    let columns = files.columns();
    let statements = columns.statements();
    // None waits for another.
    let written = statements
        .iter()
        .map(|(sql, values)| session.query(sql, values));
    try_join_all(written).await?;
    let (mut rated, mut later) = (Vec::new(), Vec::new());
    for (record, ended_ms, _) in &files.0 {
        let Some(game) = record.rated_game() else {
            continue;
        };
        let row = LedgerRow::Game(Box::new(game));
        match record.numbered_ms(natural(*ended_ms)) {
            None => rated.push(row),
            Some(due_ms) => later.push((row, integer(due_ms))),
        }
    }
    wait(session, &later).await?;
    number(session, &rated).await
}

/// Files all matches that ended before there was anything to find them by.
pub(in crate::postgres) async fn file_all(
    transaction: &tokio_postgres::Transaction<'_>,
) -> Result<(), tokio_postgres::Error> {
    let sql = "SELECT m, ended_ms FROM matches WHERE m > $1 AND ended_ms IS NOT NULL
               ORDER BY m LIMIT 1000";
    let mut last = Uuid::nil();
    loop {
        let ended = transaction.query(sql, &[&last]).await?;
        let Some(end) = ended.last() else {
            return Ok(());
        };
        last = end.get(0);
        let ids: Vec<Uuid> = ended.iter().map(|row| row.get(0)).collect();
        let at = ended.iter().map(|row| (MatchId(row.get(0)), row.get(1)));
        let rows = transaction.query(RECORDS, &[&ids]).await?;
        let mut files = Files::default();
        files.add(&rows, &at.collect());
        for (sql, values) in files.columns().statements() {
            transaction.execute(sql, &values).await?;
        }
    }
}

/// Takes matches that are forgotten out again, of which these rows tell game and summary.
pub(in crate::postgres) async fn unfile(session: &Session, rows: &[Row]) -> Result<(), Failure> {
    let mut openings = Openings::default();
    for row in rows {
        let (game, summary): (&str, Option<&str>) = (row.get(1), row.get(2));
        let summary = summary.map(crate::history::archived_from_text);
        if let Some(Ok(archived)) = summary {
            openings.count(game, &archived, -1);
        }
    }
    if openings.0.is_empty() {
        return Ok(());
    }
    let columns = OpeningColumns::of(&openings);
    session.query(OPENINGS, &columns.values()).await?;
    let sql = "DELETE FROM openings o
               USING UNNEST($1::text[], $2::text[], $3::text[]) AS u (game, line, move)
               WHERE o.game = u.game AND o.line = u.line AND o.move = u.move AND o.n <= 0";
    let values = columns.values();
    session.query(sql, &values[..3]).await?;
    Ok(())
}

/// Matches with what they came to.
#[derive(Default)]
struct Files(Vec<(Record, i64, Archived)>);

impl Files {
    /// Adds those matches of these rows, in their order, that began and make sense.
    fn add(&mut self, rows: &[Row], ended_ms: &BTreeMap<MatchId, i64>) {
        for rows in rows.chunk_by(|one, other| one.get::<_, Uuid>(0) == other.get::<_, Uuid>(0)) {
            let id = MatchId(rows[0].get(0));
            let read = || -> Result<Option<Record>, String> {
                let entries = Entries::read(id, rows, CREATION_COLUMNS);
                let read = entries.map_err(|damage| damage.why)?.finish();
                let creation = creation(&rows[0])?;
                Ok(read.map(|(events, _)| Record { creation, events }))
            };
            let record = read().unwrap_or_else(|why| {
                tracing::warn!(match_id = %id, why, "an ended match is not filed");
                None
            });
            if let Some(record) = record
                && let Some(archived) = record.archived()
                && let Some(ended_ms) = ended_ms.get(&id)
            {
                self.0.push((record, *ended_ms, archived));
            }
        }
    }

    fn columns(&self) -> Columns<'_> {
        let mut columns = Columns::default();
        let mut openings = Openings::default();
        for (record, ended_ms, archived) in &self.0 {
            let creation = &record.creation;
            columns.ids.push(creation.id.0);
            columns.summaries.push(archived_to_text(archived));
            for played in played(archived) {
                columns.players.push(played.player.0);
                columns.ended_ms.push(*ended_ms);
                columns.matches.push(creation.id.0);
                columns.seats.push(played.seat.number().into());
                columns.games.push(creation.game.info.id);
                columns.others.push(played.other.map(|other| other.0));
                columns.results.push(played.result.as_str());
                columns.open.push(creation.terms.is_public());
            }
            openings.count(creation.game.info.id, archived, 1);
        }
        columns.openings = OpeningColumns::of(&openings);
        columns
    }
}

/// What is written of matches, column by column.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<Uuid>,
    summaries: Vec<String>,
    players: Vec<Uuid>,
    ended_ms: Vec<i64>,
    matches: Vec<Uuid>,
    seats: Vec<i16>,
    games: Vec<&'a str>,
    others: Vec<Option<Uuid>>,
    results: Vec<&'a str>,
    open: Vec<bool>,
    openings: OpeningColumns,
}

impl Columns<'_> {
    /// The statements that write them.
    fn statements(&self) -> Vec<(&'static str, Vec<&(dyn ToSql + Sync)>)> {
        let mut statements: Vec<(&'static str, Vec<&(dyn ToSql + Sync)>)> = Vec::new();
        if !self.ids.is_empty() {
            statements.push((SUMMARIES, vec![&self.ids, &self.summaries]));
        }
        if !self.players.is_empty() {
            let played: Vec<&(dyn ToSql + Sync)> = vec![
                &self.players,
                &self.ended_ms,
                &self.matches,
                &self.seats,
                &self.games,
                &self.others,
                &self.results,
                &self.open,
            ];
            statements.push((PLAYED, played));
        }
        if !self.openings.games.is_empty() {
            statements.push((OPENINGS, self.openings.values().to_vec()));
        }
        statements
    }
}

/// How matches began, by game, line and move.
#[derive(Default)]
struct Openings(BTreeMap<(String, String, String), [i64; 4]>);

impl Openings {
    /// Counts a match so often.
    fn count(&mut self, game: &str, archived: &Archived, times: i64) {
        let Tally { n, won, drawn } = Tally::of(archived);
        let counts = [n, won[0], won[1], drawn].map(|count| times * integer(count));
        for (line, m) in archived.opening.iter().flat_map(|opening| steps(opening)) {
            let step = (game.to_owned(), line.to_owned(), m.to_owned());
            let counted = self.0.entry(step).or_default();
            for (all, more) in counted.iter_mut().zip(counts) {
                *all += more;
            }
        }
    }
}

/// How matches began, column by column.
#[derive(Default)]
struct OpeningColumns {
    games: Vec<String>,
    lines: Vec<String>,
    moves: Vec<String>,
    counts: [Vec<i64>; 4],
}

impl OpeningColumns {
    fn of(openings: &Openings) -> Self {
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

    fn values(&self) -> [&(dyn ToSql + Sync); 7] {
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
