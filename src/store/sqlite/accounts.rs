//! Reads and writes accounts and their names.

use plyhouse_protocol::{PlayerId, PlayerKind};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use super::{players_and_sessions, tokens_and_admin_commands};
use crate::name_skeleton;
use crate::records::player_identity::player_kind_to_text;
use crate::{
    Account, ExternalIdentity, IdentityProof, NameChange, NewApiKey, NewBotAccount, PasswordHash,
    PlayerRecord, SessionSelection, UniqueName,
};

/// Gives a player a unique name. Returns `false` if another player has a confusable name or the
/// invitation is not valid. Also returns `false` if the player's kind or the time of the player's
/// last renaming differs from `change.expected`.
pub(super) fn name_player(connection: &Connection, change: &NameChange) -> rusqlite::Result<bool> {
    let NameChange {
        player,
        skeletons,
        expected: (old_kind, renamed_ms),
        now_ms,
        ..
    } = change;
    let id = player.id.0.into_bytes();
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = ?1 AND p.kind IS ?2 AND a.renamed_ms IS ?3";
    let mut statement = connection.prepare_cached(sql)?;
    if !statement.exists((id, player_kind_to_text(*old_kind), renamed_ms))?
        || is_name_taken(connection, skeletons, *now_ms, Some(player.id))?
    {
        return Ok(false);
    }
    if let Some(invite) = change.invite
        && !tokens_and_admin_commands::take_invite(connection, invite, *now_ms)?
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([now_ms])?;
    let sql = "UPDATE names SET until_ms = ?2 WHERE player = ?1 AND until_ms IS NULL";
    let mut reserve = connection.prepare_cached(sql)?;
    reserve.execute((id, change.old_name_reserved_until_ms))?;
    let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    let mut upsert_name = connection.prepare_cached(sql)?;
    for skeleton in skeletons {
        upsert_name.execute((skeleton, id))?;
    }
    let sql = "UPDATE players SET name = ?2, kind = ?3 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((id, &player.name, player_kind_to_text(player.kind)))?;
    let sql = "INSERT INTO accounts (player, password, renamed_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT (player) DO UPDATE SET renamed_ms = excluded.renamed_ms,
                   password = coalesce(excluded.password, password)";
    let password = change.password.as_ref().map(|password| &*password.0);
    let renamed_ms = (*old_kind != PlayerKind::Guest).then_some(*now_ms);
    let mut upsert = connection.prepare_cached(sql)?;
    upsert.execute((id, password, renamed_ms))?;
    Ok(true)
}

/// Renames a guest. Returns `false` if the player is not a guest.
pub(super) fn rename_guest(
    connection: &Connection,
    player: PlayerId,
    name: &str,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE players SET name = ?2 WHERE id = ?1 AND kind IS NULL";
    let mut update = connection.prepare_cached(sql)?;
    Ok(update.execute((player.0.as_bytes(), name))? == 1)
}

/// Sets the password of an account. Ends all sessions of the account, except the requesting session
/// and the sessions of API keys. Returns `false` if the account does not exist or the proof of
/// identity is no longer valid.
pub(super) fn set_password(
    connection: &Connection,
    player: PlayerId,
    password: &PasswordHash,
    proof: &IdentityProof,
) -> rusqlite::Result<bool> {
    if !is_proof_valid(connection, player, proof)? {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET password = ?2 WHERE player = ?1";
    let mut update = connection.prepare_cached(sql)?;
    let is_account = update.execute((player.0.as_bytes(), &password.0))? == 1;
    if is_account {
        let selection = SessionSelection::AllButKeysAnd(proof.session);
        players_and_sessions::end_sessions(connection, player, selection)?;
    }
    Ok(is_account)
}

/// Returns whether a proof of identity is still valid. A proof is valid while its session exists
/// and the password has not changed.
pub(super) fn is_proof_valid(
    connection: &Connection,
    player: PlayerId,
    proof: &IdentityProof,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sessions s LEFT JOIN accounts a ON a.player = s.player
               WHERE s.id = ?2 AND s.player = ?1 AND a.password IS ?3";
    let password = proof.password.as_ref().map(|password| &*password.0);
    let mut statement = connection.prepare_cached(sql)?;
    statement.exists((player.0.as_bytes(), proof.session.0.as_bytes(), password))
}

/// Adds an API key. If the key is for a new bot account, the function also creates that account.
/// Returns `false` if the proof of identity is no longer valid or the owner has the maximum number
/// of keys. Also returns `false` if the bot cannot be created or belongs to another owner.
pub(super) fn add_api_key(connection: &Connection, key: &NewApiKey) -> rusqlite::Result<bool> {
    let owner = key.owner.0.into_bytes();
    let sql = "SELECT count(*) FROM sessions WHERE kind = 'key'
               AND player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)";
    let mut count_keys = connection.prepare_cached(sql)?;
    let key_count: usize = count_keys.query_row([owner], |row| row.get(0))?;
    if key_count >= key.keys_max || !is_proof_valid(connection, key.owner, &key.proof)? {
        return Ok(false);
    }
    let is_owned = match &key.bot {
        Some(bot) => add_bot_account(connection, key.owner, bot)?,
        None if key.session.player == key.owner => true,
        None => {
            let sql = "SELECT 1 FROM accounts WHERE player = ?1 AND owner = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            statement.exists((key.session.player.0.as_bytes(), owner))?
        }
    };
    if is_owned {
        players_and_sessions::add_session(connection, &key.session)?;
    }
    Ok(is_owned)
}

/// Creates a bot account. Returns `false` if the name is taken or the owner has the maximum number
/// of bots.
fn add_bot_account(
    connection: &Connection,
    owner: PlayerId,
    bot: &NewBotAccount,
) -> rusqlite::Result<bool> {
    let bots = bots_of(connection, owner)?;
    if bots.len() >= bot.bots_max || is_name_taken(connection, &bot.skeletons, bot.now_ms, None)? {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([bot.now_ms])?;
    players_and_sessions::add_player(connection, &bot.player, &[])?;
    let account = Account {
        owner: Some(owner),
        unique_names: UniqueName::from_skeletons(&bot.skeletons),
        ..Account::default()
    };
    store_account(connection, bot.player.id, &account)?;
    Ok(true)
}

/// Creates an account for a user that a proxy authenticated for the first time. Returns `false` if
/// the user already has an account, or if the account name belongs to another player.
pub(super) fn add_external_identity(
    connection: &Connection,
    identity: &ExternalIdentity,
) -> rusqlite::Result<bool> {
    if is_name_taken(connection, &identity.skeletons, identity.now_ms, None)?
        || find_external_identity(connection, &identity.external_name)?.is_some()
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([identity.now_ms])?;
    players_and_sessions::add_player(connection, &identity.player, &[])?;
    let account = Account {
        unique_names: UniqueName::from_skeletons(&identity.skeletons),
        external_name: Some(identity.external_name.clone()),
        ..Account::default()
    };
    store_account(connection, identity.player.id, &account)?;
    Ok(true)
}

/// Returns the player that has the given external name. The authenticating proxy uses this name to
/// identify the player.
pub(super) fn find_external_identity(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<PlayerRecord>> {
    let sql = "SELECT p.id, p.name, p.kind FROM externals e JOIN players p ON p.id = e.player
               WHERE e.name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        players_and_sessions::player_from_columns(PlayerId(Uuid::from_bytes(row.get(0)?)), row, 1)
    };
    statement.query_row([name], read).optional()
}

/// Returns the bot accounts of a player, ordered by id.
pub(super) fn bots_of(
    connection: &Connection,
    owner: PlayerId,
) -> rusqlite::Result<Vec<PlayerRecord>> {
    let sql = "SELECT p.id, p.name, p.kind FROM accounts a JOIN players p ON p.id = a.player
               WHERE a.owner = ?1 ORDER BY a.player";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        players_and_sessions::player_from_columns(PlayerId(Uuid::from_bytes(row.get(0)?)), row, 1)
    };
    statement.query_map([owner.0.as_bytes()], read)?.collect()
}

/// Stores an account, its external name and its unique names.
pub(super) fn store_account(
    connection: &Connection,
    player: PlayerId,
    account: &Account,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO accounts (player, password, renamed_ms, owner) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO NOTHING";
    let password = account.password.as_ref().map(|password| &*password.0);
    let owner = account.owner.map(|owner| owner.0.into_bytes());
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((player.0.as_bytes(), password, account.renamed_ms, owner))?;
    if let Some(external) = &account.external_name {
        let sql = "INSERT INTO externals (name, player) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut insert = connection.prepare_cached(sql)?;
        insert.execute((external, player.0.as_bytes()))?;
    }
    let sql = "INSERT INTO names (likeness, player, until_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    for name in &account.unique_names {
        insert.execute((&name.skeleton, player.0.as_bytes(), name.reserved_until_ms))?;
    }
    Ok(())
}

/// Recomputes the stored name skeletons with the current algorithm. Names that look alike have the
/// same skeleton.
pub(super) fn recompute_name_skeletons(connection: &Connection) -> rusqlite::Result<()> {
    let stored = read_names(connection)?;
    let mut update = connection.prepare("UPDATE names SET likeness = ?2 WHERE likeness = ?1")?;
    for (old, new) in name_skeleton::recomputed_skeletons(&stored) {
        update.execute((old, new))?;
    }
    Ok(())
}

/// Adds the missing name skeletons that are computed from the original case of the current names.
/// Names that look alike share a skeleton.
pub(super) fn add_missing_name_skeletons(connection: &Connection) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO names (likeness, player) SELECT ?2, player FROM names WHERE likeness = ?1";
    let mut insert = connection.prepare(sql)?;
    for (skeleton, added) in name_skeleton::missing_skeletons(&read_names(connection)?) {
        insert.execute((skeleton, added))?;
    }
    Ok(())
}

fn read_names(connection: &Connection) -> rusqlite::Result<Vec<name_skeleton::StoredSkeleton>> {
    let sql = "SELECT n.likeness, iif(n.until_ms IS NULL, p.name, NULL)
               FROM names n JOIN players p ON p.id = n.player ORDER BY n.likeness";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Returns whether a player other than `except` holds one of the given name skeletons.
fn is_name_taken(
    connection: &Connection,
    skeletons: &[String],
    now_ms: u64,
    except: Option<PlayerId>,
) -> rusqlite::Result<bool> {
    for skeleton in skeletons {
        let holder = find_by_name_skeleton(connection, skeleton, now_ms)?;
        if holder.is_some_and(|(player, _)| Some(player) != except) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the player whose current or reserved name has the given skeleton. The returned flag is
/// `true` for a current name and `false` for a reserved name.
pub(super) fn find_by_name_skeleton(
    connection: &Connection,
    skeleton: &str,
    now_ms: u64,
) -> rusqlite::Result<Option<(PlayerId, bool)>> {
    let sql = "SELECT player, until_ms IS NULL FROM names
               WHERE likeness = ?1 AND (until_ms IS NULL OR until_ms > ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((PlayerId(Uuid::from_bytes(row.get(0)?)), row.get(1)?));
    statement.query_row((skeleton, now_ms), read).optional()
}

/// Loads the account of a player. Returns `None` if the player has no account.
pub(super) fn account(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Option<Account>> {
    let sql = "SELECT a.password, a.renamed_ms, a.owner, e.name
               FROM accounts a LEFT JOIN externals e ON e.player = a.player WHERE a.player = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let password: Option<String> = row.get(0)?;
        let owner: Option<[u8; 16]> = row.get(2)?;
        Ok(Account {
            password: password.map(PasswordHash),
            renamed_ms: row.get(1)?,
            owner: owner.map(|owner| PlayerId(Uuid::from_bytes(owner))),
            external_name: row.get(3)?,
            ..Account::default()
        })
    };
    let account = statement
        .query_row([player.0.as_bytes()], read)
        .optional()?;
    let Some(account) = account else {
        return Ok(None);
    };
    let sql = "SELECT likeness, until_ms FROM names WHERE player = ?1 ORDER BY likeness";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        Ok(UniqueName {
            skeleton: row.get(0)?,
            reserved_until_ms: row.get(1)?,
        })
    };
    let names = statement.query_map([player.0.as_bytes()], read)?;
    let names = names.collect::<rusqlite::Result<_>>()?;
    Ok(Some(Account {
        unique_names: names,
        bots: bots_of(connection, player)?,
        ..account
    }))
}
