//! Adds ended matches to the histories of their players.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join;
use plyhouse_protocol::{MatchId, PlayerId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::MatchRecord;
use crate::account_deletion::remove_names_from_events;
use crate::postgres::journal_rows::read_journal;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::postgres::shared_sql::to_row;
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row};
use crate::sql::{history, players, query_all};

/// Adds matches that have just ended to the histories, the opening statistics and the ledger. Each
/// match id is passed together with the end time of the match.
pub(super) async fn index_ended_matches(
    connection: &PgConnection,
    ended: &[(MatchId, u64)],
) -> Result<(), QueryError> {
    // Both queries are sent at once, without waiting for the first response. The database executes
    // the query for pending name removals first. If a deleted player is missing from its result,
    // matches that are read afterwards do not contain the player's name.
    let (deleted, mut records) = try_join(
        players::account_deletions(connection),
        read_records(connection, ended),
    )
    .await?;
    let deleted: BTreeSet<PlayerId> = deleted.into_iter().collect();
    for (record, _) in &mut records {
        remove_names_from_events(&mut record.events, &deleted);
    }
    history::index_ended_matches(connection, &records).await
}

/// Fills the histories with all matches that have already ended. The migration that introduces the
/// histories calls this function.
pub(in crate::postgres) async fn index_all_matches(
    connection: &PgConnection,
) -> Result<(), QueryError> {
    let sql = "SELECT m, ended_ms FROM matches WHERE m > $1 AND ended_ms IS NOT NULL
               ORDER BY m LIMIT 1000";
    let mut last = MatchId(Uuid::nil());
    loop {
        let ended: Vec<(MatchId, u64)> = query_all(connection, sql, &[last.into()]).await?;
        let Some((end, _)) = ended.last() else {
            return Ok(());
        };
        last = *end;
        let records = read_records(connection, &ended).await?;
        history::index_ended_matches(connection, &records).await?;
    }
}

/// Reads matches from their journals. Corrupt matches are skipped. Each match is passed and
/// returned together with its end time.
async fn read_records(
    connection: &PgConnection,
    ended: &[(MatchId, u64)],
) -> Result<Vec<(MatchRecord, u64)>, QueryError> {
    let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms,
                      j.n, j.last, j.seq, j.epoch, j.body
               FROM matches mt JOIN journal j ON j.m = mt.m
               WHERE mt.m = ANY ($1) ORDER BY mt.m, j.n";
    let ids: Vec<Uuid> = ended.iter().map(|(id, _)| id.0).collect();
    let end_times: BTreeMap<MatchId, u64> = ended.iter().copied().collect();
    let rows = connection.query(sql, &[&ids]).await?;
    let matches = rows.chunk_by(|one, other| one.get::<_, Uuid>(0) == other.get::<_, Uuid>(0));
    let records = matches.filter_map(|rows| {
        let id = MatchId(rows[0].get(0));
        let record = record_from_rows(rows).unwrap_or_else(|why| {
            tracing::warn!(match_id = %id, why, "ended match is corrupt, not indexed");
            None
        });
        Some((record?, *end_times.get(&id)?))
    });
    Ok(records.collect())
}

/// Reads a match from its rows. Returns a description of the fault if the match is corrupt.
fn record_from_rows(rows: &[Row]) -> Result<Option<MatchRecord>, String> {
    let read = read_journal(rows, CREATION_COLUMN_COUNT)?;
    let creation = creation_from_row(&to_row(&rows[0]))?;
    Ok(read.map(|(events, _)| MatchRecord { creation, events }))
}
