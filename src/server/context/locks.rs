//! The server's locks, and the order in which they are taken.
//!
//! A lock has a rank, which is part of its type. A thread that holds a lock takes only locks of a
//! higher rank, so no two threads wait for each other. Debug builds check this whenever a lock is
//! taken; in release builds a [`Mutex`] is `parking_lot`'s and nothing else.
//!
//! A panic does not poison a lock. No code that holds one can panic halfway through a change, and a
//! match that panics is caught under its own lock (`mailbox.rs`) and rebuilt from the store.
//!
//! Locks that are not listed here have no rank: nothing else is locked while one of them is held.
//!
//! With the feature `loom` these are loom's locks, for model tests alone.

#[cfg(feature = "loom")]
mod loom_locks;

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

#[cfg(feature = "loom")]
use self::loom_locks as raw;
#[cfg(not(feature = "loom"))]
use parking_lot as raw;

/// The code of a match, while somebody runs it. It may take any other lock.
pub(crate) const MATCH: u8 = 0;
/// Who is connected. Held while a connection is greeted, which looks into the lobby, notes what the
/// connection follows and posts to its outbox.
pub(crate) const PLAYERS: u8 = 1;
/// Which matches there are. Held while a match's card is read, while a code is drawn, and while the last
/// handle of a match is dropped, which closes its mailbox.
pub(crate) const LOBBY: u8 = 2;
/// Every connection. Held while some of them are told to forget a match, and while the outbox of one that
/// comes too late is closed.
pub(crate) const CONNECTIONS: u8 = 3;
/// Which matches a connection follows. Held while their cards are read, and while handles are dropped.
pub(crate) const SUBSCRIPTIONS: u8 = 4;
/// The part of a match's card that changes with people.
pub(crate) const MATCH_SUMMARY: u8 = 5;
/// Who looks for somebody to play, and who is told of it, of which one is held at a time. Held while outboxes are
/// asked whether they are closing, and while something is posted to one.
pub(crate) const SEEK_LIST: u8 = 6;
/// What every address takes.
pub(crate) const IP_LIMITS: u8 = 7;
/// The server's random numbers.
pub(crate) const RNG: u8 = 8;
/// What a match has been sent, and who runs it.
pub(crate) const MAILBOX: u8 = 9;
/// A socket, while bytes are handed to the kernel. Held while messages are taken out of an outbox.
pub const SOCKET: u8 = 10;
/// What a connection is to be told.
pub(crate) const OUTBOX: u8 = 11;

/// Who has challenged whom. Nothing is locked while it is held.
pub(crate) const CHALLENGES: u8 = 12;
/// Since when the store refuses. Nothing is locked while it is held.
pub(crate) const STORE_HEALTH: u8 = 13;
/// Until when this server may act. Nothing is locked while it is held.
pub(crate) const LEASES: u8 = 14;
/// What lists show of which matches now. Nothing is locked while it is held.
pub(crate) const CHANGED_LISTINGS: u8 = 16;
/// Which other servers there are. Nothing is locked while it is held.
pub(crate) const NODES: u8 = 15;
/// Which passwords were tried lately. Nothing is locked while it is held.
pub(crate) const LOGIN_ATTEMPTS: u8 = 17;

/// For which addresses files of many matches are written. Nothing is locked while it is held.
pub(crate) const DOWNLOADS: u8 = 18;
/// Who does not want to meet whom. Nothing is locked while it is held.
pub(crate) const BLOCK_CACHE: u8 = 20;
/// Who has asked lately what is kept about them. Nothing is locked while it is held.
pub(crate) const DATA_EXPORTS: u8 = 19;
/// Which ended matches are looked at. Held while what was found of one is read.
pub(crate) const ANALYSIS_QUEUE: u8 = 21;
/// What was found of an ended match. Nothing is locked while it is held.
pub(crate) const ANALYSIS_PROGRESS: u8 = 22;
/// Who is to go out of which matches. Nothing is locked while it is held.
pub(crate) const PENDING_REMOVALS: u8 = 23;

/// A lock of this rank around a value.
#[derive(Default)]
pub struct Mutex<T, const RANK: u8>(raw::Mutex<T>);

/// Holds a lock until it is dropped.
pub struct Guard<'a, T, const RANK: u8> {
    value: raw::MutexGuard<'a, T>,
    _rank_guard: RankGuard<RANK>,
}

/// Whether the order is checked. loom runs all threads of a model on one, so its locks cannot be.
const CHECKS_ORDER: bool = cfg!(all(debug_assertions, not(feature = "loom")));

/// Notes in debug builds that this thread holds a lock of this rank.
struct RankGuard<const RANK: u8>;

thread_local! {
    /// The ranks of the locks that this thread holds, a bit each.
    static HELD_RANKS: Cell<u32> = const { Cell::new(0) };
}

impl<T, const RANK: u8> Mutex<T, RANK> {
    /// A lock that nobody holds.
    pub fn new(value: T) -> Self {
        Self(raw::Mutex::new(value))
    }

    /// Waits for the lock.
    ///
    /// # Panics
    ///
    /// In debug builds, if this thread holds a lock of this rank or a higher one.
    #[track_caller]
    pub fn lock(&self) -> Guard<'_, T, RANK> {
        RankGuard::<RANK>::check();
        Guard {
            value: self.0.lock(),
            _rank_guard: RankGuard::new(),
        }
    }

    /// Takes the lock unless somebody holds it.
    ///
    /// # Panics
    ///
    /// As for [`lock`](Self::lock).
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
