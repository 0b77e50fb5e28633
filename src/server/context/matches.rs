//! Matches in memory, and the work that they cause: searches, analyses, wake-ups and ratings.

use std::io;
use std::sync::Arc;

use tokio::sync::Notify;

use super::clock_and_rng::to_millis;
use super::infrastructure::Infrastructure;
use crate::analysis::queue::AnalysisQueue;
use crate::bots::SearchPool;
use crate::matchmaking::lobby::Lobby;
use crate::schedule::wake_times::WakeTimes;

/// Matches in memory, and the work that they cause.
#[derive(Debug)]
pub(crate) struct Matches {
    pub(crate) lobby: Lobby,
    pub(crate) bots: Arc<SearchPool>,
    pub(crate) analysis_queue: AnalysisQueue,
    pub(crate) wake_times: WakeTimes,
    /// Wakes the rating task to handle new work, such as an ended match.
    pub(crate) rating_wakeup: Notify,
    /// End of the grace period after a restart, in milliseconds since 1970. During this period, no
    /// player loses a correspondence match on time.
    pub(crate) grace_ends_ms: u64,
}

impl Matches {
    pub(super) fn new(infra: &Infrastructure) -> io::Result<Self> {
        let settings = &infra.settings;
        let bots = Arc::new(SearchPool::start(settings, &infra.metrics)?);
        let grace_ms = to_millis(settings.restart_grace);
        Ok(Self {
            lobby: Lobby::new(infra.cluster.is_some()),
            analysis_queue: AnalysisQueue::new(bots.thread_count()),
            bots,
            wake_times: WakeTimes::default(),
            rating_wakeup: Notify::new(),
            grace_ends_ms: infra.started_ms.saturating_add(grace_ms),
        })
    }

    /// Returns when the grace period after a restart ends, in milliseconds since 1970. Returns 0 if
    /// the period is over at the time `now_ms`.
    pub(crate) const fn grace_until_ms(&self, now_ms: u64) -> u64 {
        if now_ms >= self.grace_ends_ms {
            0
        } else {
            self.grace_ends_ms
        }
    }
}
