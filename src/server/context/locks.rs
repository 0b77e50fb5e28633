//! The server's locks and the order of their acquisition.
//!
//! Each lock has a rank, which is part of its type. A thread that holds a lock takes only locks of
//! a higher rank, so deadlocks cannot occur. Debug builds check the order at every lock operation.
//! In release builds, a [`Mutex`] costs no more than the mutex of `parking_lot`.
//!
//! A panic does not poison a lock. This is safe, because no code panics halfway through a change
//! that it makes under a lock. A panic in a match actor is caught under the actor's own lock
//! (`mailbox.rs`), and the match is reloaded from the store.
//!
//! A leaf lock is never held while another lock is taken. Locks without a rank are also leaf locks,
//! but this module does not list the locks without a rank.
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

/// Rank of the lock on a match actor's future, held while the actor is polled. All other locks may
/// be taken while this lock is held.
pub(crate) const MATCH: u8 = 0;
/// Rank of the lock on the connected players. A thread holds the player lock during login. Login
/// reads the lobby, updates the connection's subscriptions and queues messages in its outbox.
pub(crate) const PLAYERS: u8 = 1;
/// Rank of the lock on the index of matches. A thread holds the index lock while it reads a match
/// summary or picks a random match code. A thread also holds the index lock while it drops the last
/// handle of a match, which closes the match's mailbox.
pub(crate) const LOBBY: u8 = 2;
/// Rank of the lock on the registry of connections. A thread holds the registry lock while it
/// removes a match from subscriptions. A thread also holds the registry lock while it closes a
/// connection that arrived during shutdown.
pub(crate) const CONNECTIONS: u8 = 3;
/// Rank of the lock on the matches that a connection follows. A thread holds the subscription lock
/// while it reads match summaries or drops match handles.
pub(crate) const SUBSCRIPTIONS: u8 = 4;
/// Rank of the lock on the mutable part of a match summary.
pub(crate) const MATCH_SUMMARY: u8 = 5;
/// Rank of two locks: one for the open seeks, one for the subscribers of the seek list. No thread
/// holds both at once. A thread holds a seek lock while it checks the state of an outbox or queues
/// a message.
pub(crate) const SEEK_LIST: u8 = 6;
/// Rank of the lock on the usage counters of client addresses.
pub(crate) const IP_LIMITS: u8 = 7;
/// Rank of the lock on the server's random number generator.
pub(crate) const RNG: u8 = 8;
/// Rank of the lock on a match actor's queued messages and polling state.
pub(crate) const MAILBOX: u8 = 9;
/// Rank of the lock on a client's socket, held while bytes are passed to the kernel. A thread holds
/// the socket lock while it takes messages from an outbox.
pub const SOCKET: u8 = 10;
/// Rank of the lock on the queued messages to a client.
pub(crate) const OUTBOX: u8 = 11;

/// Rank of the leaf lock on the pending challenges.
pub(crate) const CHALLENGES: u8 = 12;
/// Rank of the leaf lock on the start time of the first refused store write.
pub(crate) const STORE_HEALTH: u8 = 13;
/// Rank of the leaf lock on this server's lease in the cluster.
pub(crate) const LEASES: u8 = 14;
/// Rank of the leaf lock on the set of matches whose entries in match lists have changed.
pub(crate) const CHANGED_LISTINGS: u8 = 16;
/// Rank of the leaf lock on the list of the other servers in the cluster.
pub(crate) const NODES: u8 = 15;
/// Rank of the leaf lock on the recent attempts to log in with a password.
pub(crate) const LOGIN_ATTEMPTS: u8 = 17;

/// Rank of the leaf lock on the client addresses that are downloading game records.
pub(crate) const DOWNLOADS: u8 = 18;
/// Rank of the leaf lock on the cache that records between which players a block exists.
pub(crate) const BLOCK_CACHE: u8 = 20;
/// Rank of the leaf lock on the recent data exports.
pub(crate) const DATA_EXPORTS: u8 = 19;
/// Rank of the lock on the queue of match analyses. A thread holds the queue lock while it reads
/// the results of an analysis.
pub(crate) const ANALYSIS_QUEUE: u8 = 21;
/// Rank of the leaf lock on the results of one match analysis.
pub(crate) const ANALYSIS_PROGRESS: u8 = 22;
/// Rank of the leaf lock on the queue of deleted players who must still be removed from a match.
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
    /// Ranks of all locks that this thread holds, as a bit set.
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
    /// In debug builds, panics under the same condition as [`lock`](Self::lock).
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
                "a lock of rank {RANK} is acquired while a lock of rank {} is held",
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
    #[should_panic(expected = "a lock of rank 1 is acquired while a lock of rank 2 is held")]
    fn locking_a_lower_rank_panics() {
        let (low, high) = (Low::default(), High::default());
        let _held = high.lock();
        let _ = low.lock();
    }

    #[test]
    #[should_panic(expected = "a lock of rank 2 is acquired while a lock of rank 2 is held")]
    fn locking_the_same_rank_panics() {
        let (first, second) = (High::default(), High::default());
        let _held = first.lock();
        let _ = second.try_lock();
    }
}
