//! A task that whoever hands it work may carry on at once, in the task's place.
//!
//! To send a message to another task and to have it woken is a good part of what a short answer
//! costs. Most of what a match is asked needs no waiting: so the connection that asks polls the
//! match itself, there and then. What does have to wait (for the store, for a bot, for time) is woken
//! in the match's own task, as always.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;
use futures::task::AtomicWaker;
use parking_lot::{Mutex, MutexGuard};

/// How often one call polls at most while the future wakes itself. Then its own task goes on: whoever
/// assists has work of its own.
const POLLS_MAX: usize = 2;

/// A future that is polled by its own task, and by whoever [assists](Self::assist) it. Clones are the
/// same future.
#[derive(Clone)]
pub(super) struct Assisted(Arc<Inner>);

/// `None` before the begin and after the end.
type Slot = Option<BoxFuture<'static, ()>>;

struct Inner {
    future: Mutex<Slot>,
    /// Something has come for the future since it was polled last.
    is_woken: AtomicBool,
    /// Somebody polls, and looks whether the future has been woken before they let go of it.
    is_attended: AtomicBool,
    /// The future's own task.
    task: AtomicWaker,
}

/// The future's own task. Dropping it drops the future.
#[derive(Debug)]
pub(super) struct Task(Assisted);

impl Assisted {
    /// A future that has not begun.
    pub(super) fn new() -> Self {
        Self(Arc::new(Inner {
            future: Mutex::default(),
            is_woken: AtomicBool::new(true),
            is_attended: AtomicBool::new(false),
            task: AtomicWaker::new(),
        }))
    }

    /// Begins, and gives the task that is to be spawned.
    pub(super) fn begin(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        *self.0.future.lock() = Some(Box::pin(future));
        Task(self.clone())
    }

    /// Does what wakes the future, such as sending to it, and then carries the future on as far as it
    /// goes without waiting. If somebody else is at it, they do.
    pub(super) fn assist<T>(&self, wake: impl FnOnce() -> T) -> T {
        let Some(slot) = self.0.future.try_lock() else {
            return wake();
        };
        self.0.is_attended.store(true, Ordering::SeqCst);
        let done = wake();
        self.0.poll(slot);
        done
    }
}

impl Inner {
    /// Polls while there is something for the future to do, and leaves the rest to its task.
    fn poll(self: &Arc<Self>, mut slot: MutexGuard<'_, Slot>) {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let mut ended = None;
        for _ in 0..POLLS_MAX {
            let Some(future) = &mut *slot else { break };
            if !self.is_woken.swap(false, Ordering::SeqCst) {
                break;
            }
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
            if polled.map_or(true, |poll| poll.is_ready()) {
                ended = slot.take();
            }
        }
        let is_over = slot.is_none();
        self.is_attended.store(false, Ordering::SeqCst);
        drop(slot);
        // Whoever woke the future until now may have left it to us, and its task may have found the
        // slot taken: also when there is nothing in it any more, so that the task learns of it.
        if is_over || self.is_woken.load(Ordering::SeqCst) {
            self.task.wake();
        }
        drop(ended);
    }
}

impl Wake for Inner {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_attended.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl Future for Task {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let inner = &self.0.0;
        inner.task.register(context.waker());
        let Some(slot) = inner.future.try_lock() else {
            // Whoever has it wakes this task if something is left to do.
            return Poll::Pending;
        };
        if slot.is_none() {
            return Poll::Ready(());
        }
        inner.is_attended.store(true, Ordering::SeqCst);
        inner.poll(slot);
        Poll::Pending
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let future = self.0.0.future.lock().take();
        drop(future);
    }
}

impl fmt::Debug for Assisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assisted").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::{mpsc, oneshot};
    use tokio::task::{JoinSet, yield_now};

    use super::*;

    /// Adds up what it is sent, until the channel closes.
    fn adder() -> (
        mpsc::Sender<usize>,
        Arc<AtomicUsize>,
        Assisted,
        impl Future<Output = ()>,
    ) {
        let (sender, mut numbers) = mpsc::channel(4);
        let (sum, assisted) = (Arc::<AtomicUsize>::default(), Assisted::new());
        let total = Arc::clone(&sum);
        let task = assisted.begin(async move {
            while let Some(number) = numbers.recv().await {
                total.fetch_add(number, Ordering::SeqCst);
            }
        });
        (sender, sum, assisted, task)
    }

    #[tokio::test]
    async fn what_is_sent_is_done_at_once_without_the_task() {
        let (sender, sum, assisted, _task) = adder();
        for number in 1..=10 {
            assisted.assist(|| sender.try_send(number)).unwrap();
        }
        assert_eq!(sum.load(Ordering::SeqCst), 55);
    }

    #[tokio::test]
    async fn the_task_does_what_nobody_assists_with_and_ends_with_the_future() {
        let (sender, sum, assisted, task) = adder();
        let mut tasks = JoinSet::new();
        tasks.spawn(task);
        sender.send(1).await.unwrap();
        while sum.load(Ordering::SeqCst) == 0 {
            yield_now().await;
        }
        assisted.assist(|| sender.try_send(2)).unwrap();
        assert_eq!(sum.load(Ordering::SeqCst), 3);
        assisted.assist(|| drop(sender));
        tasks.join_all().await;
    }

    #[tokio::test]
    async fn what_waits_goes_on_in_the_task() {
        let (go, gone) = oneshot::channel();
        let (done, is_done) = oneshot::channel();
        let assisted = Assisted::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(assisted.begin(async move {
            let _ = gone.await;
            let _ = done.send(());
        }));
        assisted.assist(|| ());
        go.send(()).unwrap();
        is_done.await.unwrap();
        tasks.join_all().await;
    }

    /// Else whoever assists would never get away.
    #[tokio::test]
    async fn a_future_that_wakes_itself_is_left_to_its_task() {
        let polls = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&polls);
        let assisted = Assisted::new();
        let task = assisted.begin(poll_fn(move |context| {
            context.waker().wake_by_ref();
            if counted.fetch_add(1, Ordering::SeqCst) == 9 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        assisted.assist(|| ());
        assert_eq!(polls.load(Ordering::SeqCst), POLLS_MAX);
        task.await;
        assert_eq!(polls.load(Ordering::SeqCst), 10);
    }

    #[tokio::test]
    async fn a_panic_ends_the_future_and_not_who_assists() {
        let assisted = Assisted::new();
        let task = assisted.begin(async { panic!("as it should") });
        assisted.assist(|| ());
        task.await;
    }

    /// The task finds the slot taken by somebody who is too late, and is woken by them.
    #[tokio::test]
    async fn whoever_finds_nothing_left_tells_the_task() {
        let (sender, _, assisted, task) = adder();
        let mut task = task;
        let waker = Arc::new(Woken::default());
        let context = || Waker::from(Arc::clone(&waker));
        assert!(
            Pin::new(&mut task)
                .poll(&mut Context::from_waker(&context()))
                .is_pending()
        );
        assisted.assist(|| drop(sender));
        assisted.assist(|| {
            let polled = Pin::new(&mut task).poll(&mut Context::from_waker(&context()));
            assert!(polled.is_pending(), "the slot is taken");
            waker.0.store(false, Ordering::SeqCst);
        });
        assert!(waker.0.load(Ordering::SeqCst));
        assert!(
            Pin::new(&mut task)
                .poll(&mut Context::from_waker(&context()))
                .is_ready()
        );
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn the_future_goes_with_its_task() {
        let (sender, _, _assisted, task) = adder();
        drop(task);
        assert!(sender.is_closed());
    }

    /// Many at once: nothing that was sent is left lying.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_wake_is_lost_between_those_who_assist() {
        let (sender, sum, assisted, task) = adder();
        let (mut tasks, mut senders) = (JoinSet::new(), JoinSet::new());
        tasks.spawn(task);
        for _ in 0..4 {
            let (sender, assisted) = (sender.clone(), assisted.clone());
            senders.spawn(async move {
                for _ in 0..5_000 {
                    if let Err(full) = assisted.assist(|| sender.try_send(1)) {
                        let mpsc::error::TrySendError::Full(number) = full else {
                            panic!("it goes on")
                        };
                        sender.send(number).await.unwrap();
                    }
                }
            });
        }
        senders.join_all().await;
        drop(sender);
        tasks.join_all().await;
        assert_eq!(sum.load(Ordering::SeqCst), 20_000);
    }
}
