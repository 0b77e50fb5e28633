//! Simulated time and scheduled events of the network between the servers of a world.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::time::advance;

/// Action that runs at a scheduled time.
type Job = Box<dyn FnOnce() + Send>;

/// Advances the clock of the shared store and the bus, and runs their scheduled actions. This clock
/// is independent of the clocks of the servers.
#[derive(Debug)]
pub(super) struct Network {
    /// Runtime whose clock the store uses.
    runtime: Runtime,
    queue: EventQueue,
}

/// Scheduled actions in the order of their times. Clones share their state.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(Arc<Mutex<QueueState>>);

#[derive(Default)]
struct QueueState {
    now: Duration,
    scheduled_count: u64,
    jobs: BTreeMap<(Duration, u64), Job>,
}

impl fmt::Debug for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.jobs.len(), self.now)
    }
}

/// Creates a runtime with a paused clock, which does not follow real time.
pub(super) fn paused_runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    runtime.expect("building a runtime without I/O cannot fail")
}

impl Network {
    pub(super) fn new(queue: EventQueue) -> Self {
        Self {
            runtime: paused_runtime(),
            queue,
        }
    }

    /// Advances the clock by `step` and runs the actions that are due.
    pub(super) fn advance(&self, step: Duration) {
        self.runtime.block_on(advance(step));
        let _entered = self.runtime.enter();
        self.queue.0.lock().now += step;
        while let Some(job) = self.queue.pop_due() {
            job();
        }
    }
}

impl EventQueue {
    pub(super) fn now(&self) -> Duration {
        self.0.lock().now
    }

    /// Schedules an action. Actions with equal times run in the order of the `schedule` calls.
    pub(super) fn schedule(&self, at: Duration, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.scheduled_count += 1;
        let sequence = state.scheduled_count;
        state.jobs.insert((at, sequence), Box::new(job));
    }

    /// Removes and returns the next action if it is due.
    fn pop_due(&self) -> Option<Job> {
        let mut state = self.0.lock();
        let (at, _) = *state.jobs.first_key_value()?.0;
        let is_due = at <= state.now;
        is_due.then(|| state.jobs.pop_first().map(|(_, job)| job))?
    }
}
