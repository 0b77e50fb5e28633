//! Timeout of connections that are not WebSockets.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// Timeout of a connection. Clones share the deadline. Each chunk of a streamed response that the
/// connection accepts renews the deadline.
#[derive(Clone, Debug)]
pub(super) struct RequestTimeout {
    timeout: Duration,
    deadline: Arc<Mutex<Instant>>,
}

impl RequestTimeout {
    /// Creates a timeout that starts now and lasts for the duration `each`.
    pub(super) fn new(each: Duration) -> Self {
        Self {
            timeout: each,
            deadline: Arc::new(Mutex::new(Instant::now() + each)),
        }
    }

    /// Restarts the timeout.
    pub(super) fn renew(&self) {
        *self.deadline.lock() = Instant::now() + self.timeout;
    }

    /// Restarts the timeout with `connections` times the original duration.
    pub(super) fn renew_for(&self, connections: u32) {
        *self.deadline.lock() = Instant::now() + self.timeout * connections;
    }

    /// Waits until the timeout expires.
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
