//! Requests to register a guest, to rename an account and to set a password.

use std::time::Duration;

use super::reauthenticate::wrong_password_error;
use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::names::RegistrableName;
use crate::auth::tokens;
use crate::cluster::Packet;
use crate::players::player_lookup;
use crate::players::registry;
use crate::requests::{Client, DAY_MS, Player};
use crate::settings::AccountPolicy;
use crate::wire::error_replies::{bad_field_error, retry_error};
use crate::wire::to_protocol;
use plyhouse_protocol::{
    ErrorCode, PlayerId, PlayerKind, ReauthProof, Token, WireError, is_password_same_as_name,
};
use plyhouse_store::{IdentityChanges, NameChange, PlayerRecord, SessionSelection, TokenHash};

/// Minimum time between two renames of an account, in milliseconds.
const RENAME_INTERVAL_MS: u64 = 30 * DAY_MS;

impl Client {
    /// Updates the player's record on all servers. Each server sends the record to the player's
    /// connections.
    pub(in crate::requests) fn broadcast_player_record(&self, record: &PlayerRecord) {
        self.server.identity.players.update_record(record);
        let player = to_protocol::player(record);
        self.server.broadcast(&Packet::PlayerRenamed { player });
    }

    /// Returns the player's current record, which other connections may have changed.
    pub(in crate::requests) fn current_record(&self, player: &Player) -> PlayerRecord {
        let connected_record = self.server.identity.players.record(player.record.id);
        connected_record.unwrap_or_else(|| player.record.clone())
    }

    pub(in crate::requests) async fn register(
        &self,
        player: &Player,
        name: String,
        password: Option<Token>,
        invite: Option<Token>,
    ) -> Result<(), WireError> {
        let id = player.record.id;
        if self.current_record(player).kind.is_account() {
            return Err(already_registered_error());
        }
        let invite = self.require_invite(invite).await?;
        let RegistrableName { name, skeletons } = names::parse_registrable_name(&name)?;
        self.check_name_available(&skeletons, id).await?;
        let (passwords, rng) = (&self.server.identity.passwords, &self.server.infra.rng);
        let password = match password {
            Some(password) => Some(passwords.hash(&password, rng).await?),
            None => None,
        };
        player_lookup::persist_player(&self.server, id).await?;
        let record = PlayerRecord {
            id,
            name,
            kind: PlayerKind::Account,
        };
        let now_ms = self.server.now_ms();
        let name_change = NameChange {
            player: record.clone(),
            skeletons,
            invite,
            password,
            expected: (PlayerKind::Guest, None),
            now_ms,
            old_name_reserved_until_ms: now_ms,
        };
        let result = self.store().name_player(name_change).await;
        if !result.map_err(identity_write_error)? {
            // The store has rejected the name. The player has registered on another connection, or
            // another player has taken the name.
            let stored_record = self.store().player_by_id(id).await;
            let stored_record = stored_record.map_err(identity_read_error)?;
            if stored_record.is_some_and(|known| known.kind.is_account()) {
                return Err(already_registered_error());
            }
            // Another player may also have used the same invitation.
            self.check_invite(invite).await?;
            return Err(name_taken_error());
        }
        self.server.infra.metrics.registrations.inc();
        tracing::info!(player = %id, "account registered");
        self.broadcast_player_record(&record);
        Ok(())
    }

    /// Returns the invitation's hash, or `None` if this server requires no invitation.
    async fn require_invite(&self, invite: Option<Token>) -> Result<Option<TokenHash>, WireError> {
        if self.server.infra.settings.accounts != AccountPolicy::Invite {
            return Ok(None);
        }
        let invite = invite.as_ref().map(tokens::hash_code);
        let invite = invite.ok_or_else(invite_needed_error)?;
        self.check_invite(Some(invite)).await?;
        Ok(Some(invite))
    }

    /// Checks that an invitation exists and has not expired.
    async fn check_invite(&self, invite: Option<TokenHash>) -> Result<(), WireError> {
        let Some(invite) = invite else { return Ok(()) };
        let now_ms = self.server.now_ms();
        let one_time_token = self.store().find_one_time_token(invite, now_ms).await;
        let is_valid = one_time_token
            .map_err(identity_read_error)?
            .is_some_and(|pass| pass.player.is_none());
        is_valid.then_some(()).ok_or_else(invite_needed_error)
    }

    pub(in crate::requests) async fn rename(
        &self,
        player: &Player,
        name: String,
    ) -> Result<(), WireError> {
        let old_record = self.current_record(player);
        check_is_registered(old_record.kind)?;
        let RegistrableName { name, skeletons } = names::parse_registrable_name(&name)?;
        self.check_name_available(&skeletons, old_record.id).await?;
        if name == old_record.name {
            self.broadcast_player_record(&old_record);
            return Ok(());
        }
        let now_ms = self.server.now_ms();
        let renamed_ms = self.check_rename_allowed(old_record.id, now_ms).await?;
        let expected = (old_record.kind, renamed_ms);
        let record = PlayerRecord { name, ..old_record };
        let name_change = NameChange {
            player: record.clone(),
            skeletons,
            invite: None,
            password: None,
            expected,
            now_ms,
            old_name_reserved_until_ms: now_ms + names::NAME_RESERVATION_MS,
        };
        let result = self.store().name_player(name_change).await;
        if !result.map_err(identity_write_error)? {
            // The player has been renamed on another connection, or another player has taken the
            // name.
            self.check_rename_allowed(record.id, now_ms).await?;
            return Err(name_taken_error());
        }
        self.broadcast_player_record(&record);
        Ok(())
    }

    /// Checks that the player was last renamed long enough ago. Returns the time of the last
    /// rename, in milliseconds since 1970.
    async fn check_rename_allowed(
        &self,
        id: PlayerId,
        now_ms: u64,
    ) -> Result<Option<u64>, WireError> {
        let renamed_ms = self.load_account(id).await?.renamed_ms;
        let next_ms = renamed_ms.map_or(0, |renamed_ms| renamed_ms + RENAME_INTERVAL_MS);
        if next_ms > now_ms {
            let retry_after = Duration::from_millis(next_ms - now_ms);
            let message = "you have changed your name recently; try again later";
            return Err(retry_error(ErrorCode::TooSoon, message, retry_after));
        }
        Ok(renamed_ms)
    }

    pub(in crate::requests) async fn set_password(
        &self,
        player: &Player,
        new: Token,
        proof: Option<ReauthProof>,
    ) -> Result<(), WireError> {
        let record = self.current_record(player);
        check_is_registered(record.kind)?;
        if is_password_same_as_name(new.reveal(), &record.name) {
            let message = "`new` must be different from your name";
            return Err(bad_field_error("new", message));
        }
        let identity_proof = self.verify_proof(player, proof.as_ref()).await?;
        let (passwords, rng) = (&self.server.identity.passwords, &self.server.infra.rng);
        let hash = passwords.hash(&new, rng).await?;
        let update = self.store().set_password(record.id, hash, identity_proof);
        if !update.await.map_err(identity_write_error)? {
            // The password was changed after the proof had been verified.
            return Err(wrong_password_error());
        }
        let ended = SessionSelection::AllButKeysAnd(player.session.id);
        self.close_ended_sessions(record.id, ended, None);
        self.broadcast_player_record(&record);
        Ok(())
    }

    /// Checks that all existing names with these skeletons belong to the player `own`. Names that
    /// look alike have the same skeleton (UTS 39).
    pub(in crate::requests) async fn check_name_available(
        &self,
        skeletons: &[String],
        own: PlayerId,
    ) -> Result<(), WireError> {
        let owners = self.owners_of_skeletons(skeletons).await?;
        match owners.iter().all(|owner| *owner == own) {
            true => Ok(()),
            false => Err(name_taken_error()),
        }
    }

    /// Returns the players who own names with these skeletons.
    pub(super) async fn owners_of_skeletons(
        &self,
        skeletons: &[String],
    ) -> Result<Vec<PlayerId>, WireError> {
        let (mut owners, now_ms) = (Vec::new(), self.server.now_ms());
        for skeleton in skeletons.iter().cloned() {
            let owner = self.store().find_by_name_skeleton(skeleton, now_ms).await;
            let owner = owner.map_err(identity_read_error)?;
            owners.extend(owner.map(|(player, _)| player));
        }
        Ok(owners)
    }

    /// Renames a returning guest whose name now belongs to another player. A store failure does not
    /// block play: the guest keeps the name until the next `hello`.
    pub(in crate::requests) async fn replace_taken_guest_name(&self, player: &mut Player) {
        let PlayerRecord { id, name, kind } = &player.record;
        if kind.is_account() || names::is_generated_guest_name(name) {
            return;
        }
        let skeletons = names::name_skeletons(name);
        let availability = self.check_name_available(&skeletons, *id).await;
        if !availability.is_err_and(|error| error.code == Some(ErrorCode::NameTaken)) {
            return;
        }
        let name = registry::random_guest_name(&self.server.infra.rng);
        if player.is_stored {
            let result = self.store().rename_guest(*id, name.clone()).await;
            // Either the store has failed, or the guest has registered on another connection, which
            // then broadcasts the new name.
            if !result.map_err(identity_write_error).unwrap_or(false) {
                return;
            }
        }
        player.record.name = name;
        self.broadcast_player_record(&player.record);
    }
}

pub(in crate::requests) fn check_is_registered(kind: PlayerKind) -> Result<(), WireError> {
    if kind.is_account() {
        return Ok(());
    }
    let message = "you need an account for this; use `register` to create one";
    Err(WireError::new(ErrorCode::NotRegistered, message))
}

fn invite_needed_error() -> WireError {
    let message = "you need a valid invitation to register on this server";
    WireError::new(ErrorCode::InviteNeeded, message)
}

fn already_registered_error() -> WireError {
    let message = "you already have an account; use `rename` to change its name";
    WireError::new(ErrorCode::AlreadyRegistered, message)
}

pub(in crate::requests) fn name_taken_error() -> WireError {
    let message = "that name, or one that looks like it, is already taken";
    WireError::new(ErrorCode::NameTaken, message)
}
