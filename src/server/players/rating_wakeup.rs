//! Wakes the task that updates ratings.

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Notification for the task that updates ratings.
#[derive(Debug, Default)]
pub(crate) struct RatingWakeup(Notify);

impl RatingWakeup {
    /// Wakes the rating task to handle new work, such as an ended match.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    /// Returns a future that completes at the next wake-up.
    pub(crate) fn notified(&self) -> Notified<'_> {
        self.0.notified()
    }
}
