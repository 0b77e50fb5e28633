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
pub(super) struct Ground {
    /// By whose clock the store counts.
    runtime: Runtime,
    way: Way,
}

/// All that is on its way, in the order of time. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Way(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    now: Duration,
    count: u64,
    jobs: BTreeMap<(Duration, u64), Job>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.jobs.len(), self.now)
    }
}

/// A runtime whose clock stands unless it is told to go on.
pub(super) fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    runtime.expect("a runtime without sockets can always be had")
}

impl Ground {
    pub(super) fn new(way: Way) -> Self {
        Self {
            runtime: paused(),
            way,
        }
    }

    /// Goes on by so much, and does what is due by then.
    pub(super) fn pass(&self, step: Duration) {
        self.runtime.block_on(advance(step));
        let _entered = self.runtime.enter();
        self.way.0.lock().now += step;
        while let Some(job) = self.way.next() {
            job();
        }
    }
}

impl Way {
    pub(super) fn now(&self) -> Duration {
        self.0.lock().now
    }

    /// Has something come to pass at this time: of two for the same time, what was posted first comes first.
    pub(super) fn post(&self, at: Duration, job: impl FnOnce() + Send + 'static) {
        let mut waiting = self.0.lock();
        waiting.count += 1;
        let count = waiting.count;
        waiting.jobs.insert((at, count), Box::new(job));
    }

    /// What is due next.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.0.lock();
        let (at, _) = *waiting.jobs.first_key_value()?.0;
        let is_due = at <= waiting.now;
        is_due.then(|| waiting.jobs.pop_first().map(|(_, job)| job))?
    }
}
