//! A thread that does what it is given, one after the other, from a queue with a bound.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::Semaphore;

/// How many jobs may wait. Who comes then waits before the queue.
const QUEUE: usize = 4096;

/// What a thread is to do.
pub(super) struct Jobs<J> {
    queue: Receiver<J>,
    places: Arc<Semaphore>,
}

impl<J> Jobs<J> {
    /// Waits for the next job. `None` once nobody can give one any more.
    pub(super) fn next(&self) -> Option<J> {
        self.queue.recv().ok()
    }

    /// Waits for the next job, but no longer than this.
    pub(super) fn next_within(&self, time: Duration) -> Result<J, RecvTimeoutError> {
        self.queue.recv_timeout(time)
    }

    /// The jobs that are waiting.
    pub(super) fn waiting(&self) -> impl Iterator<Item = J> {
        self.queue.try_iter()
    }

    /// So many jobs are done, and their places are free.
    pub(super) fn done(&self, jobs: usize) {
        self.places.add_permits(jobs);
    }
}

impl<J> Drop for Jobs<J> {
    fn drop(&mut self) {
        // The thread is gone: nobody gets a place any more.
        self.places.close();
    }
}

/// The way to a thread. When it is dropped, the thread does what is in the queue and ends.
pub(super) struct Worker<J> {
    queue: Option<SyncSender<J>>,
    places: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> Worker<J> {
    pub(super) fn start(
        name: &str,
        work: impl FnOnce(Jobs<J>) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, queue) = sync_channel(QUEUE);
        let places = Arc::new(Semaphore::new(QUEUE));
        let jobs = Jobs {
            queue,
            places: Arc::clone(&places),
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(jobs))?;
        Ok(Self {
            queue: Some(sender),
            places,
            thread: Some(thread),
        })
    }

    /// Has a job done. Waits for a place in the queue; false if the thread has died.
    pub(super) async fn give(&self, job: J) -> bool {
        let Ok(place) = self.places.acquire().await else {
            return false;
        };
        // There is room for as many as there are permits. The thread gives it back.
        place.forget();
        self.queue
            .as_ref()
            .is_some_and(|queue| queue.try_send(job).is_ok())
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;

    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn nobody_waits_for_a_thread_that_has_died() {
        let (die, dies) = mpsc::channel::<()>();
        let worker = Worker::start("dies", move |jobs| {
            let _ = dies.recv();
            drop(jobs);
        })
        .expect("it starts");
        for _ in 0..QUEUE {
            assert!(worker.give(()).await);
        }
        let mut one_more = pin!(worker.give(()));
        assert!(one_more.as_mut().now_or_never().is_none(), "it is full");
        drop(die);
        assert!(!one_more.await);
    }

    #[tokio::test]
    async fn what_is_done_makes_room() {
        let worker = Worker::start("works", |jobs: Jobs<()>| {
            while jobs.next().is_some() {
                jobs.done(1);
            }
        })
        .expect("it starts");
        for _ in 0..2 * QUEUE {
            assert!(worker.give(()).await);
        }
    }
}
