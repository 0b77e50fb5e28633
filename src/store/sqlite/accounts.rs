//! Accounts and their names, as they are read and written.

use plyhouse_protocol::{PlayerId, PlayerKind};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use super::{operator, people};
use crate::likeness;
use crate::people::player_kind_to_text;
use crate::{
    Account, ExternalIdentity, Naming, NewBot, NewKey, OwnName, PasswordHash, PlayerRecord, Proved,
    Sessions,
};

/// Gives a player a name. False if somebody else has it, or the player is not as was believed.
pub(super) fn name(connection: &Connection, naming: &Naming) -> rusqlite::Result<bool> {
    let Naming {
        player,
        likenesses,
        before: (was, renamed_ms),
        now_ms,
        ..
    } = naming;
    let id = player.id.0.into_bytes();
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = ?1 AND p.kind IS ?2 AND a.renamed_ms IS ?3";
    let mut as_believed = connection.prepare_cached(sql)?;
    if !as_believed.exists((id, player_kind_to_text(*was), renamed_ms))?
        || is_taken(connection, likenesses, *now_ms, Some(player.id))?
    {
        return Ok(false);
    }
    if let Some(invite) = naming.invite
        && !operator::take_invite(connection, invite, *now_ms)?
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([now_ms])?;
    let sql = "UPDATE names SET until_ms = ?2 WHERE player = ?1 AND until_ms IS NULL";
    let mut keep = connection.prepare_cached(sql)?;
    keep.execute((id, naming.kept_until_ms))?;
    let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    let mut take = connection.prepare_cached(sql)?;
    for likeness in likenesses {
        take.execute((likeness, id))?;
    }
    let sql = "UPDATE players SET name = ?2, kind = ?3 WHERE id = ?1";
    let mut call = connection.prepare_cached(sql)?;
    call.execute((id, &player.name, player_kind_to_text(player.kind)))?;
    let sql = "INSERT INTO accounts (player, password, renamed_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT (player) DO UPDATE SET renamed_ms = excluded.renamed_ms,
                   password = coalesce(excluded.password, password)";
    let password = naming.password.as_ref().map(|password| &*password.0);
    let renamed_ms = (*was != PlayerKind::Guest).then_some(*now_ms);
    let mut upsert = connection.prepare_cached(sql)?;
    upsert.execute((id, password, renamed_ms))?;
    Ok(true)
}

/// Calls a guest so. False if the player is none.
pub(super) fn call_guest(
    connection: &Connection,
    player: PlayerId,
    name: &str,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE players SET name = ?2 WHERE id = ?1 AND kind IS NULL";
    let mut call = connection.prepare_cached(sql)?;
    Ok(call.execute((player.0.as_bytes(), name))? == 1)
}

/// Keeps a password, and forgets the sessions of people but for the one that asks. False if it is no account,
/// or what was proved is no longer so.
pub(super) fn set_password(
    connection: &Connection,
    player: PlayerId,
    password: &PasswordHash,
    proved: &Proved,
) -> rusqlite::Result<bool> {
    if !is_proved(connection, player, proved)? {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET password = ?2 WHERE player = ?1";
    let mut update = connection.prepare_cached(sql)?;
    let is_account = update.execute((player.0.as_bytes(), &password.0))? == 1;
    if is_account {
        let which = Sessions::AllButKeysAnd(proved.session);
        people::end(connection, player, which)?;
    }
    Ok(is_account)
}

/// Whether it is still as it was when somebody proved to be this player.
pub(super) fn is_proved(
    connection: &Connection,
    player: PlayerId,
    proved: &Proved,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sessions s LEFT JOIN accounts a ON a.player = s.player
               WHERE s.id = ?2 AND s.player = ?1 AND a.password IS ?3";
    let password = proved.password.as_ref().map(|password| &*password.0);
    let mut found = connection.prepare_cached(sql)?;
    found.exists((player.0.as_bytes(), proved.session.0.as_bytes(), password))
}

/// Keeps a key of a program, and the program's account if that is new. False if it may not be so.
pub(super) fn add_key(connection: &Connection, key: &NewKey) -> rusqlite::Result<bool> {
    let owner = key.owner.0.into_bytes();
    let sql = "SELECT count(*) FROM sessions WHERE kind = 'key'
               AND player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)";
    let mut keys = connection.prepare_cached(sql)?;
    let keys: usize = keys.query_row([owner], |row| row.get(0))?;
    if keys >= key.max || !is_proved(connection, key.owner, &key.proved)? {
        return Ok(false);
    }
    let is_owners = match &key.bot {
        Some(bot) => add_bot(connection, key.owner, bot)?,
        None if key.session.player == key.owner => true,
        None => {
            let sql = "SELECT 1 FROM accounts WHERE player = ?1 AND owner = ?2";
            let mut found = connection.prepare_cached(sql)?;
            found.exists((key.session.player.0.as_bytes(), owner))?
        }
    };
    if is_owners {
        people::add_session(connection, &key.session)?;
    }
    Ok(is_owners)
}

/// Makes an account of a program. False if somebody else has the name, or there would be too many.
fn add_bot(connection: &Connection, owner: PlayerId, new: &NewBot) -> rusqlite::Result<bool> {
    let bots = bots(connection, owner)?;
    if bots.len() >= new.max || is_taken(connection, &new.likenesses, new.now_ms, None)? {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([new.now_ms])?;
    people::add(connection, &new.player, &[])?;
    let account = Account {
        owner: Some(owner),
        names: OwnName::all(&new.likenesses),
        ..Account::default()
    };
    keep(connection, new.player.id, &account)?;
    Ok(true)
}

/// Makes an account of somebody whom a proxy knows. False if it has known them before, or somebody else has the
/// name.
pub(super) fn add_external(
    connection: &Connection,
    new: &ExternalIdentity,
) -> rusqlite::Result<bool> {
    if is_taken(connection, &new.likenesses, new.now_ms, None)?
        || external(connection, &new.external)?.is_some()
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    connection.prepare_cached(sql)?.execute([new.now_ms])?;
    people::add(connection, &new.player, &[])?;
    let account = Account {
        names: OwnName::all(&new.likenesses),
        external: Some(new.external.clone()),
        ..Account::default()
    };
    keep(connection, new.player.id, &account)?;
    Ok(true)
}

/// The player whom a proxy knows so.
pub(super) fn external(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<PlayerRecord>> {
    let sql = "SELECT p.id, p.name, p.kind FROM externals e JOIN players p ON p.id = e.player
               WHERE e.name = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| people::player_with(PlayerId(Uuid::from_bytes(row.get(0)?)), row, 1);
    found.query_row([name], read).optional()
}

/// The accounts of programs of a player, in the order of their ids.
pub(super) fn bots(
    connection: &Connection,
    owner: PlayerId,
) -> rusqlite::Result<Vec<PlayerRecord>> {
    let sql = "SELECT p.id, p.name, p.kind FROM accounts a JOIN players p ON p.id = a.player
               WHERE a.owner = ?1 ORDER BY a.player";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| people::player_with(PlayerId(Uuid::from_bytes(row.get(0)?)), row, 1);
    found.query_map([owner.0.as_bytes()], read)?.collect()
}

/// Keeps all that is known of an account.
pub(super) fn keep(
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
    if let Some(external) = &account.external {
        let sql = "INSERT INTO externals (name, player) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut insert = connection.prepare_cached(sql)?;
        insert.execute((external, player.0.as_bytes()))?;
    }
    let sql = "INSERT INTO names (likeness, player, until_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    for own in &account.names {
        insert.execute((&own.likeness, player.0.as_bytes(), own.until_ms))?;
    }
    Ok(())
}

/// Has all names kept by what they have in common with names that look like them, as that is found now.
pub(super) fn mend_names(connection: &Connection) -> rusqlite::Result<()> {
    let kept = all_names(connection)?;
    let mut mend = connection.prepare("UPDATE names SET likeness = ?2 WHERE likeness = ?1")?;
    for (before, now) in likeness::mended(&kept) {
        mend.execute((before, now))?;
    }
    Ok(())
}

/// Has all names that people have kept by what they look like as they are written, too.
pub(super) fn add_missing_names(connection: &Connection) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO names (likeness, player) SELECT ?2, player FROM names WHERE likeness = ?1";
    let mut add = connection.prepare(sql)?;
    for (kept, also) in likeness::missing(&all_names(connection)?) {
        add.execute((kept, also))?;
    }
    Ok(())
}

fn all_names(connection: &Connection) -> rusqlite::Result<Vec<likeness::Kept>> {
    let sql = "SELECT n.likeness, iif(n.until_ms IS NULL, p.name, NULL)
               FROM names n JOIN players p ON p.id = n.player ORDER BY n.likeness";
    let mut kept = connection.prepare(sql)?;
    let kept = kept.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    kept.collect()
}

/// Whether somebody has a name that is alike, other than this player.
fn is_taken(
    connection: &Connection,
    likenesses: &[String],
    now_ms: u64,
    by_other_than: Option<PlayerId>,
) -> rusqlite::Result<bool> {
    for likeness in likenesses {
        let found = named(connection, likeness, now_ms)?;
        if found.is_some_and(|(whose, _)| Some(whose) != by_other_than) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whose alone a name is that looks like this, and whether it is the player's still.
pub(super) fn named(
    connection: &Connection,
    likeness: &str,
    now_ms: u64,
) -> rusqlite::Result<Option<(PlayerId, bool)>> {
    let sql = "SELECT player, until_ms IS NULL FROM names
               WHERE likeness = ?1 AND (until_ms IS NULL OR until_ms > ?2)";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((PlayerId(Uuid::from_bytes(row.get(0)?)), row.get(1)?));
    found.query_row((likeness, now_ms), read).optional()
}

/// What is kept of an account.
pub(super) fn account(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Option<Account>> {
    let sql = "SELECT a.password, a.renamed_ms, a.owner, e.name
               FROM accounts a LEFT JOIN externals e ON e.player = a.player WHERE a.player = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let password: Option<String> = row.get(0)?;
        let owner: Option<[u8; 16]> = row.get(2)?;
        Ok(Account {
            password: password.map(PasswordHash),
            renamed_ms: row.get(1)?,
            owner: owner.map(|owner| PlayerId(Uuid::from_bytes(owner))),
            external: row.get(3)?,
            ..Account::default()
        })
    };
    let account = found.query_row([player.0.as_bytes()], read).optional()?;
    let Some(account) = account else {
        return Ok(None);
    };
    let sql = "SELECT likeness, until_ms FROM names WHERE player = ?1 ORDER BY likeness";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        Ok(OwnName {
            likeness: row.get(0)?,
            until_ms: row.get(1)?,
        })
    };
    let names = found.query_map([player.0.as_bytes()], read)?;
    let names = names.collect::<rusqlite::Result<_>>()?;
    Ok(Some(Account {
        names,
        bots: bots(connection, player)?,
        ..account
    }))
}
