//! Verifies a player's identity. Login by name requires the password. Sensitive requests require a
//! proof of identity, so they cannot be sent from an unattended device.

use std::time::Duration;

use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::tokens;
use crate::context::clock_and_rng::now;
use crate::requests::{Client, Player};
use crate::wire::error_replies::retry_error;
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerName, ReauthProof, Token, WireError};
use plyhouse_store::{IdentityProof, PasswordHash};
use uuid::Uuid;

/// Time after a login by recovery key during which no proof of identity is required, in
/// milliseconds. In this time, a player who has lost the password can set a new one.
const RECOVERY_GRACE_MS: u64 = 3600 * 1000;

impl Client {
    /// Returns the account with this name and password, and the stored hash of the password.
    pub(in crate::requests) async fn authenticate_by_password(
        &self,
        name: &str,
        password: &Token,
    ) -> Result<(PlayerId, PasswordHash), WireError> {
        let name = name.parse::<PlayerName>();
        // An invalid name is looked up as an empty name, which no player has.
        let name = name.map_or_else(|_| String::new(), |name| name.as_str().to_owned());
        let skeleton = names::name_skeleton(&name);
        let check = async {
            let (player, stored_hash) = self.find_account_by_name(&name).await?;
            let passwords = &self.server.identity.passwords;
            let is_correct = passwords.verify(password, stored_hash.clone()).await?;
            Ok(player.zip(stored_hash).filter(|_| is_correct))
        };
        self.check_password(&skeleton, check).await
    }

    /// Returns the player who uses this name or one that looks like it, and the player's password
    /// hash. An unknown name causes the same queries, so that the response time does not reveal
    /// whether the name exists.
    async fn find_account_by_name(
        &self,
        name: &str,
    ) -> Result<(Option<PlayerId>, Option<PasswordHash>), WireError> {
        let now_ms = self.server.now_ms();
        let player = names::current_owner(self.store(), now_ms, name).await;
        let player = player.map_err(identity_read_error)?;
        let nil_player = PlayerId(Uuid::nil());
        let account = self.load_account(player.unwrap_or(nil_player)).await?;
        Ok((player, account.password))
    }

    /// Verifies the player's proof of identity if the player needs a proof. A player without a
    /// password needs no proof. No proof is required within `RECOVERY_GRACE_MS` of a login by
    /// recovery key either.
    pub(in crate::requests) async fn verify_proof(
        &self,
        player: &Player,
        proof: Option<&ReauthProof>,
    ) -> Result<IdentityProof, WireError> {
        let id = player.record.id;
        let identity_proof = IdentityProof {
            session: player.session.id,
            password: self.load_account(id).await?.password,
        };
        let Some(stored_hash) = identity_proof.password.clone() else {
            return Ok(identity_proof);
        };
        let now_ms = self.server.now_ms();
        let since_ms = now_ms.saturating_sub(player.session.created_ms);
        if player.session.from_recovery_key && since_ms < RECOVERY_GRACE_MS {
            return Ok(identity_proof);
        }
        match proof {
            None => Err(wrong_password_error()),
            Some(ReauthProof::Password(password)) => {
                let skeleton = names::name_skeleton(&self.current_record(player).name);
                let check = async {
                    let passwords = &self.server.identity.passwords;
                    let is_correct = passwords.verify(password, Some(stored_hash)).await?;
                    Ok(is_correct.then_some(identity_proof))
                };
                self.check_password(&skeleton, check).await
            }
            Some(ReauthProof::RecoveryKey(key)) => {
                let charged = self.connection_permit.charge_code_attempt(now());
                charged.map_err(too_many_codes_error)?;
                let key = tokens::hash_code(key);
                let owner = self.find_recovery_owner(key).await;
                if owner.map_err(identity_read_error)? != Some(id) {
                    return Err(wrong_password_error());
                }
                let is_consumed = self.consume_one_time_token(key).await;
                if !is_consumed.map_err(identity_write_error)? {
                    return Err(wrong_password_error());
                }
                self.connection_permit.refund_code_attempt();
                Ok(identity_proof)
            }
        }
    }

    /// Runs a password check, which returns `None` for a wrong password. Only a wrong password
    /// counts against the limits on login attempts.
    async fn check_password<T>(
        &self,
        skeleton: &str,
        check: impl Future<Output = Result<Option<T>, WireError>>,
    ) -> Result<T, WireError> {
        let login_attempts = &self.server.identity.passwords.login_attempts;
        let address = self.connection_permit.address;
        let attempt = login_attempts.charge(skeleton, address, now());
        attempt.map_err(|retry_after| {
            let message = "too many wrong passwords; try again later";
            retry_error(ErrorCode::TooSoon, message, retry_after)
        })?;
        let checked = check.await;
        if !matches!(checked, Ok(None)) {
            login_attempts.refund(skeleton, address);
        }
        checked?.ok_or_else(wrong_password_error)
    }
}

pub(in crate::requests) fn wrong_password_error() -> WireError {
    let message = "wrong name or password, or no password was given";
    WireError::new(ErrorCode::WrongPassword, message)
}

pub(in crate::requests) fn too_many_codes_error(retry_after: Duration) -> WireError {
    let message = "too many wrong codes and keys from your IP address; try again later";
    retry_error(ErrorCode::TooSoon, message, retry_after)
}
