//! Where requests wait for a match, and who runs the match when one comes.
//!
//! To put a message into a queue and to wake another task for it is much of what a short answer costs,
//! and most of what a match is asked needs no waiting. So a mailbox has an owner, a future that reads
//! it, and whoever sends a message polls the owner there and then if nobody else does. When the owner
//! has to wait for the store, for a bot or for a time, it is woken in a task of its own.
//!
//! One lock guards the messages and who polls the owner. Whoever stops polling looks under it whether
//! something has come meanwhile, so nothing that is sent or woken is left lying.

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

/// How often an owner that wakes itself is polled in one go. Then its task goes on: whoever sends has
/// other work to do.
const POLLS_MAX: usize = 2;

/// A mailbox with room for so many messages: where they go in, and where they come out.
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

/// Where messages go in. Once it is dropped, no more come out than there are.
pub(crate) struct Sender<T>(Arc<Inner<T>>);

/// Where messages come out: in the owner alone, which every message wakes. Once it is dropped, none go
/// in, and those that are there are dropped.
pub(crate) struct Receiver<T>(Arc<Inner<T>>);

/// The owner's own task. Dropping it drops the owner.
pub(crate) struct Task<T>(Arc<Inner<T>>);

/// A message that did not go in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrySendError<T> {
    /// There is no room now.
    Full(T),
    /// Nobody receives any more.
    Closed(T),
}

struct Inner<T> {
    capacity: usize,
    /// The owner's task waits for it.
    state: WakeCell<ActorState<T>, MAILBOX>,
    /// `None` before the begin and after the end.
    actor: Mutex<Option<BoxFuture<'static, ()>>, MATCH>,
}

/// The messages, and who polls the owner.
struct ActorState<T> {
    messages: VecDeque<T>,
    /// Those who wait for room, each by a channel that is dropped when there is some.
    capacity_waiters: Vec<oneshot::Sender<Infallible>>,
    /// One of the two ends is gone.
    is_closed: bool,
    /// The owner waits for a message.
    is_receiver_waiting: bool,
    /// Something has come for the owner since it was polled last. If nobody polls it now, its task has
    /// been woken.
    is_woken: bool,
    /// Somebody polls the owner, and will look here again.
    is_polled: bool,
}

impl<T> ActorState<T> {
    /// Has the owner polled again. True if its task has to be woken for that.
    fn request_poll(&mut self) -> bool {
        let is_scheduled = self.is_polled || self.is_woken;
        self.is_woken = true;
        !is_scheduled
    }

    /// Whether the caller is to poll the owner now.
    fn start_poll(&mut self) -> bool {
        let starts = self.is_woken && !self.is_polled;
        if starts {
            // Before the poll: what comes while it lasts asks for another.
            self.is_woken = false;
            self.is_polled = true;
        }
        starts
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Begins the owner, and gives the task that is to be spawned. What was sent before then waits.
    pub(crate) fn start(&self, actor: impl Future<Output = ()> + Send + 'static) -> Task<T> {
        *self.0.actor.lock() = Some(Box::pin(actor));
        Task(Arc::clone(&self.0))
    }

    /// Puts a message in, if there is room. Most often it has been served by the end of the call.
    pub(crate) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let must_poll = self.0.state.with_value(|state| {
            if state.is_closed {
                return Err(TrySendError::Closed(message));
            }
            if state.messages.len() >= self.0.capacity {
                return Err(TrySendError::Full(message));
            }
            state.messages.push_back(message);
            // If nobody polls the owner, the caller does, and its task is left alone.
            state.is_woken |= mem::take(&mut state.is_receiver_waiting);
            Ok(state.start_poll())
        })?;
        if must_poll {
            self.0.poll_actor();
        }
        Ok(())
    }

    /// Puts a message in once there is room, or gives it back if nobody receives any more.
    pub(crate) async fn send(&self, mut message: T) -> Result<(), T> {
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(message)) => return Err(message),
                Err(TrySendError::Full(message)) => message,
            };
            if let Some(capacity_freed) = self.0.capacity_waiter() {
                // There is some when the channel is dropped.
                let _ = capacity_freed.await;
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Whether nothing waits to be received.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.state.with_value(|state| state.messages.is_empty())
    }

    /// The next message, first in, first out. `None` once no more can come.
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
                // Those who waited for room are woken after the lock has been let go of.
                .map(|(message, _)| message)
        })
        .await
    }
}

impl<T> Inner<T> {
    /// A channel that is dropped when there is room. `None` if there may be some now.
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

    /// Polls the owner once. True if there is none any more.
    fn poll_actor_once(&self, context: &mut Context<'_>) -> bool {
        let mut actor = self.actor.lock();
        let Some(future) = &mut *actor else {
            return true;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let has_ended = polled.map_or(true, |poll| poll.is_ready());
        let finished_actor = if has_ended { actor.take() } else { None };
        // First the lock: what an owner drops may be much.
        drop(actor);
        drop(finished_actor);
        has_ended
    }
}

impl<T: Send + 'static> Inner<T> {
    /// Polls the owner while it is woken, and leaves what remains to its task. To be called by whoever
    /// has [begun](ActorState::start_poll). True if there is no owner any more.
    fn poll_actor(self: &Arc<Self>) -> bool {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let mut remaining_polls = POLLS_MAX;
        loop {
            let has_ended = self.poll_actor_once(&mut context);
            remaining_polls -= 1;
            let polls_again = self.state.update(|state| {
                state.is_polled = false;
                // The task has to learn of the end.
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

/// Wakes the owner.
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
        let must_poll = self
            .0
            .state
            .register_and_read(context, ActorState::start_poll);
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
        // Whoever sent the messages may be told, which is not done under the lock.
        drop(unreceived);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
