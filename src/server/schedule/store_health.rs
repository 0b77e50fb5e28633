//! What those who write tell of the store that refuses.

use std::time::Instant;

use tokio::sync::Notify;

use crate::context::locks::{Mutex, STORE_HEALTH};

/// What those who write tell of the store.
#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// When the first write began that was refused.
    first_refused_at: Mutex<Option<Instant>, STORE_HEALTH>,
    refusal: Notify,
}

impl StoreHealth {
    /// A write was refused that began at this instant. Whoever has a clock stand for that is told by when
    /// the store keeps things.
    pub(crate) fn report_refused(&self, started_at: Instant) {
        self.first_refused_at.lock().get_or_insert(started_at);
        self.refusal.notify_one();
    }

    /// Waits until a write was refused, and tells when the first of late began.
    pub(crate) async fn wait_for_refusal(&self) -> Instant {
        loop {
            self.refusal.notified().await;
            if let Some(since) = self.first_refused_at.lock().take() {
                return since;
            }
        }
    }
}
