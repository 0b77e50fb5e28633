//! Wakes the task that rates what has ended.

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Wakes the task that rates.
#[derive(Debug, Default)]
pub(crate) struct RatingWakeup(Notify);

impl RatingWakeup {
    /// A rated match has ended.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    /// Waits for the next that ends.
    pub(crate) fn notified(&self) -> Notified<'_> {
        self.0.notified()
    }
}
