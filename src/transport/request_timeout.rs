//! How long a connection that is no WebSocket may take for what it is about.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// How long a connection may take. Clones are the same: an answer that is written while it is read renews it
/// with each part that has found room on its way.
#[derive(Clone, Debug)]
pub(super) struct RequestTimeout {
    timeout: Duration,
    deadline: Arc<Mutex<Instant>>,
}

impl RequestTimeout {
    /// Patience for so long from now on.
    pub(super) fn new(each: Duration) -> Self {
        Self {
            timeout: each,
            deadline: Arc::new(Mutex::new(Instant::now() + each)),
        }
    }

    /// Begins anew.
    pub(super) fn renew(&self) {
        *self.deadline.lock() = Instant::now() + self.timeout;
    }

    /// Begins anew, for as long as so many connections would have had.
    pub(super) fn renew_for(&self, connections: u32) {
        *self.deadline.lock() = Instant::now() + self.timeout * connections;
    }

    /// Waits until it is over.
    pub(super) async fn expired(&self) {
        loop {
            let until = *self.deadline.lock();
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timeout_restarts_with_progress() {
        let patience = RequestTimeout::new(Duration::from_secs(10));
        let mut over = Box::pin(patience.expired());
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(9)).await;
            assert!(over.as_mut().now_or_never().is_none());
            patience.renew();
        }
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(over.as_mut().now_or_never().is_some());
    }
}
