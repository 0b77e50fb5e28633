//! When matches are to be woken, as they tell whoever sweeps.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// The first of what was told since the store was asked last.
#[derive(Debug)]
pub(crate) struct WakeTimes {
    /// In milliseconds since 1970.
    earliest_ms: AtomicU64,
    changed: Notify,
}

impl Default for WakeTimes {
    fn default() -> Self {
        Self {
            earliest_ms: AtomicU64::new(u64::MAX),
            changed: Notify::new(),
        }
    }
}

impl WakeTimes {
    /// A match has been let go of that is to be woken then.
    pub(crate) fn add(&self, wake_ms: u64) {
        self.earliest_ms.fetch_min(wake_ms, Ordering::AcqRel);
        self.changed.notify_one();
    }

    /// Waits until something is told.
    pub(crate) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// The first time that was told, in milliseconds since 1970.
    pub(crate) fn earliest_ms(&self) -> u64 {
        self.earliest_ms.load(Ordering::Acquire)
    }

    /// The store is asked from here on.
    pub(crate) fn reset(&self) {
        self.earliest_ms.store(u64::MAX, Ordering::Release);
    }
}
