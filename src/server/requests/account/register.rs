//! How a guest becomes an account, and an account is called otherwise or has another password.

use std::time::Duration;

use super::reauthenticate::{too_soon, wrong_password};
use super::sessions::{not_kept, not_read};
use crate::auth::names;
use crate::auth::names::Registrable;
use crate::auth::tokens;
use crate::cluster::Packet;
use crate::connection::reply::Reply;
use crate::players::player_lookup;
use crate::players::registry;
use crate::requests::{Client, DAY_MS, Player};
use crate::settings::AccountPolicy;
use crate::wire::to_protocol;
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerKind, Proof, Token, WireError, is_same};
use plyhouse_store::{NameChange, PlayerRecord, SessionSelection, TokenHash};

/// How long after another name the next may be taken.
const RENAMED_AFTER_MS: u64 = 30 * DAY_MS;

impl Client {
    pub(in crate::requests) async fn register(
        &self,
        player: &Player,
        (name, password, invite): (String, Option<Token>, Option<Token>),
        reply: Reply,
    ) {
        let named = self.registered(player, &name, password, invite).await;
        self.tell_named(named, reply);
    }

    pub(in crate::requests) async fn rename(&self, player: &Player, name: String, reply: Reply) {
        let named = self.renamed(player, &name).await;
        self.tell_named(named, reply);
    }

    pub(in crate::requests) async fn set_password(
        &self,
        player: &Player,
        new: Token,
        proof: Option<Proof>,
        reply: Reply,
    ) {
        let set = self.with_password(player, &new, proof.as_ref()).await;
        self.tell_named(set, reply);
    }

    fn tell_named(&self, named: Result<PlayerRecord, WireError>, reply: Reply) {
        if let Some((record, reply)) = reply.require(named) {
            self.tell_called(&record);
            reply.ok(None);
        }
    }

    /// Tells all of the player's connections how the player is called from now on.
    pub(in crate::requests) fn tell_called(&self, record: &PlayerRecord) {
        self.server.players.call(record);
        if let Some(cluster) = &self.server.cluster {
            let player = to_protocol::player(record);
            cluster.broadcast(&Packet::PlayerRenamed { player });
        }
    }

    /// The player as they are called now, which other connections may have changed.
    pub(in crate::requests) fn called(&self, player: &Player) -> PlayerRecord {
        let known = self.server.players.record(player.record.id);
        known.unwrap_or_else(|| player.record.clone())
    }

    async fn registered(
        &self,
        player: &Player,
        name: &str,
        password: Option<Token>,
        invite: Option<Token>,
    ) -> Result<PlayerRecord, WireError> {
        let id = player.record.id;
        if self.called(player).kind.is_account() {
            return Err(already_registered());
        }
        let invite = self.invited(invite).await?;
        let Registrable { name, likenesses } = names::registrable(name)?;
        self.check_free(&likenesses, id).await?;
        let password = match password {
            Some(password) => {
                let hash = self.server.passwords.hash(&password, &self.server.rng);
                Some(hash.await?)
            }
            None => None,
        };
        player_lookup::persist_player(&self.server, id).await?;
        let record = PlayerRecord {
            id,
            name,
            kind: PlayerKind::Account,
        };
        let now_ms = self.server.clock.now_ms();
        let naming = NameChange {
            player: record.clone(),
            skeletons: likenesses,
            invite,
            password,
            expected: (PlayerKind::Guest, None),
            now_ms,
            old_name_reserved_until_ms: now_ms,
        };
        let named = self.server.store.name_player(naming).await;
        if !named.map_err(not_kept)? {
            // Somebody was faster: the player on another connection, or another one.
            let known = self.server.store.player_by_id(id).await.map_err(not_read)?;
            let is_account = known.is_some_and(|known| known.kind.is_account());
            if is_account {
                return Err(already_registered());
            }
            // Or somebody with the invitation.
            self.is_invited(invite).await?;
            return Err(name_taken());
        }
        self.server.metrics.registrations.inc();
        tracing::info!(player = %id, "registered");
        Ok(record)
    }

    /// The invitation that is needed, if one is.
    async fn invited(&self, invite: Option<Token>) -> Result<Option<TokenHash>, WireError> {
        if self.server.settings.accounts != AccountPolicy::Invite {
            return Ok(None);
        }
        let invite = invite.as_ref().map(tokens::hash_of_code);
        let invite = invite.ok_or_else(invite_needed)?;
        self.is_invited(Some(invite)).await?;
        Ok(Some(invite))
    }

    /// Refuses an invitation that is none, or no longer.
    async fn is_invited(&self, invite: Option<TokenHash>) -> Result<(), WireError> {
        let Some(invite) = invite else { return Ok(()) };
        let now_ms = self.server.clock.now_ms();
        let pass = self.server.store.find_one_time_token(invite, now_ms).await;
        let is_good = pass
            .map_err(not_read)?
            .is_some_and(|pass| pass.player.is_none());
        is_good.then_some(()).ok_or_else(invite_needed)
    }

    async fn renamed(&self, player: &Player, name: &str) -> Result<PlayerRecord, WireError> {
        let before = self.called(player);
        check_registered(before.kind)?;
        let Registrable { name, likenesses } = names::registrable(name)?;
        self.check_free(&likenesses, before.id).await?;
        if name == before.name {
            return Ok(before);
        }
        let now_ms = self.server.clock.now_ms();
        let renamed_ms = self.may_rename(before.id, now_ms).await?;
        let record = PlayerRecord {
            name,
            ..before.clone()
        };
        let naming = NameChange {
            player: record.clone(),
            skeletons: likenesses,
            invite: None,
            password: None,
            expected: (before.kind, renamed_ms),
            now_ms,
            old_name_reserved_until_ms: now_ms + names::KEPT_MS,
        };
        let named = self.server.store.name_player(naming).await;
        if named.map_err(not_kept)? {
            return Ok(record);
        }
        // The player on another connection was faster, or another one with the name.
        self.may_rename(record.id, now_ms).await?;
        Err(name_taken())
    }

    /// Refuses another name so soon after the one before. Gives when that was taken.
    async fn may_rename(&self, id: PlayerId, now_ms: u64) -> Result<Option<u64>, WireError> {
        let account = self.server.store.account(id).await.map_err(not_read)?;
        let renamed_ms = account.and_then(|account| account.renamed_ms);
        let next_ms = renamed_ms.map_or(0, |renamed_ms| renamed_ms + RENAMED_AFTER_MS);
        if next_ms > now_ms {
            let left = Duration::from_millis(next_ms - now_ms);
            return Err(too_soon("you have taken another name lately", left));
        }
        Ok(renamed_ms)
    }

    async fn with_password(
        &self,
        player: &Player,
        new: &Token,
        proof: Option<&Proof>,
    ) -> Result<PlayerRecord, WireError> {
        let (record, own) = (self.called(player), player.session.id);
        check_registered(record.kind)?;
        if is_same(new.reveal(), &record.name) {
            let message = "`new` must be other than the name";
            return Err(WireError {
                field: Some("new".into()),
                ..WireError::new(ErrorCode::BadField, message)
            });
        }
        let proved = self.prove(player, proof).await?;
        let hash = self.server.passwords.hash(new, &self.server.rng).await?;
        let set = self.server.store.set_password(record.id, hash, proved);
        if !set.await.map_err(not_kept)? {
            // Another one was set meanwhile, by which it was not proved.
            return Err(wrong_password());
        }
        self.tell_ended(record.id, SessionSelection::AllButKeysAnd(own), None);
        Ok(record)
    }

    /// Refuses a name that is somebody else's.
    pub(in crate::requests) async fn check_free(
        &self,
        likenesses: &[String],
        own: PlayerId,
    ) -> Result<(), WireError> {
        let now_ms = self.server.clock.now_ms();
        for likeness in likenesses {
            let named = self
                .server
                .store
                .find_by_name_skeleton(likeness.clone(), now_ms)
                .await;
            let named = named.map_err(not_read)?;
            if named.is_some_and(|(whose, _)| whose != own) {
                return Err(name_taken());
            }
        }
        Ok(())
    }

    /// Calls a guest otherwise who comes back with a name that is somebody else's by now. Where that cannot be
    /// read or kept the next hello does so: nobody is kept from a match for it.
    pub(in crate::requests) async fn give_up_name(&self, player: &mut Player) {
        let PlayerRecord { id, name, kind } = &player.record;
        if kind.is_account() || names::is_guests(name) {
            return;
        }
        let free = self.check_free(&names::name_skeletons(name), *id).await;
        let is_taken = free.is_err_and(|error| error.code == Some(ErrorCode::NameTaken));
        if !is_taken {
            return;
        }
        let name = registry::guest_name(&self.server.rng);
        if player.is_stored {
            let called = self.server.store.rename_guest(*id, name.clone()).await;
            // Or another connection has registered meanwhile, and tells it.
            if !called.map_err(not_kept).unwrap_or(false) {
                return;
            }
        }
        player.record.name = name;
        self.tell_called(&player.record);
    }
}

pub(in crate::requests) fn check_registered(kind: PlayerKind) -> Result<(), WireError> {
    kind.is_account().then_some(()).ok_or_else(not_registered)
}

fn invite_needed() -> WireError {
    let message = "this server is for those whom its operator has given an invitation";
    WireError::new(ErrorCode::InviteNeeded, message)
}

fn already_registered() -> WireError {
    let message = "you have a name of your own; `rename` changes it";
    WireError::new(ErrorCode::AlreadyRegistered, message)
}

fn not_registered() -> WireError {
    let message = "you have no name of your own yet; `register` takes one";
    WireError::new(ErrorCode::NotRegistered, message)
}

pub(in crate::requests) fn name_taken() -> WireError {
    let message = "somebody else has this name, or one that looks like it";
    WireError::new(ErrorCode::NameTaken, message)
}
