//! Nodes of the search tree, stored in the memory of a transposition table. A node takes three
//! words, and the children of a node are stored one after another.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Candidate;

/// Index of the root node.
pub(crate) const ROOT: u32 = 0;

const NODE_WORDS: usize = 3;

/// Allocates memory for a root and all its possible moves. The search uses this memory if the table
/// is too small.
pub(crate) fn minimum_memory() -> Box<[AtomicU64]> {
    bytemuck::zeroed_slice_box(NODE_WORDS * 129)
}

/// Nodes of the tree, in the order of their creation. The root is the first.
#[derive(Debug)]
pub(crate) struct NodePool<'a> {
    words: &'a [AtomicU64],
    count: u32,
    count_max: u32,
}

/// A move in the tree and its statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) m: u8,
    /// Number of children, or 0 if the node has not been expanded. The indices of the children
    /// start at `first_child`.
    pub(crate) children: u8,
    pub(crate) first_child: u32,
    /// Number of fictitious playouts that express the prior knowledge about the move.
    pub(crate) prior_playouts: u16,
    /// Number of playouts through the move, including the prior playouts. `wins` is the number of
    /// these playouts won by the seat that plays the move.
    pub(crate) playouts: f32,
    pub(crate) wins: f32,
    /// Number of playouts through the parent node where the same seat plays this move before the
    /// other seat does. `rave_wins` is the number of these playouts that the seat won.
    pub(crate) rave_playouts: f32,
    pub(crate) rave_wins: f32,
}

impl Node {
    /// Returns the number of actual playouts through the move, without the prior playouts.
    #[inline]
    pub(crate) fn visits(&self) -> f32 {
        self.playouts - f32::from(self.prior_playouts)
    }

    /// Returns the share of playouts won by the seat that plays the move. Prior playouts are
    /// included.
    #[inline]
    pub(crate) fn win_rate(&self) -> f32 {
        self.wins / self.playouts
    }
}

impl<'a> NodePool<'a> {
    /// Creates a tree with only a root node in the given memory.
    pub(crate) fn new(words: &'a [AtomicU64]) -> Self {
        let count_max = u32::try_from(words.len() / NODE_WORDS).unwrap_or(u32::MAX);
        let mut nodes = Self {
            words,
            count: 1,
            count_max,
        };
        // The memory may still contain data from an earlier use, so the constructor overwrites the
        // root node.
        nodes.put(ROOT, Node::default());
        nodes
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Node {
        let offset = index as usize * NODE_WORDS;
        let [counts, beside, packed] =
            [0, 1, 2].map(|word| self.words[offset + word].load(Ordering::Relaxed));
        let (playouts, won) = unpack_floats(counts);
        let (beside, beside_won) = unpack_floats(beside);
        let [f0, f1, f2, f3, m, children, t0, t1] = packed.to_le_bytes();
        Node {
            m,
            children,
            first_child: u32::from_le_bytes([f0, f1, f2, f3]),
            prior_playouts: u16::from_le_bytes([t0, t1]),
            playouts,
            wins: won,
            rave_playouts: beside,
            rave_wins: beside_won,
        }
    }

    fn put(&mut self, index: u32, node: Node) {
        let [f0, f1, f2, f3] = node.first_child.to_le_bytes();
        let [t0, t1] = node.prior_playouts.to_le_bytes();
        let packed = u64::from_le_bytes([f0, f1, f2, f3, node.m, node.children, t0, t1]);
        let words = [
            pack_floats(node.playouts, node.wins),
            pack_floats(node.rave_playouts, node.rave_wins),
            packed,
        ];
        for (offset, word) in (index as usize * NODE_WORDS..).zip(words) {
            self.words[offset].store(word, Ordering::Relaxed);
        }
    }

    /// Returns the indices of the node's children.
    #[inline]
    pub(crate) fn children(&self, index: u32) -> Range<u32> {
        let node = self.get(index);
        node.first_child..node.first_child + u32::from(node.children)
    }

    /// Adds a child for each candidate. Returns `false` if the pool has no room for the children.
    pub(crate) fn expand(&mut self, index: u32, candidates: &[Candidate]) -> bool {
        let Ok(children) = u8::try_from(candidates.len()) else {
            return false;
        };
        if self.count_max - self.count < u32::from(children) {
            return false;
        }
        let parent = Node {
            children,
            first_child: self.count,
            ..self.get(index)
        };
        self.put(index, parent);
        for candidate in candidates {
            let node = Node {
                m: candidate.m,
                prior_playouts: candidate.prior_playouts,
                playouts: candidate.prior_playouts.into(),
                wins: candidate.prior_wins.into(),
                ..Node::default()
            };
            self.put(self.count, node);
            self.count += 1;
        }
        true
    }

    /// Records a playout through the node. `win_share` is the playout's result, from 0 to 1, for
    /// the seat that plays the node's move.
    #[inline]
    pub(crate) fn record_playout(&self, index: u32, win_share: f32) {
        self.add_playout(index as usize * NODE_WORDS, win_share);
    }

    /// Records a playout in the RAVE statistics of the node. `win_share` is the playout's result,
    /// from 0 to 1, for the seat that plays the node's move.
    #[inline]
    pub(crate) fn record_rave_playout(&self, index: u32, win_share: f32) {
        self.add_playout(index as usize * NODE_WORDS + 1, win_share);
    }

    #[inline]
    fn add_playout(&self, offset: usize, win_share: f32) {
        let (count, wins) = unpack_floats(self.words[offset].load(Ordering::Relaxed));
        self.words[offset].store(
            pack_floats(count + 1.0, wins + win_share),
            Ordering::Relaxed,
        );
    }
}

/// Clears the used memory, so that the table contains no invalid entries afterwards.
impl Drop for NodePool<'_> {
    fn drop(&mut self) {
        for word in &self.words[..self.count as usize * NODE_WORDS] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

#[inline]
const fn unpack_floats(word: u64) -> (f32, f32) {
    let [a0, a1, a2, a3, b0, b1, b2, b3] = word.to_le_bytes();
    (
        f32::from_le_bytes([a0, a1, a2, a3]),
        f32::from_le_bytes([b0, b1, b2, b3]),
    )
}

#[inline]
fn pack_floats(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}
