//! Adds ended matches to the histories of their players.

use std::collections::BTreeSet;

use futures::future::try_join;
use plyhouse_protocol::{MatchId, PlayerId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::postgres::journal_rows::read_journal;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::postgres::shared_sql::to_row;
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row};
use crate::sql::{history, players, query_all};
use crate::{EndedMatch, MatchRecord};

/// Adds matches that have just ended to the histories, the opening statistics and the ledger.
pub(super) async fn index_ended_matches(
    connection: &PgConnection,
    ended: &[MatchId],
) -> Result<(), QueryError> {
    // Both queries are sent at once, without waiting for the first response. The database executes
    // the query for pending name removals first. If a deleted player is missing from its result,
    // matches that are read afterwards do not contain the player's name.
    let (deleted, mut ended) = try_join(
        players::account_deletions(connection),
        load_ended_matches(connection, ended),
    )
    .await?;
    let deleted: BTreeSet<PlayerId> = deleted.into_iter().collect();
    for ended in &mut ended {
        ended.remove_names(&deleted);
    }
    history::index_ended_matches(connection, &ended).await
}

/// Fills the histories with all matches that have already ended. The migration that introduces the
/// histories calls this function.
pub(in crate::postgres) async fn index_all_matches(
    connection: &PgConnection,
) -> Result<(), QueryError> {
    let sql = "SELECT m FROM matches WHERE m > $1 AND ended_ms IS NOT NULL
               ORDER BY m LIMIT 1000";
    let mut last = MatchId(Uuid::nil());
    loop {
        let ids: Vec<MatchId> = query_all(connection, sql, &[last.into()]).await?;
        let Some(end) = ids.last() else {
            return Ok(());
        };
        last = *end;
        let ended = load_ended_matches(connection, &ids).await?;
        history::index_ended_matches(connection, &ended).await?;
    }
}

/// Reads ended matches from their journals. Skips matches that are corrupt, did not start or are
/// excluded from histories.
async fn load_ended_matches(
    connection: &PgConnection,
    ids: &[MatchId],
) -> Result<Vec<EndedMatch>, QueryError> {
    let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms,
                      j.n, j.last, j.seq, j.epoch, j.body
               FROM matches mt JOIN journal j ON j.m = mt.m
               WHERE mt.m = ANY ($1) ORDER BY mt.m, j.n";
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = connection.query(sql, &[&ids]).await?;
    let matches = rows.chunk_by(|one, other| one.get::<_, Uuid>(0) == other.get::<_, Uuid>(0));
    let ended = matches.filter_map(|rows| {
        let id = MatchId(rows[0].get(0));
        let record = record_from_rows(rows).unwrap_or_else(|why| {
            tracing::warn!(match_id = %id, why, "ended match is corrupt, not indexed");
            None
        });
        record?.to_ended_match()
    });
    Ok(ended.collect())
}

/// Reads a match from its rows. Returns a description of the fault if the match is corrupt.
fn record_from_rows(rows: &[Row]) -> Result<Option<MatchRecord>, String> {
    let read = read_journal(rows, CREATION_COLUMN_COUNT)?;
    let creation = creation_from_row(&to_row(&rows[0]))?;
    Ok(read.map(|(events, _)| MatchRecord { creation, events }))
}
