//! Which moves to try first, by what has been good elsewhere.
//!
//! Alpha-beta cuts most where the best move comes first. The table's move comes before all others,
//! then what the game itself calls early, then two killers: moves that cut at the same ply just
//! before (Slate and Atkin, "Chess 4.5", 1977). To the rank that the game gives a move its history
//! is added: how often it cut anywhere, less how often it was tried before another that did,
//! weighted by depth (Schaeffer, "The history heuristic", 1983).

use super::Evaluate;
use super::move_stack::{EARLY_RANK_MIN, MoveStack};
use super::transposition_table::NO_MOVE;

const TABLE_MOVE_RANK: i32 = i32::MAX;
const KILLER_RANKS: [i32; 2] = [EARLY_RANK_MIN / 4 + 1, EARLY_RANK_MIN / 4];

/// History stays between this and its opposite, far from the ranks above. The nearer it is, the less
/// is added, so that what was long ago fades.
const HISTORY_MAX: i32 = 1 << 14;

/// No cut counts for more.
const HISTORY_WEIGHT_MAX: i32 = HISTORY_MAX / 8;

/// No move has this index.
const NO_INDEX: usize = usize::MAX;

/// Whether a move of this rank is one of those of which something is learnt: neither early nor late.
#[inline]
pub(super) const fn uses_history(rank: i32) -> bool {
    rank.unsigned_abs() < EARLY_RANK_MIN.unsigned_abs() / 2
}

/// What a search has learnt about moves by their indices. Empty for games whose moves have none.
#[derive(Debug, Default)]
pub(super) struct OrderingHeuristics {
    /// The last two different moves that cut, at every ply.
    killers: Vec<[usize; 2]>,
    history: Vec<i32>,
}

impl OrderingHeuristics {
    /// Gives the moves on top of the stack the ranks of what is known of them.
    #[inline]
    pub(super) fn rank_moves<P: Evaluate>(
        &self,
        pos: &P,
        moves: &mut MoveStack<P::Move>,
        table_move: u8,
        ply: u32,
    ) {
        if P::MOVE_INDEX_COUNT > 0 {
            self.rank_by_index(pos, moves, ply);
        }
        if table_move != NO_MOVE
            && let Some(ranked) = moves.top_list().get_mut(usize::from(table_move))
        {
            ranked.rank = TABLE_MOVE_RANK;
        }
    }

    fn rank_by_index<P: Evaluate>(&self, pos: &P, moves: &mut MoveStack<P::Move>, ply: u32) {
        let killers = self.killers.get(ply as usize).unwrap_or(&[NO_INDEX; 2]);
        for ranked in moves
            .top_list()
            .iter_mut()
            .filter(|ranked| uses_history(ranked.rank))
        {
            let index = pos.move_index(ranked.m);
            if let Some(killer) = killers.iter().position(|killer| *killer == index) {
                ranked.rank = KILLER_RANKS[killer];
            } else if let Some(history) = self.history.get(index) {
                ranked.rank += history;
            }
        }
    }

    /// Notes that the move picked at this place was good enough to cut, and those before it were not.
    #[inline]
    pub(super) fn record_cutoff<P: Evaluate>(
        &mut self,
        pos: &P,
        moves: &mut MoveStack<P::Move>,
        cutoff_index: usize,
        depth: u32,
        ply: u32,
    ) {
        if P::MOVE_INDEX_COUNT > 0 {
            self.record_cutoff_by_index(pos, moves, cutoff_index, depth, ply);
        }
    }

    fn record_cutoff_by_index<P: Evaluate>(
        &mut self,
        pos: &P,
        moves: &mut MoveStack<P::Move>,
        cutoff_index: usize,
        depth: u32,
        ply: u32,
    ) {
        let tried = &moves.top_list()[..=cutoff_index];
        let m = tried[cutoff_index].m;
        // The table's move has lost the rank that it was given by the game.
        if !uses_history(pos.rank_move(m)) {
            return;
        }
        let (ply, index) = (ply as usize, pos.move_index(m));
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [NO_INDEX; 2]);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != index {
            *killers = [index, killers[0]];
        }

        self.history.resize(P::MOVE_INDEX_COUNT, 0);
        let depth = depth.min(255).cast_signed();
        let weight = (depth * depth).min(HISTORY_WEIGHT_MAX);
        self.update_history(index, weight);
        for other in &tried[..cutoff_index] {
            if uses_history(other.rank) {
                self.update_history(pos.move_index(other.m), -weight);
            }
        }
    }

    fn update_history(&mut self, index: usize, weight: i32) {
        let history = &mut self.history[index];
        *history += weight - *history * weight.abs() / HISTORY_MAX;
    }
}
