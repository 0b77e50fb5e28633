//! Writes analyses of ended matches and counts analysis requests.

use plyhouse_protocol::MatchId;

use super::Batch;
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::postgres::writer::WriteTask;
use crate::sql::analyses;
use crate::{AnalysisQuotaRequest, StoredAnalysis, WriteError};

/// Maximum number of expired request records that are deleted at a time.
const EXPIRY_BATCH_MAX: i64 = 1000;

impl Batch<'_> {
    /// Executes the tasks that store analyses, in the order of match ids.
    pub(super) async fn store_analyses(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| match task {
            WriteTask::StoreAnalysis(id, analysis) => Some((*id, index, analysis)),
            _ => None,
        });
        let mut tasks: Vec<(MatchId, usize, &StoredAnalysis)> = tasks.collect();
        tasks.sort_unstable_by_key(|(id, index, _)| (*id, *index));
        for (id, index, analysis) in tasks {
            if !analyses::store_analysis(connection, id, analysis).await? {
                self.results[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }

    /// Executes the tasks that count analysis requests, in the order of player ids.
    pub(super) async fn count_analysis_requests(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| match task {
            WriteTask::CountAnalysisRequest(request) => Some((index, request)),
            _ => None,
        });
        let mut tasks: Vec<(usize, &AnalysisQuotaRequest)> = tasks.collect();
        tasks.sort_unstable_by_key(|(index, request)| (request.player, *index));
        for (index, request) in tasks {
            if !count_request(connection, request).await? {
                self.results[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }
}

/// Records an analysis request in the player's first free slot of the quota. Returns `false` if no
/// slot is free, or if another server takes the slot at the same time.
async fn count_request(
    connection: &PgConnection,
    request: &AnalysisQuotaRequest,
) -> Result<bool, QueryError> {
    let (at_ms, since_ms) = (to_i64(request.at_ms), to_i64(request.since_ms));
    let sql = "DELETE FROM analyses_asked WHERE (player, no) IN (
                   SELECT player, no FROM analyses_asked WHERE asked_ms <= $1
                   LIMIT $2 FOR UPDATE SKIP LOCKED)";
    connection
        .query(sql, &[&since_ms, &EXPIRY_BATCH_MAX])
        .await?;
    let sql = "INSERT INTO analyses_asked (player, no, asked_ms)
               SELECT $1, free, $2 FROM generate_series(1, $3::int8) AS free
               WHERE NOT EXISTS (SELECT FROM analyses_asked
                                 WHERE player = $1 AND no = free AND asked_ms > $4)
               ORDER BY free LIMIT 1
               ON CONFLICT (player, no) DO UPDATE SET asked_ms = excluded.asked_ms
                   WHERE analyses_asked.asked_ms <= $4
               RETURNING no";
    let requests_max = i64::from(request.requests_max);
    let params: Params<'_> = &[&request.player.0, &at_ms, &requests_max, &since_ms];
    Ok(connection.query_opt(sql, params).await?.is_some())
}
