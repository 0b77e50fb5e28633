//! Connections whose clients are logging in.
//!
//! A login registers its connection before it reads the player's data from the store. From then on,
//! the registry buffers the player's events for the connection. The login therefore misses no
//! change: the read returns earlier changes, and the buffer holds later ones. The client receives
//! the buffered events after the `welcome` message.

use std::sync::Arc;

use super::{PlayerEntry, PlayerRegistry};
use crate::connection::handle::ConnectionHandle;
use crate::connection::reply::Reply;
use crate::match_handle::MatchHandle;
use crate::wire::encode::Frame;
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, ServerMessage, Welcome};
use plyhouse_store::{PlayerRecord, SessionRecord};

/// Maximum number of buffered events of a login.
const EVENTS_MAX: usize = 256;

/// Event for all connections of a player.
#[derive(Clone, Debug)]
pub(crate) enum PlayerEvent {
    Message(Frame),
    /// The player takes part in this match, and the connections must follow it.
    Match(MatchHandle),
}

/// Connection whose client is logging in.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) connection: Arc<ConnectionHandle>,
    /// Events since the connection was registered, oldest first. If there are more than
    /// [`EVENTS_MAX`], the login fails.
    events: Vec<PlayerEvent>,
}

impl Joining {
    fn push(&mut self, event: PlayerEvent) {
        if self.events.len() <= EVENTS_MAX {
            self.events.push(event);
        }
    }
}

impl PlayerRegistry {
    /// Registers a connection whose client is logging in. [`connect`](Self::connect) completes the
    /// login. `unstored_session` is the session of a guest who is not in the store.
    pub(crate) fn join(
        &self,
        record: &PlayerRecord,
        unstored_session: Option<&SessionRecord>,
        connection: &Arc<ConnectionHandle>,
    ) {
        let mut index = self.index.lock();
        index.offline_guests.remove(&record.id);
        let player = index.players.entry(record.id);
        let player =
            player.or_insert_with(|| PlayerEntry::new(record.clone(), unstored_session.cloned()));
        let joining = Joining {
            connection: Arc::clone(connection),
            events: Vec::new(),
        };
        player.joining.insert(connection.id, joining);
        if let Some(SessionRecord { token, .. }) = player.unstored_session {
            index.guests_by_token.insert(token, record.id);
        }
    }

    /// Completes a login: queues the `welcome` message and the buffered messages, and closes the
    /// connections that the new one replaces. Returns the matches among the buffered events, or
    /// `None` if the buffer has overflowed. The client then receives an error.
    ///
    /// `welcome` receives the player's live matches and runs under the lock. A match that starts at
    /// the same time is therefore sent after the welcome message.
    pub(crate) fn connect(
        &self,
        id: PlayerId,
        connection: &Arc<ConnectionHandle>,
        reply: Reply,
        welcome: impl FnOnce(Vec<MatchId>) -> Welcome,
    ) -> Option<Vec<MatchHandle>> {
        let mut index = self.index.lock();
        let player = index.players.get_mut(&id)?;
        let joining = player.joining.remove(&connection.id)?;
        if joining.events.len() > EVENTS_MAX {
            let message = "too many events during the login; try again shortly";
            reply.refuse(ErrorCode::Overloaded, message);
            return None;
        }
        let welcome = welcome(player.live_matches());
        reply.post_message(|re| ServerMessage::Welcome(Box::new(Welcome { re, ..welcome })));
        let mut matches = Vec::new();
        for event in joining.events {
            match event {
                PlayerEvent::Message(frame) => connection.outbox.enqueue(frame),
                PlayerEvent::Match(handle) => matches.push(handle),
            }
        }
        player.connections.push(Arc::clone(connection));
        player.close_excess_connections(None);
        player.update_connections();
        Some(matches)
    }

    /// Buffers an event for the player's connections whose clients are logging in. Returns the
    /// player's other connections, to which the caller must deliver the event.
    pub(crate) fn buffer_event(
        &self,
        id: PlayerId,
        event: &PlayerEvent,
    ) -> Vec<Arc<ConnectionHandle>> {
        let mut index = self.index.lock();
        index.players.get_mut(&id).map_or_else(Vec::new, |player| {
            for joining in player.joining.values_mut() {
                joining.push(event.clone());
            }
            player.connections.clone()
        })
    }

    /// Sends a message to the player's connections that `is_target` selects. A connection whose
    /// client is logging in receives the message after `welcome`.
    pub(crate) fn send(
        &self,
        id: PlayerId,
        message: &Frame,
        is_target: impl Fn(&ConnectionHandle) -> bool,
    ) {
        let connections = self.buffer_event(id, &PlayerEvent::Message(message.clone()));
        for connection in connections.iter().filter(|peer| is_target(peer)) {
            connection.outbox.send(message.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::PlayerKind;
    use uuid::Uuid;

    use super::*;
    use crate::connection::id::ConnectionId;
    use crate::connection::outbox::Outbox;

    #[test]
    fn overflow_of_the_buffer_refuses_the_login() {
        let players = PlayerRegistry::default();
        let outbox = Outbox::new(ConnectionId(1), 9, 1000, &Arc::default());
        let connection = ConnectionHandle::new(outbox.clone(), 1);
        let record = PlayerRecord {
            id: PlayerId(Uuid::from_u128(1)),
            name: "ann".to_owned(),
            kind: PlayerKind::Guest,
        };
        players.join(&record, None, &connection);
        for _ in 0..=EVENTS_MAX {
            players.send(record.id, &Frame::from("event"), |_| true);
        }
        let reply = Reply::new(outbox.clone(), None);
        let connected = players.connect(record.id, &connection, reply, |_| unreachable!());
        assert!(connected.is_none());
        assert!(!players.is_connected(record.id));
        let mut sent = Vec::new();
        outbox.take_frames(|frame| {
            sent.push(frame.to_string());
            true
        });
        assert!(sent[0].contains("overloaded"), "{sent:?}");
        assert_eq!(sent.len(), 1);
    }
}
