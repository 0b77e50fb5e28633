//! Parallel search with several threads (Lazy SMP).
//!
//! Every thread runs the same search with a slightly different move order. All threads share one
//! transposition table, so each thread benefits from the results of the others. The name Lazy SMP
//! arose in the chess programming community around 2013. For asynchronous search, see Brockington
//! and Schaeffer, "APHID", 1996.
//!
//! The threads neither divide the work nor wait for each other. The timing of the threads is
//! random, so a search with more than one thread is not reproducible.

use std::num::NonZeroUsize;
use std::thread;

use super::Stop;

/// Runs `lead` on the current thread and `help` on `threads - 1` helper threads.
///
/// Each helper receives its number, starting at 1, and a stop flag. The stop flag is set when
/// `lead` returns or panics.
pub(super) fn with_helpers<T>(
    threads: Option<NonZeroUsize>,
    help: impl Fn(u32, &Stop) + Sync,
    lead: impl FnOnce() -> T,
) -> T {
    let threads = threads.map_or(1, NonZeroUsize::get);
    if threads == 1 {
        return lead();
    }
    let stop_guard = StopOnDrop(Stop::new());
    thread::scope(|scope| {
        for number in (1..threads).filter_map(|number| u32::try_from(number).ok()) {
            let (help, stop_flag) = (&help, stop_guard.0.clone());
            scope.spawn(move || help(number, &stop_flag));
        }
        // The scope waits for the helper threads even if `lead` panics, so the guard stops them in
        // that case too.
        let _stop_on_exit = stop_guard;
        lead()
    })
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
