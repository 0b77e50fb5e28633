//! Applies changes of identity data.

use super::account_deletion::{delete_player, remove_names};
use super::tokens_and_admin_commands::{
    add_one_time_token, claim_command, find_one_time_token, store_command_result,
    take_one_time_token,
};
use super::writes::SharedTransaction;
use super::{Sql, accounts, blocks, players, sessions};
use crate::{IdentityChange, NameChange, SessionRecord};

/// Applies an identity change. Returns `false` if the change was refused.
pub(crate) async fn apply_change<S: SharedTransaction>(
    db: &S,
    change: &IdentityChange,
) -> Result<bool, S::Error> {
    match change {
        IdentityChange::AddSession(added) => sessions::add_session(db, added).await?,
        IdentityChange::OfferPairing {
            pairing,
            offered_by,
            now_ms,
            max,
        } => return sessions::offer_pairing(db, pairing, *offered_by, *now_ms, *max).await,
        IdentityChange::TakePairing(code, new_session) => {
            return sessions::take_pairing(db, code, new_session).await;
        }
        IdentityChange::StoreRecoveryKey(player, key) => {
            sessions::store_recovery_key(db, *player, key).await?;
        }
        IdentityChange::RenewRecoveryKey(player, key, proof) => {
            let is_valid = accounts::is_proof_valid(db, *player, proof).await?;
            if is_valid {
                sessions::store_recovery_key(db, *player, key).await?;
            }
            return Ok(is_valid);
        }
        IdentityChange::AddApiKey(key) => return accounts::add_api_key(db, key).await,
        IdentityChange::EndSessions(player, selection) => {
            sessions::end_sessions(db, *player, *selection).await?;
        }
        IdentityChange::TouchSession(token, day) => {
            sessions::touch_session(db, token, *day).await?;
        }
        IdentityChange::NamePlayer(change) => return accounts::name_player(db, change).await,
        IdentityChange::RenameGuest(player, name) => {
            return accounts::rename_guest(db, *player, name).await;
        }
        IdentityChange::SetPassword(player, password, proof) => {
            return accounts::set_password(db, *player, password, proof).await;
        }
        IdentityChange::StoreAccount(player, account) => {
            accounts::store_account(db, *player, account).await?;
        }
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => return blocks::change_block(db, *player, *other, *since_ms).await,
        IdentityChange::AddExternalIdentity(identity) => {
            return accounts::add_external_identity(db, identity).await;
        }
        IdentityChange::DeletePlayer(deletion) => return delete_player(db, deletion).await,
        IdentityChange::RemoveNames(player) => return remove_names(db, *player).await,
        IdentityChange::AddOneTimeToken {
            code,
            token,
            now_ms,
            max,
        } => return add_one_time_token(db, code, token, *now_ms, *max).await,
        IdentityChange::TakeOneTimeToken(code) => return take_one_time_token(db, code).await,
        IdentityChange::ClaimCommand(id) => return claim_command(db, *id).await,
        IdentityChange::StoreCommandResult(id, result) => {
            return store_command_result(db, *id, result).await;
        }
    }
    Ok(true)
}

/// Determines from the stored data whether an identity change was applied. Called if the outcome of
/// the commit is unknown. Returns `None` if the stored data does not show whether the change was
/// applied.
pub(crate) async fn is_applied<S: Sql>(
    db: &S,
    change: &IdentityChange,
) -> Result<Option<bool>, S::Error> {
    let is_applied = match change {
        IdentityChange::AddSession(session) => is_session_stored(db, session).await?,
        IdentityChange::OfferPairing { pairing, .. } => {
            sessions::find_pairing(db, pairing.code, 0).await?.is_some()
        }
        IdentityChange::TakePairing(_, session) => is_session_stored(db, session).await?,
        IdentityChange::StoreRecoveryKey(player, key)
        | IdentityChange::RenewRecoveryKey(player, key, _) => {
            sessions::find_by_recovery_key(db, key).await? == Some(*player)
        }
        IdentityChange::AddApiKey(key) => is_session_stored(db, &key.session).await?,
        IdentityChange::EndSessions(player, selection) => {
            sessions::have_sessions_ended(db, *player, *selection).await?
        }
        // This change always counts as applied, because the day of a session's last use need not be
        // exact. The next `hello` request stores the current day.
        IdentityChange::TouchSession(..) => true,
        IdentityChange::NamePlayer(change) => is_player_named(db, change).await?,
        IdentityChange::RenameGuest(player, name) => players::has_name(db, *player, name).await?,
        IdentityChange::SetPassword(player, password, _) => accounts::account(db, *player)
            .await?
            .is_some_and(|account| account.password.as_ref() == Some(password)),
        IdentityChange::StoreAccount(player, _) => accounts::account(db, *player).await?.is_some(),
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => blocks::is_blocked(db, *player, *other).await? == since_ms.is_some(),
        IdentityChange::AddExternalIdentity(identity) => {
            accounts::find_external_identity(db, &identity.external_name)
                .await?
                .is_some_and(|stored| stored == identity.player)
        }
        IdentityChange::DeletePlayer(deletion) => {
            !players::player_exists(db, deletion.player).await?
        }
        // This change always counts as applied, because the caller repeats the name removal until
        // no names remain.
        IdentityChange::RemoveNames(_) => true,
        IdentityChange::AddOneTimeToken { code, .. } => {
            find_one_time_token(db, code, 0).await?.is_some()
        }
        // If the one-time token is no longer stored, this change or another call may have deleted
        // it. It is therefore unknown whether this change was applied.
        IdentityChange::TakeOneTimeToken(code)
            if find_one_time_token(db, code, 0).await?.is_none() =>
        {
            return Ok(None);
        }
        IdentityChange::TakeOneTimeToken(_) => false,
        IdentityChange::ClaimCommand(_) => return Ok(None),
        IdentityChange::StoreCommandResult(..) => true,
    };
    Ok(Some(is_applied))
}

async fn is_session_stored<S: Sql>(db: &S, session: &SessionRecord) -> Result<bool, S::Error> {
    let found = sessions::find_session(db, &session.token).await?;
    Ok(found.is_some())
}

/// Returns whether a player has the name that the change would give.
async fn is_player_named<S: Sql>(db: &S, change: &NameChange) -> Result<bool, S::Error> {
    let Some(skeleton) = change.skeletons.first() else {
        return Ok(false);
    };
    let id = change.player.id;
    let holder = accounts::find_by_name_skeleton(db, skeleton, change.now_ms).await?;
    Ok(holder == Some((id, true)) && players::has_name(db, id, &change.player.name).await?)
}
