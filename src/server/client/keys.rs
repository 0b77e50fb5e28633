//! Keys by which programs play: each is a session that plays and reads, and does nothing else.

use super::coming_back::bad_code;
use super::proving::too_many_codes;
use super::sessions::{not_kept, not_read};
use super::{Client, Player, shown};
use crate::births;
use crate::clock::now;
use crate::reply::Reply;
use crate::to_protocol;
use crate::tokens;
use plyhouse_protocol::{ErrorCode, Proof, ServerMessage, SessionKind, Token, WireError};
use plyhouse_store::SessionRecord;

/// How many keys a player has.
const KEYS_MAX: usize = 20;

impl Client {
    /// The player whose key this is. A key that is none counts against the address that has tried it.
    pub(super) async fn by_key(&self, key: Token) -> Result<Player, WireError> {
        self.permit.try_code(now()).map_err(too_many_codes)?;
        let known = self.known(key).await?.ok_or_else(bad_code)?;
        self.permit.right();
        Ok(known)
    }

    pub(super) async fn create_key(
        &self,
        player: &Player,
        (label, bot): (Option<String>, Option<String>),
        proof: Option<Proof>,
        reply: Reply,
    ) {
        let made = self.made_key(player, label, bot, proof.as_ref()).await;
        if let Some(((key, session), reply)) = reply.check(made) {
            self.tell_added(&session);
            let player = to_protocol::player(&self.called(player));
            reply.tell(|re| ServerMessage::Key {
                re,
                key,
                session: session.id,
                player,
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
    ) -> Result<(Token, SessionRecord), WireError> {
        let id = player.record.id;
        if bot.is_some() {
            if !self.called(player).kind.is_account() {
                let message = "only an account may have programs with names of their own";
                return Err(WireError::new(ErrorCode::NotRegistered, message));
            }
            let message = "this server makes no accounts for programs: leave `bot` out";
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        let label = shown(label, || "program".to_owned())?;
        births::remember(&self.server, id).await?;
        let sessions = self.server.store.sessions(id).await.map_err(not_read)?;
        let keys = sessions
            .iter()
            .filter(|session| session.kind == SessionKind::Key);
        if keys.count() >= KEYS_MAX {
            let message = "you have as many keys as is allowed";
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        self.prove(player, proof).await?;
        let key = tokens::key(&self.server.chance);
        let session = SessionRecord {
            kind: SessionKind::Key,
            ..self.new_session(id, &key, label)
        };
        let added = self.server.store.add_session(session.clone()).await;
        added.map_err(not_kept)?;
        Ok((key, session))
    }
}
