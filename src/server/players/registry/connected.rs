//! The connections of players, any number of which one player may have.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{FORGOTTEN_MAX, Player, Players};
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::connection::precedence::{Standing, excess_connections};
use crate::wire::encode::encode;
use crate::wire::to_protocol;
use plyhouse_protocol::{CloseCode, MatchId, PlayerId, ServerMessage, SessionId};
use plyhouse_store::{DELETED_PLAYER_NAME, PlayerRecord, SessionRecord, SessionSelection};

impl Player {
    fn standings(&self) -> Vec<Standing> {
        let peers = self.peers.iter();
        peers.filter_map(|peer| peer.standing()).collect()
    }

    /// Closes the connections that are to end because of others, one that is not here among them if it is
    /// given. They are none of the player's from now on.
    fn end_surplus(&mut self, elsewhere: Option<Standing>) -> Vec<u64> {
        let mut all = self.standings();
        all.extend(elsewhere);
        let ended = excess_connections(&all);
        self.peers.retain(|peer| {
            let number = peer.standing().map(|standing| standing.number);
            let stays = number.is_none_or(|number| !ended.contains(&number));
            if !stays {
                peer.outbox.close(CloseCode::Replaced);
            }
            stays
        });
        ended
    }
}

impl Players {
    /// Makes this one of the player's connections, and closes those that end because of it. `greet` is
    /// given the live matches that the player is in, and runs under the lock: a match that begins meanwhile
    /// is shown after the greeting. If it does not greet, nothing is done. Gives whether it did.
    pub(crate) fn connect(
        &self,
        record: &PlayerRecord,
        unstored: Option<&SessionRecord>,
        peer: &Arc<ConnectionHandle>,
        greet: impl FnOnce(Vec<MatchId>) -> bool,
    ) -> bool {
        let mut index = self.index.lock();
        let player = index.players.get(&record.id);
        if !greet(player.map_or_else(Vec::new, Player::live_matches)) {
            return false;
        }
        index.gone.remove(&record.id);
        let player = index.players.entry(record.id);
        let player = player.or_insert_with(|| Player::new(record.clone(), unstored.cloned()));
        player.peers.push(Arc::clone(peer));
        player.end_surplus(None);
        player.tell_peers();
        let token = player.unstored.as_ref().map(|session| session.token);
        if let Some(token) = token {
            index.by_token.insert(token, record.id);
        }
        true
    }

    /// Takes note of a connection of a player on another server. If that one is to end because of some
    /// here, gives how these stand.
    pub(crate) fn connected_elsewhere(&self, id: PlayerId, there: Standing) -> Vec<Standing> {
        let mut later = Vec::new();
        self.change(id, |player| {
            if player.end_surplus(Some(there)).contains(&there.number) {
                later = player.standings();
            }
        });
        later
    }

    /// Where everybody is written to who is connected.
    pub(crate) fn outboxes(&self) -> Vec<Outbox> {
        let index = self.index.lock();
        let peers = index.players.values().flat_map(|player| &player.peers);
        peers.map(|peer| peer.outbox.clone()).collect()
    }

    /// Everybody who is connected.
    pub(crate) fn everybody_connected(&self) -> Vec<PlayerId> {
        let index = self.index.lock();
        let players = index.players.iter();
        let connected = players.filter(|(_, player)| !player.peers.is_empty());
        connected.map(|(id, _)| *id).collect()
    }

    /// The player's connections, in the order in which they came.
    pub(crate) fn peers(&self, id: PlayerId) -> Vec<Arc<ConnectionHandle>> {
        let index = self.index.lock();
        let player = index.players.get(&id);
        player.map_or_else(Vec::new, |player| player.peers.clone())
    }

    /// This connection of the player, if it is one.
    pub(crate) fn peer(
        &self,
        id: PlayerId,
        connection: ConnectionId,
    ) -> Option<Arc<ConnectionHandle>> {
        let index = self.index.lock();
        let mut peers = index.players.get(&id)?.peers.iter();
        peers.find(|peer| peer.id == connection).cloned()
    }

    /// Who gets what this connection of the player was to get: itself while it is there, then the latest of
    /// its session, or else of the player.
    pub(crate) fn heir(
        &self,
        id: PlayerId,
        of: &ConnectionHandle,
    ) -> Option<Arc<ConnectionHandle>> {
        let index = self.index.lock();
        let peers = &index.players.get(&id)?.peers;
        let latest =
            |is_it: &dyn Fn(&ConnectionHandle) -> bool| peers.iter().rev().find(|peer| is_it(peer));
        let found = latest(&|peer| peer.id == of.id)
            .or_else(|| latest(&|peer| peer.session() == of.session()))
            .or_else(|| peers.last());
        found.cloned()
    }

    pub(crate) fn is_connected(&self, id: PlayerId) -> bool {
        let index = self.index.lock();
        let player = index.players.get(&id);
        player.is_some_and(|player| !player.peers.is_empty())
    }

    /// The longest smoothed round-trip time of the player's connections, of those that have been measured.
    pub(crate) fn rtt(&self, id: PlayerId) -> Option<Duration> {
        let index = self.index.lock();
        let peers = index.players.get(&id)?.peers.iter();
        peers.filter_map(|peer| peer.rtt()).max()
    }

    /// The player's sessions that have connections.
    pub(crate) fn connected_sessions(&self, id: PlayerId) -> Vec<SessionId> {
        let index = self.index.lock();
        let player = index.players.get(&id);
        let standings = player.map_or_else(Vec::new, Player::standings);
        standings.iter().map(|standing| standing.session).collect()
    }

    /// Notes that a connection is gone.
    pub(crate) fn disconnect(&self, id: PlayerId, peer: &ConnectionHandle) {
        self.change(id, |player| player.peers.retain(|one| one.id != peer.id));
    }

    /// Closes the connections of sessions that were ended, but for this one.
    pub(crate) fn end_sessions(
        &self,
        id: PlayerId,
        which: SessionSelection,
        but: Option<ConnectionId>,
    ) {
        // First this, so that whoever is being welcomed looks again.
        self.changes.fetch_add(1, Ordering::AcqRel);
        for peer in self.peers(id) {
            let is_meant = peer
                .standing()
                .is_some_and(|standing| which.contains(standing.session, standing.kind));
            if is_meant && but != Some(peer.id) {
                peer.outbox.close(CloseCode::Ended);
            }
        }
    }

    /// Takes note that a player was forgotten.
    pub(crate) fn gone(&self, id: PlayerId) {
        let mut index = self.index.lock();
        index.forget(id);
        if let Some(player) = index.players.get_mut(&id) {
            DELETED_PLAYER_NAME.clone_into(&mut player.record.name);
        }
        if index.forgotten.insert(id) {
            index.forgotten_first.push_back(id);
        }
        while index.forgotten.len() > FORGOTTEN_MAX
            && let Some(first) = index.forgotten_first.pop_front()
        {
            index.forgotten.remove(&first);
        }
    }

    /// Whether it was noted lately that a player was forgotten.
    pub(crate) fn is_gone(&self, id: PlayerId) -> bool {
        self.index.lock().forgotten.contains(&id)
    }

    /// Takes note of how a player is called, and tells their connections.
    pub(crate) fn call(&self, record: &PlayerRecord) {
        self.call_if(record, |_| true);
    }

    /// Takes note of a player's new name and tells it, unless the player was renamed since `before` was read.
    pub(crate) fn call_after(&self, before: &PlayerRecord, record: &PlayerRecord) {
        self.call_if(record, |now| now == before);
    }

    fn call_if(&self, record: &PlayerRecord, is_as_believed: impl Fn(&PlayerRecord) -> bool) {
        // First this, so that whoever is being welcomed looks again.
        self.changes.fetch_add(1, Ordering::AcqRel);
        let id = record.id;
        {
            let mut index = self.index.lock();
            if let Some(player) = index.players.get_mut(&id) {
                if !is_as_believed(&player.record) {
                    return;
                }
                player.record = record.clone();
            }
            if let Some(((gone, _), _)) = index.gone.get_mut(&id) {
                *gone = record.clone();
            }
        }
        let told = encode(&ServerMessage::Player {
            player: to_protocol::player(record),
        });
        for peer in self.peers(id) {
            peer.outbox.send(told.clone());
        }
    }

    /// How often sessions were ended, and players called otherwise.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }
}
