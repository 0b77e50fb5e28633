//! A seek that the writer task tries to pair.

use parking_lot::Mutex;

use crate::port::cluster_directory::{MatchFactory, PairOutcome, SeekRecord};

/// A seek, and the outcome of the attempt to pair it.
pub(in crate::postgres) struct SeekPairing {
    pub(in crate::postgres) seek: SeekRecord,
    pub(in crate::postgres) seeks_max: usize,
    pub(in crate::postgres) make_match: MatchFactory,
    /// Outcome of the attempt to pair the seek. Must be used only after the batch has been
    /// committed, because the transaction may still fail.
    pub(in crate::postgres) outcome: Mutex<Option<PairOutcome>>,
}

impl std::fmt::Debug for SeekPairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut output = f.debug_struct("SeekPairing");
        output.field("seek", &self.seek).finish_non_exhaustive()
    }
}
