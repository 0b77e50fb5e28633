//! Writes players and their sessions.

use plyhouse_protocol::{PlayerId, SessionId};
use uuid::Uuid;

use super::tokens_and_admin_commands::{
    add_one_time_token, claim_command, store_command_result, take_one_time_token,
};
use super::{Batch, WriteTask, account_deletion, accounts, blocks};
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::records::player_identity::player_kind_to_text;
use crate::{
    IdentityChange, Pairing, PlayerRecord, SessionRecord, SessionSelection, TokenHash, WriteError,
};

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

/// Applies an identity change. Returns `false` if the change was refused.
async fn apply_change(
    connection: &PgConnection,
    change: &IdentityChange,
) -> Result<bool, QueryError> {
    match change {
        IdentityChange::AddSession(added) => add_sessions(connection, &[added]).await?,
        IdentityChange::OfferPairing {
            pairing,
            offered_by,
            now_ms,
            max,
        } => return offer_pairing(connection, pairing, *offered_by, to_i64(*now_ms), *max).await,
        IdentityChange::TakePairing(code, new_session) => {
            return take_pairing(connection, *code, new_session).await;
        }
        IdentityChange::StoreRecoveryKey(player, key) => {
            store_recovery_key(connection, *player, *key).await?
        }
        IdentityChange::RenewRecoveryKey(player, key, proved) => {
            let is_valid = accounts::is_proof_valid(connection, *player, proved).await?;
            if is_valid {
                store_recovery_key(connection, *player, *key).await?;
            }
            return Ok(is_valid);
        }
        IdentityChange::AddApiKey(key) => return accounts::add_api_key(connection, key).await,
        IdentityChange::EndSessions(player, which) => {
            end_sessions(connection, *player, *which).await?
        }
        IdentityChange::TouchSession(token, day) => touch_session(connection, *token, *day).await?,
        IdentityChange::NamePlayer(new) => return accounts::name_player(connection, new).await,
        IdentityChange::RenameGuest(player, name) => {
            return accounts::rename_guest(connection, *player, name).await;
        }
        IdentityChange::SetPassword(player, password, proved) => {
            return accounts::set_password(connection, *player, password, proved).await;
        }
        IdentityChange::StoreAccount(player, account) => {
            accounts::store_account(connection, *player, account).await?;
        }
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => return blocks::change_block(connection, *player, *other, *since_ms).await,
        IdentityChange::AddExternalIdentity(new) => {
            return accounts::add_external_identity(connection, new).await;
        }
        IdentityChange::DeletePlayer(deletion) => {
            return account_deletion::delete_player(connection, deletion).await;
        }
        IdentityChange::RemoveNames(player) => {
            return account_deletion::remove_names(connection, *player).await;
        }
        IdentityChange::AddOneTimeToken {
            code,
            token,
            now_ms,
            max,
        } => return add_one_time_token(connection, *code, token, to_i64(*now_ms), *max).await,
        IdentityChange::TakeOneTimeToken(code) => {
            return take_one_time_token(connection, *code).await;
        }
        IdentityChange::ClaimCommand(id) => return claim_command(connection, *id).await,
        IdentityChange::StoreCommandResult(id, answer) => {
            return store_command_result(connection, *id, answer).await;
        }
    }
    Ok(true)
}

/// Adds the session of the device that logs in with a pairing code. Returns `false` if the code is
/// unknown.
async fn take_pairing(
    connection: &PgConnection,
    code: TokenHash,
    new_session: &SessionRecord,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM pairings WHERE code = $1 RETURNING player";
    let taken = connection.query_opt(sql, &[&code.0.as_slice()]).await?;
    if taken.is_some() {
        add_sessions(connection, &[new_session]).await?;
    }
    Ok(taken.is_some())
}

/// Stores the day of a session's last use. Does nothing if the row is locked, because the next
/// hello message stores the day again.
async fn touch_session(
    connection: &PgConnection,
    token: TokenHash,
    day: u64,
) -> Result<(), QueryError> {
    let sql = "UPDATE sessions SET seen_day = $2 WHERE token IN (
                   SELECT token FROM sessions WHERE token = $1
                   FOR UPDATE SKIP LOCKED)";
    let token = &token.0[..];
    connection.query(sql, &[&token, &to_i64(day)]).await?;
    Ok(())
}

/// Stores a player's recovery key in place of the previous key.
async fn store_recovery_key(
    connection: &PgConnection,
    player: PlayerId,
    key: TokenHash,
) -> Result<(), QueryError> {
    let sql = "INSERT INTO recoveries (player, key) VALUES ($1, $2)
               ON CONFLICT (player) DO UPDATE SET key = excluded.key";
    let params: Params<'_> = &[&player.0, &key.0.as_slice()];
    connection.query(sql, params).await?;
    Ok(())
}

/// Deletes sessions of a player and of the player's bot accounts. Also deletes the player's
/// pairing. If only one session ends, a pairing that another session offered remains.
pub(super) async fn end_sessions(
    connection: &PgConnection,
    player: PlayerId,
    selection: SessionSelection,
) -> Result<(), QueryError> {
    let sql = "DELETE FROM sessions WHERE token IN (
                   SELECT token FROM sessions
                   WHERE player IN (SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1)
                     AND (id = $2) IS NOT DISTINCT FROM $3
                     AND ($4 OR kind <> 'key')
                   ORDER BY token FOR UPDATE)";
    let (id, is_selected, includes_keys) = session_filter(selection);
    let params: Params<'_> = &[&player.0, &id, &is_selected, &includes_keys];
    connection.query(sql, params).await?;
    let sql = "DELETE FROM pairings
               WHERE player = $1 AND ($2::uuid IS NULL OR session IS NULL OR session = $2)";
    let voiding_session = selection.voided_pairing_session().map(|by| by.0);
    connection
        .query(sql, &[&player.0, &voiding_session])
        .await?;
    Ok(())
}

/// Returns whether a task requires the identity lock. The day of a session's last use need not be
/// exact, so storing it does not require the lock.
const fn changes_identity(task: &WriteTask) -> bool {
    matches!(task, WriteTask::ChangeIdentity(change) if !matches!(change, IdentityChange::TouchSession(..)))
}

/// Stores a pairing in place of the player's previous pairing, and deletes expired pairings.
/// Returns `false` if other players already have `max` valid pairings, or if the session that
/// offers the pairing has ended.
async fn offer_pairing(
    connection: &PgConnection,
    pairing: &Pairing,
    offering_session: SessionId,
    now_ms: i64,
    max: usize,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM pairings WHERE expires_ms <= $1";
    connection.query(sql, &[&now_ms]).await?;
    let sql = "INSERT INTO pairings (player, code, expires_ms, session) SELECT $1, $2, $3, $6
               WHERE (SELECT count(*) FROM pairings WHERE expires_ms > $4 AND player <> $1) < $5
                 AND EXISTS (SELECT 1 FROM sessions WHERE id = $6 AND player = $1)
               ON CONFLICT (player) DO UPDATE
               SET code = excluded.code, expires_ms = excluded.expires_ms,
                   session = excluded.session RETURNING player";
    let code = pairing.code.0.as_slice();
    let (expires_ms, max) = (to_i64(pairing.expires_ms), to_i64(max as u64));
    let params: Params<'_> = &[
        &pairing.player.0,
        &code,
        &expires_ms,
        &now_ms,
        &max,
        &offering_session.0,
    ];
    Ok(connection.query_opt(sql, params).await?.is_some())
}

pub(super) async fn add_sessions(
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

/// Returns three parameters for a query that selects sessions. The first parameter is a session id.
/// The second parameter is `true` to select the session with this id, and `false` to select all
/// other sessions. To select all sessions, the first two parameters are `None`. The third parameter
/// is `true` to include API keys.
fn session_filter(selection: SessionSelection) -> (Option<Uuid>, Option<bool>, bool) {
    match selection {
        SessionSelection::One(id) => (Some(id.0), Some(true), true),
        SessionSelection::AllBut(id) => (Some(id.0), Some(false), true),
        SessionSelection::AllButKeysAnd(id) => (Some(id.0), Some(false), false),
        SessionSelection::All => (None, None, true),
    }
}
