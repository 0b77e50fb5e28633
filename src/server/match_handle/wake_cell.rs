//! A shared value, and a task that waits for changes of the value.
//!
//! Mailboxes and outboxes use this type to wake their tasks. The task stores its waker under the
//! lock that guards the value. A thread that changes the value takes the waker under the same lock.
//! No change can therefore be lost between reading the value and waiting.

use std::fmt;
use std::task::{Context, Waker};

use crate::context::locks::Mutex;

/// A value behind a lock with the rank `RANK`, and the waker of the one task that waits for a
/// change.
#[derive(Default)]
pub(crate) struct WakeCell<T, const RANK: u8>(Mutex<State<T>, RANK>);

#[derive(Default)]
struct State<T> {
    value: T,
    /// Waker of the waiting task, if any. The thread that wakes the task removes the waker.
    waker: Option<Waker>,
}

impl<T, const RANK: u8> WakeCell<T, RANK> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(State { value, waker: None }))
    }

    /// Accesses the value without waking the task, for reads and for changes that the task does not
    /// wait for.
    #[track_caller]
    pub(crate) fn with_value<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.0.lock().value)
    }

    /// Changes the value. `change` returns a pair: the result of this method, and whether to wake
    /// the waiting task.
    #[track_caller]
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> R {
        let mut state = self.0.lock();
        let (result, must_wake) = change(&mut state.value);
        let waker = if must_wake { state.waker.take() } else { None };
        // The lock is released before the task is woken. Otherwise, the woken task would block
        // while it takes the lock.
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        result
    }

    /// Reads the value and stores the waker of the task that `context` belongs to. The next update
    /// that wakes the task uses that waker.
    #[track_caller]
    pub(crate) fn register_and_read<R>(
        &self,
        context: &Context<'_>,
        look: impl FnOnce(&mut T) -> R,
    ) -> R {
        let mut state = self.0.lock();
        match &state.waker {
            Some(waker) if waker.will_wake(context.waker()) => {}
            _ => state.waker = Some(context.waker().clone()),
        }
        look(&mut state.value)
    }
}

impl<T, const RANK: u8> fmt::Debug for WakeCell<T, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeCell").finish_non_exhaustive()
    }
}
