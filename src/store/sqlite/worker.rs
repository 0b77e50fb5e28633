//! A thread that does what it is given, one after the other, from a queue with a bound.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many jobs may wait. Who comes then waits before the queue.
const QUEUE: usize = 4096;

/// A job and its place in the queue.
pub(super) struct Queued<J> {
    pub(super) job: J,
    /// Given back when the job is done.
    _place: OwnedSemaphorePermit,
}

impl<J> Queued<J> {
    pub(super) const fn new(job: J, place: OwnedSemaphorePermit) -> Self {
        Self { job, _place: place }
    }
}

/// The way to a thread. When it is dropped, the thread does what is in the queue and ends.
pub(super) struct Worker<J> {
    queue: Option<SyncSender<Queued<J>>>,
    places: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> Worker<J> {
    pub(super) fn start(
        name: &str,
        work: impl FnOnce(Receiver<Queued<J>>) + Send + 'static,
    ) -> io::Result<Self> {
        let (queue, jobs) = sync_channel(QUEUE);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(jobs))?;
        Ok(Self {
            queue: Some(queue),
            places: Arc::new(Semaphore::new(QUEUE)),
            thread: Some(thread),
        })
    }

    /// Has a job done. Waits for a place in the queue; false if the thread has died.
    pub(super) async fn give(&self, job: J) -> bool {
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return false;
        };
        let queued = Queued::new(job, place);
        // There is room for as many as there are permits.
        self.queue
            .as_ref()
            .is_some_and(|queue| queue.try_send(queued).is_ok())
    }
}

impl<J> fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("waiting", &(QUEUE - self.places.available_permits()))
            .finish_non_exhaustive()
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a thread of the store has panicked");
        }
    }
}
