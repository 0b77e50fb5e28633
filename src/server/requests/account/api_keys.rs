//! Keys by which programs play: each is a session that plays and reads, and does nothing else.

use super::login::bad_code;
use super::reauthenticate::{too_many_codes, wrong_password};
use super::register::{check_registered, name_taken};
use super::sessions::{not_kept, not_read};
use crate::auth::names;
use crate::auth::names::Registrable;
use crate::auth::tokens;
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::players::block_check;
use crate::players::player_lookup;
use crate::players::registry;
use crate::requests::{Client, Player, shown};
use crate::wire::to_protocol;
use plyhouse_protocol::{
    ErrorCode, PlayerKind, Proof, ServerMessage, SessionKind, Token, WireError,
};
use plyhouse_store::{NewApiKey, NewBotAccount, PlayerRecord, SessionRecord};

/// How many keys a player has, those of the player's programs among them.
const KEYS_MAX: usize = 20;

/// How many programs of a player have names of their own.
const BOTS_MAX: usize = 5;

impl Client {
    /// The player whose key this is. A key that is none counts against the address that has tried it; one that
    /// is good is so whatever others there have tried, since it is a session, and too long to be guessed.
    pub(in crate::requests) async fn by_key(&self, key: Token) -> Result<Player, WireError> {
        match self.known(key).await? {
            Some(known) => Ok(known),
            None => {
                self.permit.try_code(now()).map_err(too_many_codes)?;
                Err(bad_code())
            }
        }
    }

    pub(in crate::requests) async fn create_key(
        &self,
        player: &Player,
        (label, bot): (Option<String>, Option<String>),
        proof: Option<Proof>,
        reply: Reply,
    ) {
        let made = self.made_key(player, label, bot, proof.as_ref()).await;
        if let Some((made, reply)) = reply.require(made) {
            self.tell_added(player.record.id, &made.session);
            reply.send_message(|re| ServerMessage::Key {
                re,
                key: made.key,
                session: made.session.id,
                player: to_protocol::player(&made.player),
                ignored: Vec::new(),
            });
        }
    }

    async fn made_key(
        &self,
        player: &Player,
        label: Option<String>,
        bot: Option<String>,
        proof: Option<&Proof>,
    ) -> Result<Made, WireError> {
        let owner = self.called(player);
        let label = shown(label, || "program".to_owned());
        let name = match bot {
            Some(name) => {
                check_registered(owner.kind)?;
                Some(shown(Some(name), String::new)?)
            }
            None => None,
        };
        let label = label?;
        player_lookup::persist_player(&self.server, owner.id).await?;
        let plays = self.plays_by_key(&owner, name).await?;
        let proved = self.prove(player, proof).await?;
        let key = tokens::key(&self.server.rng);
        let made = Made {
            session: SessionRecord {
                kind: SessionKind::Key,
                ..self.new_session(plays.player.id, &key, label)
            },
            key,
            player: plays.player,
        };
        let new = NewApiKey {
            session: made.session.clone(),
            owner: owner.id,
            proof: proved,
            bot: plays.new,
            keys_max: KEYS_MAX,
        };
        let (is_new, name) = (new.bot.is_some(), made.player.name.clone());
        if self.server.store.add_api_key(new).await.map_err(not_kept)? {
            if is_new {
                block_check::grown(&self.server, owner.id).await;
            }
            return Ok(made);
        }
        // Something was faster: another request for a key, somebody else with the name, or another password.
        let again = self.plays_by_key(&owner, is_new.then_some(name)).await?;
        match is_new && again.new.is_none() {
            true => Err(name_taken()),
            false => Err(wrong_password()),
        }
    }

    /// Who plays by a key of this player's: the player, or the program of this name.
    async fn plays_by_key(
        &self,
        owner: &PlayerRecord,
        bot: Option<String>,
    ) -> Result<Plays, WireError> {
        let account = self.server.store.account(owner.id).await;
        let bots = account.map_err(not_read)?.unwrap_or_default().bots;
        let plays = match bot {
            Some(name) => self.bot_called(name, &bots).await?,
            None => Plays {
                player: owner.clone(),
                new: None,
            },
        };
        let mut keys = 0;
        for player in bots.iter().chain([owner]) {
            let sessions = self.server.store.sessions(player.id).await;
            let sessions = sessions.map_err(not_read)?;
            let of_programs = sessions
                .iter()
                .filter(|session| session.kind == SessionKind::Key);
            keys += of_programs.count();
        }
        if keys >= KEYS_MAX {
            let message = "you have as many keys as is allowed";
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        Ok(plays)
    }

    /// The program of this name among these, or a new one.
    async fn bot_called(&self, name: String, bots: &[PlayerRecord]) -> Result<Plays, WireError> {
        let Registrable { name, likenesses } = names::registrable(&name)?;
        let now_ms = self.server.clock.now_ms();
        for likeness in &likenesses {
            let named = self
                .server
                .store
                .find_by_name_skeleton(likeness.clone(), now_ms)
                .await;
            if let Some((whose, _)) = named.map_err(not_read)? {
                let own = bots.iter().find(|bot| bot.id == whose);
                let player = own.cloned().ok_or_else(name_taken)?;
                return Ok(Plays { player, new: None });
            }
        }
        if bots.len() >= BOTS_MAX {
            let message = "you have as many programs with names of their own as is allowed";
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        let player = PlayerRecord {
            id: registry::new_player_id(&self.server.rng),
            name,
            kind: PlayerKind::Bot,
        };
        Ok(Plays {
            new: Some(NewBotAccount {
                player: player.clone(),
                skeletons: likenesses,
                now_ms,
                bots_max: BOTS_MAX,
            }),
            player,
        })
    }
}

/// A key that was made.
struct Made {
    key: Token,
    session: SessionRecord,
    /// Who plays by it.
    player: PlayerRecord,
}

/// Who is to play by a key.
struct Plays {
    player: PlayerRecord,
    /// The account, if it is to be made.
    new: Option<NewBotAccount>,
}
