//! What was written to the store of a world, by whom, in the order in which it was.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use plyhouse_protocol::{MatchId, Seq};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{JournalPosition, MatchRecord, NodeId, Store};

use super::{SharedStore, resolve_now};

/// What was written, and how far each match has been taken over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<JournalEntry>,
    /// How often somebody was about to write where the journal ended no longer.
    pub(crate) fenced_writes: usize,
    epochs: BTreeMap<MatchId, u64>,
}

/// One thing that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalEntry {
    pub(crate) at: Duration,
    pub(crate) node: NodeId,
    pub(crate) id: MatchId,
    pub(crate) write: JournalWrite,
}

/// What was written of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalWrite {
    /// It began, with so many events.
    Created { events: usize },
    /// So many events after this one, by a writer who knew of so many take-overs.
    Appended {
        epoch: u64,
        after: Seq,
        count: usize,
    },
    /// It was taken over, for the so-manieth time.
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

    /// Takes note of a match's having been taken over, if it has been.
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

    /// Where something is appended whose writer wants it there.
    pub(super) fn append_position(&self, id: MatchId, after: JournalPosition) -> JournalPosition {
        if self.has_fencing {
            return after;
        }
        let loaded = resolve_now(self.memory.load(id)).ok().flatten();
        loaded.map_or(after, |loaded| loaded.position)
    }

    /// Everything that is kept in the end.
    pub(in crate::cluster) fn load_matches(&self) -> BTreeMap<MatchId, MatchRecord> {
        let entries = self.journal.lock().entries.clone();
        let ids = entries.iter().map(|entry| entry.id);
        let load = |id| resolve_now(self.memory.load(id)).ok().flatten();
        ids.filter_map(|id| Some((id, load(id)?.record))).collect()
    }
}
