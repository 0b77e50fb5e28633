//! That somebody is who they say: by a password, when they come, and anew for what is not to be had by a
//! device that somebody has left lying about.

use std::time::Duration;

use super::sessions::{not_kept, not_read};
use crate::auth::names;
use crate::auth::tokens;
use crate::context::clock::now;
use crate::requests::{Client, Player};
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerName, Proof, Token, WireError};
use plyhouse_store::{IdentityProof, PasswordHash};
use uuid::Uuid;

/// For how long after a recovery nothing more is to be proved, in milliseconds: whoever has lost the password
/// sets another one.
const RECOVERED_MS: u64 = 3600 * 1000;

impl Client {
    /// The account with this name and this password, and what is kept of the password.
    pub(in crate::requests) async fn account_of(
        &self,
        name: &str,
        password: &Token,
    ) -> Result<(PlayerId, PasswordHash), WireError> {
        let name = name.parse::<PlayerName>();
        // All texts that are no names are one that nobody has.
        let name = name.map_or_else(|_| String::new(), |name| name.as_str().to_owned());
        let likeness = names::name_skeleton(&name);
        self.try_password(&likeness)?;
        let found = self.find_account(&name).await;
        let is_right = match &found {
            Ok((_, kept)) => self.compare(&likeness, password, kept.clone()).await,
            Err(error) => Err(error.clone()),
        };
        if is_right.is_err() {
            self.was_no_try(&likeness);
        }
        match (found?, is_right?) {
            ((Some(player), Some(kept)), true) => Ok((player, kept)),
            _ => Err(wrong_password()),
        }
    }

    /// Whose name looks like this, and what is kept of their password. As much is read where nobody has it.
    async fn find_account(
        &self,
        name: &str,
    ) -> Result<(Option<PlayerId>, Option<PasswordHash>), WireError> {
        let server = &self.server;
        let named = names::owner_of_name(&*server.store, server.clock.now_ms(), name).await;
        let named = named.map_err(not_read)?;
        let player = named
            .filter(|(_, is_own)| *is_own)
            .map(|(player, _)| player);
        let nobody = PlayerId(Uuid::nil());
        let account = self.server.store.account(player.unwrap_or(nobody)).await;
        let password = account
            .map_err(not_read)?
            .and_then(|account| account.password);
        Ok((player, password))
    }

    /// Looks whether the player is asked for a proof, and whether this is one.
    pub(in crate::requests) async fn prove(
        &self,
        player: &Player,
        proof: Option<&Proof>,
    ) -> Result<IdentityProof, WireError> {
        let id = player.record.id;
        let account = self.server.store.account(id).await.map_err(not_read)?;
        let proved = IdentityProof {
            session: player.session.id,
            password: account.and_then(|account| account.password),
        };
        let Some(kept) = proved.password.clone() else {
            return Ok(proved);
        };
        let now_ms = self.server.clock.now_ms();
        let since_ms = now_ms.saturating_sub(player.session.created_ms);
        if player.session.from_recovery_key && since_ms < RECOVERED_MS {
            return Ok(proved);
        }
        match proof {
            None => Err(wrong_password()),
            Some(Proof::Password(password)) => {
                let likeness = names::name_skeleton(&self.called(player).name);
                self.try_password(&likeness)?;
                let is_right = self.compare(&likeness, password, Some(kept)).await;
                if is_right.is_err() {
                    self.was_no_try(&likeness);
                }
                is_right?.then_some(proved).ok_or_else(wrong_password)
            }
            Some(Proof::Recovery(key)) => {
                self.permit.try_code(now()).map_err(too_many_codes)?;
                let key = tokens::hash_of_code(key);
                let whose = self.recovered(key).await.map_err(not_read)?;
                if whose != Some(id) || !self.use_up(key).await.map_err(not_kept)? {
                    return Err(wrong_password());
                }
                self.permit.right();
                Ok(proved)
            }
        }
    }

    /// Whether the password is the one of which this is kept. A right one does not count as tried.
    async fn compare(
        &self,
        likeness: &str,
        password: &Token,
        kept: Option<PasswordHash>,
    ) -> Result<bool, WireError> {
        let is_right = self.server.passwords.is_right(password, kept).await?;
        if is_right {
            self.was_no_try(likeness);
        }
        Ok(is_right)
    }

    fn try_password(&self, likeness: &str) -> Result<(), WireError> {
        let tries = &self.server.passwords.tries;
        let tried = tries.begin(likeness, self.permit.address(), now());
        tried.map_err(|left| too_soon("too many wrong passwords were tried", left))
    }

    fn was_no_try(&self, likeness: &str) {
        let tries = &self.server.passwords.tries;
        tries.right(likeness, self.permit.address());
    }
}

pub(in crate::requests) fn wrong_password() -> WireError {
    let message = "the name or the password is wrong, or the password is missing";
    WireError::new(ErrorCode::WrongPassword, message)
}

pub(in crate::requests) fn too_many_codes(left: Duration) -> WireError {
    let message = "too many wrong codes and keys were tried from your address";
    too_soon(message, left)
}

pub(in crate::requests) fn too_soon(message: &str, left: Duration) -> WireError {
    WireError {
        // Rounded up, so that whoever waits that long may try.
        retry_after_ms: u64::try_from(left.as_micros().div_ceil(1000)).ok(),
        ..WireError::new(ErrorCode::TooSoon, message)
    }
}
