//! Which moves to try first, by what has been good elsewhere.
//!
//! Alpha-beta cuts most where the best move comes first. The table's move comes before all others,
//! then what the game itself calls early, then two killers: moves that cut at the same ply just
//! before (Slate and Atkin, "Chess 4.5", 1977). To the rank that the game gives a move its history
//! is added: how often it cut anywhere, less how often it was tried before another that did,
//! weighted by depth (Schaeffer, "The history heuristic", 1983).

use super::Evaluate;
use super::moves::{EARLY, Moves};
use super::table::NO_MOVE;

const TABLE_MOVE: i32 = i32::MAX;
const KILLERS: [i32; 2] = [EARLY / 4 + 1, EARLY / 4];

/// History stays between this and its opposite, far from the ranks above. The nearer it is, the less
/// is added, so that what was long ago fades.
const HISTORY_MAX: i32 = 1 << 14;

/// No cut counts for more.
const WEIGHT_MAX: i32 = HISTORY_MAX / 8;

/// No move has this index.
const NO_INDEX: usize = usize::MAX;

/// Whether a move of this rank is one of those of which something is learnt: neither early nor late.
#[inline]
pub(super) const fn is_learnt(rank: i32) -> bool {
    rank.unsigned_abs() < EARLY.unsigned_abs() / 2
}

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
    pub(super) fn rank<P: Evaluate>(
        &self,
        pos: &P,
        moves: &mut Moves<P::Move>,
        table_move: u8,
        ply: u32,
    ) {
        if P::MOVE_INDICES > 0 {
            self.rank_by_index(pos, moves, ply);
        }
        if table_move != NO_MOVE
            && let Some(ranked) = moves.list().get_mut(usize::from(table_move))
        {
            ranked.rank = TABLE_MOVE;
        }
    }

    fn rank_by_index<P: Evaluate>(&self, pos: &P, moves: &mut Moves<P::Move>, ply: u32) {
        let killers = self.killers.get(ply as usize).unwrap_or(&[NO_INDEX; 2]);
        for ranked in moves
            .list()
            .iter_mut()
            .filter(|ranked| is_learnt(ranked.rank))
        {
            let index = pos.index(ranked.m);
            if let Some(killer) = killers.iter().position(|killer| *killer == index) {
                ranked.rank = KILLERS[killer];
            } else if let Some(history) = self.history.get(index) {
                ranked.rank += history;
            }
        }
    }

    /// Notes that the move picked at this place was good enough to cut, and those before it were not.
    #[inline]
    pub(super) fn cut<P: Evaluate>(
        &mut self,
        pos: &P,
        moves: &mut Moves<P::Move>,
        place: usize,
        depth: u32,
        ply: u32,
    ) {
        if P::MOVE_INDICES > 0 {
            self.cut_by_index(pos, moves, place, depth, ply);
        }
    }

    fn cut_by_index<P: Evaluate>(
        &mut self,
        pos: &P,
        moves: &mut Moves<P::Move>,
        place: usize,
        depth: u32,
        ply: u32,
    ) {
        let tried = &moves.list()[..=place];
        let m = tried[place].m;
        // The table's move has lost the rank that it was given by the game.
        if !is_learnt(pos.rank(m)) {
            return;
        }
        let (ply, index) = (ply as usize, pos.index(m));
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [NO_INDEX; 2]);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != index {
            *killers = [index, killers[0]];
        }

        self.history.resize(P::MOVE_INDICES, 0);
        let depth = depth.min(255).cast_signed();
        let weight = (depth * depth).min(WEIGHT_MAX);
        self.count(index, weight);
        for other in &tried[..place] {
            if is_learnt(other.rank) {
                self.count(pos.index(other.m), -weight);
            }
        }
    }

    fn count(&mut self, index: usize, weight: i32) {
        let history = &mut self.history[index];
        *history += weight - *history * weight.abs() / HISTORY_MAX;
    }
}
