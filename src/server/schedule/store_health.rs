//! What those who write tell of the store that refuses.

use std::time::Instant;

use tokio::sync::Notify;

use crate::context::locks::{Mutex, STORE_WATCH};

/// What those who write tell of the store.
#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// When the first write began that was refused.
    since: Mutex<Option<Instant>, STORE_WATCH>,
    refused: Notify,
}

impl StoreHealth {
    /// A write was refused that began at this instant. Whoever has a clock stand for that is told by when
    /// the store keeps things.
    pub(crate) fn refused(&self, began: Instant) {
        self.since.lock().get_or_insert(began);
        self.refused.notify_one();
    }

    /// Waits until a write was refused, and tells when the first of late began.
    pub(crate) async fn wait(&self) -> Instant {
        loop {
            self.refused.notified().await;
            if let Some(since) = self.since.lock().take() {
                return since;
            }
        }
    }
}
