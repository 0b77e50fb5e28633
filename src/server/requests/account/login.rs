//! Login with a pairing code from another device, a recovery key or a password. Wrong codes and
//! keys count against the client's IP address.

use super::reauthenticate::{too_many_codes_error, wrong_password_error};
use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::tokens;
use crate::cluster::Notification;
use crate::context::clock_and_rng::now;
use crate::players::player_lookup;
use crate::requests::{Client, Player, default_label, parse_display_text};
use crate::wire::encode::encode;
use plyhouse_protocol::{
    ErrorCode, Hello, PlayerId, ReauthProof, ServerMessage, SessionKind, Token, WireError,
};
use plyhouse_store::{
    IdentityChanges, Pairing, PasswordHash, ReadError, SessionRecord, SessionSelection, TokenHash,
    WriteError,
};

/// Lifetime of a pairing code, in milliseconds.
const PAIRING_CODE_LIFETIME_MS: u64 = 5 * 60 * 1000;

/// Maximum number of pairing codes that are valid at the same time. The limit is far below the
/// number of possible codes, so that guessing a valid code is not feasible.
const PAIRING_CODES_MAX: usize = 10_000;

/// Maximum number of sessions per player, not counting API keys.
const SESSIONS_MAX: usize = 20;

/// Credential of a client that logs in without a session token.
pub(in crate::requests) enum Credential {
    Pairing(TokenHash),
    Recovery(TokenHash),
    /// A name and its password.
    Password(String, Token),
}

impl Credential {
    /// Returns the credential in a `hello`, if it contains one.
    pub(in crate::requests) fn from_hello(hello: &Hello) -> Option<Self> {
        if let Some(code) = &hello.link_code {
            return Some(Self::Pairing(tokens::hash_code(code)));
        }
        if let Some(key) = &hello.recovery_key {
            return Some(Self::Recovery(tokens::hash_code(key)));
        }
        let (name, password) = (hello.name.clone(), hello.password.clone());
        name.zip(password)
            .map(|(name, password)| Self::Password(name, password))
    }
}

impl Client {
    /// Creates a new session for the player with this credential.
    pub(in crate::requests) async fn log_in(
        &self,
        credential: &Credential,
        label: Option<String>,
    ) -> Result<Player, WireError> {
        let mut verified_hash = None;
        let id = match credential {
            Credential::Pairing(code) => {
                self.find_code_owner(self.find_pairing_owner(*code)).await?
            }
            Credential::Recovery(key) => {
                self.find_code_owner(self.find_recovery_owner(*key)).await?
            }
            Credential::Password(name, password) => {
                let (id, hash) = self.authenticate_by_password(name, password).await?;
                verified_hash = Some(hash);
                id
            }
        };
        let label = parse_display_text(label, || default_label(self.session_kind))?;
        let record = self.store().player_by_id(id).await;
        let record = record.map_err(identity_read_error)?;
        let record = record.ok_or_else(invalid_code_error)?;
        let token = self.server.identity.tokens.issue(&self.server.infra.rng);
        let session = SessionRecord {
            from_recovery_key: matches!(credential, Credential::Recovery(_)),
            ..self.new_session(id, &token, label)
        };
        self.store_session(credential, &session).await?;
        if let Some(checked) = verified_hash {
            self.check_password_unchanged(&session, &checked).await?;
        }
        Ok(Player {
            record,
            session,
            token,
            is_stored: true,
        })
    }

    /// Stores a new session. If the player then has too many sessions, ends the least recently used
    /// ones.
    async fn store_session(
        &self,
        credential: &Credential,
        session: &SessionRecord,
    ) -> Result<(), WireError> {
        let store = self.store();
        let result = match credential {
            Credential::Pairing(code) => store.take_pairing(*code, session.clone()).await,
            Credential::Recovery(key) => match self.consume_one_time_token(*key).await {
                Ok(true) => store.add_session(session.clone()).await.map(|()| true),
                unused => unused,
            },
            Credential::Password(..) => store.add_session(session.clone()).await.map(|()| true),
        };
        if !result.map_err(identity_write_error)? {
            return Err(invalid_code_error());
        }
        self.end_excess_sessions(session).await
    }

    /// Ends the new session if the password was changed after it had been verified. The password
    /// change itself ends only the sessions that exist at that time.
    async fn check_password_unchanged(
        &self,
        session: &SessionRecord,
        verified_hash: &PasswordHash,
    ) -> Result<(), WireError> {
        let player = session.player;
        if self.load_account(player).await?.password.as_ref() == Some(verified_hash) {
            return Ok(());
        }
        let which = SessionSelection::One(session.id);
        let ended = self.store().end_sessions(player, which).await;
        ended.map_err(identity_write_error)?;
        Err(wrong_password_error())
    }

    /// Looks up the owner of a code or key. Refuses the lookup after too many wrong codes or keys
    /// from the client's IP address.
    async fn find_code_owner(
        &self,
        lookup: impl Future<Output = Result<Option<PlayerId>, ReadError>>,
    ) -> Result<PlayerId, WireError> {
        let charged = self.connection_permit.charge_code_attempt(now());
        charged.map_err(too_many_codes_error)?;
        let owner = lookup.await.map_err(identity_read_error)?;
        let owner = owner.ok_or_else(invalid_code_error)?;
        self.connection_permit.refund_code_attempt();
        Ok(owner)
    }

    /// Returns the player who owns this recovery key or this one-time token from the operator.
    pub(in crate::requests) async fn find_recovery_owner(
        &self,
        key: TokenHash,
    ) -> Result<Option<PlayerId>, ReadError> {
        let owner = self.store().find_by_recovery_key(key).await?;
        if owner.is_some() {
            return Ok(owner);
        }
        let now_ms = self.server.now_ms();
        let one_time_token = self.store().find_one_time_token(key, now_ms).await?;
        Ok(one_time_token.and_then(|pass| pass.player))
    }

    /// Consumes a one-time token from the operator. A recovery key is not consumed and stays valid.
    /// Returns `false` if another request has already consumed the token.
    pub(in crate::requests) async fn consume_one_time_token(
        &self,
        key: TokenHash,
    ) -> Result<bool, WriteError> {
        match self.store().find_by_recovery_key(key).await {
            Ok(None) => self.store().take_one_time_token(key).await,
            Ok(Some(_)) => Ok(true),
            Err(_) => Err(WriteError::Unavailable),
        }
    }

    async fn find_pairing_owner(&self, code: TokenHash) -> Result<Option<PlayerId>, ReadError> {
        let now_ms = self.server.now_ms();
        let pairing = self.store().find_pairing(code, now_ms).await?;
        Ok(pairing.map(|pairing| pairing.player))
    }

    /// Ends the least recently used sessions of a player until the limit is met. The new session is
    /// never ended, and connected sessions are ended last.
    async fn end_excess_sessions(&self, new_session: &SessionRecord) -> Result<(), WireError> {
        let player = new_session.player;
        let sessions = self.store().sessions(player).await;
        let mut sessions = sessions.map_err(identity_read_error)?;
        sessions.retain(|session| session.kind != SessionKind::Key && session.id != new_session.id);
        let excess = (sessions.len() + 1).saturating_sub(SESSIONS_MAX);
        if excess == 0 {
            return Ok(());
        }
        let connected = self.connected_sessions(player).await;
        let eviction_key = |session: &SessionRecord| {
            let is_connected = connected.contains(&session.id);
            (is_connected, session.last_used_day, session.created_ms)
        };
        sessions.sort_by_key(eviction_key);
        for session in &sessions[..excess] {
            let which = SessionSelection::One(session.id);
            let ended = self.store().end_sessions(player, which).await;
            ended.map_err(identity_write_error)?;
            self.close_ended_sessions(player, which, None);
        }
        Ok(())
    }

    /// Notifies the player's other connections of a new session.
    pub(in crate::requests) fn notify_session_added(
        &self,
        player: PlayerId,
        session: &SessionRecord,
    ) {
        let frame = encode(&ServerMessage::SessionAdded {
            session: session.id,
            label: session.label.clone(),
            kind: session.kind,
        });
        let players = &self.server.identity.players;
        players.send(player, &frame, |peer| peer.id != self.connection.id);
        if let Some(cluster) = &self.server.infra.cluster {
            let text = frame.to_string();
            cluster.notify_player(player, Notification::SessionAdded { text });
        }
    }

    /// Creates a pairing code. Another device can log in with this code.
    pub(in crate::requests) async fn create_pairing_code(
        &self,
        player: &Player,
    ) -> Result<ServerMessage, WireError> {
        let code = tokens::new_pairing_code(&self.server.infra.rng);
        let (id, own_session) = (player.record.id, player.session.id);
        player_lookup::persist_player(&self.server, id).await?;
        let now_ms = self.server.now_ms();
        let pairing = Pairing {
            code: tokens::hash_code(&code),
            player: id,
            expires_ms: now_ms + PAIRING_CODE_LIFETIME_MS,
        };
        let (store, max) = (self.store(), PAIRING_CODES_MAX);
        let offered = store.offer_pairing(pairing, own_session, now_ms, max).await;
        if offered.map_err(identity_write_error)? {
            return Ok(ServerMessage::LinkCode {
                re: None,
                code,
                expires_ms: PAIRING_CODE_LIFETIME_MS,
                ignored: Vec::new(),
            });
        }
        // The session may have ended on another server, and this server may not have been notified
        // yet.
        let sessions = self.store().sessions(id).await;
        let sessions = sessions.map_err(identity_read_error)?;
        let has_ended = sessions.iter().all(|session| session.id != own_session);
        let (code, message) = match has_ended {
            true => (ErrorCode::NotAllowed, "this session has ended"),
            false => (
                ErrorCode::Overloaded,
                "too many pairing codes are in use; try again shortly",
            ),
        };
        Err(WireError::new(code, message))
    }

    /// Creates a recovery key. The player can later log in with only this key.
    pub(in crate::requests) async fn create_recovery_key(
        &self,
        player: &Player,
        proof: Option<ReauthProof>,
    ) -> Result<ServerMessage, WireError> {
        let id = player.record.id;
        player_lookup::persist_player(&self.server, id).await?;
        let identity_proof = self.verify_proof(player, proof.as_ref()).await?;
        let key = tokens::new_recovery_key(&self.server.infra.rng);
        let hash = tokens::hash_code(&key);
        let renewed = self.store().renew_recovery_key(id, hash, identity_proof);
        match renewed.await.map_err(identity_write_error)? {
            true => Ok(ServerMessage::RecoveryKey {
                re: None,
                key,
                ignored: Vec::new(),
            }),
            false => Err(wrong_password_error()),
        }
    }
}

pub(in crate::requests) fn invalid_code_error() -> WireError {
    let message = "invalid or expired code or key";
    WireError::new(ErrorCode::BadCode, message)
}
