//! How a player comes to have one more session: by a pairing code from another device, or by the key that
//! was written down. A code or a key that is wrong counts against the address that has tried it.

use std::time::Duration;

use super::sessions::{not_kept, not_read};
use super::{Client, Player, shown, usual_label};
use crate::births;
use crate::clock::now;
use crate::cluster::{Notice, Packet};
use crate::encode::encode;
use crate::reply::Reply;
use crate::tokens;
use plyhouse_protocol::{ErrorCode, Hello, PlayerId, ServerMessage, SessionKind, Token, WireError};
use plyhouse_store::{Pairing, SessionRecord, Sessions, TokenHash};

/// For how long a pairing code is good, in milliseconds.
const PAIRING_MS: u64 = 5 * 60 * 1000;

/// How many pairing codes are good at a time. Codes are so many that nobody who guesses finds one.
const PAIRINGS_MAX: usize = 10_000;

/// How many sessions a player has, keys apart.
const SESSIONS_MAX: usize = 20;

/// By what somebody comes back who has no token.
pub(super) enum Proof {
    /// A pairing code.
    Pairing(TokenHash),
    /// A recovery key.
    Recovery(TokenHash),
}

impl Proof {
    /// What a hello shows, if it shows something.
    pub(super) fn of(hello: &Hello) -> Option<Self> {
        let code = hello.pair.as_ref().map(tokens::hash_of_code);
        let key = hello.recovery.as_ref().map(tokens::hash_of_code);
        code.map(Self::Pairing).or(key.map(Self::Recovery))
    }
}

impl Client {
    /// Makes one more session of the player whose code or key this is.
    pub(super) async fn come_back(
        &self,
        proof: &Proof,
        label: Option<String>,
    ) -> Result<Player, WireError> {
        self.permit.try_code(now()).map_err(too_soon)?;
        let Some(id) = self.owner(proof).await? else {
            return Err(bad_code());
        };
        self.permit.right();
        let label = shown(label, || usual_label(self.kind))?;
        let Some(record) = self.server.store.player_by_id(id).await.map_err(not_read)? else {
            return Err(bad_code());
        };
        if let Proof::Pairing(code) = proof {
            let taken = self.server.store.take_pairing(*code).await;
            if !taken.map_err(not_kept)? {
                return Err(bad_code());
            }
        }
        self.make_room(id).await?;
        let token = self.server.tokens.issue(&self.server.chance);
        let session = self.new_session(id, &token, label);
        let added = self.server.store.add_session(session.clone()).await;
        added.map_err(not_kept)?;
        Ok(Player {
            record,
            session,
            token,
            is_stored: true,
        })
    }

    /// Whose code or key this is.
    async fn owner(&self, proof: &Proof) -> Result<Option<PlayerId>, WireError> {
        let now_ms = self.server.clock.now_ms();
        let owner = match proof {
            Proof::Pairing(code) => {
                let found = self.server.store.pairing(*code, now_ms).await;
                found.map(|pairing| pairing.map(|pairing| pairing.player))
            }
            Proof::Recovery(key) => self.server.store.recovered(*key).await,
        };
        owner.map_err(not_read)
    }

    /// Ends sessions of a player who is to have one more, if there are too many.
    async fn make_room(&self, player: PlayerId) -> Result<(), WireError> {
        let mut sessions = self.server.store.sessions(player).await.map_err(not_read)?;
        sessions.retain(|session| session.kind != SessionKind::Key);
        let too_many = (sessions.len() + 1).saturating_sub(SESSIONS_MAX);
        if too_many == 0 {
            return Ok(());
        }
        let connected = self.connected_sessions(player).await;
        let order = |session: &SessionRecord| {
            let is_connected = connected.contains(&session.id);
            (is_connected, session.seen_day, session.created_ms)
        };
        sessions.sort_by_key(order);
        for session in &sessions[..too_many] {
            let which = Sessions::One(session.id);
            let ended = self.server.store.end_sessions(player, which).await;
            ended.map_err(not_kept)?;
            self.server.players.end_sessions(player, which, None);
            if let Some(cluster) = &self.server.cluster {
                cluster.send_all(&Packet::SessionsEnded { player, which });
            }
        }
        Ok(())
    }

    /// Tells the player's other connections of the session that this one has begun.
    pub(super) fn tell_added(&self) {
        let Some(Player {
            record, session, ..
        }) = self.player.as_deref()
        else {
            return;
        };
        let told = encode(&ServerMessage::SessionAdded {
            session: session.id,
            label: session.label.clone(),
            kind: session.kind,
        });
        let peers = self.server.players.peers(record.id).into_iter();
        for peer in peers.filter(|peer| peer.id != self.peer.id) {
            peer.outbox.send(told.clone());
        }
        if let Some(cluster) = &self.server.cluster {
            let text = told.to_string();
            cluster.notify(record.id, Notice::SessionAdded { text });
        }
    }

    /// Makes a code by which another device becomes the player's.
    pub(super) async fn pair(&self, player: &Player, reply: Reply) {
        let code = tokens::pairing_code(&self.server.chance);
        let offered = self.offer_pairing(player.record.id, &code).await;
        if let Some(((), reply)) = reply.check(offered) {
            reply.tell(|re| ServerMessage::Paired {
                re,
                code,
                expires_ms: PAIRING_MS,
                ignored: Vec::new(),
            });
        }
    }

    async fn offer_pairing(&self, player: PlayerId, code: &Token) -> Result<(), WireError> {
        births::remember(&self.server, player).await?;
        let now_ms = self.server.clock.now_ms();
        let pairing = Pairing {
            code: tokens::hash_of_code(code),
            player,
            expires_ms: now_ms + PAIRING_MS,
        };
        let offered = (self.server.store).offer_pairing(pairing, now_ms, PAIRINGS_MAX);
        match offered.await.map_err(not_kept)? {
            true => Ok(()),
            false => {
                let message = "too many pairing codes are good at the moment";
                Err(WireError::new(ErrorCode::Overloaded, message))
            }
        }
    }

    /// Makes a key by which the player comes back who has lost everything else.
    pub(super) async fn recovery(&self, player: &Player, reply: Reply) {
        let key = tokens::recovery_key(&self.server.chance);
        let kept = self.keep_recovery(player.record.id, &key).await;
        if let Some(((), reply)) = reply.check(kept) {
            reply.tell(|re| ServerMessage::RecoveryKey {
                re,
                key,
                ignored: Vec::new(),
            });
        }
    }

    async fn keep_recovery(&self, player: PlayerId, key: &Token) -> Result<(), WireError> {
        births::remember(&self.server, player).await?;
        let key = tokens::hash_of_code(key);
        let kept = self.server.store.keep_recovery(player, key).await;
        kept.map_err(not_kept)
    }
}

fn too_soon(left: Duration) -> WireError {
    let message = "too many wrong codes and keys were tried from your address";
    let error = WireError::new(ErrorCode::TooSoon, message);
    WireError {
        // Rounded up, so that whoever waits that long may try.
        retry_after_ms: u64::try_from(left.as_micros().div_ceil(1000)).ok(),
        ..error
    }
}

fn bad_code() -> WireError {
    let message = "there is no such code or key, or it is good no longer";
    WireError::new(ErrorCode::BadCode, message)
}
