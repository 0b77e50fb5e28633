//! API keys for programs. A key is a session that may play and read but not manage the account.

use super::login::invalid_code_error;
use super::reauthenticate::{too_many_codes_error, wrong_password_error};
use super::register::{check_is_registered, name_taken_error};
use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::names::RegistrableName;
use crate::auth::tokens;
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
                let charged = self.connection_permit.charge_code_attempt(now());
                charged.map_err(too_many_codes_error)?;
                Err(invalid_code_error())
            }
        }
    }

    pub(in crate::requests) async fn create_api_key(
        &self,
        player: &Player,
        label: Option<String>,
        bot: Option<String>,
        proof: Option<ReauthProof>,
    ) -> Result<ServerMessage, WireError> {
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
        let (key_player, new_bot) = self.resolve_key_player(&owner, name).await?;
        let identity_proof = self.verify_proof(player, proof.as_ref()).await?;
        let key = tokens::new_api_key(&self.server.infra.rng);
        let session = SessionRecord {
            kind: SessionKind::Key,
            ..self.new_session(key_player.id, &key, label)
        };
        let is_new_bot = new_bot.is_some();
        let new_key = NewApiKey {
            session: session.clone(),
            owner: owner.id,
            proof: identity_proof,
            bot: new_bot,
            keys_max: API_KEYS_MAX,
        };
        let added = self.store().add_api_key(new_key).await;
        if !added.map_err(identity_write_error)? {
            // The store has rejected the key. A concurrent request has created a key, taken the
            // name or changed the password.
            let name = is_new_bot.then_some(key_player.name);
            let (_, new_bot) = self.resolve_key_player(&owner, name).await?;
            return Err(match is_new_bot && new_bot.is_none() {
                true => name_taken_error(),
                false => wrong_password_error(),
            });
        }
        if is_new_bot {
            block_loading::refresh_after_new_bot(&self.server, owner.id).await;
        }
        self.notify_session_added(owner.id, &session);
        Ok(ServerMessage::ApiKey {
            re: None,
            key,
            session: session.id,
            player: to_protocol::player(&key_player),
            ignored: Vec::new(),
        })
    }

    /// Returns the player for a new key: the owner, or the bot account with this name. The bot
    /// account must be created if it is returned as the second value.
    async fn resolve_key_player(
        &self,
        owner: &PlayerRecord,
        bot: Option<String>,
    ) -> Result<(PlayerRecord, Option<NewBotAccount>), WireError> {
        let bots = self.load_account(owner.id).await?.bots;
        let key_player = match bot {
            Some(name) => self.find_or_prepare_bot(name, &bots).await?,
            None => (owner.clone(), None),
        };
        let mut keys = 0;
        for player in bots.iter().chain([owner]) {
            let sessions = self.store().sessions(player.id).await;
            let sessions = sessions.map_err(identity_read_error)?;
            let is_api_key = |session: &&SessionRecord| session.kind == SessionKind::Key;
            keys += sessions.iter().filter(is_api_key).count();
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
    ) -> Result<(PlayerRecord, Option<NewBotAccount>), WireError> {
        let RegistrableName { name, skeletons } = names::parse_registrable_name(&name)?;
        if let Some(name_owner) = self.owners_of_skeletons(&skeletons).await?.first() {
            let own_bot = bots.iter().find(|bot| bot.id == *name_owner);
            return Ok((own_bot.cloned().ok_or_else(name_taken_error)?, None));
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
        let new_bot = NewBotAccount {
            player: player.clone(),
            skeletons,
            now_ms: self.server.now_ms(),
            bots_max: BOTS_MAX,
        };
        Ok((player, Some(new_bot)))
    }
}
