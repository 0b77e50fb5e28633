//! Executes the writes that SQLite and PostgreSQL share.

use super::{Batch, WriteTask};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::sql::writes::{SharedWrite, WriteOrder, apply};
use crate::sql::{SqlWrite, exists, players};
use crate::{AnalysisQuotaRequest, IdentityChange, conflict_unless};

/// Key of the advisory lock that lets only one server at a time change identity data.
const IDENTITY_LOCK: i64 = 0x706c_7968_6f75_7367;

/// Maximum number of expired analysis requests that are deleted at a time.
const EXPIRY_BATCH_MAX: i64 = 1000;

impl Batch<'_> {
    pub(super) async fn add_players(&self, connection: &PgConnection) -> Result<(), QueryError> {
        let added = self.shared_writes().filter_map(|(_, write)| match write {
            SharedWrite::AddPlayer(player, sessions) => Some((player, sessions)),
            _ => None,
        });
        let (players, sessions): (Vec<_>, Vec<_>) = added.unzip();
        let sessions = sessions.into_iter().flatten().collect();
        players::add_players(connection, players, sessions).await
    }

    /// Applies the identity changes in the order of the tasks. A lock serializes the identity
    /// changes of all servers. Without the lock, two servers could deadlock or jointly exceed a
    /// limit.
    pub(super) async fn change_identities(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        if self.shared_writes().any(|(_, write)| requires_lock(write)) {
            let sql = "SELECT pg_advisory_xact_lock($1)";
            connection.execute(sql, &[IDENTITY_LOCK.into()]).await?;
        }
        self.apply(connection, |order| order == WriteOrder::Identity)
            .await
    }

    /// Applies the writes that follow the identity changes. The caller must have executed the
    /// appends: every transaction locks the end of the ledger before it locks a rating version, and
    /// the appends may lock the end of the ledger.
    pub(super) async fn apply_other_writes(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        self.apply(connection, |order| order > WriteOrder::Identity)
            .await
    }

    /// Applies the writes whose order is selected, in this order. Writes with the same order are
    /// applied in the order of the tasks.
    async fn apply(
        &mut self,
        connection: &PgConnection,
        is_selected: impl Fn(WriteOrder) -> bool,
    ) -> Result<(), QueryError> {
        let writes = self.shared_writes();
        let mut writes: Vec<(usize, &SharedWrite)> = writes
            .filter(|(_, write)| is_selected(write.order()))
            .collect();
        writes.sort_by_key(|(_, write)| write.order());
        for (index, write) in writes {
            self.results[index] = conflict_unless(apply(connection, write).await?);
        }
        Ok(())
    }
}

impl<'a> Batch<'a> {
    /// Returns the shared writes of the batch, with the indices of their tasks.
    fn shared_writes(&self) -> impl Iterator<Item = (usize, &'a SharedWrite)> + use<'a> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter_map(|(index, task)| match task {
            WriteTask::Shared(write) => Some((index, write)),
            _ => None,
        })
    }
}

/// Returns whether a write requires the identity lock. The day of a session's last use need not be
/// exact, so storing it does not require the lock.
const fn requires_lock(write: &SharedWrite) -> bool {
    matches!(write, SharedWrite::ChangeIdentity(change) if !matches!(change, IdentityChange::TouchSession(..)))
}

/// Records an analysis request in the player's first free slot of the quota. Returns `false` if no
/// slot is free, or if another server takes the slot at the same time.
pub(in crate::postgres) async fn count_analysis_request(
    connection: &PgConnection,
    request: &AnalysisQuotaRequest,
) -> Result<bool, QueryError> {
    let since_ms = request.since_ms.into();
    let sql = "DELETE FROM analyses_asked WHERE (player, no) IN (
                   SELECT player, no FROM analyses_asked WHERE asked_ms <= $1
                   LIMIT $2 FOR UPDATE SKIP LOCKED)";
    connection
        .execute(sql, &[since_ms, EXPIRY_BATCH_MAX.into()])
        .await?;
    let sql = "INSERT INTO analyses_asked (player, no, asked_ms)
               SELECT $1, free, $2 FROM generate_series(1, $3::int8) AS free
               WHERE NOT EXISTS (SELECT FROM analyses_asked
                                 WHERE player = $1 AND no = free AND asked_ms > $4)
               ORDER BY free LIMIT 1
               ON CONFLICT (player, no) DO UPDATE SET asked_ms = excluded.asked_ms
                   WHERE analyses_asked.asked_ms <= $4
               RETURNING no";
    let requests_max = u64::from(request.requests_max).into();
    let params = [
        request.player.into(),
        request.at_ms.into(),
        requests_max,
        since_ms,
    ];
    exists(connection, sql, &params).await
}
