//! How a player comes to have one more session: by a pairing code from another device, by the key that was
//! written down, or by a password. A code or a key that is wrong counts against the address that has tried it.

use super::reauthenticate::{too_many_codes, wrong_password};
use super::sessions::{not_kept, not_read};
use crate::auth::tokens;
use crate::cluster::Notification;
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::players::player_lookup;
use crate::requests::{Client, Player, shown, usual_label};
use crate::wire::encode::encode;
use plyhouse_protocol::{
    ErrorCode, Hello, PlayerId, Proof, ServerMessage, SessionKind, Token, WireError,
};
use plyhouse_store::{
    Pairing, PasswordHash, ReadError, SessionRecord, SessionSelection, TokenHash, WriteError,
};

/// For how long a pairing code is good, in milliseconds.
const PAIRING_MS: u64 = 5 * 60 * 1000;

/// How many pairing codes are good at a time. Codes are so many that nobody who guesses finds one.
const PAIRINGS_MAX: usize = 10_000;

/// How many sessions a player has, keys apart.
const SESSIONS_MAX: usize = 20;

/// By what somebody comes back who has no token.
pub(in crate::requests) enum Credential {
    /// A pairing code.
    Pairing(TokenHash),
    /// A recovery key.
    Recovery(TokenHash),
    /// A name and its password.
    Password(String, Token),
}

impl Credential {
    /// What a hello shows, if it shows something.
    pub(in crate::requests) fn of(hello: &Hello) -> Option<Self> {
        if let Some(code) = &hello.pair {
            return Some(Self::Pairing(tokens::hash_of_code(code)));
        }
        if let Some(key) = &hello.recovery {
            return Some(Self::Recovery(tokens::hash_of_code(key)));
        }
        let (name, password) = (hello.name.clone(), hello.password.clone());
        name.zip(password)
            .map(|(name, password)| Self::Password(name, password))
    }
}

impl Client {
    /// Makes one more session of the player whose code, key or password this is.
    pub(in crate::requests) async fn come_back(
        &self,
        way: &Credential,
        label: Option<String>,
    ) -> Result<Player, WireError> {
        let mut checked = None;
        let id = match way {
            Credential::Pairing(code) => self.by_code(self.paired(*code)).await?,
            Credential::Recovery(key) => self.by_code(self.recovered(*key)).await?,
            Credential::Password(name, password) => {
                let (id, hash) = self.account_of(name, password).await?;
                checked = Some(hash);
                id
            }
        };
        let label = shown(label, || usual_label(self.kind))?;
        let Some(record) = self.server.store.player_by_id(id).await.map_err(not_read)? else {
            return Err(bad_code());
        };
        let token = self.server.tokens.issue(&self.server.rng);
        let session = SessionRecord {
            from_recovery_key: matches!(way, Credential::Recovery(_)),
            ..self.new_session(id, &token, label)
        };
        self.begin_by(way, &session).await?;
        if let Some(checked) = checked {
            self.still_has(&session, &checked).await?;
        }
        Ok(Player {
            record,
            session,
            token,
            is_stored: true,
            block_guard: None,
        })
    }

    /// Keeps a session that begins so, and ends others for it if there are too many.
    async fn begin_by(&self, way: &Credential, session: &SessionRecord) -> Result<(), WireError> {
        let store = &self.server.store;
        let has_begun = match way {
            Credential::Pairing(code) => store.take_pairing(*code, session.clone()).await,
            Credential::Recovery(key) => match self.use_up(*key).await {
                Ok(true) => store.add_session(session.clone()).await.map(|()| true),
                unused => unused,
            },
            Credential::Password(..) => store.add_session(session.clone()).await.map(|()| true),
        };
        if !has_begun.map_err(not_kept)? {
            return Err(bad_code());
        }
        self.make_room(session).await
    }

    /// Ends a session again that has begun by a password, if that is another one by now: whoever sets a
    /// password ends the sessions that are there by then.
    async fn still_has(
        &self,
        session: &SessionRecord,
        checked: &PasswordHash,
    ) -> Result<(), WireError> {
        let player = session.player;
        let account = self.server.store.account(player).await.map_err(not_read)?;
        if account.and_then(|account| account.password).as_ref() == Some(checked) {
            return Ok(());
        }
        let which = SessionSelection::One(session.id);
        let ended = self.server.store.end_sessions(player, which).await;
        ended.map_err(not_kept)?;
        Err(wrong_password())
    }

    /// Whose code or key it is that is looked for, if so many may be tried.
    async fn by_code(
        &self,
        owner: impl Future<Output = Result<Option<PlayerId>, ReadError>>,
    ) -> Result<PlayerId, WireError> {
        self.permit.try_code(now()).map_err(too_many_codes)?;
        let owner = owner.await.map_err(not_read)?.ok_or_else(bad_code)?;
        self.permit.right();
        Ok(owner)
    }

    /// Whose recovery key this is, or what the operator has given in place of one.
    pub(in crate::requests) async fn recovered(
        &self,
        key: TokenHash,
    ) -> Result<Option<PlayerId>, ReadError> {
        let owner = self.server.store.find_by_recovery_key(key).await?;
        if owner.is_some() {
            return Ok(owner);
        }
        let now_ms = self.server.clock.now_ms();
        let pass = self.server.store.find_one_time_token(key, now_ms).await?;
        Ok(pass.and_then(|pass| pass.player))
    }

    /// Takes out what the operator has given, which is good once. A recovery key stays. False if somebody was
    /// faster.
    pub(in crate::requests) async fn use_up(&self, key: TokenHash) -> Result<bool, WriteError> {
        match self.server.store.find_by_recovery_key(key).await {
            Ok(None) => self.server.store.take_one_time_token(key).await,
            Ok(Some(_)) => Ok(true),
            Err(_) => Err(WriteError::Unavailable),
        }
    }

    /// Whose pairing code this is.
    async fn paired(&self, code: TokenHash) -> Result<Option<PlayerId>, ReadError> {
        let now_ms = self.server.clock.now_ms();
        let found = self.server.store.find_pairing(code, now_ms).await?;
        Ok(found.map(|pairing| pairing.player))
    }

    /// Ends other sessions of a player than this one, if there are too many with it.
    async fn make_room(&self, begun: &SessionRecord) -> Result<(), WireError> {
        let player = begun.player;
        let mut sessions = self.server.store.sessions(player).await.map_err(not_read)?;
        sessions.retain(|session| session.kind != SessionKind::Key && session.id != begun.id);
        let too_many = (sessions.len() + 1).saturating_sub(SESSIONS_MAX);
        if too_many == 0 {
            return Ok(());
        }
        let connected = self.connected_sessions(player).await;
        let order = |session: &SessionRecord| {
            let is_connected = connected.contains(&session.id);
            (is_connected, session.last_used_day, session.created_ms)
        };
        sessions.sort_by_key(order);
        for session in &sessions[..too_many] {
            let which = SessionSelection::One(session.id);
            let ended = self.server.store.end_sessions(player, which).await;
            ended.map_err(not_kept)?;
            self.tell_ended(player, which, None);
        }
        Ok(())
    }

    /// Tells the player's other connections of the session that this one has begun.
    pub(in crate::requests) fn tell_begun(&self) {
        if let Some(player) = &self.player {
            self.tell_added(player.record.id, &player.session);
        }
    }

    /// Tells the player's other connections of one more session.
    pub(in crate::requests) fn tell_added(&self, player: PlayerId, session: &SessionRecord) {
        let told = encode(&ServerMessage::SessionAdded {
            session: session.id,
            label: session.label.clone(),
            kind: session.kind,
        });
        let peers = self.server.players.peers(player).into_iter();
        for peer in peers.filter(|peer| peer.id != self.connection.id) {
            peer.outbox.send(told.clone());
        }
        if let Some(cluster) = &self.server.cluster {
            let text = told.to_string();
            cluster.notify_player(player, Notification::SessionAdded { text });
        }
    }

    /// Makes a code by which another device becomes the player's.
    pub(in crate::requests) async fn pair(&self, player: &Player, reply: Reply) {
        let code = tokens::pairing_code(&self.server.rng);
        let offered = self.offer_pairing(player, &code).await;
        if let Some(((), reply)) = reply.require(offered) {
            reply.send_message(|re| ServerMessage::Paired {
                re,
                code,
                expires_ms: PAIRING_MS,
                ignored: Vec::new(),
            });
        }
    }

    async fn offer_pairing(&self, player: &Player, code: &Token) -> Result<(), WireError> {
        let (id, by) = (player.record.id, player.session.id);
        player_lookup::persist_player(&self.server, id).await?;
        let now_ms = self.server.clock.now_ms();
        let pairing = Pairing {
            code: tokens::hash_of_code(code),
            player: id,
            expires_ms: now_ms + PAIRING_MS,
        };
        let offered = (self.server.store).offer_pairing(pairing, by, now_ms, PAIRINGS_MAX);
        if offered.await.map_err(not_kept)? {
            return Ok(());
        }
        // It may have ended on another server, and the news be on its way.
        let sessions = self.server.store.sessions(id).await.map_err(not_read)?;
        let has_ended = sessions.iter().all(|session| session.id != by);
        let (code, message) = match has_ended {
            true => (ErrorCode::NotAllowed, "this session has ended"),
            false => (
                ErrorCode::Overloaded,
                "too many pairing codes are good at the moment",
            ),
        };
        Err(WireError::new(code, message))
    }

    /// Makes a key by which the player comes back who has lost everything else.
    pub(in crate::requests) async fn recovery(
        &self,
        player: &Player,
        proof: Option<Proof>,
        reply: Reply,
    ) {
        let made = self.made_recovery(player, proof.as_ref()).await;
        if let Some((key, reply)) = reply.require(made) {
            reply.send_message(|re| ServerMessage::RecoveryKey {
                re,
                key,
                ignored: Vec::new(),
            });
        }
    }

    async fn made_recovery(
        &self,
        player: &Player,
        proof: Option<&Proof>,
    ) -> Result<Token, WireError> {
        let id = player.record.id;
        player_lookup::persist_player(&self.server, id).await?;
        let proved = self.prove(player, proof).await?;
        let key = tokens::recovery_key(&self.server.rng);
        let hash = tokens::hash_of_code(&key);
        let kept = self.server.store.renew_recovery_key(id, hash, proved).await;
        match kept.map_err(not_kept)? {
            true => Ok(key),
            false => Err(wrong_password()),
        }
    }
}

pub(in crate::requests) fn bad_code() -> WireError {
    let message = "there is no such code or key, or it is good no longer";
    WireError::new(ErrorCode::BadCode, message)
}
