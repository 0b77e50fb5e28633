//! Writes players and their sessions.

use uuid::Uuid;

use super::{Batch, WriteTask};
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::records::player_identity::player_kind_to_text;
use crate::sql::identity_changes::apply_change;
use crate::{IdentityChange, PlayerRecord, SessionRecord, WriteError};

/// Key of the advisory lock that lets only one server at a time change identity data.
const IDENTITY_LOCK: i64 = 0x706c_7968_6f75_7367;

impl Batch<'_> {
    pub(super) async fn add_players(&self, connection: &PgConnection) -> Result<(), QueryError> {
        let added = self.tasks.iter().filter_map(|task| match task {
            WriteTask::AddPlayer(player, sessions) => Some((player, sessions)),
            _ => None,
        });
        let (mut players, sessions): (Vec<&PlayerRecord>, Vec<_>) = added.unzip();
        if players.is_empty() {
            return Ok(());
        }
        players.sort_unstable_by_key(|player| player.id);
        let ids: Vec<Uuid> = players.iter().map(|player| player.id.0).collect();
        let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
        let kinds = players
            .iter()
            .map(|player| player_kind_to_text(player.kind));
        let kinds: Vec<Option<&str>> = kinds.collect();
        let sql = "INSERT INTO players (id, name, kind)
                   SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[])
                   ON CONFLICT DO NOTHING";
        connection.query(sql, &[&ids, &names, &kinds]).await?;
        let mut sessions: Vec<&SessionRecord> = sessions.into_iter().flatten().collect();
        sessions.sort_unstable_by_key(|session| session.token);
        add_sessions(connection, &sessions).await
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

async fn add_sessions(
    connection: &PgConnection,
    added: &[&SessionRecord],
) -> Result<(), QueryError> {
    let tokens: Vec<&[u8]> = added.iter().map(|added| &added.token.0[..]).collect();
    let ids: Vec<Uuid> = added.iter().map(|added| added.id.0).collect();
    let players: Vec<Uuid> = added.iter().map(|added| added.player.0).collect();
    let labels: Vec<&str> = added.iter().map(|added| &*added.label).collect();
    let kinds: Vec<&str> = added.iter().map(|added| added.kind.as_str()).collect();
    let created: Vec<i64> = added.iter().map(|one| to_i64(one.created_ms)).collect();
    let last_used: Vec<i64> = added.iter().map(|one| to_i64(one.last_used_day)).collect();
    let recovered: Vec<bool> = added.iter().map(|added| added.from_recovery_key).collect();
    let sql =
        "INSERT INTO sessions (token, id, player, label, kind, created_ms, seen_day, recovered)
               SELECT * FROM UNNEST($1::bytea[], $2::uuid[], $3::uuid[], $4::text[], $5::text[],
                                    $6::int8[], $7::int8[], $8::boolean[])
               ON CONFLICT DO NOTHING";
    let params: Params<'_> = &[
        &tokens, &ids, &players, &labels, &kinds, &created, &last_used, &recovered,
    ];
    connection.query(sql, params).await?;
    Ok(())
}
