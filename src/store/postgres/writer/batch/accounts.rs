//! Accounts and their names. While one of these changes is made, no other server makes any.

use plyhouse_protocol::{PlayerId, PlayerKind};

use super::operator;
use super::people::{add_sessions, end_sessions};
use crate::people::player_kind_to_text;
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::{
    Account, ExternalIdentity, Naming, NewBot, NewKey, OwnName, PasswordHash, PlayerRecord, Proved,
    Sessions,
};

/// Gives a player a name. False if somebody else has it, or the player is not as was believed.
pub(super) async fn name(session: &Session, naming: &Naming) -> Result<bool, Failure> {
    let Naming {
        player,
        likenesses,
        before: (was, renamed_ms),
        ..
    } = naming;
    let (now_ms, until_ms) = (integer(naming.now_ms), integer(naming.kept_until_ms));
    let (was, kind) = (player_kind_to_text(*was), player_kind_to_text(player.kind));
    let before_ms = renamed_ms.map(integer);
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = $1 AND p.kind IS NOT DISTINCT FROM $2
                 AND a.renamed_ms IS NOT DISTINCT FROM $3
                 AND NOT EXISTS (SELECT 1 FROM names WHERE likeness = ANY ($4) AND player <> $1
                                 AND (until_ms IS NULL OR until_ms > $5))";
    let values: Values<'_> = &[&player.id.0, &was, &before_ms, likenesses, &now_ms];
    if session.query_opt(sql, values).await?.is_none() {
        return Ok(false);
    }
    if let Some(invite) = naming.invite
        && !operator::take_invite(session, invite, now_ms).await?
    {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= $1";
    session.query(sql, &[&now_ms]).await?;
    let sql = "UPDATE names SET until_ms = $2 WHERE player = $1 AND until_ms IS NULL";
    session.query(sql, &[&player.id.0, &until_ms]).await?;
    let sql = "INSERT INTO names (likeness, player) SELECT DISTINCT likeness, $2::uuid
               FROM UNNEST($1::text[]) AS own (likeness)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    session.query(sql, &[likenesses, &player.id.0]).await?;
    let sql = "UPDATE players SET name = $2, kind = $3 WHERE id = $1";
    session
        .query(sql, &[&player.id.0, &player.name, &kind])
        .await?;
    let sql = "INSERT INTO accounts AS a (player, password, renamed_ms) VALUES ($1, $2, $3)
               ON CONFLICT (player) DO UPDATE SET renamed_ms = excluded.renamed_ms,
                   password = coalesce(excluded.password, a.password)";
    let password = naming.password.as_ref().map(|password| &*password.0);
    let renamed_ms = (naming.before.0 != PlayerKind::Guest).then_some(now_ms);
    let values: Values<'_> = &[&player.id.0, &password, &renamed_ms];
    session.query(sql, values).await?;
    Ok(true)
}

/// Calls a guest so. False if the player is none.
pub(super) async fn call_guest(
    session: &Session,
    player: PlayerId,
    name: &str,
) -> Result<bool, Failure> {
    let sql = "UPDATE players SET name = $2 WHERE id = $1 AND kind IS NULL RETURNING id";
    let called = session.query_opt(sql, &[&player.0, &name]).await?;
    Ok(called.is_some())
}

/// Keeps a password, and forgets the sessions of people but for the one that asks. False if it is no account,
/// or what was proved is no longer so.
pub(super) async fn set_password(
    session: &Session,
    player: PlayerId,
    password: &PasswordHash,
    proved: &Proved,
) -> Result<bool, Failure> {
    if !is_proved(session, player, proved).await? {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET password = $2 WHERE player = $1 RETURNING player";
    let updated = session.query_opt(sql, &[&player.0, &password.0]).await?;
    let is_account = updated.is_some();
    if is_account {
        let which = Sessions::AllButKeysAnd(proved.session);
        end_sessions(session, player, which).await?;
    }
    Ok(is_account)
}

/// Whether it is still as it was when somebody proved to be this player.
pub(super) async fn is_proved(
    session: &Session,
    player: PlayerId,
    proved: &Proved,
) -> Result<bool, Failure> {
    let sql = "SELECT 1 FROM sessions s LEFT JOIN accounts a ON a.player = s.player
               WHERE s.id = $2 AND s.player = $1 AND a.password IS NOT DISTINCT FROM $3";
    let password = proved.password.as_ref().map(|password| &*password.0);
    let values: Values<'_> = &[&player.0, &proved.session.0, &password];
    Ok(session.query_opt(sql, values).await?.is_some())
}

/// Keeps a key of a program, and the program's account if that is new. False if it may not be so.
pub(super) async fn add_key(session: &Session, key: &NewKey) -> Result<bool, Failure> {
    let sql = "SELECT 1 WHERE $2 > (
                   SELECT count(*) FROM sessions WHERE kind = 'key'
                   AND player IN (SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1))";
    let values: Values<'_> = &[&key.owner.0, &integer(key.max as u64)];
    let has_room = session.query_opt(sql, values).await?.is_some();
    if !has_room || !is_proved(session, key.owner, &key.proved).await? {
        return Ok(false);
    }
    let is_owners = match &key.bot {
        Some(bot) => add_bot(session, key.owner, bot).await?,
        None if key.session.player == key.owner => true,
        None => {
            let sql = "SELECT 1 FROM accounts WHERE player = $1 AND owner = $2";
            let values: Values<'_> = &[&key.session.player.0, &key.owner.0];
            session.query_opt(sql, values).await?.is_some()
        }
    };
    if is_owners {
        add_sessions(session, &[&key.session]).await?;
    }
    Ok(is_owners)
}

/// Makes an account of somebody whom a proxy knows. False if it has known them before, or somebody else has the
/// name.
pub(super) async fn add_external(
    session: &Session,
    new: &ExternalIdentity,
) -> Result<bool, Failure> {
    let sql = "SELECT 1 FROM externals WHERE name = $1";
    if session.query_opt(sql, &[&new.external]).await?.is_some() {
        return Ok(false);
    }
    let account = Account {
        external: Some(new.external.clone()),
        ..Account::default()
    };
    let called = (&*new.likenesses, new.now_ms);
    add_account(session, &new.player, called, account).await
}

/// Makes an account of a program. False if somebody else has the name, or there would be too many.
async fn add_bot(session: &Session, owner: PlayerId, new: &NewBot) -> Result<bool, Failure> {
    let sql = "SELECT 1 WHERE $2 > (SELECT count(*) FROM accounts WHERE owner = $1)";
    let values: Values<'_> = &[&owner.0, &integer(new.max as u64)];
    if session.query_opt(sql, values).await?.is_none() {
        return Ok(false);
    }
    let account = Account {
        owner: Some(owner),
        ..Account::default()
    };
    let called = (&*new.likenesses, new.now_ms);
    add_account(session, &new.player, called, account).await
}

/// Adds a player with an account and a name of these likenesses, from now on. False if somebody else has it.
async fn add_account(
    session: &Session,
    player: &PlayerRecord,
    (likenesses, now_ms): (&[String], u64),
    account: Account,
) -> Result<bool, Failure> {
    let sql = "DELETE FROM names WHERE until_ms <= $1";
    session.query(sql, &[&integer(now_ms)]).await?;
    let sql = "SELECT 1 FROM names WHERE likeness = ANY ($1) LIMIT 1";
    if session.query_opt(sql, &[&likenesses]).await?.is_some() {
        return Ok(false);
    }
    let PlayerRecord { id, name, kind } = player;
    let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, $3)";
    let values: Values<'_> = &[&id.0, name, &player_kind_to_text(*kind)];
    session.query(sql, values).await?;
    let account = Account {
        names: OwnName::all(likenesses),
        ..account
    };
    keep(session, *id, &account).await?;
    Ok(true)
}

/// Keeps all that is known of an account.
pub(super) async fn keep(
    session: &Session,
    player: PlayerId,
    account: &Account,
) -> Result<(), Failure> {
    let sql = "INSERT INTO accounts (player, password, renamed_ms, owner) VALUES ($1, $2, $3, $4)
               ON CONFLICT DO NOTHING";
    let password = account.password.as_ref().map(|password| &*password.0);
    let (renamed_ms, owner) = (
        account.renamed_ms.map(integer),
        account.owner.map(|id| id.0),
    );
    let values: Values<'_> = &[&player.0, &password, &renamed_ms, &owner];
    session.query(sql, values).await?;
    if let Some(external) = &account.external {
        let sql = "INSERT INTO externals (name, player) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        session.query(sql, &[external, &player.0]).await?;
    }
    let likenesses: Vec<&str> = account.names.iter().map(|own| &*own.likeness).collect();
    let untils = account.names.iter().map(|own| own.until_ms.map(integer));
    let untils: Vec<Option<i64>> = untils.collect();
    let sql = "INSERT INTO names (likeness, player, until_ms)
               SELECT likeness, $1, until_ms
               FROM UNNEST($2::text[], $3::int8[]) AS own (likeness, until_ms)
               ON CONFLICT DO NOTHING";
    let values: Values<'_> = &[&player.0, &likenesses, &untils];
    session.query(sql, values).await?;
    Ok(())
}
