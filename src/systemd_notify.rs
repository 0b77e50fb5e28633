//! Notifies the service manager that started the server, if any, through systemd's `sd_notify`. The
//! messages report when the server is ready and when it stops, and reset the watchdog while the
//! server responds.

use std::time::Duration;

use plyhouse_server::Server;
use sd_notify::NotifyState;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Reports that the server is ready.
pub(crate) fn notify_ready() {
    notify(NotifyState::Ready);
}

/// Reports that the server is stopping.
pub(crate) fn notify_stopping() {
    notify(NotifyState::Stopping);
}

/// Resets the watchdog as long as the server responds. Never returns. If no watchdog is enabled,
/// the function only waits.
pub(crate) async fn run_watchdog(server: &Server) {
    match sd_notify::watchdog_enabled() {
        Some(patience) => {
            let answer = async || server.probe().await;
            notify_while_healthy(patience, answer, || notify(NotifyState::Watchdog)).await;
        }
        None => std::future::pending().await,
    }
}

/// Calls `notify_alive` while the server responds. Each call of `answer` must complete within a
/// third of the time `patience`. In that case, `notify_alive` is called at least once in each
/// period of this length.
async fn notify_while_healthy(patience: Duration, answer: impl AsyncFn(), notify_alive: impl Fn()) {
    let beat = (patience / 3).max(Duration::from_millis(1));
    let mut beats = interval(beat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        match timeout(beat, answer()).await {
            Ok(()) => notify_alive(),
            Err(_) => tracing::error!("watchdog probe timed out"),
        }
    }
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::Instant;

    use super::*;

    const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

    /// Simulates ten minutes with a server that takes `answer` seconds to respond and hangs after
    /// `hangs_after` seconds. Returns the times of the watchdog notifications in seconds.
    async fn simulate_watchdog(answer: u64, hangs_after: u64) -> Vec<u64> {
        let begun = Instant::now();
        let notified_at = Cell::new(Vec::new());
        let answer = async || {
            if begun.elapsed().as_secs() >= hangs_after {
                std::future::pending().await
            }
            tokio::time::sleep(Duration::from_secs(answer)).await;
        };
        let notify_alive = || {
            let mut so_far = notified_at.take();
            so_far.push(begun.elapsed().as_secs());
            notified_at.set(so_far);
        };
        let notifier = notify_while_healthy(PROBE_TIMEOUT, answer, notify_alive);
        assert!(timeout(Duration::from_secs(600), notifier).await.is_err());
        notified_at.take()
    }

    #[tokio::test(start_paused = true)]
    async fn responsive_server_is_reported_alive() {
        for answer in [0, 9] {
            let notified_at = simulate_watchdog(answer, 600).await;
            assert!(notified_at.len() >= 30, "{notified_at:?}");
            let gaps = notified_at.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(
                gaps.max() < Some(PROBE_TIMEOUT.as_secs()),
                "{notified_at:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_server_is_not_reported_alive() {
        let notified_at = simulate_watchdog(0, 100).await;
        assert!(
            notified_at.last() < Some(&101) && notified_at.len() >= 9,
            "{notified_at:?}"
        );
        assert_eq!(simulate_watchdog(11, 600).await, [] as [u64; 0]);
    }
}
