//! Wake times of matches that were unloaded from memory, for the wake scheduler.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Records the earliest wake time that was added since the wake scheduler last read the store.
#[derive(Debug)]
pub(crate) struct WakeTimes {
    /// Earliest wake time in milliseconds since 1970; `u64::MAX` if no wake time was added.
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
    /// Adds the wake time of an unloaded match, in milliseconds since 1970.
    pub(crate) fn add(&self, wake_ms: u64) {
        self.earliest_ms.fetch_min(wake_ms, Ordering::AcqRel);
        self.changed.notify_one();
    }

    /// Waits until a wake time is added.
    pub(crate) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// Returns the earliest added wake time, in milliseconds since 1970; `u64::MAX` if there is
    /// none.
    pub(crate) fn earliest_ms(&self) -> u64 {
        self.earliest_ms.load(Ordering::Acquire)
    }

    /// Clears the earliest wake time. The scheduler calls this method before it reads the store, so
    /// that no added wake time is lost.
    pub(crate) fn reset(&self) {
        self.earliest_ms.store(u64::MAX, Ordering::Release);
    }
}
