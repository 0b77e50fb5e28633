use std::time::Instant;

use tokio::sync::Notify;

use crate::context::locks::{Mutex, STORE_HEALTH};

/// Collects reports of refused writes from the code that writes to the store.
#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// Start time of the first refused write since the last call of `wait_for_refusal`.
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

    /// Waits for a refused write. Returns the start time of the first refused write since the last
    /// call.
    pub(crate) async fn wait_for_refusal(&self) -> Instant {
        loop {
            self.refusal.notified().await;
            if let Some(since) = self.first_refused_at.lock().take() {
                return since;
            }
        }
    }
}
