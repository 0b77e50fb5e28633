//! A thread that executes jobs from a bounded queue, one at a time.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::Semaphore;

/// Maximum number of queued jobs. When the queue is full, callers wait for a free place.
const QUEUE_MAX: usize = 4096;

/// Receiving end of a job queue.
pub(super) struct JobQueue<J> {
    receiver: Receiver<J>,
    permits: Arc<Semaphore>,
}

impl<J> JobQueue<J> {
    /// Waits for the next job. Returns `None` once the [`Worker`] is dropped and the queue is
    /// empty.
    pub(super) fn next(&self) -> Option<J> {
        self.receiver.recv().ok()
    }

    /// Waits at most `timeout` for the next job.
    pub(super) fn next_timeout(&self, timeout: Duration) -> Result<J, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout)
    }

    /// Returns the queued jobs without waiting for more.
    pub(super) fn drain(&self) -> impl Iterator<Item = J> {
        self.receiver.try_iter()
    }

    /// Frees queue space for new jobs. `jobs` is the number of completed jobs.
    pub(super) fn release_permits(&self, jobs: usize) {
        self.permits.add_permits(jobs);
    }
}

impl<J> Drop for JobQueue<J> {
    fn drop(&mut self) {
        // When the thread has ended, callers that wait for queue space must fail.
        self.permits.close();
    }
}

/// Handle to a worker thread. Dropping the handle waits until the thread has executed all queued
/// jobs and ended.
pub(super) struct Worker<J> {
    sender: Option<SyncSender<J>>,
    permits: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> Worker<J> {
    pub(super) fn start(
        name: &str,
        work: impl FnOnce(JobQueue<J>) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE_MAX);
        let permits = Arc::new(Semaphore::new(QUEUE_MAX));
        let queue = JobQueue {
            receiver,
            permits: Arc::clone(&permits),
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(queue))?;
        Ok(Self {
            sender: Some(sender),
            permits,
            thread: Some(thread),
        })
    }

    /// Queues a job. If the queue is full, the caller waits for a place. Returns `false` if the
    /// thread has ended.
    pub(super) async fn submit(&self, job: J) -> bool {
        let Ok(permit) = self.permits.acquire().await else {
            return false;
        };
        // A permit reserves space in the channel, so `try_send` does not fail because of a full
        // channel. The thread releases the permit after the job.
        permit.forget();
        self.sender
            .as_ref()
            .is_some_and(|queue| queue.try_send(job).is_ok())
    }
}

impl<J> fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("waiting", &(QUEUE_MAX - self.permits.available_permits()))
            .finish_non_exhaustive()
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("store thread panicked");
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
    async fn submit_fails_after_thread_ends() {
        let (stop, stopped) = mpsc::channel::<()>();
        let worker = Worker::start("dies", move |jobs| {
            let _ = stopped.recv();
            drop(jobs);
        })
        .expect("thread starts");
        for _ in 0..QUEUE_MAX {
            assert!(worker.submit(()).await);
        }
        let mut blocked = pin!(worker.submit(()));
        assert!(
            blocked.as_mut().now_or_never().is_none(),
            "the queue is full"
        );
        drop(stop);
        assert!(!blocked.await);
    }

    #[tokio::test]
    async fn finished_jobs_free_queue_places() {
        let worker = Worker::start("works", |jobs: JobQueue<()>| {
            while jobs.next().is_some() {
                jobs.release_permits(1);
            }
        })
        .expect("thread starts");
        for _ in 0..2 * QUEUE_MAX {
            assert!(worker.submit(()).await);
        }
    }
}
