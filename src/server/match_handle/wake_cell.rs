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
    waker: Option<Waker>,
}

impl<T, const RANK: u8> WakeCell<T, RANK> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(State { value, waker: None }))
    }

    /// Looks at the value, or changes in it what the task does not wait for.
    #[track_caller]
    pub(crate) fn with_value<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.0.lock().value)
    }

    /// Changes the value. `change` also tells whether to wake the task.
    #[track_caller]
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> R {
        let mut state = self.0.lock();
        let (result, must_wake) = change(&mut state.value);
        let waker = if must_wake { state.waker.take() } else { None };
        // First the lock, since the task would find it held.
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        result
    }

    /// Looks at the value in the task that waits. The next change that wakes will wake it.
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
