//! A seek that is to be paired.

use parking_lot::Mutex;

use crate::directory::{Make, Paired, Waiting};

/// A seek that is to be paired, and what has come of it.
pub(in crate::postgres) struct Pairing {
    pub(super) seek: Waiting,
    pub(super) max: usize,
    pub(super) make: Make,
    /// Counts once the batch is written.
    pub(super) paired: Mutex<Option<Paired>>,
}

impl Pairing {
    pub(in crate::postgres) const fn new(seek: Waiting, max: usize, make: Make) -> Self {
        Self {
            seek,
            max,
            make,
            paired: Mutex::new(None),
        }
    }

    /// What has come of it, once that is written.
    pub(in crate::postgres) fn paired(&self) -> Option<Paired> {
        self.paired.lock().take()
    }
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut pairing = f.debug_struct("Pairing");
        pairing.field("seek", &self.seek).finish_non_exhaustive()
    }
}
