//! Writes players and their sessions.

use super::{Batch, WriteTask};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::sql::identity_changes::apply_change;
use crate::sql::players;
use crate::{IdentityChange, WriteError};

/// Key of the advisory lock that lets only one server at a time change identity data.
const IDENTITY_LOCK: i64 = 0x706c_7968_6f75_7367;

impl Batch<'_> {
    pub(super) async fn add_players(&self, connection: &PgConnection) -> Result<(), QueryError> {
        let added = self.tasks.iter().filter_map(|task| match task {
            WriteTask::AddPlayer(player, sessions) => Some((player, sessions)),
            _ => None,
        });
        let (players, sessions): (Vec<_>, Vec<_>) = added.unzip();
        players::add_players(
            connection,
            players,
            sessions.into_iter().flatten().collect(),
        )
        .await
    }

    /// Applies the identity changes in the order of the tasks. A lock serializes the identity
    /// changes of all servers. Without the lock, two servers could deadlock or jointly exceed a
    /// limit.
    pub(super) async fn change_identities(
        &mut self,
        connection: &PgConnection,
    ) -> Result<(), QueryError> {
        if self.tasks.iter().any(changes_identity) {
            let sql = "SELECT pg_advisory_xact_lock($1)";
            connection.query(sql, &[&IDENTITY_LOCK]).await?;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            let WriteTask::ChangeIdentity(change) = task else {
                continue;
            };
            let is_applied = apply_change(connection, change).await?;
            if !is_applied {
                self.results[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }
}

/// Returns whether a task requires the identity lock. The day of a session's last use need not be
/// exact, so storing it does not require the lock.
const fn changes_identity(task: &WriteTask) -> bool {
    matches!(task, WriteTask::ChangeIdentity(change) if !matches!(change, IdentityChange::TouchSession(..)))
}
