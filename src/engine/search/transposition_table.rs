//! Transposition table: stores search results of positions under their hash keys (Zobrist, "A new
//! hashing method with application for game playing", 1970).
//!
//! The table is a single allocation of fixed size. Threads share the table without a lock. An entry
//! consists of two words: the key XOR the data, and the data. If two threads write the same entry
//! at the same time, the XOR of its two words may no longer equal the key. The table then ignores
//! the entry (Hyatt and Mann, "A lockless transposition table implementation for parallel search",
//! 2002).

use std::sync::atomic::{AtomicU64, Ordering};

use super::search_window::Bounds;
use super::{Evaluate, Score};

/// Size of a bucket in words. A bucket has two entries of two words each and fills half a cache
/// line.
const BUCKET_WORDS: usize = 4;

/// Size of a bucket in bytes.
const BUCKET_BYTES: usize = BUCKET_WORDS * size_of::<u64>();

/// Size of a cache line in words.
const CACHE_LINE_WORDS: usize = 8;

/// Search result of a position. Wins and losses are counted from the position itself, so the entry
/// does not depend on the line of play that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableEntry {
    bounds: Bounds,
    /// Search depth in plies.
    depth: u8,
    /// Whether the search used no estimates, so that the bounds are proven.
    pub(super) is_exact: bool,
    /// Ordinal of the best move in the position's move list, or `NO_MOVE` if it is unknown.
    pub(super) ordinal: u8,
}

/// Ordinal that represents an unknown move.
pub(super) const NO_MOVE: u8 = u8::MAX;

/// Transposition table, together with the number of the current search.
#[derive(Debug)]
pub struct TranspositionTable {
    words: Box<[AtomicU64]>,
    /// Index of the first word that lies at the start of a cache line.
    offset: usize,
    /// Number of bits by which the hash of a key is shifted right to get the bucket index.
    shift: u32,
    /// Number of the current search. The number is never 0, because empty slots have the age 0.
    age: u8,
    /// Salt mixed into the key of every stored entry. Entries stored with a different salt are not
    /// found. The bucket index does not depend on the salt.
    salt: u64,
}

impl TranspositionTable {
    /// Creates a table of at most `bytes`, but with at least two buckets of 32 bytes each. If the
    /// system cannot provide enough memory, the table is smaller.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let buckets = (bytes / BUCKET_BYTES).max(2);
        // The operating system provides zeroed memory lazily, so a large table costs nothing until
        // the search uses it.
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

    /// Creates a table of at most `bytes`, and no larger than the game `P` can use.
    #[must_use]
    pub fn for_game<P: Evaluate>(bytes: usize) -> Self {
        // If the table has one bucket for every position of the game, collisions are rare.
        let useful_bytes = P::POSITIONS_MAX.saturating_mul(BUCKET_BYTES);
        Self::new(bytes.min(useful_bytes))
    }

    /// Starts a search that can use the entries of earlier searches. The entries of the new search
    /// take precedence over earlier entries.
    pub fn start_search(&mut self) {
        self.age = self.age.checked_add(1).unwrap_or(1);
    }

    /// Discards all entries, so that the next search does not depend on earlier searches.
    pub fn clear(&mut self) {
        self.start_search();
        self.salt = self.salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
        if self.age == 1 {
            self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    /// Returns the table's memory for another use. The caller must finally set every word that it
    /// has written to zero, because zeros mark an empty slot.
    pub(super) fn raw_memory(&mut self) -> &[AtomicU64] {
        &self.words[self.offset..]
    }

    /// Returns the slot for the position with this key.
    #[inline]
    pub(super) fn slot(&self, key: u64) -> Slot<'_> {
        // The high bits of the product depend on all bits of the key (multiplicative hashing,
        // Knuth).
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

    /// Returns the number of entries that fit into the table.
    pub(super) const fn capacity(&self) -> u64 {
        2 << (u64::BITS - self.shift)
    }
}

/// Bucket of a position and the key that identifies the position within the bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    bucket: &'a [AtomicU64; BUCKET_WORDS],
    key: u64,
    age: u8,
}

impl Slot<'_> {
    /// Returns the entry of the position, if there is one.
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
        // An empty slot matches a key of zero, so the data must also be non-zero.
        (data != 0).then(|| TableEntry::unpack(data))
    }

    /// Stores the entry. Returns whether the number of slots that hold entries of the current
    /// search has grown by one.
    ///
    /// The first slot of a bucket holds the deepest entry of the current search. A new entry for
    /// the same position always replaces that entry, whatever its depth. The second slot holds the
    /// most recent of the other entries (TwoDeep: Breuker, Uiterwijk and van den Herik,
    /// "Replacement schemes for transposition tables", 1994).
    #[inline]
    pub(super) fn put(self, entry: TableEntry) -> bool {
        let data = entry.pack(self.age);
        let (deep_check, deep) = (self.load(0), self.load(1));
        let is_fresh = |data: u64| age_of(data) == self.age;
        if deep_check ^ deep == self.key {
            self.store(0, self.key ^ data, data);
            return !is_fresh(deep);
        }
        // Entries of earlier searches count as empty, so that they do not influence this search.
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
    /// Creates the entry for a search of `depth` plies. Scores are counted from the position
    /// itself.
    #[inline]
    pub(super) fn new(bounds: Bounds, depth: u32, is_exact: bool, ordinal: u8) -> Self {
        Self {
            bounds,
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            is_exact,
            ordinal,
        }
    }

    /// Returns the bounds that this entry provides for a search of `depth` plies. Also returns
    /// whether the bounds are based on estimates.
    ///
    /// Unless `accept_deeper` is set, the bounds are limited to results that a search of `depth`
    /// plies would also find.
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

    /// Returns only the bounds that are proven by a win or loss within `depth` plies. The depth of
    /// the search that created this entry does not matter.
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
