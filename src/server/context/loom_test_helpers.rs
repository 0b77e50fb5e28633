//! Helpers for model tests.
//!
//! With the feature `loom`, the server uses the locks of [loom](loom), which explores all
//! interleavings of the threads. The feature is only for model tests, because loom's locks panic
//! outside of a model.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use loom::sync::Mutex;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;

/// A task that is polled only after it has been woken, as in a runtime.
#[derive(Debug)]
pub struct Task<F> {
    /// Future of the task; `None` once the task has ended.
    future: Option<Pin<Box<F>>>,
    wake_flag: Arc<WakeFlag>,
}

/// Flag that records whether the task was woken. A lock guards the flag. With an atomic flag, loom
/// would also explore executions in which a swap misses a concurrent write to the flag.
#[derive(Debug)]
struct WakeFlag(Mutex<bool>);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        *self.0.lock().expect("the lock is not poisoned") = true;
    }
}

impl<F: Future<Output = ()>> Task<F> {
    /// Creates a task that is ready for its first poll.
    pub fn new(future: F) -> Self {
        Self {
            future: Some(Box::pin(future)),
            wake_flag: Arc::new(WakeFlag(Mutex::new(true))),
        }
    }

    /// Polls the task once if it has been woken. Returns whether the task was polled.
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

    /// Polls the task until it stalls. All other threads must have finished, so that no thread can
    /// wake the task after it has stalled.
    pub fn run_until_stalled(mut self) -> TaskState {
        while self.poll() {}
        if self.future.is_none() {
            TaskState::Ended
        } else {
            TaskState::Waiting
        }
    }
}

/// State of a task that has stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// The task has ended.
    Ended,
    /// The task waits for a wake-up.
    Waiting,
}

/// Creates an outbox with room for `messages_max` messages.
#[must_use]
pub fn new_outbox(messages_max: usize) -> Outbox {
    Outbox::new(ConnectionId(0), messages_max, usize::MAX, &Arc::default())
}

/// Sends text to a client through its outbox.
pub fn send_text(outbox: &Outbox, text: &str) {
    outbox.send(text.into());
}
