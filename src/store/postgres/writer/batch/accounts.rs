//! Accounts and their names. While one of these changes is made, no other server makes any.

use plyhouse_protocol::{PlayerId, PlayerKind, SessionId};

use super::people::end_sessions;
use crate::people::player_kind_to_text;
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::{Account, Naming, PasswordHash, Sessions};

/// Gives a player a name. False if somebody else has it, or the player is not as was believed.
pub(super) async fn name(session: &Session, naming: &Naming) -> Result<bool, Failure> {
    let Naming {
        player,
        likeness,
        before: (was, renamed_ms),
        ..
    } = naming;
    let (now_ms, until_ms) = (integer(naming.now_ms), integer(naming.kept_until_ms));
    let (was, kind) = (player_kind_to_text(*was), player_kind_to_text(player.kind));
    let before_ms = renamed_ms.map(integer);
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = $1 AND p.kind IS NOT DISTINCT FROM $2
                 AND a.renamed_ms IS NOT DISTINCT FROM $3
                 AND NOT EXISTS (SELECT 1 FROM names WHERE likeness = $4 AND player <> $1
                                 AND (until_ms IS NULL OR until_ms > $5))";
    let values: Values<'_> = &[&player.id.0, &was, &before_ms, likeness, &now_ms];
    if session.query_opt(sql, values).await?.is_none() {
        return Ok(false);
    }
    let sql = "DELETE FROM names WHERE until_ms <= $1";
    session.query(sql, &[&now_ms]).await?;
    let sql = "UPDATE names SET until_ms = $2 WHERE player = $1 AND until_ms IS NULL";
    session.query(sql, &[&player.id.0, &until_ms]).await?;
    let sql = "INSERT INTO names (likeness, player) VALUES ($1, $2)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    session.query(sql, &[likeness, &player.id.0]).await?;
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

/// Keeps a password, and forgets the sessions of people but for this one. False if it is no account.
pub(super) async fn set_password(
    session: &Session,
    player: PlayerId,
    password: &PasswordHash,
    but: SessionId,
) -> Result<bool, Failure> {
    let sql = "UPDATE accounts SET password = $2 WHERE player = $1 RETURNING player";
    let updated = session.query_opt(sql, &[&player.0, &password.0]).await?;
    let is_account = updated.is_some();
    if is_account {
        end_sessions(session, player, Sessions::AllButKeysAnd(but)).await?;
    }
    Ok(is_account)
}

/// Keeps all that is known of an account.
pub(super) async fn keep(
    session: &Session,
    player: PlayerId,
    account: &Account,
) -> Result<(), Failure> {
    let sql = "INSERT INTO accounts (player, password, renamed_ms) VALUES ($1, $2, $3)
               ON CONFLICT DO NOTHING";
    let password = account.password.as_ref().map(|password| &*password.0);
    let values: Values<'_> = &[&player.0, &password, &account.renamed_ms.map(integer)];
    session.query(sql, values).await?;
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
