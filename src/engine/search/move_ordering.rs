//! Move ordering, based on moves that were good in other positions.
//!
//! Alpha-beta prunes most if the best move comes first. The best move from the transposition table
//! comes before all others, followed by the moves that the game itself ranks early. The two killer
//! moves come next: the last two moves that caused a cutoff at this ply (Slate and Atkin, "Chess
//! 4.5", 1977).
//!
//! The rank of any other move is the game's rank plus the move's history score. The history score
//! increases with each cutoff that the move causes. It decreases with each cutoff that a later move
//! in the same position causes. Both changes are weighted by depth (Schaeffer, "The history
//! heuristic", 1983).

use super::Evaluate;
use super::move_stack::{EARLY_RANK_MIN, MoveStack};
use super::transposition_table::NO_MOVE;

const TABLE_MOVE_RANK: i32 = i32::MAX;
const KILLER_RANKS: [i32; 2] = [EARLY_RANK_MIN / 4 + 1, EARLY_RANK_MIN / 4];

/// Maximum absolute history score, far below the ranks of killer moves. Updates get smaller as a
/// score approaches this limit, so that the effect of old cutoffs fades.
const HISTORY_MAX: i32 = 1 << 14;

/// Maximum weight of a single cutoff.
const HISTORY_WEIGHT_MAX: i32 = HISTORY_MAX / 8;

/// Placeholder for a missing killer move. No move has this index.
const NO_INDEX: usize = usize::MAX;

/// Returns whether killer moves and history scores apply to a move of this rank. They do not affect
/// moves to which the game gives a very high or very low rank.
#[inline]
pub(super) const fn uses_history(rank: i32) -> bool {
    rank.unsigned_abs() < EARLY_RANK_MIN.unsigned_abs() / 2
}

/// Killer moves and history scores of a search, by move index. Both lists are empty for games
/// without move indices.
#[derive(Debug, Default)]
pub(super) struct OrderingHeuristics {
    /// For each ply, the last two different moves that caused a cutoff, most recent first.
    killers: Vec<[usize; 2]>,
    history: Vec<i32>,
}

impl OrderingHeuristics {
    /// Updates the ranks of the moves in the top list, based on the table move, the killer moves
    /// and the history scores.
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

    /// Records that the move at `cutoff_index` in search order caused a cutoff and that the moves
    /// searched earlier did not.
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
        // The stored rank of a table move is not its original rank, so the original rank is
        // computed again.
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
