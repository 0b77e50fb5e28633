//! Who owns which match. A database serves one server, so this need not outlive the process: whoever
//! opened it before is gone.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::NodeId;
use plyhouse_protocol::MatchId;

/// The owners of live matches. A tree, since a hash map that grows moves all that it holds at once, while
/// everybody waits for the lock.
#[derive(Debug, Default)]
pub(super) struct Ownership(Mutex<BTreeMap<MatchId, NodeId>>);

impl Ownership {
    pub(super) fn claim(&self, id: MatchId, owner: NodeId) {
        self.0.lock().insert(id, owner);
    }

    /// The match has ended, and nobody needs to own it.
    pub(super) fn release(&self, id: MatchId) {
        self.0.lock().remove(&id);
    }

    pub(super) fn owner(&self, id: MatchId) -> Option<NodeId> {
        self.0.lock().get(&id).copied()
    }
}
