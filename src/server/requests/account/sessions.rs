//! Requests to list and end the sessions of a player.

use crate::cluster::Packet;
use crate::connection::id::ConnectionId;
use crate::players::player_lookup;
use crate::requests::{Client, DAY_MS, Player};
use crate::wire::error_replies::{store_read_error, store_write_error};
use crate::wire::from_protocol;
use plyhouse_matches::game_record::day_text;
use plyhouse_protocol::{
    PlayerId, ReauthProof, ServerMessage, SessionId, SessionSummary, WireError,
};
use plyhouse_store::{
    Account, IdentityChanges, ReadError, SessionRecord, SessionSelection, WriteError,
};

impl Client {
    /// Returns the sessions of the player and of the player's bot accounts, oldest first.
    pub(in crate::requests) async fn sessions(
        &self,
        player: &Player,
    ) -> Result<ServerMessage, WireError> {
        let id = player.record.id;
        let mut sessions = Vec::new();
        let bots = self.load_account(id).await?.bots.into_iter();
        let bots = bots.map(|bot| (bot.id, Some(bot.name)));
        for (owner, bot) in [(id, None)].into_iter().chain(bots) {
            let stored_sessions = player_lookup::load_sessions(&self.server, owner).await;
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
            let stored_sessions = stored_sessions.map_err(identity_read_error)?;
            sessions.extend(stored_sessions.into_iter().map(summary));
        }
        sessions.sort_by_key(|summary| summary.created_ms);
        Ok(ServerMessage::Sessions {
            re: None,
            sessions,
            ignored: Vec::new(),
        })
    }

    /// Returns the account data of a player, which are empty for a guest.
    pub(in crate::requests) async fn load_account(
        &self,
        player: PlayerId,
    ) -> Result<Account, WireError> {
        let account = self.store().account(player).await;
        Ok(account.map_err(identity_read_error)?.unwrap_or_default())
    }

    /// Returns the player's sessions that are connected to any server.
    pub(in crate::requests) async fn connected_sessions(&self, player: PlayerId) -> Vec<SessionId> {
        let mut connected = self.server.identity.players.connected_sessions(player);
        if let Some(cluster) = &self.server.infra.cluster {
            connected.extend(cluster.connected_sessions(player).await);
        }
        connected
    }

    /// Ends sessions in the store and closes their connections on all servers, except the
    /// requesting connection. Returns whether the session of the requesting connection has ended.
    pub(in crate::requests) async fn end_session(
        &self,
        player: &Player,
        session: String,
        proof: Option<ReauthProof>,
    ) -> Result<bool, WireError> {
        let own = &player.session;
        let Some(selection) = from_protocol::session_selection(&session, own.id) else {
            return Ok(false);
        };
        let id = player.record.id;
        if selection != SessionSelection::One(own.id) {
            self.verify_proof(player, proof.as_ref()).await?;
        }
        // A guest who is not stored yet must be stored now. Otherwise, the guest could be stored
        // after the session has ended.
        player_lookup::persist_player(&self.server, id).await?;
        let bots = self.load_account(id).await?.bots;
        let ended = self.store().end_sessions(id, selection).await;
        ended.map_err(identity_write_error)?;
        for owner in bots.iter().map(|bot| bot.id).chain([id]) {
            self.close_ended_sessions(owner, selection, Some(self.connection.id));
        }
        Ok(selection.contains(own.id, own.kind))
    }

    /// Closes the connections of ended sessions on all servers. The connection with the ID `except`
    /// stays open.
    pub(in crate::requests) fn close_ended_sessions(
        &self,
        player: PlayerId,
        selection: SessionSelection,
        except: Option<ConnectionId>,
    ) {
        let players = &self.server.identity.players;
        players.close_sessions(player, selection, except);
        self.server.broadcast(&Packet::SessionsEnded {
            player,
            which: selection,
        });
    }

    /// Records the first use of the client's session on each day.
    pub(in crate::requests) fn touch_session(&self) {
        let Some(player) = &self.player else { return };
        let token = player.session.token;
        let today = self.server.now_ms() / DAY_MS;
        if player.is_stored && player.session.last_used_day < today {
            self.server.spawn(|server| async move {
                // If this write fails, the use of the session is recorded at the next `hello`.
                let _ = server.store().touch_session(token, today).await;
            });
        }
    }
}

pub(in crate::requests) fn identity_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read a player's sessions or account");
    store_read_error(error)
}

pub(in crate::requests) fn identity_write_error(error: WriteError) -> WireError {
    tracing::error!(%error, "cannot store a player's sessions or account");
    store_write_error(error)
}
