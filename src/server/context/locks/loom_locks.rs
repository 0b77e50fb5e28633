//! Wraps loom's locks in the interface of `parking_lot`.

use loom::sync;

pub(super) use sync::MutexGuard;

#[derive(Debug, Default)]
pub(super) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    #[track_caller]
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("loom's locks are not poisoned")
    }

    #[track_caller]
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}
