//! Writes accounts and their names. A lock lets only one server at a time make these changes.

use plyhouse_protocol::{PlayerId, PlayerKind};

use super::players_and_sessions::{add_sessions, end_sessions};
use super::tokens_and_admin_commands;
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::records::player_identity::player_kind_to_text;
use crate::{
    Account, ExternalIdentity, IdentityProof, NameChange, NewApiKey, NewBotAccount, PasswordHash,
    PlayerRecord, SessionSelection, UniqueName,
};

/// Gives a player a unique name. Returns `false` if another player has a confusable name or the
/// invitation is not valid. Also returns `false` if the player's kind or the time of the last name
/// change differs from `naming.expected`.
pub(super) async fn name_player(
    connection: &PgConnection,
    naming: &NameChange,
) -> Result<bool, QueryError> {
    let NameChange {
        player,
        skeletons,
        expected: (old_kind, renamed_ms),
        ..
    } = naming;
    let (now_ms, until_ms) = (
        to_i64(naming.now_ms),
        to_i64(naming.old_name_reserved_until_ms),
    );
    let (old_kind, kind) = (
        player_kind_to_text(*old_kind),
        player_kind_to_text(player.kind),
    );
    let before_ms = renamed_ms.map(to_i64);
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = $1 AND p.kind IS NOT DISTINCT FROM $2
                 AND a.renamed_ms IS NOT DISTINCT FROM $3
                 AND NOT EXISTS (SELECT 1 FROM names WHERE likeness = ANY ($4) AND player <> $1
                                 AND (until_ms IS NULL OR until_ms > $5))";
    let params: Params<'_> = &[&player.id.0, &old_kind, &before_ms, skeletons, &now_ms];
    if connection.query_opt(sql, params).await?.is_none() {
        return Ok(false);
    }
    if let Some(invite) = naming.invite
        && !tokens_and_admin_commands::take_invite(connection, invite, now_ms).await?
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= $1";
    connection.query(sql, &[&now_ms]).await?;
    let sql = "UPDATE names SET until_ms = $2 WHERE player = $1 AND until_ms IS NULL";
    connection.query(sql, &[&player.id.0, &until_ms]).await?;
    let sql = "INSERT INTO names (likeness, player) SELECT DISTINCT likeness, $2::uuid
               FROM UNNEST($1::text[]) AS own (likeness)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    connection.query(sql, &[skeletons, &player.id.0]).await?;
    let sql = "UPDATE players SET name = $2, kind = $3 WHERE id = $1";
    connection
        .query(sql, &[&player.id.0, &player.name, &kind])
        .await?;
    let sql = "INSERT INTO accounts AS a (player, password, renamed_ms) VALUES ($1, $2, $3)
               ON CONFLICT (player) DO UPDATE SET renamed_ms = excluded.renamed_ms,
                   password = coalesce(excluded.password, a.password)";
    let password = naming.password.as_ref().map(|password| &*password.0);
    let renamed_ms = (naming.expected.0 != PlayerKind::Guest).then_some(now_ms);
    let params: Params<'_> = &[&player.id.0, &password, &renamed_ms];
    connection.query(sql, params).await?;
    Ok(true)
}

/// Renames a guest. Returns `false` if the player is not a guest.
pub(super) async fn rename_guest(
    connection: &PgConnection,
    player: PlayerId,
    name: &str,
) -> Result<bool, QueryError> {
    let sql = "UPDATE players SET name = $2 WHERE id = $1 AND kind IS NULL RETURNING id";
    let renamed = connection.query_opt(sql, &[&player.0, &name]).await?;
    Ok(renamed.is_some())
}

/// Sets the password of an account and ends all of its sessions, except the requesting session and
/// API keys. Returns `false` if the account does not exist or the proof is no longer valid.
pub(super) async fn set_password(
    connection: &PgConnection,
    player: PlayerId,
    password: &PasswordHash,
    proof: &IdentityProof,
) -> Result<bool, QueryError> {
    if !is_proof_valid(connection, player, proof).await? {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET password = $2 WHERE player = $1 RETURNING player";
    let updated = connection.query_opt(sql, &[&player.0, &password.0]).await?;
    let is_account = updated.is_some();
    if is_account {
        let ended = SessionSelection::AllButKeysAnd(proof.session);
        end_sessions(connection, player, ended).await?;
    }
    Ok(is_account)
}

/// Returns whether the session in the proof still exists and the password has not changed.
pub(super) async fn is_proof_valid(
    connection: &PgConnection,
    player: PlayerId,
    proof: &IdentityProof,
) -> Result<bool, QueryError> {
    let sql = "SELECT 1 FROM sessions s LEFT JOIN accounts a ON a.player = s.player
               WHERE s.id = $2 AND s.player = $1 AND a.password IS NOT DISTINCT FROM $3";
    let password = proof.password.as_ref().map(|password| &*password.0);
    let params: Params<'_> = &[&player.0, &proof.session.0, &password];
    Ok(connection.query_opt(sql, params).await?.is_some())
}

/// Adds an API key. If the key is for a new bot account, also adds this account. Returns `false` if
/// the proof is no longer valid, the name is taken, the bot belongs to another owner, or a limit is
/// reached.
pub(super) async fn add_api_key(
    connection: &PgConnection,
    key: &NewApiKey,
) -> Result<bool, QueryError> {
    let sql = "SELECT 1 WHERE $2 > (
                   SELECT count(*) FROM sessions WHERE kind = 'key'
                   AND player IN (SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1))";
    let params: Params<'_> = &[&key.owner.0, &to_i64(key.keys_max as u64)];
    let has_room = connection.query_opt(sql, params).await?.is_some();
    if !has_room || !is_proof_valid(connection, key.owner, &key.proof).await? {
        return Ok(false);
    }
    let is_owned = match &key.bot {
        Some(bot) => add_bot_account(connection, key.owner, bot).await?,
        None if key.session.player == key.owner => true,
        None => {
            let sql = "SELECT 1 FROM accounts WHERE player = $1 AND owner = $2";
            let params: Params<'_> = &[&key.session.player.0, &key.owner.0];
            connection.query_opt(sql, params).await?.is_some()
        }
    };
    if is_owned {
        add_sessions(connection, &[&key.session]).await?;
    }
    Ok(is_owned)
}

/// Creates an account for a user who was authenticated by a proxy for the first time. Returns
/// `false` if an account with this external name exists or the account name is taken.
pub(super) async fn add_external_identity(
    connection: &PgConnection,
    identity: &ExternalIdentity,
) -> Result<bool, QueryError> {
    let sql = "SELECT 1 FROM externals WHERE name = $1";
    if connection
        .query_opt(sql, &[&identity.external_name])
        .await?
        .is_some()
    {
        return Ok(false);
    }
    let account = Account {
        external_name: Some(identity.external_name.clone()),
        ..Account::default()
    };
    let skeletons_and_now = (&*identity.skeletons, identity.now_ms);
    add_account(connection, &identity.player, skeletons_and_now, account).await
}

/// Creates a bot account. Returns `false` if the name is taken or the owner already has the maximum
/// number of bots.
async fn add_bot_account(
    connection: &PgConnection,
    owner: PlayerId,
    bot: &NewBotAccount,
) -> Result<bool, QueryError> {
    let sql = "SELECT 1 WHERE $2 > (SELECT count(*) FROM accounts WHERE owner = $1)";
    let params: Params<'_> = &[&owner.0, &to_i64(bot.bots_max as u64)];
    if connection.query_opt(sql, params).await?.is_none() {
        return Ok(false);
    }
    let account = Account {
        owner: Some(owner),
        ..Account::default()
    };
    let skeletons_and_now = (&*bot.skeletons, bot.now_ms);
    add_account(connection, &bot.player, skeletons_and_now, account).await
}

/// Adds a player with an account, and reserves the player's name, which is given by its skeletons.
/// Returns `false` if another player has a confusable name.
async fn add_account(
    connection: &PgConnection,
    player: &PlayerRecord,
    (skeletons, now_ms): (&[String], u64),
    account: Account,
) -> Result<bool, QueryError> {
    let sql = "DELETE FROM names WHERE until_ms <= $1";
    connection.query(sql, &[&to_i64(now_ms)]).await?;
    let sql = "SELECT 1 FROM names WHERE likeness = ANY ($1) LIMIT 1";
    if connection.query_opt(sql, &[&skeletons]).await?.is_some() {
        return Ok(false);
    }
    let PlayerRecord { id, name, kind } = player;
    let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, $3)";
    let params: Params<'_> = &[&id.0, name, &player_kind_to_text(*kind)];
    connection.query(sql, params).await?;
    let account = Account {
        unique_names: UniqueName::from_skeletons(skeletons),
        ..account
    };
    store_account(connection, *id, &account).await?;
    Ok(true)
}

/// Stores an account with its external name and unique names.
pub(super) async fn store_account(
    connection: &PgConnection,
    player: PlayerId,
    account: &Account,
) -> Result<(), QueryError> {
    let sql = "INSERT INTO accounts (player, password, renamed_ms, owner) VALUES ($1, $2, $3, $4)
               ON CONFLICT DO NOTHING";
    let password = account.password.as_ref().map(|password| &*password.0);
    let (renamed_ms, owner) = (account.renamed_ms.map(to_i64), account.owner.map(|id| id.0));
    let params: Params<'_> = &[&player.0, &password, &renamed_ms, &owner];
    connection.query(sql, params).await?;
    if let Some(external) = &account.external_name {
        let sql = "INSERT INTO externals (name, player) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        connection.query(sql, &[external, &player.0]).await?;
    }
    let skeletons: Vec<&str> = account
        .unique_names
        .iter()
        .map(|own| &*own.skeleton)
        .collect();
    let expiries = account
        .unique_names
        .iter()
        .map(|own| own.reserved_until_ms.map(to_i64));
    let expiries: Vec<Option<i64>> = expiries.collect();
    let sql = "INSERT INTO names (likeness, player, until_ms)
               SELECT likeness, $1, until_ms
               FROM UNNEST($2::text[], $3::int8[]) AS own (likeness, until_ms)
               ON CONFLICT DO NOTHING";
    let params: Params<'_> = &[&player.0, &skeletons, &expiries];
    connection.query(sql, params).await?;
    Ok(())
}
