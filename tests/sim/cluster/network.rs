//! What lies between the servers of a world: its time, and all that is on its way.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::time::advance;

/// Something that comes to pass at its time.
type Job = Box<dyn FnOnce() + Send>;

/// Where the store is, and the bus: neither on any server nor under its clock.
#[derive(Debug)]
pub(super) struct Network {
    /// By whose clock the store counts.
    runtime: Runtime,
    queue: EventQueue,
}

/// All that is on its way, in the order of time. Clones are the same.
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

/// A runtime whose clock stands unless it is told to go on.
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

    /// Goes on by so much, and does what is due by then.
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

    /// Has something come to pass at this time: of two for the same time, what was posted first comes first.
    pub(super) fn schedule(&self, at: Duration, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.scheduled_count += 1;
        let sequence = state.scheduled_count;
        state.jobs.insert((at, sequence), Box::new(job));
    }

    /// What is due next.
    fn pop_due(&self) -> Option<Job> {
        let mut state = self.0.lock();
        let (at, _) = *state.jobs.first_key_value()?.0;
        let is_due = at <= state.now;
        is_due.then(|| state.jobs.pop_first().map(|(_, job)| job))?
    }
}
