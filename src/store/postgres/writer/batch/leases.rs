//! Writes server leases and the match list.

use super::{Batch, WriteTask};
use crate::port::cluster_directory::{LEASE_DURATION, MatchListing, SEEK_RETENTION};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::sql::SqlWrite;

impl Batch<'_> {
    /// Renews leases. Deletes the leases of servers that shut down.
    pub(super) async fn update_leases(&self, connection: &PgConnection) -> Result<(), QueryError> {
        for task in self.tasks {
            match task {
                WriteTask::RenewLease(node) => {
                    let sql = "INSERT INTO node (id, expires)
                               VALUES ($1, now() + make_interval(secs => $2))
                               ON CONFLICT (id) DO UPDATE SET expires = excluded.expires";
                    let duration_s = LEASE_DURATION.as_secs_f64();
                    connection
                        .execute(sql, &[(*node).into(), duration_s.into()])
                        .await?;
                    delete_expired_nodes(connection).await?;
                }
                WriteTask::WithdrawLease(node) => {
                    let sql = "WITH gone AS (DELETE FROM node WHERE id = $1)
                               DELETE FROM seeks WHERE node = $1";
                    connection.execute(sql, &[(*node).into()]).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Updates match list entries.
    pub(super) async fn update_summaries(
        &self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        let summaries = self.tasks.iter().filter_map(|task| match task {
            WriteTask::UpdateSummaries(summaries) => Some(summaries),
            _ => None,
        });
        let mut summaries: Vec<&MatchListing> = summaries.flatten().collect();
        // If a batch contains several entries for the same match, only the last entry is stored.
        summaries.reverse();
        summaries.sort_by_key(|listing| listing.id);
        summaries.dedup_by_key(|listing| listing.id);
        let rows = summaries.iter().map(|listing| {
            let (status, summary) = (listing.status.as_str().into(), (&listing.summary).into());
            vec![listing.id.into(), status, listing.listed.into(), summary]
        });
        // All servers lock rows in the order of match ids. For an ended match, the query ignores
        // entries with any status except `ended`.
        //
        // The query joins the unnested arrays only with the table `matches`. The planner assumes
        // that an array has ten rows, and would therefore join two arrays with a nested loop.
        let sql = "WITH shown AS (
                       SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::bool[], $4::text[])
                           AS u (m, status, listed, card)),
                   found AS (
                       SELECT shown.* FROM matches mt JOIN shown ON shown.m = mt.m
                       WHERE mt.ended_ms IS NULL OR shown.status = 'ended'
                       ORDER BY mt.m FOR NO KEY UPDATE OF mt)
                   UPDATE matches mt
                   SET status = found.status, listed = found.listed, card = found.card
                   FROM found WHERE mt.m = found.m";
        connection.execute_arrays(sql, rows.collect()).await
    }
}

/// Deletes servers whose leases expired more than [`SEEK_RETENTION`] ago, and their seeks.
async fn delete_expired_nodes(connection: &PgConnection) -> Result<(), QueryError> {
    let sql = "WITH gone AS (
                   DELETE FROM node WHERE id IN (
                       SELECT id FROM node WHERE expires < now() - make_interval(secs => $1)
                       FOR UPDATE SKIP LOCKED)
                   RETURNING id)
               DELETE FROM seeks WHERE player IN (
                   SELECT player FROM seeks JOIN gone ON gone.id = seeks.node
                   FOR UPDATE OF seeks SKIP LOCKED)";
    let retention_s = SEEK_RETENTION.as_secs_f64();
    connection.execute(sql, &[retention_s.into()]).await?;
    Ok(())
}
