//! Verifies a player's identity. Login by name requires the password. Sensitive requests require a
//! proof of identity, so they cannot be sent from an unattended device.

use std::time::Duration;

use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::tokens;
use crate::context::clock_and_rng::now;
use crate::requests::{Client, Player};
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
        self.charge_password_attempt(&skeleton)?;
        let account = self.find_account_by_name(&name).await;
        let is_correct = match &account {
            Ok((_, stored_hash)) => {
                self.verify_password(&skeleton, password, stored_hash.clone())
                    .await
            }
            Err(error) => Err(error.clone()),
        };
        if is_correct.is_err() {
            self.refund_password_attempt(&skeleton);
        }
        match (account?, is_correct?) {
            ((Some(player), Some(stored_hash)), true) => Ok((player, stored_hash)),
            _ => Err(wrong_password_error()),
        }
    }

    /// Returns the player who uses this name or one that looks like it, and the player's password
    /// hash. An unknown name causes the same queries, so that the response time does not reveal
    /// whether the name exists.
    async fn find_account_by_name(
        &self,
        name: &str,
    ) -> Result<(Option<PlayerId>, Option<PasswordHash>), WireError> {
        let server = &self.server;
        let owner = names::owner_of_name(server.store(), server.now_ms(), name).await;
        let owner = owner.map_err(identity_read_error)?;
        let player = owner
            .filter(|(_, is_own)| *is_own)
            .map(|(player, _)| player);
        let nil_player = PlayerId(Uuid::nil());
        let account = self.store().account(player.unwrap_or(nil_player)).await;
        let password = account
            .map_err(identity_read_error)?
            .and_then(|account| account.password);
        Ok((player, password))
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
        let account = self
            .store()
            .account(id)
            .await
            .map_err(identity_read_error)?;
        let identity_proof = IdentityProof {
            session: player.session.id,
            password: account.and_then(|account| account.password),
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
                self.charge_password_attempt(&skeleton)?;
                let is_correct = self
                    .verify_password(&skeleton, password, Some(stored_hash))
                    .await;
                if is_correct.is_err() {
                    self.refund_password_attempt(&skeleton);
                }
                is_correct?
                    .then_some(identity_proof)
                    .ok_or_else(wrong_password_error)
            }
            Some(ReauthProof::RecoveryKey(key)) => {
                self.connection_permit
                    .charge_code_attempt(now())
                    .map_err(too_many_codes_error)?;
                let key = tokens::hash_code(key);
                let owner = self
                    .find_recovery_owner(key)
                    .await
                    .map_err(identity_read_error)?;
                if owner != Some(id)
                    || !self
                        .consume_one_time_token(key)
                        .await
                        .map_err(identity_write_error)?
                {
                    return Err(wrong_password_error());
                }
                self.connection_permit.refund_code_attempt();
                Ok(identity_proof)
            }
        }
    }

    /// Checks a password against the stored hash. If the password is correct, the attempt is not
    /// counted against the limit.
    async fn verify_password(
        &self,
        skeleton: &str,
        password: &Token,
        stored_hash: Option<PasswordHash>,
    ) -> Result<bool, WireError> {
        let is_correct = self
            .server
            .identity
            .passwords
            .verify(password, stored_hash)
            .await?;
        if is_correct {
            self.refund_password_attempt(skeleton);
        }
        Ok(is_correct)
    }

    fn charge_password_attempt(&self, skeleton: &str) -> Result<(), WireError> {
        let login_attempts = &self.server.identity.passwords.login_attempts;
        let attempt = login_attempts.charge(skeleton, self.connection_permit.address(), now());
        attempt.map_err(|retry_after| {
            too_soon_error("too many wrong passwords; try again later", retry_after)
        })
    }

    fn refund_password_attempt(&self, skeleton: &str) {
        let login_attempts = &self.server.identity.passwords.login_attempts;
        login_attempts.refund(skeleton, self.connection_permit.address());
    }
}

pub(in crate::requests) fn wrong_password_error() -> WireError {
    let message = "wrong name or password, or no password was given";
    WireError::new(ErrorCode::WrongPassword, message)
}

pub(in crate::requests) fn too_many_codes_error(retry_after: Duration) -> WireError {
    let message = "too many wrong codes and keys from your IP address; try again later";
    too_soon_error(message, retry_after)
}

pub(in crate::requests) fn too_soon_error(message: &str, retry_after: Duration) -> WireError {
    WireError {
        // The time is rounded up, so that a client that waits this long is not rejected again.
        retry_after_ms: u64::try_from(retry_after.as_micros().div_ceil(1000)).ok(),
        ..WireError::new(ErrorCode::TooSoon, message)
    }
}
