//! What model tests are made of.
//!
//! With the feature `loom` the server's locks are [loom](loom)'s, which tries every order in which threads
//! can come to them. The feature is for model tests alone: outside of one these locks panic.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use loom::sync::Mutex;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;

/// A task that is polled only if it has been woken, as a runtime does it.
#[derive(Debug)]
pub struct Task<F> {
    /// `None` once it has ended.
    future: Option<Pin<Box<F>>>,
    wake_flag: Arc<WakeFlag>,
}

/// Behind a lock: of a swap and a store at the same time loom also tries an order in which the swap has not
/// read what was there before it.
#[derive(Debug)]
struct WakeFlag(Mutex<bool>);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        *self.0.lock().expect("the lock is not poisoned") = true;
    }
}

impl<F: Future<Output = ()>> Task<F> {
    /// A task that is to be polled for the first time.
    pub fn new(future: F) -> Self {
        Self {
            future: Some(Box::pin(future)),
            wake_flag: Arc::new(WakeFlag(Mutex::new(true))),
        }
    }

    /// Polls it once, if it has been woken. True if so.
    pub fn poll(&mut self) -> bool {
        let Some(future) = &mut self.future else {
            return false;
        };
        if !std::mem::take(&mut *self.wake_flag.0.lock().expect("the lock is not poisoned")) {
            return false;
        }
        let waker = Waker::from(Arc::clone(&self.wake_flag));
        if (future.as_mut().poll(&mut Context::from_waker(&waker))).is_ready() {
            self.future = None;
        }
        true
    }

    /// Polls it until it has nothing to do. To be called once nobody else does anything: what is not
    /// done by then never will be.
    pub fn run_until_stalled(mut self) -> TaskState {
        while self.poll() {}
        if self.future.is_none() {
            TaskState::Ended
        } else {
            TaskState::Waiting
        }
    }
}

/// How a task is left that has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It has ended.
    Ended,
    /// It waits to be woken.
    Waiting,
}

/// An outbox for so many messages.
#[must_use]
pub fn new_outbox(messages_max: usize) -> Outbox {
    Outbox::new(ConnectionId(0), messages_max, usize::MAX, &Arc::default())
}

/// Tells a client something, as a match does.
pub fn send_text(outbox: &Outbox, text: &str) {
    outbox.send(text.into());
}
