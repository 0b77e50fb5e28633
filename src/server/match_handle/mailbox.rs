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
pub(crate) fn mailbox<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        room,
        desk: WakeCell::new(ActorState {
            messages: VecDeque::new(),
            room_awaited: Vec::new(),
            is_over: false,
            is_awaited: false,
            is_woken: true,
            is_polled: false,
        }),
        owner: Mutex::default(),
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
pub(crate) enum Unsent<T> {
    /// There is no room now.
    Full(T),
    /// Nobody receives any more.
    Closed(T),
}

struct Inner<T> {
    room: usize,
    /// The owner's task waits for it.
    desk: WakeCell<ActorState<T>, MAILBOX>,
    /// `None` before the begin and after the end.
    owner: Mutex<Option<BoxFuture<'static, ()>>, MATCH>,
}

/// The messages, and who polls the owner.
struct ActorState<T> {
    messages: VecDeque<T>,
    /// Those who wait for room, each by a channel that is dropped when there is some.
    room_awaited: Vec<oneshot::Sender<Infallible>>,
    /// One of the two ends is gone.
    is_over: bool,
    /// The owner waits for a message.
    is_awaited: bool,
    /// Something has come for the owner since it was polled last. If nobody polls it now, its task has
    /// been woken.
    is_woken: bool,
    /// Somebody polls the owner, and will look here again.
    is_polled: bool,
}

impl<T> ActorState<T> {
    /// Has the owner polled again. True if its task has to be woken for that.
    fn wake(&mut self) -> bool {
        let is_seen_to = self.is_polled || self.is_woken;
        self.is_woken = true;
        !is_seen_to
    }

    /// Whether the caller is to poll the owner now.
    fn begin_poll(&mut self) -> bool {
        let begins = self.is_woken && !self.is_polled;
        if begins {
            // Before the poll: what comes while it lasts asks for another.
            self.is_woken = false;
            self.is_polled = true;
        }
        begins
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Begins the owner, and gives the task that is to be spawned. What was sent before then waits.
    pub(crate) fn begin(&self, owner: impl Future<Output = ()> + Send + 'static) -> Task<T> {
        *self.0.owner.lock() = Some(Box::pin(owner));
        Task(Arc::clone(&self.0))
    }

    /// Puts a message in, if there is room. Most often it has been served by the end of the call.
    pub(crate) fn try_send(&self, message: T) -> Result<(), Unsent<T>> {
        let polls = self.0.desk.look(|desk| {
            if desk.is_over {
                return Err(Unsent::Closed(message));
            }
            if desk.messages.len() >= self.0.room {
                return Err(Unsent::Full(message));
            }
            desk.messages.push_back(message);
            // If nobody polls the owner, the caller does, and its task is left alone.
            desk.is_woken |= mem::take(&mut desk.is_awaited);
            Ok(desk.begin_poll())
        })?;
        if polls {
            self.0.poll_owner();
        }
        Ok(())
    }

    /// Puts a message in once there is room, or gives it back if nobody receives any more.
    pub(crate) async fn send(&self, mut message: T) -> Result<(), T> {
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(Unsent::Closed(message)) => return Err(message),
                Err(Unsent::Full(message)) => message,
            };
            if let Some(room) = self.0.room() {
                // There is some when the channel is dropped.
                let _ = room.await;
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Whether nothing waits to be received.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.desk.look(|desk| desk.messages.is_empty())
    }

    /// The next message, first in, first out. `None` once no more can come.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        poll_fn(|_| {
            self.0
                .desk
                .look(|desk| match desk.messages.pop_front() {
                    None if !desk.is_over => {
                        desk.is_awaited = true;
                        Poll::Pending
                    }
                    message => Poll::Ready((message, mem::take(&mut desk.room_awaited))),
                })
                // Those who waited for room are woken after the lock has been let go of.
                .map(|(message, _)| message)
        })
        .await
    }
}

impl<T> Inner<T> {
    /// A channel that is dropped when there is room. `None` if there may be some now.
    fn room(&self) -> Option<oneshot::Receiver<Infallible>> {
        self.desk.look(|desk| {
            let is_full = !desk.is_over && desk.messages.len() >= self.room;
            is_full.then(|| {
                let (awaited, room) = oneshot::channel();
                desk.room_awaited.push(awaited);
                room
            })
        })
    }

    /// Polls the owner once. True if there is none any more.
    fn poll_once(&self, context: &mut Context<'_>) -> bool {
        let mut owner = self.owner.lock();
        let Some(future) = &mut *owner else {
            return true;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let has_ended = polled.map_or(true, |poll| poll.is_ready());
        let ended = if has_ended { owner.take() } else { None };
        // First the lock: what an owner drops may be much.
        drop(owner);
        drop(ended);
        has_ended
    }
}

impl<T: Send + 'static> Inner<T> {
    /// Polls the owner while it is woken, and leaves what remains to its task. To be called by whoever
    /// has [begun](ActorState::begin_poll). True if there is no owner any more.
    fn poll_owner(self: &Arc<Self>) -> bool {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let mut polls_left = POLLS_MAX;
        loop {
            let has_ended = self.poll_once(&mut context);
            polls_left -= 1;
            let goes_on = self.desk.change(|desk| {
                desk.is_polled = false;
                // The task has to learn of the end.
                desk.is_woken |= has_ended;
                if has_ended || polls_left == 0 {
                    (false, desk.is_woken)
                } else {
                    (desk.begin_poll(), false)
                }
            });
            if !goes_on {
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
        self.desk.change(|desk| ((), desk.wake()));
    }
}

impl<T: Send + 'static> Future for Task<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let polls = self.0.desk.watch(context, ActorState::begin_poll);
        if polls && self.0.poll_owner() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        let owner = self.0.owner.lock().take();
        drop(owner);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.desk.change(|desk| {
            desk.is_over = true;
            ((), desk.wake())
        });
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let unread = self.0.desk.look(|desk| {
            desk.is_over = true;
            (
                mem::take(&mut desk.messages),
                mem::take(&mut desk.room_awaited),
            )
        });
        // Whoever sent the messages may be told, which is not done under the lock.
        drop(unread);
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
