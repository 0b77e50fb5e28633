//! Ended matches: the histories of players, and the opening statistics.

use std::collections::BTreeMap;

use futures::future::try_join3;
use plyhouse_matches::EndedMatchSummary;
use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::{MatchId, MatchResult};
use uuid::Uuid;

use super::matches::{CREATION_COLUMN_COUNT, creation_from_row};
use super::rating_ledger::{insert_waiting_rows, number_rows};
use super::{Row, Sql, SqlWrite, Value, execute_each, query_first};
use crate::records::ended_match::EndedMatch;
use crate::records::past_matches::{opening_steps, seat_results, summary_from_text};
use crate::records::to_json;
use crate::{CorruptRecord, HistoryQuery, Opponent, PastMatch, Tally};

/// Adds ended matches to the histories of their players, the opening statistics and the ledger.
pub(crate) async fn index_ended_matches<S: SqlWrite>(
    db: &S,
    matches: &[EndedMatch],
) -> Result<(), S::Error> {
    let texts: Vec<String> = matches
        .iter()
        .map(|ended| to_json(&ended.summary))
        .collect();
    let summaries = matches.iter().zip(&texts);
    let summaries = summaries.map(|(ended, text)| vec![ended.id.into(), text.into()]);
    let summaries: Vec<Vec<Value<'_>>> = summaries.collect();
    let update_summary = "UPDATE matches SET summary = ?2 WHERE matches.id = ?1";
    let played: Vec<Vec<Value<'_>>> = matches.iter().flat_map(played_rows).collect();
    let insert_played =
        "INSERT INTO played (player, ended_ms, match, seat, game, other, result, open)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
    let mut openings = OpeningCounts::default();
    for ended in matches {
        openings.add_match(ended.game, &ended.summary, 1);
    }
    // The statements do not depend on each other, so they are sent together.
    try_join3(
        execute_each(db, update_summary, &summaries),
        db.insert_all(insert_played, &played),
        openings.store(db),
    )
    .await?;
    add_to_ledger(db, matches).await
}

/// Returns the rows of a match in the histories of its players.
fn played_rows(ended: &EndedMatch) -> impl Iterator<Item = Vec<Value<'_>>> {
    seat_results(&ended.summary).map(|seat_result| {
        vec![
            seat_result.player.into(),
            ended.ended_ms.into(),
            ended.id.into(),
            seat_result.seat.into(),
            ended.game.into(),
            seat_result.opponent.into(),
            seat_result.result.as_str().into(),
            ended.is_public.into(),
        ]
    })
}

/// Adds the rated ones of the given matches to the ledger.
async fn add_to_ledger<S: SqlWrite>(db: &S, matches: &[EndedMatch]) -> Result<(), S::Error> {
    let (mut numbered_rows, mut waiting_rows) = (Vec::new(), Vec::new());
    for ended in matches {
        let Some(game) = &ended.rated_game else {
            continue;
        };
        let row = LedgerRow::Game(Box::new(game.clone()));
        match ended.numbering_due_ms {
            None => numbered_rows.push(row),
            Some(due_ms) => waiting_rows.push((row, due_ms)),
        }
    }
    // The ledger does not exist yet while a migration fills the histories, which contain no rated
    // matches then.
    if !waiting_rows.is_empty() {
        insert_waiting_rows(db, &waiting_rows).await?;
    }
    if !numbered_rows.is_empty() {
        number_rows(db, &numbered_rows).await?;
    }
    Ok(())
}

/// Removes deleted matches from the opening statistics. Each match is passed as its game and its
/// summary.
pub(crate) async fn remove_from_openings<S: SqlWrite>(
    db: &S,
    matches: &[(String, EndedMatchSummary)],
) -> Result<(), S::Error> {
    let mut openings = OpeningCounts::default();
    for (game, summary) in matches {
        openings.add_match(game, summary, -1);
    }
    openings.store(db).await?;
    let keys = openings.0.keys();
    let keys: Vec<Vec<Value<'_>>> = keys.map(|key| key.map(Into::into).to_vec()).collect();
    let sql = "DELETE FROM openings WHERE game = ?1 AND line = ?2 AND move = ?3 AND n <= 0";
    execute_each(db, sql, &keys).await
}

/// Results of matches, grouped by game, opening line and next move. Each value contains the number
/// of matches, the first seat's wins, the second seat's wins, and the draws.
#[derive(Default)]
struct OpeningCounts<'a>(BTreeMap<[&'a str; 3], [i64; 4]>);

impl<'a> OpeningCounts<'a> {
    /// Adds the result of a match to the counts if `weight` is 1. Removes the result of the match
    /// from the counts if `weight` is -1.
    fn add_match(&mut self, game: &'a str, summary: &'a EndedMatchSummary, weight: i64) {
        let Some(opening) = &summary.opening else {
            return;
        };
        let Tally {
            matches,
            wins,
            draws,
        } = Tally::from_summary(summary);
        let counts = [matches, wins[0], wins[1], draws];
        for (line, m) in opening_steps(opening) {
            let totals = self.0.entry([game, line, m]).or_default();
            for (total, count) in totals.iter_mut().zip(counts) {
                *total += weight * count.cast_signed();
            }
        }
    }

    /// Adds the counts to the opening statistics. The rows are sorted, so that two servers do not
    /// deadlock.
    async fn store<S: SqlWrite>(&self, db: &S) -> Result<(), S::Error> {
        let sql = "INSERT INTO openings (game, line, move, n, won_first, won_second, drawn)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                   ON CONFLICT (game, line, move) DO UPDATE SET
                       n = openings.n + excluded.n, drawn = openings.drawn + excluded.drawn,
                       won_first = openings.won_first + excluded.won_first,
                       won_second = openings.won_second + excluded.won_second";
        let rows = self.0.iter().map(|(key, counts)| {
            let keys = key.iter().map(|&text| text.into());
            keys.chain(counts.map(Value::Int)).collect()
        });
        db.insert_all(sql, &rows.collect::<Vec<_>>()).await
    }
}

/// Selects ended matches of a player. `CROSS JOIN` makes SQLite read the table `played` in
/// primary-key order. SQLite then looks up only the matches that are returned.
pub(crate) const SELECT_HISTORY: &str =
    "SELECT matches.id, code, matches.game, host, terms, summary, p.seat, p.ended_ms
    FROM played p CROSS JOIN matches
    WHERE matches.id = p.match AND p.player = ?1 AND (p.ended_ms, p.match) < (?2, ?3)
      AND (p.game = ?4 OR ?4 IS NULL)
      AND (?5 OR p.other IS NOT DISTINCT FROM ?6)
      AND (p.result = ?7 OR ?7 IS NULL)
      AND (p.open OR p.player = ?8 OR p.other = ?8)
    ORDER BY p.ended_ms DESC, p.match DESC LIMIT ?9";

/// Returns the ended matches of a player that satisfy the query. The match that ended most recently
/// comes first. Returns `None` if `query.before` is not the id of an ended match.
pub(crate) async fn history_page<S: Sql>(
    db: &S,
    query: &HistoryQuery,
) -> Result<Result<Option<Vec<PastMatch>>, CorruptRecord>, S::Error> {
    // Without `query.before`, the list of matches begins with the match that ended most recently.
    let mut before = (u64::MAX, MatchId(Uuid::max()));
    if let Some(id) = query.before {
        let sql = "SELECT ended_ms FROM matches WHERE matches.id = ?1 AND ended_ms IS NOT NULL";
        match query_first(db, sql, &[id.into()]).await? {
            Some(ended_ms) => before = (ended_ms, id),
            None => return Ok(Ok(None)),
        }
    }
    let opponent = match query.opponent {
        Some(Opponent::Player(id)) => Some(id),
        Some(Opponent::Bot) | None => None,
    };
    let params = [
        query.player.into(),
        before.0.into(),
        before.1.into(),
        query.game.into(),
        query.opponent.is_none().into(),
        opponent.into(),
        query.result.map(MatchResult::as_str).into(),
        query.viewer.into(),
        query.limit.into(),
    ];
    let rows = db.query(SELECT_HISTORY, &params).await?;
    let mut matches = Vec::with_capacity(rows.len());
    for row in &rows {
        match past_match_from_row(row) {
            Ok(past_match) => matches.push(past_match),
            Err(reason) => {
                let id = row.get(0)?;
                return Ok(Err(CorruptRecord { id, reason }));
            }
        }
    }
    Ok(Ok(Some(matches)))
}

fn past_match_from_row(row: &Row) -> Result<PastMatch, String> {
    Ok(PastMatch {
        creation: creation_from_row(row)?,
        summary: summary_from_text(row.text(CREATION_COLUMN_COUNT)?)?,
        seat: row.get(CREATION_COLUMN_COUNT + 1)?,
        ended_ms: row.get(CREATION_COLUMN_COUNT + 2)?,
    })
}
