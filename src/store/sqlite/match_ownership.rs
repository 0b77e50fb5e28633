//! Keeps track of the server that owns each live match. Only one server uses a data directory at a
//! time, so ownership is held in memory and ends with the process.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::NodeId;
use plyhouse_protocol::MatchId;

/// Owner of each live match. The map is a B-tree, because a growing hash map moves all its entries
/// at once. All threads that need the map would wait until the entries have been moved.
#[derive(Debug, Default)]
pub(super) struct Ownership(Mutex<BTreeMap<MatchId, NodeId>>);

impl Ownership {
    pub(super) fn claim(&self, id: MatchId, owner: NodeId) {
        self.0.lock().insert(id, owner);
    }

    /// Removes the owner of a match. Called when the match has ended or the server stops running
    /// it.
    pub(super) fn release(&self, id: MatchId) {
        self.0.lock().remove(&id);
    }

    pub(super) fn owner(&self, id: MatchId) -> Option<NodeId> {
        self.0.lock().get(&id).copied()
    }
}
