//! Applies changes of identity data.

use plyhouse_protocol::PlayerId;

use super::tokens_and_admin_commands::{
    add_one_time_token, claim_command, store_command_result, take_one_time_token,
};
use super::{Sql, accounts, blocks, sessions};
use crate::{IdentityChange, PlayerDeletion};

/// Changes that need statements of their own for each database, because they affect journals.
pub(crate) trait DeletePlayers: Sql {
    /// Deletes a player and the player's bot accounts. Returns `false` if the player does not exist
    /// or the proof is no longer valid.
    fn delete_player(
        &self,
        deletion: &PlayerDeletion,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Removes a player's name from the next batch of matches. Returns `false` once the name has
    /// been removed from all matches.
    fn remove_names(
        &self,
        player: PlayerId,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;
}

/// Applies an identity change. Returns `false` if the change was refused.
pub(crate) async fn apply_change<S: DeletePlayers>(
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
        IdentityChange::DeletePlayer(deletion) => return db.delete_player(deletion).await,
        IdentityChange::RemoveNames(player) => return db.remove_names(*player).await,
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
