//! Changes the owners of matches. After a takeover, appends of the previous owner fail with a
//! conflict.

use std::collections::{BTreeMap, btree_map::Entry};

use plyhouse_protocol::MatchId;

use super::{Batch, WriteTask};
use crate::port::cluster_directory::OWNERSHIP_MIN;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::postgres::shared_sql::{to_arrays, to_columns};
use crate::sql::{query_all, query_first};
use crate::{NodeId, WriteError};

/// Maximum number of attempts to append a fence to a journal. An attempt fails if another
/// transaction appends to the same journal at the same time.
const FENCE_ATTEMPTS_MAX: usize = 10;

impl Batch<'_> {
    /// Executes all takeovers of the batch together. After a server failure, the clients of all its
    /// matches wait for the takeovers.
    pub(super) async fn take_over_all(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        let (mut indices, mut rows) = (BTreeMap::new(), Vec::new());
        for (index, task) in self.tasks.iter().enumerate() {
            let WriteTask::TakeOver { id, owner, from } = task else {
                continue;
            };
            // If two tasks take over the same match, the later task fails.
            self.results[index] = Err(WriteError::Conflict);
            if let Entry::Vacant(entry) = indices.entry(*id) {
                entry.insert(index);
                rows.push(vec![(*id).into(), (*owner).into(), (*from).into()]);
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let sql = "WITH wanted AS (
                       SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[]) AS u (m, owner, before)),
                   found AS (
                       SELECT mt.m, wanted.owner FROM matches mt JOIN wanted ON wanted.m = mt.m
                       WHERE mt.node IS NOT DISTINCT FROM wanted.before
                         AND (mt.taken_at IS NULL OR mt.taken_at <= now() - make_interval(secs => $4))
                       ORDER BY mt.m FOR NO KEY UPDATE OF mt)
                   UPDATE matches mt SET node = found.owner, epoch = mt.epoch + 1, taken_at = now()
                   FROM found WHERE mt.m = found.m RETURNING mt.m, mt.epoch";
        let columns = to_columns(&rows);
        let mut params = to_arrays(&columns);
        params.push(OWNERSHIP_MIN.as_secs_f64().into());
        let taken: Vec<(MatchId, u64)> = query_all(connection, sql, &params).await?;
        for (id, _) in &taken {
            self.results[indices[id]] = Ok(());
        }
        for id in insert_fences(connection, taken).await? {
            self.results[indices[&id]] = Err(WriteError::OutcomeUnknown);
        }
        Ok(())
    }
}

/// Changes the owner of a match to the server `owner`, regardless of the previous owner. Does
/// nothing if the match has ended or if `owner` already owns it.
pub(super) async fn claim_match(
    connection: &PgConnection,
    id: MatchId,
    owner: NodeId,
) -> Result<Result<(), WriteError>, QueryError> {
    let sql = "UPDATE matches SET node = $2, epoch = epoch + 1, taken_at = now()
               WHERE m = $1 AND ended_ms IS NULL AND node IS DISTINCT FROM $2 RETURNING epoch";
    let epoch = query_first(connection, sql, &[id.into(), owner.into()]).await?;
    let taken = epoch.map(|epoch| (id, epoch)).into_iter().collect();
    let unfenced = insert_fences(connection, taken).await?;
    let is_fenced = unfenced.is_empty();
    Ok(is_fenced.then_some(()).ok_or(WriteError::OutcomeUnknown))
}

/// Appends a fence to the journal of each match. A fence is a journal entry without events that
/// contains the new epoch. The epoch counts the takeovers of the match. Returns the matches that
/// received no fence, because every attempt lost against a concurrent append.
async fn insert_fences(
    connection: &PgConnection,
    mut unfenced: Vec<(MatchId, u64)>,
) -> Result<Vec<MatchId>, QueryError> {
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, j.last + 1, j.last + 1, j.seq, u.epoch, '[]'
               FROM UNNEST($1::uuid[], $2::int8[]) AS u (m, epoch),
                    LATERAL (SELECT last, seq FROM journal p
                             WHERE p.m = u.m ORDER BY p.n DESC LIMIT 1) j
               ORDER BY u.m ON CONFLICT DO NOTHING RETURNING m";
    for _ in 0..FENCE_ATTEMPTS_MAX {
        if unfenced.is_empty() {
            break;
        }
        let rows = unfenced
            .iter()
            .map(|(id, epoch)| vec![(*id).into(), (*epoch).into()]);
        let fenced = connection.query_match_ids(sql, rows.collect()).await?;
        unfenced.retain(|(id, _)| !fenced.contains(id));
    }
    Ok(unfenced.into_iter().map(|(id, _)| id).collect())
}
