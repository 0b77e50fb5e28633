//! Stack of the move lists of all positions from the root to the current position. The stack
//! returns the moves of a list in the order of their ranks.

use super::Evaluate;

/// Minimum rank of moves that the search tries before killer moves, such as winning captures.
/// Killer moves and history scores do not change the order of these moves.
pub const EARLY_RANK_MIN: i32 = 1 << 24;

/// Base rank of moves that the search tries after all other moves.
pub const LATE_RANK_MAX: i32 = -EARLY_RANK_MIN;

/// Stack of move lists in one allocation. The top list belongs to the position being searched.
#[derive(Debug)]
pub struct MoveStack<M> {
    entries: Vec<RankedMove<M>>,
    /// Index of the first entry of the top list.
    top_start: usize,
    /// Buffer for the legal moves of a position before they are added to the list.
    legal_buffer: Vec<M>,
}

/// A move and its rank in the move order.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedMove<M> {
    pub(super) m: M,
    /// Index of the move in the listing order of its position.
    pub(super) ordinal: u8,
    pub(super) rank: i32,
    /// Number that the game stores with the move when it lists the move. When the search plays the
    /// move, it passes this number to [`Evaluate::after_candidate`].
    pub(super) note: u64,
}

impl<M: Copy> MoveStack<M> {
    pub(super) fn new() -> Self {
        Self {
            // In small games, this capacity is always sufficient, so a short search allocates
            // memory only once.
            entries: Vec::with_capacity(128),
            top_start: 0,
            legal_buffer: Vec::new(),
        }
    }

    /// Adds a move to the top list. The search tries moves of higher rank first. When the search
    /// plays the move, it passes `note` to [`Evaluate::after_candidate`].
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

    /// Gives the most recently added move the highest rank.
    pub fn prefer_last(&mut self) {
        if let Some(ranked) = self.entries.last_mut() {
            ranked.rank = i32::MAX;
        }
    }

    /// Adds all legal moves of a position, ranked by [`Evaluate::rank_move`].
    pub fn push_legal<P: Evaluate<Move = M>>(&mut self, pos: &P) {
        self.push_legal_if(pos, |_| true);
    }

    /// Adds the legal moves of a position that satisfy `predicate`, ranked by
    /// [`Evaluate::rank_move`].
    pub fn push_legal_if<P: Evaluate<Move = M>>(&mut self, pos: &P, predicate: impl Fn(M) -> bool) {
        let mut legal = std::mem::take(&mut self.legal_buffer);
        pos.legal_moves(&mut legal);
        for m in legal.drain(..).filter(|m| predicate(*m)) {
            self.push(m, pos.rank_move(m), 0);
        }
        self.legal_buffer = legal;
    }

    /// Adds a pseudorandom number from 0 to 7 to every rank. The numbers depend on `ordering_seed`.
    pub(super) fn perturb_ranks(&mut self, ordering_seed: u32) {
        for ranked in &mut self.entries[self.top_start..] {
            let mixed = (ordering_seed ^ u32::from(ranked.ordinal)).wrapping_mul(0x9e37_79b9);
            ranked.rank = ranked.rank.saturating_add_unsigned(mixed >> 29);
        }
    }

    /// Starts a new top list. Returns the start of the previous top list, which
    /// [`MoveStack::pop_list`] needs.
    pub(super) const fn push_list(&mut self) -> usize {
        let below_start = self.top_start;
        self.top_start = self.entries.len();
        below_start
    }

    /// Removes the top list. `below_start` must be the value that [`MoveStack::push_list`] returned
    /// for this list.
    #[inline]
    pub(super) fn pop_list(&mut self, below_start: usize) {
        self.entries.truncate(self.top_start);
        self.top_start = below_start;
    }

    /// Returns the number of moves in the top list.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.entries.len() - self.top_start
    }

    /// Returns the moves of the top list. The moves are in listing order until the first call to
    /// [`MoveStack::pick`].
    pub(super) fn top_list(&mut self) -> &mut [RankedMove<M>] {
        &mut self.entries[self.top_start..]
    }

    /// Returns the move with the `index`-th highest rank. The caller must pick the indices in
    /// ascending order from 0.
    ///
    /// The order of moves with equal rank is unspecified but deterministic. In most positions the
    /// search tries only a few moves, so picking them is cheaper than sorting the list.
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
