//! The nodes of a tree, in the memory of a transposition table: three words each, the children of a node
//! one after the other.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Candidate;

/// The node that all begins with.
pub(super) const ROOT: u32 = 0;

const NODE_WORDS: usize = 3;

/// Room for a root and every move that it may have, where a table is too small.
pub(super) fn least() -> Box<[AtomicU64]> {
    bytemuck::zeroed_slice_box(NODE_WORDS * 129)
}

/// The nodes that there are, one after the other from the root on.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    words: &'a [AtomicU64],
    count: u32,
    count_max: u32,
}

/// What is known of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) m: u8,
    /// How many moves can follow, and which node is the first of them. 0 where that is not known yet.
    pub(super) children: u8,
    pub(super) first: u32,
    /// How many playouts it was thought to be worth before it was tried.
    pub(super) thought: u16,
    /// The playouts through it, with those, and how many of them its player has won.
    pub(super) playouts: f32,
    pub(super) won: f32,
    /// The playouts in which its player has played it at another time, and how many were won.
    pub(super) beside: f32,
    pub(super) beside_won: f32,
}

impl Node {
    /// How many playouts went through it.
    #[inline]
    pub(super) fn tried(&self) -> f32 {
        self.playouts - f32::from(self.thought)
    }

    /// The share of its playouts that its player has won.
    #[inline]
    pub(super) fn rate(&self) -> f32 {
        self.won / self.playouts
    }
}

impl<'a> Nodes<'a> {
    /// A root without children, in this memory.
    pub(super) fn of(words: &'a [AtomicU64]) -> Self {
        let count_max = u32::try_from(words.len() / NODE_WORDS).unwrap_or(u32::MAX);
        let mut nodes = Self {
            words,
            count: 1,
            count_max,
        };
        // The root was always tried.
        nodes.put(ROOT, Node::default());
        nodes
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> Node {
        let at = number as usize * NODE_WORDS;
        let [counts, beside, rest] =
            [0, 1, 2].map(|word| self.words[at + word].load(Ordering::Relaxed));
        let (playouts, won) = floats(counts);
        let (beside, beside_won) = floats(beside);
        let [f0, f1, f2, f3, m, children, t0, t1] = rest.to_le_bytes();
        Node {
            m,
            children,
            first: u32::from_le_bytes([f0, f1, f2, f3]),
            thought: u16::from_le_bytes([t0, t1]),
            playouts,
            won,
            beside,
            beside_won,
        }
    }

    fn put(&mut self, number: u32, node: Node) {
        let [f0, f1, f2, f3] = node.first.to_le_bytes();
        let [t0, t1] = node.thought.to_le_bytes();
        let rest = u64::from_le_bytes([f0, f1, f2, f3, node.m, node.children, t0, t1]);
        let words = [
            word(node.playouts, node.won),
            word(node.beside, node.beside_won),
            rest,
        ];
        for (place, word) in (number as usize * NODE_WORDS..).zip(words) {
            self.words[place].store(word, Ordering::Relaxed);
        }
    }

    /// The nodes that may follow this one.
    #[inline]
    pub(super) fn children(&self, number: u32) -> Range<u32> {
        let node = self.get(number);
        node.first..node.first + u32::from(node.children)
    }

    /// Makes a node for each candidate, unless there is no room.
    pub(super) fn expand(&mut self, number: u32, candidates: &[Candidate]) -> bool {
        let Ok(children) = u8::try_from(candidates.len()) else {
            return false;
        };
        if self.count_max - self.count < u32::from(children) {
            return false;
        }
        let parent = Node {
            children,
            first: self.count,
            ..self.get(number)
        };
        self.put(number, parent);
        for candidate in candidates {
            let node = Node {
                m: candidate.m,
                thought: candidate.playouts,
                playouts: candidate.playouts.into(),
                won: candidate.won.into(),
                ..Node::default()
            };
            self.put(self.count, node);
            self.count += 1;
        }
        true
    }

    /// Counts a playout through the node, by what its player has won.
    #[inline]
    pub(super) fn count(&self, number: u32, won: f32) {
        self.add(number as usize * NODE_WORDS, won);
    }

    /// Counts a playout in which the node's player has played its move at another time.
    #[inline]
    pub(super) fn count_beside(&self, number: u32, won: f32) {
        self.add(number as usize * NODE_WORDS + 1, won);
    }

    #[inline]
    fn add(&self, place: usize, won: f32) {
        let (count, all_won) = floats(self.words[place].load(Ordering::Relaxed));
        self.words[place].store(word(count + 1.0, all_won + won), Ordering::Relaxed);
    }
}

/// Leaves the table as if it were new.
impl Drop for Nodes<'_> {
    fn drop(&mut self) {
        for word in &self.words[..self.count as usize * NODE_WORDS] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

#[inline]
const fn floats(word: u64) -> (f32, f32) {
    let [a0, a1, a2, a3, b0, b1, b2, b3] = word.to_le_bytes();
    (
        f32::from_le_bytes([a0, a1, a2, a3]),
        f32::from_le_bytes([b0, b1, b2, b3]),
    )
}

#[inline]
fn word(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}
