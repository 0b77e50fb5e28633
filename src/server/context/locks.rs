//! The server's locks and the order in which they are taken.
//!
//! Each lock has a rank, which is part of its type. A thread that holds a lock takes only locks of
//! a higher rank, so deadlocks cannot occur. Debug builds check the order at every lock operation.
//! In release builds, a [`Mutex`] costs no more than the mutex of `parking_lot`.
//!
//! A panic does not poison a lock. This is safe, because no code panics halfway through a change
//! that it makes under a lock. A panic in a match actor is caught under the actor's own lock
//! (`mailbox.rs`), and the match is reloaded from the store.
//!
//! A leaf lock is never held while another lock is taken. Locks that have no rank, and are
//! therefore not listed here, are also leaf locks.
//!
//! With the feature `loom`, the mutexes wrap loom's locks, which work only in model tests.

#[cfg(feature = "loom")]
mod loom_locks;

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

#[cfg(feature = "loom")]
use self::loom_locks as raw;
#[cfg(not(feature = "loom"))]
use parking_lot as raw;

/// Future of a match actor, locked while it is polled. All other locks may be taken while this lock
/// is held.
pub(crate) const MATCH: u8 = 0;
/// Connected players. Held during login, which reads the lobby, updates the subscriptions of the
/// connection and queues messages in its outbox.
pub(crate) const PLAYERS: u8 = 1;
/// Index of the matches. Held while a match summary is read, and while a random match code is
/// chosen. Also held while the last handle of a match is dropped, which closes the mailbox of the
/// match.
pub(crate) const LOBBY: u8 = 2;
/// All connections. Held while a match is removed from subscriptions. Also held while a connection
/// that arrived during shutdown is closed.
pub(crate) const CONNECTIONS: u8 = 3;
/// Matches that a connection follows. Held while match summaries are read and while match handles
/// are dropped.
pub(crate) const SUBSCRIPTIONS: u8 = 4;
/// The mutable part of a match summary.
pub(crate) const MATCH_SUMMARY: u8 = 5;
/// Two locks that are never held together: the open seeks, and the subscribers of the seek list.
/// Held while the state of an outbox is checked and while a message is queued.
pub(crate) const SEEK_LIST: u8 = 6;
/// Usage of each client address.
pub(crate) const IP_LIMITS: u8 = 7;
/// The server's random generator.
pub(crate) const RNG: u8 = 8;
/// Messages of a match actor, and whether the actor is being polled.
pub(crate) const MAILBOX: u8 = 9;
/// A client's socket, while bytes are passed to the kernel. Held while messages are taken from an
/// outbox.
pub const SOCKET: u8 = 10;
/// Queued messages to a client.
pub(crate) const OUTBOX: u8 = 11;

/// Pending challenges. A leaf lock.
pub(crate) const CHALLENGES: u8 = 12;
/// Start time of the first write that the store refused. A leaf lock.
pub(crate) const STORE_HEALTH: u8 = 13;
/// This server's lease in the cluster. A leaf lock.
pub(crate) const LEASES: u8 = 14;
/// Matches whose entries in match lists have changed. A leaf lock.
pub(crate) const CHANGED_LISTINGS: u8 = 16;
/// The other servers of the cluster. A leaf lock.
pub(crate) const NODES: u8 = 15;
/// Recent attempts to log in with a password. A leaf lock.
pub(crate) const LOGIN_ATTEMPTS: u8 = 17;

/// Client addresses with a running download of game records. A leaf lock.
pub(crate) const DOWNLOADS: u8 = 18;
/// Cached blocks between players. A leaf lock.
pub(crate) const BLOCK_CACHE: u8 = 20;
/// Recent data exports. A leaf lock.
pub(crate) const DATA_EXPORTS: u8 = 19;
/// Queue of the match analyses. Held while the results of an analysis are read.
pub(crate) const ANALYSIS_QUEUE: u8 = 21;
/// Results of one match analysis. A leaf lock.
pub(crate) const ANALYSIS_PROGRESS: u8 = 22;
/// Pending removals of deleted players from matches. A leaf lock.
pub(crate) const PENDING_REMOVALS: u8 = 23;

/// A mutex with a rank.
#[derive(Default)]
pub struct Mutex<T, const RANK: u8>(raw::Mutex<T>);

/// Guard of a [`Mutex`], which unlocks it when dropped.
pub struct Guard<'a, T, const RANK: u8> {
    value: raw::MutexGuard<'a, T>,
    _rank_guard: RankGuard<RANK>,
}

/// Whether the locking order is checked. The order of loom's locks cannot be checked, because loom
/// runs all threads of a model on one thread.
const CHECKS_ORDER: bool = cfg!(all(debug_assertions, not(feature = "loom")));

/// Records in debug builds that this thread holds a lock of this rank.
struct RankGuard<const RANK: u8>;

thread_local! {
    /// Bit set of the ranks of the locks that this thread holds.
    static HELD_RANKS: Cell<u32> = const { Cell::new(0) };
}

impl<T, const RANK: u8> Mutex<T, RANK> {
    /// Creates an unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(raw::Mutex::new(value))
    }

    /// Locks the mutex, blocking the thread until the lock is available.
    ///
    /// # Panics
    ///
    /// Panics in debug builds if this thread already holds a lock of the same or a higher rank.
    #[track_caller]
    pub fn lock(&self) -> Guard<'_, T, RANK> {
        RankGuard::<RANK>::check();
        Guard {
            value: self.0.lock(),
            _rank_guard: RankGuard::new(),
        }
    }

    /// Locks the mutex unless it is locked already.
    ///
    /// # Panics
    ///
    /// Panics under the same condition as [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock(&self) -> Option<Guard<'_, T, RANK>> {
        RankGuard::<RANK>::check();
        let value = self.0.try_lock()?;
        Some(Guard {
            value,
            _rank_guard: RankGuard::new(),
        })
    }
}

impl<const RANK: u8> RankGuard<RANK> {
    #[track_caller]
    fn check() {
        if CHECKS_ORDER {
            let held_ranks = HELD_RANKS.get();
            assert!(
                held_ranks >> RANK == 0,
                "a lock of rank {RANK} is taken under one of rank {}",
                held_ranks.ilog2()
            );
        }
    }

    fn new() -> Self {
        if CHECKS_ORDER {
            HELD_RANKS.set(HELD_RANKS.get() | 1 << RANK);
        }
        Self
    }
}

impl<const RANK: u8> Drop for RankGuard<RANK> {
    fn drop(&mut self) {
        if CHECKS_ORDER {
            HELD_RANKS.set(HELD_RANKS.get() & !(1 << RANK));
        }
    }
}

impl<T, const RANK: u8> Deref for Guard<'_, T, RANK> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T, const RANK: u8> DerefMut for Guard<'_, T, RANK> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: fmt::Debug, const RANK: u8> fmt::Debug for Mutex<T, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Debug, const RANK: u8> fmt::Debug for Guard<'_, T, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

#[cfg(all(test, debug_assertions, not(feature = "loom")))]
mod tests {
    use super::*;

    type Low = Mutex<(), 1>;
    type High = Mutex<(), 2>;

    #[test]
    fn locks_of_rising_rank_can_be_released_in_any_order() {
        let (low, high) = (Low::default(), High::default());
        for _ in 0..2 {
            let first = low.lock();
            let second = high.try_lock();
            drop(first);
            drop(second);
        }
    }

    #[test]
    #[should_panic(expected = "a lock of rank 1 is taken under one of rank 2")]
    fn locking_a_lower_rank_panics() {
        let (low, high) = (Low::default(), High::default());
        let _held = high.lock();
        let _ = low.lock();
    }

    #[test]
    #[should_panic(expected = "a lock of rank 2 is taken under one of rank 2")]
    fn locking_the_same_rank_panics() {
        let (first, second) = (High::default(), High::default());
        let _held = first.lock();
        let _ = second.try_lock();
    }
}
