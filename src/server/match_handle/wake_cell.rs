//! A value that one task waits for.
//!
//! This is how mailboxes and outboxes wake their tasks. The task leaves its waker under the lock under
//! which it looks at the value, and whoever changes the value takes the waker out under the same lock. So
//! no change falls between a look and the wait that follows it.

use std::fmt;
use std::task::{Context, Waker};

use crate::context::locks::Mutex;

/// A value behind a lock of this rank, and the one task that waits for it to change.
#[derive(Default)]
pub(crate) struct WakeCell<T, const RANK: u8>(Mutex<State<T>, RANK>);

#[derive(Default)]
struct State<T> {
    value: T,
    /// The task that waits. Whoever wakes it takes it out.
    task: Option<Waker>,
}

impl<T, const RANK: u8> WakeCell<T, RANK> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(State { value, task: None }))
    }

    /// Looks at the value, or changes in it what the task does not wait for.
    #[track_caller]
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.0.lock().value)
    }

    /// Changes the value. `change` also tells whether to wake the task.
    #[track_caller]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> R {
        let mut state = self.0.lock();
        let (result, wakes) = change(&mut state.value);
        let task = if wakes { state.task.take() } else { None };
        // First the lock, since the task would find it held.
        drop(state);
        task.into_iter().for_each(Waker::wake);
        result
    }

    /// Looks at the value in the task that waits. The next change that wakes will wake it.
    #[track_caller]
    pub(crate) fn watch<R>(&self, context: &Context<'_>, look: impl FnOnce(&mut T) -> R) -> R {
        let mut state = self.0.lock();
        match &state.task {
            Some(task) if task.will_wake(context.waker()) => {}
            _ => state.task = Some(context.waker().clone()),
        }
        look(&mut state.value)
    }
}

impl<T, const RANK: u8> fmt::Debug for WakeCell<T, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waited").finish_non_exhaustive()
    }
}
