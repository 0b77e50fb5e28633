//! Every connection, so that all can be closed when the server stops.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::handle::ConnectionHandle;
use super::id::ConnectionId;
use crate::context::locks::{CONNECTIONS, Mutex};
use plyhouse_protocol::{CloseCode, MatchId};

/// Every connection, by its number. For each of them to wait for the end of the server by itself would
/// cost something with every request.
#[derive(Debug)]
pub(crate) struct ConnectionRegistry {
    /// `None` once the server stops.
    peers: Mutex<Option<BTreeMap<ConnectionId, Arc<ConnectionHandle>>>, CONNECTIONS>,
}

impl ConnectionRegistry {
    pub(crate) fn new() -> Self {
        Self {
            peers: Mutex::new(Some(BTreeMap::new())),
        }
    }

    /// Notes a connection, or closes it if the server stops.
    pub(crate) fn add(&self, peer: &Arc<ConnectionHandle>) {
        match &mut *self.peers.lock() {
            Some(peers) => {
                peers.insert(peer.id, Arc::clone(peer));
            }
            None => peer.outbox.close(CloseCode::GoingAway),
        }
    }

    /// A connection has ended.
    pub(crate) fn remove(&self, id: ConnectionId) {
        if let Some(peers) = &mut *self.peers.lock() {
            peers.remove(&id);
        }
    }

    /// Ends following a match that is served no longer.
    pub(crate) fn match_over(&self, id: MatchId, followers: impl Iterator<Item = ConnectionId>) {
        if let Some(peers) = &*self.peers.lock() {
            for peer in followers.filter_map(|follower| peers.get(&follower)) {
                peer.subscriptions.unfollow(id);
            }
        }
    }

    /// Closes all, and all that come from now on.
    pub(crate) fn close_all(&self) {
        let peers = self.peers.lock().take();
        for peer in peers.into_iter().flat_map(BTreeMap::into_values) {
            peer.outbox.close(CloseCode::GoingAway);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::outbox::Outbox;

    #[test]
    fn all_are_closed_and_whoever_comes_late() {
        let peer =
            |id| ConnectionHandle::new(Outbox::new(ConnectionId(id), 9, 100, &Arc::default()), 1);
        let [there, gone, late] = [1, 2, 3].map(peer);
        let connections = ConnectionRegistry::new();
        connections.add(&there);
        connections.add(&gone);
        connections.remove(gone.id);
        connections.close_all();
        connections.add(&late);
        connections.remove(late.id);
        assert_eq!(there.outbox.has_room(), Err(CloseCode::GoingAway));
        assert_eq!(gone.outbox.has_room(), Ok(true));
        assert_eq!(late.outbox.has_room(), Err(CloseCode::GoingAway));
    }
}
