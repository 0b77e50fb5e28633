//! Mailbox of a match actor. The thread that sends a message often also polls the actor.
//!
//! Most requests are short and need no waiting. For such a request, queueing a message and waking
//! another task would be a large part of the cost. The actor is therefore a future that the sender
//! polls, unless another thread is already polling it. When the actor has to wait for the store, a
//! bot or a timer, its own task is woken and continues to poll it.
//!
//! One lock guards the messages and the polling state. A thread that stops polling checks under
//! this lock for new messages and wake-ups, so none is lost.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::wake_cell::WakeCell;
use crate::context::locks::{MAILBOX, MATCH, Mutex};

/// Maximum number of times that a sender polls the actor in a row if the actor wakes itself.
/// Afterwards, the actor's own task continues to poll, because the sender has other work to do.
const POLLS_MAX: usize = 2;

/// Creates a mailbox with room for `capacity` messages.
pub(crate) fn mailbox<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        capacity,
        state: WakeCell::new(ActorState {
            messages: VecDeque::new(),
            capacity_waiters: Vec::new(),
            is_closed: false,
            is_receiver_waiting: false,
            is_woken: true,
            is_polled: false,
        }),
        actor: Mutex::default(),
    });
    (Sender(Arc::clone(&inner)), Receiver(inner))
}

/// Sending half of a mailbox. Dropping the sender closes the mailbox; messages that are already
/// queued can still be received.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Inner<T>>);

/// Receiving half of a mailbox, which the actor owns. Dropping the receiver closes the mailbox and
/// drops the queued messages.
#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Inner<T>>);

/// Task of the actor. Dropping the task drops the actor.
pub(crate) struct Task<T>(Arc<Inner<T>>);

/// Error for a message that was not queued.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrySendError<T> {
    /// The mailbox is full.
    Full(T),
    /// The mailbox is closed.
    Closed(T),
}

struct Inner<T> {
    capacity: usize,
    /// Messages and polling state. A change of the state can wake the actor's task.
    state: WakeCell<ActorState<T>, MAILBOX>,
    /// Future of the actor; `None` before it has started and after it has ended.
    actor: Mutex<Option<BoxFuture<'static, ()>>, MATCH>,
}

/// Queued messages of an actor, with the flags that control when the actor is polled.
struct ActorState<T> {
    messages: VecDeque<T>,
    /// Channels to the senders that wait for capacity. Dropping a channel wakes its sender.
    capacity_waiters: Vec<oneshot::Sender<Infallible>>,
    /// Whether the mailbox is closed, because its sender or its receiver was dropped.
    is_closed: bool,
    /// Whether the actor is waiting to receive a message.
    is_receiver_waiting: bool,
    /// Whether the actor was woken since its last poll. If `is_woken` is set and no thread is
    /// polling the actor, the actor's task has been woken too.
    is_woken: bool,
    /// Whether a thread is polling the actor. That thread checks the state again after the poll.
    is_polled: bool,
}

impl<T> ActorState<T> {
    /// Requests another poll of the actor. Returns true if the caller must wake the actor's task to
    /// do the poll.
    fn request_poll(&mut self) -> bool {
        let is_scheduled = self.is_polled || self.is_woken;
        self.is_woken = true;
        !is_scheduled
    }

    /// Starts a poll if the actor was woken and no thread is polling it. Returns true if the caller
    /// must poll the actor now.
    fn start_poll(&mut self) -> bool {
        let starts = self.is_woken && !self.is_polled;
        if starts {
            // The flag is cleared before the poll, so that a wake-up during the poll requests
            // another one.
            self.is_woken = false;
            self.is_polled = true;
        }
        starts
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Starts the actor and returns the task that the caller must spawn. The task also serves
    /// messages that were sent before the start.
    pub(crate) fn start(&self, actor: impl Future<Output = ()> + Send + 'static) -> Task<T> {
        *self.0.actor.lock() = Some(Box::pin(actor));
        Task(Arc::clone(&self.0))
    }

    /// Queues a message if there is capacity. Usually, the actor processes the message before this
    /// method returns.
    pub(crate) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let must_poll = self.0.state.with_value(|state| {
            if state.is_closed {
                return Err(TrySendError::Closed(message));
            }
            if state.messages.len() >= self.0.capacity {
                return Err(TrySendError::Full(message));
            }
            state.messages.push_back(message);
            // If no thread is polling the actor, this thread polls it, so the actor's task need not
            // be woken.
            state.is_woken |= mem::take(&mut state.is_receiver_waiting);
            Ok(state.start_poll())
        })?;
        if must_poll {
            self.0.poll_actor();
        }
        Ok(())
    }

    /// Waits for capacity and queues a message. Returns the message if the mailbox is closed.
    pub(crate) async fn send(&self, mut message: T) -> Result<(), T> {
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(message)) => return Err(message),
                Err(TrySendError::Full(message)) => message,
            };
            if let Some(capacity_freed) = self.0.capacity_waiter() {
                // The channel is dropped when there is capacity.
                let _ = capacity_freed.await;
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Returns whether no message is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.state.with_value(|state| state.messages.is_empty())
    }

    /// Receives the next message, in the order of sending. Returns `None` once the mailbox is
    /// closed and empty.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        poll_fn(|_| {
            self.0
                .state
                .with_value(|state| match state.messages.pop_front() {
                    None if !state.is_closed => {
                        state.is_receiver_waiting = true;
                        Poll::Pending
                    }
                    message => Poll::Ready((message, mem::take(&mut state.capacity_waiters))),
                })
                // The wake-up channels are dropped after the lock is released, which wakes the
                // waiting senders.
                .map(|(message, _)| message)
        })
        .await
    }
}

impl<T> Inner<T> {
    /// If the mailbox is full, returns a channel that is dropped once there is room. Returns `None`
    /// if the mailbox has room or is closed.
    fn capacity_waiter(&self) -> Option<oneshot::Receiver<Infallible>> {
        self.state.with_value(|state| {
            let is_full = !state.is_closed && state.messages.len() >= self.capacity;
            is_full.then(|| {
                let (waiter, capacity_freed) = oneshot::channel();
                state.capacity_waiters.push(waiter);
                capacity_freed
            })
        })
    }

    /// Polls the actor once. Returns true if the actor has ended.
    fn poll_actor_once(&self, context: &mut Context<'_>) -> bool {
        let mut actor = self.actor.lock();
        let Some(future) = &mut *actor else {
            return true;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let has_ended = polled.map_or(true, |poll| poll.is_ready());
        let finished_actor = if has_ended { actor.take() } else { None };
        // The lock is released first, because dropping the actor may take long.
        drop(actor);
        drop(finished_actor);
        has_ended
    }
}

impl<T: Send + 'static> Inner<T> {
    /// Polls the actor while it is woken, at most [`POLLS_MAX`] times. If the actor needs further
    /// polls, its task continues. Call this method only after
    /// [`start_poll`](ActorState::start_poll) returned true. Returns true if the actor has ended.
    fn poll_actor(self: &Arc<Self>) -> bool {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let mut remaining_polls = POLLS_MAX;
        loop {
            let has_ended = self.poll_actor_once(&mut context);
            remaining_polls -= 1;
            let polls_again = self.state.update(|state| {
                state.is_polled = false;
                // When the actor ends, its task must be woken, so that the task ends too.
                state.is_woken |= has_ended;
                if has_ended || remaining_polls == 0 {
                    (false, state.is_woken)
                } else {
                    (state.start_poll(), false)
                }
            });
            if !polls_again {
                return has_ended;
            }
        }
    }
}

/// Acts as the actor's waker: each wake-up requests another poll of the actor.
impl<T: Send + 'static> Wake for Inner<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.state.update(|state| ((), state.request_poll()));
    }
}

impl<T: Send + 'static> Future for Task<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let state = &self.0.state;
        let must_poll = state.register_and_read(context, ActorState::start_poll);
        if must_poll && self.0.poll_actor() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        let actor = self.0.actor.lock().take();
        drop(actor);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state.update(|state| {
            state.is_closed = true;
            ((), state.request_poll())
        });
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let unreceived = self.0.state.with_value(|state| {
            state.is_closed = true;
            (
                mem::take(&mut state.messages),
                mem::take(&mut state.capacity_waiters),
            )
        });
        // The unreceived messages are dropped after the lock is released, because dropping a
        // message may send a reply.
        drop(unreceived);
    }
}

impl<T> fmt::Debug for Inner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox").finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
