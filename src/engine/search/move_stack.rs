//! The moves of the positions on the way from the root to where a search is, best first.

use super::Evaluate;

/// Moves of this rank or more are tried before the moves that have just cut elsewhere: captures that
/// win something. What is learnt from other positions does not change their order.
pub const EARLY_RANK_MIN: i32 = 1 << 24;

/// Moves of about this rank or less are tried after all others.
pub const LATE_RANK_MAX: i32 = -EARLY_RANK_MIN;

/// A stack of move lists, one above the other in one allocation. The list on top is that of the
/// position that is being looked at.
#[derive(Debug)]
pub struct MoveStack<M> {
    entries: Vec<RankedMove<M>>,
    /// Where the list on top begins.
    top_start: usize,
    /// Where a position lists its legal moves on their way into the list.
    legal_buffer: Vec<M>,
}

/// A move, and how soon it is to be tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedMove<M> {
    pub(super) m: M,
    /// The move's place in the order in which the position listed its moves.
    pub(super) ordinal: u8,
    pub(super) rank: i32,
    /// What the position has worked out about the move, and gets back when it is played.
    pub(super) note: u64,
}

impl<M: Copy> MoveStack<M> {
    pub(super) fn new() -> Self {
        Self {
            // More than small games ever need, so that a short search allocates once.
            entries: Vec::with_capacity(128),
            top_start: 0,
            legal_buffer: Vec::new(),
        }
    }

    /// Adds a move to the list. Moves of higher rank are tried first. The note is handed back to
    /// the position with the move.
    #[inline]
    pub fn push(&mut self, m: M, rank: i32, note: u64) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an ordinal of a long list may be that of another move: it only orders"
        )]
        let ordinal = self.len() as u8;
        self.entries.push(RankedMove {
            m,
            ordinal,
            rank,
            note,
        });
    }

    /// The move that was added last is to be tried first.
    pub fn prefer_last(&mut self) {
        if let Some(ranked) = self.entries.last_mut() {
            ranked.rank = i32::MAX;
        }
    }

    /// Adds all legal moves of a position, by its own ranks.
    pub fn push_legal<P: Evaluate<Move = M>>(&mut self, pos: &P) {
        self.push_legal_if(pos, |_| true);
    }

    /// Adds those legal moves of a position that are `predicate`, by its own ranks.
    pub fn push_legal_if<P: Evaluate<Move = M>>(&mut self, pos: &P, predicate: impl Fn(M) -> bool) {
        let mut legal = std::mem::take(&mut self.legal_buffer);
        pos.legal_moves(&mut legal);
        for m in legal.drain(..).filter(|m| predicate(*m)) {
            self.push(m, pos.rank_move(m), 0);
        }
        self.legal_buffer = legal;
    }

    /// Changes the ranks of some moves a little: of other moves for another `ordering_seed`.
    pub(super) fn perturb_ranks(&mut self, ordering_seed: u32) {
        for ranked in &mut self.entries[self.top_start..] {
            let mixed = (ordering_seed ^ u32::from(ranked.ordinal)).wrapping_mul(0x9e37_79b9);
            ranked.rank = ranked.rank.saturating_add_unsigned(mixed >> 29);
        }
    }

    /// Begins a list and tells where the one below begins.
    pub(super) const fn push_list(&mut self) -> usize {
        let below_start = self.top_start;
        self.top_start = self.entries.len();
        below_start
    }

    /// Drops the list on top; the one below began at `below_start`.
    #[inline]
    pub(super) fn pop_list(&mut self, below_start: usize) {
        self.entries.truncate(self.top_start);
        self.top_start = below_start;
    }

    /// How many moves the list has.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.entries.len() - self.top_start
    }

    /// The moves of the list, as far as they have not been picked in any order.
    pub(super) fn top_list(&mut self) -> &mut [RankedMove<M>] {
        &mut self.entries[self.top_start..]
    }

    /// The move with the `index`-th highest rank, if those before it were picked before it. Among
    /// equals, in no order but always the same. Most often few moves are needed: sorting all would
    /// cost more.
    #[inline]
    pub(super) fn pick(&mut self, index: usize) -> RankedMove<M> {
        let rest = &mut self.entries[self.top_start + index..];
        let (mut best, mut rank) = (0, i32::MIN);
        for (offset, ranked) in rest.iter().enumerate() {
            if ranked.rank > rank {
                (best, rank) = (offset, ranked.rank);
            }
        }
        if best != 0 {
            rest.swap(0, best);
        }
        rest[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_stacked_and_picked_by_rank() {
        let mut moves = MoveStack::new();
        let bottom_start = moves.push_list();
        for (m, rank) in [('a', 1), ('b', 3), ('c', 2)] {
            moves.push(m, rank, 7);
        }
        let below_start = moves.push_list();
        moves.push('d', 0, 8);
        assert_eq!((moves.len(), moves.pick(0).m), (1, 'd'));
        moves.pop_list(below_start);

        let picked = [0, 1, 2].map(|index| moves.pick(index));
        assert_eq!(picked.map(|ranked| ranked.m), ['b', 'c', 'a']);
        assert_eq!(picked.map(|ranked| ranked.ordinal), [1, 2, 0]);
        assert_eq!(picked.map(|ranked| ranked.note), [7; 3]);
        moves.pop_list(bottom_start);
        assert_eq!(moves.len(), 0);
    }
}
