//! Requests to list and end the sessions of a player.

use std::sync::Arc;

use crate::cluster::Packet;
use crate::connection::id::ConnectionId;
use crate::connection::reply::Reply;
use crate::players::player_lookup;
use crate::requests::{Client, DAY_MS, Player};
use crate::wire::error_replies::{store_read_error, store_write_error};
use crate::wire::from_protocol;
use plyhouse_matches::game_record::day_text;
use plyhouse_protocol::{
    CloseCode, PlayerId, ReauthProof, ServerMessage, SessionId, SessionSummary, WireError,
};
use plyhouse_store::{
    IdentityChanges, PlayerRecord, ReadError, SessionRecord, SessionSelection, WriteError,
};

impl Client {
    pub(in crate::requests) async fn send_sessions(&self, player: &Player, reply: Reply) {
        let summaries = self.list_sessions(player).await;
        if let Some((sessions, reply)) = reply.require(summaries) {
            reply.send_message(|re| ServerMessage::Sessions {
                re,
                sessions,
                ignored: Vec::new(),
            });
        }
    }

    /// Returns the sessions of the player and of the player's bot accounts, oldest first.
    async fn list_sessions(&self, player: &Player) -> Result<Vec<SessionSummary>, WireError> {
        let id = player.record.id;
        let mut summaries = Vec::new();
        let owners = [(id, None)].into_iter();
        let bots = self.load_bots(id).await?.into_iter();
        for (owner, bot) in owners.chain(bots.map(|bot| (bot.id, Some(bot.name)))) {
            let stored_sessions = match self.server.identity.players.unstored_guest(owner) {
                Some((_, session)) => Ok(vec![session]),
                None => self.store().sessions(owner).await,
            };
            let connected = self.connected_sessions(owner).await;
            let summary = |session: SessionRecord| SessionSummary {
                session: session.id,
                last_seen_day: day_text(session.last_used_day),
                connected: connected.contains(&session.id),
                is_current: session.id == player.session.id,
                label: session.label,
                kind: session.kind,
                created_ms: session.created_ms,
                bot: bot.clone(),
            };
            summaries.extend(
                stored_sessions
                    .map_err(identity_read_error)?
                    .into_iter()
                    .map(summary),
            );
        }
        summaries.sort_by_key(|summary| summary.created_ms);
        Ok(summaries)
    }

    /// Returns the bot accounts of a player.
    pub(in crate::requests) async fn load_bots(
        &self,
        player: PlayerId,
    ) -> Result<Vec<PlayerRecord>, WireError> {
        let account = self
            .store()
            .account(player)
            .await
            .map_err(identity_read_error)?;
        Ok(account.unwrap_or_default().bots)
    }

    /// Returns the player's sessions that are connected to any server.
    pub(in crate::requests) async fn connected_sessions(&self, player: PlayerId) -> Vec<SessionId> {
        let mut connected = self.server.identity.players.connected_sessions(player);
        if let Some(cluster) = &self.server.infra.cluster {
            connected.extend(cluster.connected_sessions(player).await);
        }
        connected
    }

    /// Ends sessions in the store and then closes their connections on all servers. The requesting
    /// connection receives the reply before it is closed.
    pub(in crate::requests) async fn end_session(
        &self,
        player: &Player,
        session: String,
        proof: Option<ReauthProof>,
        reply: Reply,
    ) {
        let (id, own) = (player.record.id, player.session.id);
        let Some(selection) = from_protocol::session_selection(&session, own) else {
            reply.ok(None);
            return;
        };
        let proof_check = match selection == SessionSelection::One(own) {
            true => Ok(()),
            false => self.verify_proof(player, proof.as_ref()).await.map(drop),
        };
        let Some(((), reply)) = reply.require(proof_check) else {
            return;
        };
        // A guest who is not stored yet must be stored now. Otherwise, the guest could be stored
        // after the session has ended.
        let persisted = player_lookup::persist_player(&self.server, id).await;
        let Some(((), reply)) = reply.require(persisted) else {
            return;
        };
        let Some((bots, reply)) = reply.require(self.load_bots(id).await) else {
            return;
        };
        let result = self.store().end_sessions(id, selection).await;
        let Some(((), reply)) = reply.require(result.map_err(identity_write_error)) else {
            return;
        };
        for owner in bots.iter().map(|bot| bot.id).chain([id]) {
            self.close_ended_sessions(owner, selection, Some(self.connection.id));
        }
        reply.ok(None);
        if selection.contains(own, player.session.kind) {
            self.connection.outbox.close(CloseCode::SessionEnded);
        }
    }

    /// Closes the connections of ended sessions on all servers. The connection with the ID `except`
    /// stays open.
    pub(in crate::requests) fn close_ended_sessions(
        &self,
        player: PlayerId,
        selection: SessionSelection,
        except: Option<ConnectionId>,
    ) {
        self.server
            .identity
            .players
            .close_sessions(player, selection, except);
        if let Some(cluster) = &self.server.infra.cluster {
            cluster.broadcast(&Packet::SessionsEnded {
                player,
                which: selection,
            });
        }
    }

    /// Records the first use of the client's session on each day.
    pub(in crate::requests) fn touch_session(&self) {
        let Some(player) = &self.player else { return };
        let token = player.session.token;
        let today = self.server.now_ms() / DAY_MS;
        if player.is_stored && player.session.last_used_day < today {
            let server = Arc::clone(&self.server);
            self.server.infra.spawn(async move {
                // If this write fails, the use of the session is recorded at the next `hello`.
                let _ = server.store().touch_session(token, today).await;
            });
        }
    }
}

pub(in crate::requests) fn identity_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read a player's sessions or account");
    store_read_error(&error)
}

pub(in crate::requests) fn identity_write_error(error: WriteError) -> WireError {
    tracing::error!(%error, "cannot store a player's sessions or account");
    store_write_error(error)
}
