//! Which moves to try first, by what has been good elsewhere.
//!
//! Alpha-beta cuts most where the best move comes first. The table's move comes before all others,
//! then two killers: moves that cut at the same ply just before (Slate and Atkin, "Chess 4.5",
//! 1977). To the rank that the game gives a move its history is added: how often it cut anywhere,
//! weighted by depth (Schaeffer, "The history heuristic", 1983).

use super::Evaluate;
use super::moves::Moves;
use super::table::NO_MOVE;

const TABLE_MOVE: i32 = i32::MAX;
const KILLERS: [i32; 2] = [i32::MAX - 1, i32::MAX - 2];

/// History stays below this, far from the ranks above; all of it is halved when one reaches it.
const HISTORY_MAX: i32 = 1 << 20;

/// No move has this index.
const NO_INDEX: usize = usize::MAX;

/// What a search has learnt about moves by their indices. Empty for games whose moves have none.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// The last two different moves that cut, at every ply.
    killers: Vec<[usize; 2]>,
    history: Vec<i32>,
}

impl Learnt {
    /// Gives the moves on top of the stack the ranks of what is known of them.
    #[inline]
    pub(super) fn rank<P: Evaluate>(&self, moves: &mut Moves<P::Move>, table_move: u8, ply: u32) {
        if P::MOVE_INDICES > 0 {
            self.rank_by_index::<P>(moves, ply);
        }
        if table_move != NO_MOVE
            && let Some(ranked) = moves.list().get_mut(usize::from(table_move))
        {
            ranked.rank = TABLE_MOVE;
        }
    }

    fn rank_by_index<P: Evaluate>(&self, moves: &mut Moves<P::Move>, ply: u32) {
        let killers = self.killers.get(ply as usize).unwrap_or(&[NO_INDEX; 2]);
        for ranked in moves.list() {
            let index = P::index(ranked.m);
            if let Some(killer) = killers.iter().position(|killer| *killer == index) {
                ranked.rank = KILLERS[killer];
            } else if let Some(history) = self.history.get(index) {
                ranked.rank += history;
            }
        }
    }

    /// Notes that a move was good enough to cut.
    #[inline]
    pub(super) fn cut<P: Evaluate>(&mut self, m: P::Move, depth: u32, ply: u32) {
        if P::MOVE_INDICES > 0 {
            self.cut_by_index(P::index(m), P::MOVE_INDICES, depth, ply);
        }
    }

    fn cut_by_index(&mut self, index: usize, indices: usize, depth: u32, ply: u32) {
        let ply = ply as usize;
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [NO_INDEX; 2]);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != index {
            *killers = [index, killers[0]];
        }

        self.history.resize(indices, 0);
        let depth = depth.min(255).cast_signed();
        self.history[index] += depth * depth;
        if self.history[index] >= HISTORY_MAX {
            self.history.iter_mut().for_each(|count| *count /= 2);
        }
    }
}
