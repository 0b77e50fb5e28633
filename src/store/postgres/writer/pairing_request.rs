//! A seek that the writer task tries to pair.

use parking_lot::Mutex;

use crate::port::cluster_directory::{MatchFactory, PairOutcome, SeekRecord};

/// A seek, and the outcome of the attempt to pair it.
pub(in crate::postgres) struct SeekPairing {
    pub(super) seek: SeekRecord,
    pub(super) seeks_max: usize,
    pub(super) make_match: MatchFactory,
    /// Outcome of the attempt to pair the seek. Must be used only after the batch has been
    /// committed, because the transaction may still fail.
    pub(super) outcome: Mutex<Option<PairOutcome>>,
}

impl SeekPairing {
    pub(in crate::postgres) const fn new(
        seek: SeekRecord,
        seeks_max: usize,
        make_match: MatchFactory,
    ) -> Self {
        Self {
            seek,
            seeks_max,
            make_match,
            outcome: Mutex::new(None),
        }
    }

    /// Removes and returns the outcome of the pairing attempt. Must be called only after the batch
    /// has been committed.
    pub(in crate::postgres) fn take_outcome(&self) -> Option<PairOutcome> {
        self.outcome.lock().take()
    }
}

impl std::fmt::Debug for SeekPairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut output = f.debug_struct("SeekPairing");
        output.field("seek", &self.seek).finish_non_exhaustive()
    }
}
