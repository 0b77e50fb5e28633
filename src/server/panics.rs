//! How often something has panicked. None of it ends the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The count of one server. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Panics(Arc<AtomicU64>);

impl Panics {
    /// Counts one more, and tells how many there have been.
    pub(super) fn count(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many there have been.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
