//! Player connections in the registry. A player may have several connections.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{DELETED_PLAYERS_MAX, PlayerEntry, PlayerRegistry};
use crate::connection::eviction::{ConnectionPrecedence, excess_connections};
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::wire::encode::encode;
use crate::wire::to_protocol;
use plyhouse_protocol::{CloseCode, PlayerId, ServerMessage, SessionId};
use plyhouse_store::{DELETED_PLAYER_NAME, PlayerRecord, SessionSelection};

impl PlayerEntry {
    fn precedences(&self) -> Vec<ConnectionPrecedence> {
        let connections = self.connections.iter();
        connections.filter_map(|peer| peer.precedence()).collect()
    }

    /// Closes and removes connections that newer connections replace or that exceed a limit. If
    /// `remote` is set, the player also has that connection on another server. Returns the numbers
    /// of all connections that must close, which may include `remote`.
    pub(super) fn close_excess_connections(
        &mut self,
        remote: Option<ConnectionPrecedence>,
    ) -> Vec<u64> {
        let mut all = self.precedences();
        all.extend(remote);
        let ended = excess_connections(&all);
        self.connections.retain(|peer| {
            let number = peer.precedence().map(|standing| standing.number);
            let stays = number.is_none_or(|number| !ended.contains(&number));
            if !stays {
                peer.outbox.close(CloseCode::Replaced);
            }
            stays
        });
        ended
    }
}

impl PlayerRegistry {
    /// Handles a new connection of the player on another server. Closes the connections on this
    /// server that the remote connection replaces.
    ///
    /// If the remote connection itself must close, returns a [`ConnectionPrecedence`] for each
    /// connection of the player on this server. The caller must send the returned values to the
    /// other servers.
    pub(crate) fn on_remote_connection(
        &self,
        id: PlayerId,
        remote: ConnectionPrecedence,
    ) -> Vec<ConnectionPrecedence> {
        let mut superseding = Vec::new();
        self.update_player(id, |player| {
            let closed = player.close_excess_connections(Some(remote));
            if closed.contains(&remote.number) {
                superseding = player.precedences();
            }
        });
        superseding
    }

    pub(crate) fn all_outboxes(&self) -> Vec<Outbox> {
        let index = self.index.lock();
        let players = index.players.values();
        let connections = players.flat_map(|player| &player.connections);
        connections.map(|peer| peer.outbox.clone()).collect()
    }

    /// Returns the players who are connected or logging in.
    pub(crate) fn online_players(&self) -> Vec<PlayerId> {
        let index = self.index.lock();
        let players = index.players.iter();
        let online = players.filter(|(_, player)| !player.is_offline());
        online.map(|(id, _)| *id).collect()
    }

    /// Returns the player's connections, oldest first, without those whose clients are logging in.
    pub(crate) fn connections(&self, id: PlayerId) -> Vec<Arc<ConnectionHandle>> {
        self.read_player(id, |player| player.connections.clone())
    }

    /// Returns all connections of the player, including those whose clients are logging in.
    pub(crate) fn all_connections(&self, id: PlayerId) -> Vec<Arc<ConnectionHandle>> {
        self.read_player(id, |player| {
            let joining = player.joining.values().map(|joining| &joining.connection);
            player.connections.iter().chain(joining).cloned().collect()
        })
    }

    /// Returns the connection with this id if it belongs to the player.
    pub(crate) fn connection(
        &self,
        id: PlayerId,
        connection_id: ConnectionId,
    ) -> Option<Arc<ConnectionHandle>> {
        let is_it = |peer: &&Arc<ConnectionHandle>| peer.id == connection_id;
        self.read_player(id, |player| player.connections.iter().find(is_it).cloned())
    }

    /// Returns `connection` itself while it is open, otherwise the connection that replaces it. The
    /// replacement is the newest connection of the same session. If the session has no connection,
    /// the replacement is the newest connection of the player.
    pub(crate) fn successor_connection(
        &self,
        id: PlayerId,
        connection: &ConnectionHandle,
    ) -> Option<Arc<ConnectionHandle>> {
        self.read_player(id, |player| {
            let rank = |peer: &&Arc<ConnectionHandle>| {
                let is_of_session = peer.session() == connection.session();
                (peer.id == connection.id, is_of_session)
            };
            // Of several connections with the same rank, `max_by_key` returns the newest.
            player.connections.iter().max_by_key(rank).cloned()
        })
    }

    pub(crate) fn is_connected(&self, id: PlayerId) -> bool {
        self.read_player(id, |player| !player.connections.is_empty())
    }

    /// Returns the longest smoothed round-trip time among the player's connections. Connections
    /// without a measurement are ignored.
    pub(crate) fn max_rtt(&self, id: PlayerId) -> Option<Duration> {
        self.read_player(id, |player| {
            let connections = player.connections.iter();
            connections.filter_map(|peer| peer.rtt()).max()
        })
    }

    /// Returns the session of each connection of the player.
    pub(crate) fn connected_sessions(&self, id: PlayerId) -> Vec<SessionId> {
        let precedences = self.read_player(id, PlayerEntry::precedences);
        precedences.iter().map(|known| known.session).collect()
    }

    /// Removes a connection that has ended or whose login has failed.
    pub(crate) fn disconnect(&self, id: PlayerId, connection: &ConnectionHandle) {
        self.update_player(id, |player| {
            player.joining.remove(&connection.id);
            player.connections.retain(|one| one.id != connection.id);
        });
    }

    /// Closes the connections of the selected sessions of the player. The connection `except` stays
    /// open.
    pub(crate) fn close_sessions(
        &self,
        id: PlayerId,
        selection: SessionSelection,
        except: Option<ConnectionId>,
    ) {
        // The change count is increased before the connections are closed. A login that registers
        // its connection later therefore detects the change and reads its session again.
        self.identity_change_count.fetch_add(1, Ordering::AcqRel);
        for connection in self.all_connections(id) {
            let precedence = connection.precedence();
            let is_selected =
                precedence.is_some_and(|known| selection.contains(known.session, known.kind));
            if is_selected && except != Some(connection.id) {
                connection.outbox.close(CloseCode::SessionEnded);
            }
        }
    }

    /// Marks a player as deleted and replaces the name with a placeholder.
    pub(crate) fn mark_deleted(&self, id: PlayerId) {
        let mut index = self.index.lock();
        index.remove_offline_guest(id);
        if let Some(player) = index.players.get_mut(&id) {
            DELETED_PLAYER_NAME.clone_into(&mut player.record.name);
        }
        if index.deleted_players.insert(id) {
            index.deletion_order.push_back(id);
        }
        while index.deleted_players.len() > DELETED_PLAYERS_MAX
            && let Some(oldest) = index.deletion_order.pop_front()
        {
            index.deleted_players.remove(&oldest);
        }
    }

    /// Returns whether the player was recently marked as deleted.
    pub(crate) fn is_deleted(&self, id: PlayerId) -> bool {
        self.index.lock().deleted_players.contains(&id)
    }

    /// Updates the record of a player and sends it to the player's connections.
    pub(crate) fn update_record(&self, record: &PlayerRecord) {
        self.update_record_if(record, |_| true);
    }

    /// Updates the record of a player and sends it to the player's connections. Leaves the record
    /// unchanged if it differs from `expected`.
    pub(crate) fn update_record_if_unchanged(
        &self,
        expected: &PlayerRecord,
        record: &PlayerRecord,
    ) {
        self.update_record_if(record, |now| now == expected);
    }

    fn update_record_if(&self, record: &PlayerRecord, is_expected: impl Fn(&PlayerRecord) -> bool) {
        // The change count is increased before the record is updated. A login that registers its
        // connection later therefore detects the change and reads the record again.
        self.identity_change_count.fetch_add(1, Ordering::AcqRel);
        let id = record.id;
        {
            let mut index = self.index.lock();
            if let Some(player) = index.players.get_mut(&id) {
                if !is_expected(&player.record) {
                    return;
                }
                player.record = record.clone();
            }
            if let Some(((guest_record, _), _)) = index.offline_guests.get_mut(&id) {
                *guest_record = record.clone();
            }
        }
        let frame = encode(&ServerMessage::Player {
            player: to_protocol::player(record),
        });
        self.send(id, &frame, |_| true);
    }

    pub(crate) fn identity_change_count(&self) -> u64 {
        self.identity_change_count.load(Ordering::Acquire)
    }
}
