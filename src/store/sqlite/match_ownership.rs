//! Owners of matches. Only one server uses a directory at a time, so ownership is held in memory
//! and ends with the process.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::NodeId;
use plyhouse_protocol::MatchId;

/// Owners of live matches. The map is a B-tree, because a growing hash map moves all its entries at
/// once while other threads wait for the lock.
#[derive(Debug, Default)]
pub(super) struct Ownership(Mutex<BTreeMap<MatchId, NodeId>>);

impl Ownership {
    pub(super) fn claim(&self, id: MatchId, owner: NodeId) {
        self.0.lock().insert(id, owner);
    }

    /// Removes the owner of a match that has ended or that its server stops running.
    pub(super) fn release(&self, id: MatchId) {
        self.0.lock().remove(&id);
    }

    pub(super) fn owner(&self, id: MatchId) -> Option<NodeId> {
        self.0.lock().get(&id).copied()
    }
}
