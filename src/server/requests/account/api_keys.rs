//! API keys for programs. A key is a session that may play and read but not manage the account.

use super::login::invalid_code_error;
use super::reauthenticate::{too_many_codes_error, wrong_password_error};
use super::register::{check_is_registered, name_taken_error};
use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::names::RegistrableName;
use crate::auth::tokens;
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::players::block_loading;
use crate::players::player_lookup;
use crate::players::registry;
use crate::requests::{Client, Player, parse_display_text};
use crate::wire::to_protocol;
use plyhouse_protocol::{
    ErrorCode, PlayerKind, ReauthProof, ServerMessage, SessionKind, Token, WireError,
};
use plyhouse_store::{IdentityChanges, NewApiKey, NewBotAccount, PlayerRecord, SessionRecord};

/// Maximum number of API keys that a player and the player's bot accounts may have together.
const API_KEYS_MAX: usize = 20;

/// Maximum number of bot accounts of a player.
const BOTS_MAX: usize = 5;

impl Client {
    /// Returns the player of an API key. A wrong key counts as a failed attempt from the client's
    /// IP address. A valid key is accepted even after too many failed attempts, because keys are
    /// too long to be guessed.
    pub(in crate::requests) async fn find_by_api_key(
        &self,
        key: Token,
    ) -> Result<Player, WireError> {
        match self.find_player_by_token(key).await? {
            Some(player) => Ok(player),
            None => {
                self.connection_permit
                    .charge_code_attempt(now())
                    .map_err(too_many_codes_error)?;
                Err(invalid_code_error())
            }
        }
    }

    pub(in crate::requests) async fn create_api_key(
        &self,
        player: &Player,
        (label, bot): (Option<String>, Option<String>),
        proof: Option<ReauthProof>,
        reply: Reply,
    ) {
        let issued = self.issue_api_key(player, label, bot, proof.as_ref()).await;
        if let Some((issued, reply)) = reply.require(issued) {
            self.notify_session_added(player.record.id, &issued.session);
            reply.send_message(|re| ServerMessage::ApiKey {
                re,
                key: issued.key,
                session: issued.session.id,
                player: to_protocol::player(&issued.player),
                ignored: Vec::new(),
            });
        }
    }

    async fn issue_api_key(
        &self,
        player: &Player,
        label: Option<String>,
        bot: Option<String>,
        proof: Option<&ReauthProof>,
    ) -> Result<IssuedKey, WireError> {
        let owner = self.current_record(player);
        let label = parse_display_text(label, || "program".to_owned());
        let name = match bot {
            Some(name) => {
                check_is_registered(owner.kind)?;
                Some(parse_display_text(Some(name), String::new)?)
            }
            None => None,
        };
        let label = label?;
        player_lookup::persist_player(&self.server, owner.id).await?;
        let key_player = self.resolve_key_player(&owner, name).await?;
        let identity_proof = self.verify_proof(player, proof).await?;
        let key = tokens::new_api_key(&self.server.infra.rng);
        let issued = IssuedKey {
            session: SessionRecord {
                kind: SessionKind::Key,
                ..self.new_session(key_player.player.id, &key, label)
            },
            key,
            player: key_player.player,
        };
        let new_key = NewApiKey {
            session: issued.session.clone(),
            owner: owner.id,
            proof: identity_proof,
            bot: key_player.new_account,
            keys_max: API_KEYS_MAX,
        };
        let (is_new, name) = (new_key.bot.is_some(), issued.player.name.clone());
        if self
            .store()
            .add_api_key(new_key)
            .await
            .map_err(identity_write_error)?
        {
            if is_new {
                block_loading::refresh_after_new_bot(&self.server, owner.id).await;
            }
            return Ok(issued);
        }
        // The store has rejected the key. A concurrent request has created a key, taken the name or
        // changed the password.
        let retried = self
            .resolve_key_player(&owner, is_new.then_some(name))
            .await?;
        match is_new && retried.new_account.is_none() {
            true => Err(name_taken_error()),
            false => Err(wrong_password_error()),
        }
    }

    /// Returns the player for a new key: the owner, or the bot account with this name.
    async fn resolve_key_player(
        &self,
        owner: &PlayerRecord,
        bot: Option<String>,
    ) -> Result<KeyPlayer, WireError> {
        let account = self.store().account(owner.id).await;
        let bots = account
            .map_err(identity_read_error)?
            .unwrap_or_default()
            .bots;
        let key_player = match bot {
            Some(name) => self.find_or_prepare_bot(name, &bots).await?,
            None => KeyPlayer {
                player: owner.clone(),
                new_account: None,
            },
        };
        let mut keys = 0;
        for player in bots.iter().chain([owner]) {
            let sessions = self.store().sessions(player.id).await;
            let sessions = sessions.map_err(identity_read_error)?;
            let api_keys = sessions
                .iter()
                .filter(|session| session.kind == SessionKind::Key);
            keys += api_keys.count();
        }
        if keys >= API_KEYS_MAX {
            let message = format!("you have reached the limit of {API_KEYS_MAX} API keys");
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        Ok(key_player)
    }

    /// Returns the owner's bot account with this name, or prepares a new one.
    async fn find_or_prepare_bot(
        &self,
        name: String,
        bots: &[PlayerRecord],
    ) -> Result<KeyPlayer, WireError> {
        let RegistrableName { name, skeletons } = names::parse_registrable_name(&name)?;
        let now_ms = self.server.now_ms();
        for skeleton in &skeletons {
            let owner = self
                .store()
                .find_by_name_skeleton(skeleton.clone(), now_ms)
                .await;
            if let Some((owner_id, _)) = owner.map_err(identity_read_error)? {
                let own_bot = bots.iter().find(|bot| bot.id == owner_id);
                let player = own_bot.cloned().ok_or_else(name_taken_error)?;
                return Ok(KeyPlayer {
                    player,
                    new_account: None,
                });
            }
        }
        if bots.len() >= BOTS_MAX {
            let message = format!("you have reached the limit of {BOTS_MAX} bot accounts");
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        let player = PlayerRecord {
            id: registry::new_player_id(&self.server.infra.rng),
            name,
            kind: PlayerKind::Bot,
        };
        Ok(KeyPlayer {
            new_account: Some(NewBotAccount {
                player: player.clone(),
                skeletons,
                now_ms,
                bots_max: BOTS_MAX,
            }),
            player,
        })
    }
}

/// A new API key.
struct IssuedKey {
    key: Token,
    session: SessionRecord,
    /// Player to whom the key belongs.
    player: PlayerRecord,
}

/// Player who will own a new key.
struct KeyPlayer {
    player: PlayerRecord,
    /// The bot account to create; `None` if no new account is needed.
    new_account: Option<NewBotAccount>,
}
