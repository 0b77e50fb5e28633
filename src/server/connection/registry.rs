//! Registry of all connections, which closes them when the server stops.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::handle::ConnectionHandle;
use super::id::ConnectionId;
use crate::context::locks::{CONNECTIONS, Mutex};
use plyhouse_protocol::{CloseCode, MatchId};

/// All connections by id. At shutdown, the registry closes all connections.
#[derive(Debug)]
pub(crate) struct ConnectionRegistry {
    /// Open connections by id; `None` once the server is stopping.
    connections: Mutex<Option<BTreeMap<ConnectionId, Arc<ConnectionHandle>>>, CONNECTIONS>,
}

impl ConnectionRegistry {
    pub(crate) fn new() -> Self {
        Self {
            connections: Mutex::new(Some(BTreeMap::new())),
        }
    }

    /// Adds a connection, or closes it if the server is stopping.
    pub(crate) fn add(&self, connection: &Arc<ConnectionHandle>) {
        match &mut *self.connections.lock() {
            Some(connections) => {
                connections.insert(connection.id, Arc::clone(connection));
            }
            None => connection.outbox.close(CloseCode::GoingAway),
        }
    }

    /// Removes a connection that has ended.
    pub(crate) fn remove(&self, id: ConnectionId) {
        if let Some(connections) = &mut *self.connections.lock() {
            connections.remove(&id);
        }
    }

    /// Removes a match from the subscriptions of the given connections.
    pub(crate) fn unfollow_match(
        &self,
        id: MatchId,
        followers: impl Iterator<Item = ConnectionId>,
    ) {
        if let Some(connections) = &*self.connections.lock() {
            for connection in followers.filter_map(|follower| connections.get(&follower)) {
                connection.subscriptions.unfollow(id);
            }
        }
    }

    /// Closes all current and future connections.
    pub(crate) fn close_all(&self) {
        let connections = self.connections.lock().take();
        for connection in connections.into_iter().flat_map(BTreeMap::into_values) {
            connection.outbox.close(CloseCode::GoingAway);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::outbox::Outbox;

    #[test]
    fn close_all_closes_current_and_later_connections() {
        let new_handle =
            |id| ConnectionHandle::new(Outbox::new(ConnectionId(id), 9, 100, &Arc::default()), 1);
        let [connected, removed, late] = [1, 2, 3].map(new_handle);
        let registry = ConnectionRegistry::new();
        registry.add(&connected);
        registry.add(&removed);
        registry.remove(removed.id);
        registry.close_all();
        registry.add(&late);
        registry.remove(late.id);
        assert_eq!(connected.outbox.has_room(), Err(CloseCode::GoingAway));
        assert_eq!(removed.outbox.has_room(), Ok(true));
        assert_eq!(late.outbox.has_room(), Err(CloseCode::GoingAway));
    }
}
