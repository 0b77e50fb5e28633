//! Journal of all writes to the shared store: their order, and the server that made each write.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use plyhouse_protocol::{MatchId, Seq};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{JournalPosition, JournalStore, MatchRecord, NodeId};

use super::{SharedStore, resolve_now};

/// Writes to the store, and the number of takeovers of each match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<JournalEntry>,
    /// Number of appends that the store refused with a conflict.
    pub(crate) fenced_writes: usize,
    epochs: BTreeMap<MatchId, u64>,
}

/// Write to a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalEntry {
    pub(crate) at: Duration,
    pub(crate) node: NodeId,
    pub(crate) id: MatchId,
    pub(crate) write: JournalWrite,
}

/// Kind and size of a write to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalWrite {
    /// The match was created with this number of events.
    Created { events: usize },
    /// The writer appended `count` events after the event with number `after`. `epoch` is the
    /// number of takeovers that the writer knew of.
    Appended {
        epoch: u64,
        after: Seq,
        count: usize,
    },
    /// The match was taken over. `epoch` is its new epoch.
    TakenOver { epoch: u64 },
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries
            .iter()
            .try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            node,
            id,
            write: written,
        } = self;
        let run = node.0.as_u128();
        write!(f, "{:>6} run {run}: {id} {written:?}", at.as_millis())
    }
}

impl SharedStore {
    pub(super) fn record_write(&self, node: NodeId, id: MatchId, write: JournalWrite) {
        if matches!(write, JournalWrite::Appended { count: 0, .. }) {
            return;
        }
        let at = self.queue.now();
        self.journal.lock().entries.push(JournalEntry {
            at,
            node,
            id,
            write,
        });
    }

    /// Records a takeover of the match if its epoch has increased.
    pub(super) fn record_takeover(&self, node: NodeId, id: MatchId) {
        let route = resolve_now(self.memory.find_route(id)).ok().flatten();
        let Some(epoch) = route.map(|route| route.epoch) else {
            return;
        };
        let previous_epoch = self.journal.lock().epochs.insert(id, epoch);
        if previous_epoch.unwrap_or(0) < epoch {
            self.record_write(node, id, JournalWrite::TakenOver { epoch });
        }
    }

    /// Returns the position in the match's journal at which the store appends events. With fencing,
    /// this is the position that the writer expects. Without fencing, it is the current end of the
    /// match's journal.
    pub(super) fn append_position(&self, id: MatchId, after: JournalPosition) -> JournalPosition {
        if self.has_fencing {
            return after;
        }
        let loaded = resolve_now(self.memory.load(id)).ok().flatten();
        loaded.map_or(after, |loaded| loaded.position)
    }

    /// Loads all matches at the end of the run.
    pub(in crate::cluster) fn load_matches(&self) -> BTreeMap<MatchId, MatchRecord> {
        let entries = self.journal.lock().entries.clone();
        let ids = entries.iter().map(|entry| entry.id);
        let load = |id| resolve_now(self.memory.load(id)).ok().flatten();
        ids.filter_map(|id| Some((id, load(id)?.record))).collect()
    }
}
