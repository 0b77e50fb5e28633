use std::time::Instant;

use tokio::sync::Notify;

use crate::context::locks::{Mutex, STORE_HEALTH};

/// Collects reports of refused writes from the code that writes to the store.
#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// Start time of the first refused write that `wait_for_refusal` has not returned yet.
    first_refused_at: Mutex<Option<Instant>, STORE_HEALTH>,
    refusal: Notify,
}

impl StoreHealth {
    /// Reports that a write started at `started_at` was refused. A match that pauses its clock
    /// because of a refused write is notified when the store accepts writes again.
    pub(crate) fn report_refused(&self, started_at: Instant) {
        self.first_refused_at.lock().get_or_insert(started_at);
        self.refusal.notify_one();
    }

    /// Waits until a write is refused. Returns the start time of the first write that was refused
    /// since this method last returned.
    pub(crate) async fn wait_for_refusal(&self) -> Instant {
        loop {
            self.refusal.notified().await;
            if let Some(since) = self.first_refused_at.lock().take() {
                return since;
            }
        }
    }
}
