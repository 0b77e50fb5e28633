//! Several threads on one question.
//!
//! Lazy SMP: every thread makes the same search, each with a slightly other order of moves, and all
//! share one transposition table, so that each finds there what the others have seen before it
//! (named so in the chess community about 2013; compare Brockington and Schaeffer, "APHID", 1996,
//! on asynchronous search). Nothing is divided and nobody waits for anybody. How the threads come
//! to meet is chance, so with more than one the answer need not repeat.

use std::num::NonZeroUsize;
use std::thread;

use super::Stop;

/// Runs `lead` on this thread, and `help` beside it on as many others as make `threads` in all, each
/// with its number from 1 on and a flag that is raised once `lead` has ended.
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
        // The scope waits for the helpers even when the lead panics, so they must be told then, too.
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
