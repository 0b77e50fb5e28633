//! Spawns the tasks of a server, and waits for them when the server stops.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks of one server.
#[derive(Debug)]
pub(crate) struct TaskSupervisor {
    /// Cancelled when the server must stop.
    pub(crate) shutdown: CancellationToken,
    /// Whether the server is stopping. Every request reads this flag. Reading the token `shutdown`
    /// instead would take a lock that all threads share.
    is_stopping: AtomicBool,
    tracker: TaskTracker,
    runtime: runtime::Handle,
}

impl TaskSupervisor {
    /// Creates a supervisor that spawns its tasks on the current runtime.
    pub(super) fn new() -> Self {
        Self {
            shutdown: CancellationToken::new(),
            is_stopping: AtomicBool::new(false),
            tracker: TaskTracker::new(),
            runtime: runtime::Handle::current(),
        }
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn_on(task, &self.runtime);
    }

    /// Returns whether the server is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(super) fn begin_stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
    }

    /// Waits until all tasks have ended.
    pub(super) async fn wait(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}
