//! Accounts and their names.

use plyhouse_protocol::{PlayerId, PlayerKind};

use super::players::add_players;
use super::sessions::{add_session, end_sessions};
use super::tokens_and_admin_commands::take_invite;
use super::{Columns, FromColumns, InvalidColumn, Sql, SqlWrite, exists, query_all, query_first};
use crate::records::player_identity::player_kind_to_text;
use crate::{
    Account, ExternalIdentity, IdentityProof, NameChange, NewApiKey, NewBotAccount, PasswordHash,
    PlayerRecord, SessionSelection, UniqueName,
};

/// Gives a player a unique name. Returns `false` if another player has a confusable name or the
/// invitation is not valid. Also returns `false` if the player's kind or the time of the last name
/// change differs from `change.expected`.
pub(crate) async fn name_player<S: SqlWrite>(
    db: &S,
    change: &NameChange,
) -> Result<bool, S::Error> {
    let (player, now_ms) = (&change.player, change.now_ms);
    let (old_kind, renamed_ms) = change.expected;
    let id = player.id.into();
    let sql = "SELECT 1 FROM players p LEFT JOIN accounts a ON a.player = p.id
               WHERE p.id = ?1 AND p.kind IS NOT DISTINCT FROM ?2
                 AND a.renamed_ms IS NOT DISTINCT FROM ?3";
    let old_kind_text = player_kind_to_text(old_kind);
    let params = [id, old_kind_text.into(), renamed_ms.into()];
    if !exists(db, sql, &params).await?
        || is_name_taken(db, &change.skeletons, now_ms, Some(player.id)).await?
    {
        return Ok(false);
    }
    if let Some(invite) = &change.invite
        && !take_invite(db, invite, now_ms).await?
    {
        return Ok(false);
    }
    delete_expired_names(db, now_ms).await?;
    let sql = "UPDATE names SET until_ms = ?2 WHERE player = ?1 AND until_ms IS NULL";
    let reserved_until_ms = change.old_name_reserved_until_ms.into();
    db.execute(sql, &[id, reserved_until_ms]).await?;
    let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)
               ON CONFLICT (likeness) DO UPDATE SET until_ms = NULL";
    for skeleton in &change.skeletons {
        db.execute(sql, &[skeleton.into(), id]).await?;
    }
    let sql = "UPDATE players SET name = ?2, kind = ?3 WHERE id = ?1";
    let kind = player_kind_to_text(player.kind);
    let params = [id, (&player.name).into(), kind.into()];
    db.execute(sql, &params).await?;
    let sql = "INSERT INTO accounts (player, password, renamed_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT (player) DO UPDATE SET renamed_ms = excluded.renamed_ms,
                   password = coalesce(excluded.password, accounts.password)";
    let renamed_ms = (old_kind != PlayerKind::Guest).then_some(now_ms);
    let params = [id, change.password.as_ref().into(), renamed_ms.into()];
    db.execute(sql, &params).await?;
    Ok(true)
}

/// Renames a guest. Returns `false` if the player is not a guest.
pub(crate) async fn rename_guest<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    name: &str,
) -> Result<bool, S::Error> {
    let sql = "UPDATE players SET name = ?2 WHERE id = ?1 AND kind IS NULL";
    Ok(db.execute(sql, &[player.into(), name.into()]).await? == 1)
}

/// Sets the password of an account and ends all of its sessions, except the requesting session and
/// API keys. Returns `false` if the account does not exist or the proof is no longer valid.
pub(crate) async fn set_password<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    password: &PasswordHash,
    proof: &IdentityProof,
) -> Result<bool, S::Error> {
    if !is_proof_valid(db, player, proof).await? {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET password = ?2 WHERE player = ?1";
    let is_account = db.execute(sql, &[player.into(), password.into()]).await? == 1;
    if is_account {
        let ended = SessionSelection::AllButKeysAnd(proof.session);
        end_sessions(db, player, ended).await?;
    }
    Ok(is_account)
}

/// Returns whether the session in the proof still exists and the password has not changed.
pub(crate) async fn is_proof_valid<S: Sql>(
    db: &S,
    player: PlayerId,
    proof: &IdentityProof,
) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM sessions s LEFT JOIN accounts a ON a.player = s.player
               WHERE s.id = ?2 AND s.player = ?1 AND a.password IS NOT DISTINCT FROM ?3";
    let params = [
        player.into(),
        proof.session.into(),
        proof.password.as_ref().into(),
    ];
    exists(db, sql, &params).await
}

/// Adds an API key. If the key is for a new bot account, also adds this account. Returns `false` if
/// the proof is no longer valid, the name is taken, the bot belongs to another owner, or a limit is
/// reached.
pub(crate) async fn add_api_key<S: SqlWrite>(db: &S, key: &NewApiKey) -> Result<bool, S::Error> {
    let owner = key.owner.into();
    let sql = "SELECT 1 WHERE ?2 > (
                   SELECT count(*) FROM sessions WHERE kind = 'key' AND player IN (
                       SELECT ?1/*pg:::uuid*/ UNION SELECT player FROM accounts WHERE owner = ?1))";
    let has_room = exists(db, sql, &[owner, key.keys_max.into()]).await?;
    if !has_room || !is_proof_valid(db, key.owner, &key.proof).await? {
        return Ok(false);
    }
    let is_owned = match &key.bot {
        Some(bot) => add_bot_account(db, key.owner, bot).await?,
        None if key.session.player == key.owner => true,
        None => {
            let sql = "SELECT 1 FROM accounts WHERE player = ?1 AND owner = ?2";
            exists(db, sql, &[key.session.player.into(), owner]).await?
        }
    };
    if is_owned {
        add_session(db, &key.session).await?;
    }
    Ok(is_owned)
}

/// Creates a bot account. Returns `false` if the name is taken or the owner already has the maximum
/// number of bots.
async fn add_bot_account<S: SqlWrite>(
    db: &S,
    owner: PlayerId,
    bot: &NewBotAccount,
) -> Result<bool, S::Error> {
    if bots_of(db, owner).await?.len() >= bot.bots_max {
        return Ok(false);
    }
    let account = Account {
        owner: Some(owner),
        ..Account::default()
    };
    add_account(db, &bot.player, &bot.skeletons, bot.now_ms, account).await
}

/// Creates an account for a user who was authenticated by a proxy for the first time. Returns
/// `false` if an account with this external name exists or the account name is taken.
pub(crate) async fn add_external_identity<S: SqlWrite>(
    db: &S,
    identity: &ExternalIdentity,
) -> Result<bool, S::Error> {
    let known = find_external_identity(db, &identity.external_name).await?;
    if known.is_some() {
        return Ok(false);
    }
    let account = Account {
        external_name: Some(identity.external_name.clone()),
        ..Account::default()
    };
    let (player, skeletons) = (&identity.player, &identity.skeletons);
    add_account(db, player, skeletons, identity.now_ms, account).await
}

/// Adds a player with an account, and reserves the player's name, which is given by its skeletons.
/// Returns `false` if another player has a confusable name.
async fn add_account<S: SqlWrite>(
    db: &S,
    player: &PlayerRecord,
    skeletons: &[String],
    now_ms: u64,
    account: Account,
) -> Result<bool, S::Error> {
    if is_name_taken(db, skeletons, now_ms, None).await? {
        return Ok(false);
    }
    delete_expired_names(db, now_ms).await?;
    add_players(db, vec![player], Vec::new()).await?;
    let account = Account {
        unique_names: UniqueName::from_skeletons(skeletons),
        ..account
    };
    store_account(db, player.id, &account).await?;
    Ok(true)
}

/// Stores an account with its external name and unique names.
pub(crate) async fn store_account<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    account: &Account,
) -> Result<(), S::Error> {
    let sql = "INSERT INTO accounts (player, password, renamed_ms, owner) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO NOTHING";
    let params = [
        player.into(),
        account.password.as_ref().into(),
        account.renamed_ms.into(),
        account.owner.into(),
    ];
    db.execute(sql, &params).await?;
    if let Some(external) = &account.external_name {
        let sql = "INSERT INTO externals (name, player) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        db.execute(sql, &[external.into(), player.into()]).await?;
    }
    let sql = "INSERT INTO names (likeness, player, until_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT DO NOTHING";
    for name in &account.unique_names {
        let params = [
            (&name.skeleton).into(),
            player.into(),
            name.reserved_until_ms.into(),
        ];
        db.execute(sql, &params).await?;
    }
    Ok(())
}

async fn delete_expired_names<S: SqlWrite>(db: &S, now_ms: u64) -> Result<(), S::Error> {
    let sql = "DELETE FROM names WHERE until_ms <= ?1";
    db.execute(sql, &[now_ms.into()]).await?;
    Ok(())
}

/// Returns whether a player other than `except` holds one of the given name skeletons.
async fn is_name_taken<S: Sql>(
    db: &S,
    skeletons: &[String],
    now_ms: u64,
    except: Option<PlayerId>,
) -> Result<bool, S::Error> {
    for skeleton in skeletons {
        let holder = find_by_name_skeleton(db, skeleton, now_ms).await?;
        if holder.is_some_and(|(player, _)| Some(player) != except) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the player who owns the name with this skeleton, and whether the name is current. A name
/// that is not current is a former name that is still reserved.
pub(crate) async fn find_by_name_skeleton<S: Sql>(
    db: &S,
    skeleton: &str,
    now_ms: u64,
) -> Result<Option<(PlayerId, bool)>, S::Error> {
    let sql = "SELECT player, until_ms IS NULL FROM names
               WHERE likeness = ?1 AND (until_ms IS NULL OR until_ms > ?2)";
    query_first(db, sql, &[skeleton.into(), now_ms.into()]).await
}

/// Returns the player whom the authenticating proxy identifies by this name.
pub(crate) async fn find_external_identity<S: Sql>(
    db: &S,
    name: &str,
) -> Result<Option<PlayerRecord>, S::Error> {
    let sql = "SELECT p.id, p.name, p.kind FROM externals e JOIN players p ON p.id = e.player
               WHERE e.name = ?1";
    query_first(db, sql, &[name.into()]).await
}

/// Returns the bot accounts of a player, ordered by id.
pub(crate) async fn bots_of<S: Sql>(
    db: &S,
    owner: PlayerId,
) -> Result<Vec<PlayerRecord>, S::Error> {
    let sql = "SELECT p.id, p.name, p.kind FROM accounts a JOIN players p ON p.id = a.player
               WHERE a.owner = ?1 ORDER BY a.player";
    query_all(db, sql, &[owner.into()]).await
}

/// Returns the account of a player, if the player has one.
pub(crate) async fn account<S: Sql>(db: &S, player: PlayerId) -> Result<Option<Account>, S::Error> {
    let params = [player.into()];
    let sql = "SELECT a.password, a.renamed_ms, a.owner, e.name
               FROM accounts a LEFT JOIN externals e ON e.player = a.player WHERE a.player = ?1";
    let Some(account) = query_first::<_, Account>(db, sql, &params).await? else {
        return Ok(None);
    };
    let sql = "SELECT likeness, until_ms FROM names WHERE player = ?1
               ORDER BY likeness /*pg:COLLATE \"C\"*/";
    Ok(Some(Account {
        unique_names: query_all(db, sql, &params).await?,
        bots: bots_of(db, player).await?,
        ..account
    }))
}

/// Reads an account without its names and bot accounts.
impl FromColumns for Account {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        Ok(Self {
            password: columns.next::<Option<String>>()?.map(PasswordHash),
            renamed_ms: columns.next()?,
            owner: columns.next()?,
            external_name: columns.next()?,
            ..Self::default()
        })
    }
}
