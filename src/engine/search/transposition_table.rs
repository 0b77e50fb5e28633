//! The transposition table: what was found of positions before, under a key of each (Zobrist, "A
//! new hashing method with application for game playing", 1970).
//!
//! One allocation of a fixed size, which never grows. Threads may share it without a lock: an entry
//! is two words, and the first is the key exclusive-or the second, so that an entry of which two
//! threads have written a half each is not recognised (Hyatt and Mann, "A lockless transposition
//! table implementation for parallel search", 2002).

use std::sync::atomic::{AtomicU64, Ordering};

use super::search_window::Bounds;
use super::{Evaluate, Score};

/// A bucket is two entries of two words: half a line of the processor's cache.
const BUCKET_WORDS: usize = 4;

/// The size of a bucket in bytes.
const BUCKET_BYTES: usize = BUCKET_WORDS * size_of::<u64>();

/// How many words a line of the processor's cache has.
const CACHE_LINE_WORDS: usize = 8;

/// What is known of a position. Wins and losses are counted from the position itself, so that it
/// does not matter how it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableEntry {
    bounds: Bounds,
    /// How many plies were looked ahead.
    depth: u8,
    /// Whether nothing was estimated: then the bounds are those of the game itself.
    pub(super) is_exact: bool,
    /// Which of the position's moves, by their order, was best; `NO_MOVE` if that is unknown.
    pub(super) ordinal: u8,
}

/// No move is known.
pub(super) const NO_MOVE: u8 = u8::MAX;

/// A table of entries, and the number of the search that is writing in it.
#[derive(Debug)]
pub struct TranspositionTable {
    words: Box<[AtomicU64]>,
    /// The first word that begins a line of the cache.
    offset: usize,
    /// A hash of the key, shifted right by this, is the number of a bucket.
    shift: u32,
    /// Never 0, which is the age of an empty place.
    age: u8,
    /// Mixed into every key that is written, so that what was written under another salt is not
    /// found again. The place of an entry does not depend on it.
    salt: u64,
}

impl TranspositionTable {
    /// A table of at most `bytes`, and at least two buckets of 32 bytes. Where the system does not
    /// give so much memory, the table is as large as it can be.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let buckets = (bytes / BUCKET_BYTES).max(2);
        // Fresh memory from the system is zero already: a large table costs nothing until used.
        let words =
            |bits| bytemuck::try_zeroed_slice_box((BUCKET_WORDS << bits) + CACHE_LINE_WORDS);
        let (bits, words): (u32, Box<[AtomicU64]>) = (1..=buckets.ilog2())
            .rev()
            .find_map(|bits| Some((bits, words(bits).ok()?)))
            .expect("memory allocation for two buckets failed");
        let alignment_excess = words.as_ptr().addr() / size_of::<u64>() % CACHE_LINE_WORDS;
        Self {
            words,
            offset: (CACHE_LINE_WORDS - alignment_excess) % CACHE_LINE_WORDS,
            shift: u64::BITS - bits,
            age: 1,
            salt: 0,
        }
    }

    /// A table of at most `bytes`, and no larger than is of use in the game `P`.
    #[must_use]
    pub fn for_game<P: Evaluate>(bytes: usize) -> Self {
        // With two places for every position, few find theirs taken.
        let useful_bytes = P::POSITIONS_MAX.saturating_mul(BUCKET_BYTES);
        Self::new(bytes.min(useful_bytes))
    }

    /// Begins a search that still knows what was found before. What it finds itself is kept first.
    pub fn start_search(&mut self) {
        self.age = self.age.checked_add(1).unwrap_or(1);
    }

    /// Begins a search that knows nothing: it goes the same way whatever was searched before.
    pub fn clear(&mut self) {
        self.start_search();
        self.salt = self.salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
        if self.age == 1 {
            self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    /// All its memory, for another use. What is zero again after that is empty.
    pub(super) fn raw_memory(&mut self) -> &[AtomicU64] {
        &self.words[self.offset..]
    }

    /// Where the position with this key is noted, if it is.
    #[inline]
    pub(super) fn slot(&self, key: u64) -> Slot<'_> {
        // The high bits of a product depend on all bits of the key (Knuth, multiplicative hashing).
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are no more buckets than words"
        )]
        let bucket_index = (hash >> self.shift) as usize;
        let bucket = self.words[self.offset + bucket_index * BUCKET_WORDS..]
            .first_chunk()
            .expect("bucket index out of range");
        Slot {
            bucket,
            key: key ^ self.salt,
            age: self.age,
        }
    }

    /// How many entries there is place for.
    pub(super) const fn capacity(&self) -> u64 {
        2 << (u64::BITS - self.shift)
    }
}

/// The bucket in which a position is noted, and the key by which it is known there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    bucket: &'a [AtomicU64; BUCKET_WORDS],
    key: u64,
    age: u8,
}

impl Slot<'_> {
    /// What is known of the position.
    #[inline]
    pub(super) fn get(self) -> Option<TableEntry> {
        let deep = self.load(1);
        let data = if self.load(0) ^ deep == self.key {
            deep
        } else {
            let latest = self.load(3);
            if self.load(2) ^ latest != self.key {
                return None;
            }
            latest
        };
        // A key of zero finds empty places, too.
        (data != 0).then(|| TableEntry::unpack(data))
    }

    /// Notes what is known of the position. Tells whether that took a place in which nothing of this
    /// search was.
    ///
    /// The first place of a bucket keeps the entry that looked farthest ahead in this search, the
    /// second the latest of the others (Breuker, Uiterwijk and van den Herik, "Replacement schemes
    /// for transposition tables", 1994: TwoDeep).
    #[inline]
    pub(super) fn put(self, entry: TableEntry) -> bool {
        let data = entry.pack(self.age);
        let (deep_check, deep) = (self.load(0), self.load(1));
        let is_fresh = |data: u64| age_of(data) == self.age;
        if deep_check ^ deep == self.key {
            self.store(0, self.key ^ data, data);
            return !is_fresh(deep);
        }
        // An entry of an earlier search counts as none, so that it does not change this search.
        if !is_fresh(deep) {
            self.store(0, self.key ^ data, data);
            return true;
        }
        let fills_slot = !is_fresh(self.load(3));
        if depth_of(deep) <= entry.depth {
            self.store(2, deep_check, deep);
            self.store(0, self.key ^ data, data);
        } else {
            self.store(2, self.key ^ data, data);
        }
        fills_slot
    }

    #[inline]
    fn load(self, word: usize) -> u64 {
        self.bucket[word].load(Ordering::Relaxed)
    }

    #[inline]
    fn store(self, place: usize, check: u64, data: u64) {
        self.bucket[place].store(check, Ordering::Relaxed);
        self.bucket[place + 1].store(data, Ordering::Relaxed);
    }
}

impl TableEntry {
    /// What a look `depth` plies ahead has found, counted from the position itself.
    #[inline]
    pub(super) fn new(bounds: Bounds, depth: u32, is_exact: bool, ordinal: u8) -> Self {
        Self {
            bounds,
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            is_exact,
            ordinal,
        }
    }

    /// What the entry tells a look `depth` plies ahead, and whether that was an estimate. Unless
    /// `accept_deeper` knowledge is welcome, no more is told than that look would find.
    #[inline]
    pub(super) fn bounds_at(&self, depth: u32, accept_deeper: bool) -> (Bounds, bool) {
        let entry_depth = u32::from(self.depth);
        let is_deep_enough = if accept_deeper {
            self.is_exact || entry_depth >= depth
        } else {
            entry_depth == depth || self.is_exact && entry_depth <= depth
        };
        if is_deep_enough {
            (self.bounds, !self.is_exact)
        } else {
            (self.proven_bounds(depth), false)
        }
    }

    /// Wins and losses that are seen within so many plies, from whatever depth they were found.
    fn proven_bounds(&self, depth: u32) -> Bounds {
        let Bounds { lower, upper } = self.bounds;
        let is_within_depth =
            |score: Score| score.plies_to_end().is_some_and(|plies| plies <= depth);
        Bounds {
            lower: if lower > Score::DRAW && is_within_depth(lower) {
                lower
            } else {
                Bounds::UNBOUNDED.lower
            },
            upper: if upper < Score::DRAW && is_within_depth(upper) {
                upper
            } else {
                Bounds::UNBOUNDED.upper
            },
        }
    }

    fn pack(self, age: u8) -> u64 {
        let score = |score: Score| u64::from(score.to_i16().cast_unsigned());
        score(self.bounds.lower)
            | score(self.bounds.upper) << 16
            | u64::from(self.depth) << 32
            | u64::from(age) << 40
            | u64::from(self.ordinal) << 48
            | u64::from(self.is_exact) << 56
    }

    const fn unpack(data: u64) -> Self {
        let [l0, l1, u0, u1, depth, _, ordinal, flags] = data.to_le_bytes();
        Self {
            bounds: Bounds {
                lower: Score::from_i16(i16::from_le_bytes([l0, l1])),
                upper: Score::from_i16(i16::from_le_bytes([u0, u1])),
            },
            depth,
            is_exact: flags & 1 != 0,
            ordinal,
        }
    }
}

const fn depth_of(data: u64) -> u8 {
    data.to_le_bytes()[4]
}

const fn age_of(data: u64) -> u8 {
    data.to_le_bytes()[5]
}
