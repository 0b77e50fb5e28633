//! What is looked at less deeply, or not at all, since it hardly ever matters.
//!
//! All of this may err, so games ask for it, and it is measured in matches rather than proven. But
//! whatever is said to be won or lost is: no defence is left out as long as only losses are known.

use super::{FULL_DEPTH, Searcher};
use crate::search::budget::BudgetExhausted;
use crate::search::move_ordering::uses_history;
use crate::search::move_stack::RankedMove;
use crate::search::search_window::SearchWindow;
use crate::search::transposition_table::NO_MOVE;
use crate::search::{Evaluate, Score};

/// How many plies less are looked ahead after a null move ("R"), and for how many plies of depth one
/// more.
const NULL_MOVE_REDUCTION: u32 = 3;
const NULL_MOVE_DEPTH_STEP: u32 = 4;

/// From this place in the order on a move is late, and looked at less deeply at first (late move
/// reductions: Romstad, "An introduction to late move reductions", 2006).
const LATE_MOVE_INDEX_MIN: usize = 3;

/// Below this depth nothing is reduced: the look would see next to nothing.
const REDUCTION_DEPTH_MIN: u32 = 3;

/// From this depth on a position without a move from the table is looked at a ply less deeply: the
/// next look will have one (internal iterative reduction: Schröder, 2020).
const ITERATIVE_REDUCTION_DEPTH_MIN: u32 = 5;

/// Up to this depth an estimate that is good enough by far ends the look (reverse futility pruning:
/// Heinz, "Extended futility pruning", 1998, calls it static null move).
const REVERSE_FUTILITY_DEPTH_MAX: u32 = 7;

/// Up to this depth quiet moves are left out where the estimate is too bad by far (futility pruning:
/// Heinz, again).
const FUTILITY_DEPTH_MAX: u32 = 6;

/// Up to this depth quiet moves late in the order are left out (move count based pruning: Romstad,
/// again).
const MOVE_COUNT_PRUNING_DEPTH_MAX: u32 = 5;

/// What is known of a position before its moves are looked at one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeContext {
    /// How many plies it is looked ahead, and after how many it was reached.
    depth: u32,
    ply: u32,
    /// Whether there is little choice.
    is_forced: bool,
    /// What it seems to be worth, where that may decide anything.
    estimate: Option<Score>,
}

impl<P: Evaluate> Searcher<'_, P> {
    /// What a glance tells of a position that is asked a yes or a no about.
    #[inline]
    pub(super) fn node_context<W: SearchWindow>(
        &self,
        pos: &P,
        depth: u32,
        ply: u32,
    ) -> NodeContext {
        let is_tense = P::USES_LATE_MOVE_REDUCTIONS && pos.is_forced();
        let needs_estimate = P::FUTILITY_MARGIN > 0
            && W::IS_NULL
            && !is_tense
            && ply > 0
            && !is_full_depth(depth, ply)
            && (self.options.futility || self.options.null_move);
        NodeContext {
            depth,
            ply,
            is_forced: is_tense,
            estimate: needs_estimate.then(|| pos.evaluate()),
        }
    }

    /// The depth to look at a position with, of which the table knows this move.
    #[inline]
    pub(super) fn internal_iterative_reduction(&self, table_move: u8, depth: u32, ply: u32) -> u32 {
        let is_reduced = P::USES_LATE_MOVE_REDUCTIONS
            && self.options.late_move_reductions
            && self.options.transposition_table
            && table_move == NO_MOVE
            && depth >= ITERATIVE_REDUCTION_DEPTH_MIN
            && !is_full_depth(depth, ply);
        depth - u32::from(is_reduced)
    }

    /// A value that is good enough for the seat to move, by an estimate alone or by passing.
    #[inline]
    pub(super) fn try_static_cutoff<W: SearchWindow>(
        &mut self,
        pos: &P,
        context: NodeContext,
        window: W,
    ) -> Result<Option<Score>, BudgetExhausted> {
        let NodeContext { depth, ply, .. } = context;
        if !W::IS_NULL || context.is_forced {
            return Ok(None);
        }
        if let Some(estimate) = context.estimate {
            if self.options.futility
                && depth <= REVERSE_FUTILITY_DEPTH_MAX
                && estimate.saturating_sub(P::FUTILITY_MARGIN * depth) >= window.beta()
            {
                self.estimate_count += 1;
                return Ok(Some(estimate));
            }
            if estimate < window.beta() {
                return Ok(None);
            }
        }
        if self.options.null_move {
            self.try_null_move(pos, depth, ply, window)
        } else {
            Ok(None)
        }
    }

    /// A seat whose position is too good even if it passes need not look for a move (Donninger,
    /// "Null move and deep search", 1993). Wrong where passing would be the best move, so games ask
    /// for it.
    #[inline]
    fn try_null_move(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        window: impl SearchWindow,
    ) -> Result<Option<Score>, BudgetExhausted> {
        if depth < REDUCTION_DEPTH_MIN || is_full_depth(depth, ply) {
            return Ok(None);
        }
        let Some(after_null) = pos.after_null_move() else {
            return Ok(None);
        };
        let depth = depth.saturating_sub(NULL_MOVE_REDUCTION + depth / NULL_MOVE_DEPTH_STEP);
        let score = self.search_child(pos.turn(), &after_null, depth, ply + 1, window)?;
        // A win that is seen after a pass is not proven.
        let is_cutoff = score >= window.beta() && !score.is_decided();
        self.estimate_count += u64::from(is_cutoff);
        Ok(is_cutoff.then_some(score))
    }

    /// What a move that need not be looked at is worth at most; `None` for one that must be. It leads to a
    /// position that is tense or not.
    #[inline]
    pub(super) fn futility_bound<W: SearchWindow>(
        &mut self,
        child_is_forced: bool,
        ranked: &RankedMove<P::Move>,
        index: usize,
        context: NodeContext,
        window: W,
        best: Score,
    ) -> Option<Score> {
        let depth = context.depth;
        let estimate = context.estimate.filter(|_| self.options.futility)?;
        let is_exempt = index == 0 || depth > FUTILITY_DEPTH_MAX || !uses_history(ranked.rank);
        if is_exempt || best.is_loss() || child_is_forced {
            return None;
        }
        let optimistic_score = estimate.saturating_add(P::FUTILITY_MARGIN * (depth + 1));
        let is_pruned_by_count = depth <= MOVE_COUNT_PRUNING_DEPTH_MAX
            && index >= LATE_MOVE_INDEX_MIN + (depth * depth) as usize;
        if optimistic_score > window.alpha() && !is_pruned_by_count {
            return None;
        }
        self.estimate_count += 1;
        Some(if optimistic_score > window.alpha() {
            window.alpha()
        } else {
            optimistic_score
        })
    }

    /// How much deeper a move is looked at than others.
    #[inline]
    pub(super) fn check_extension(
        &self,
        child_is_forced: bool,
        NodeContext { depth, ply, .. }: NodeContext,
    ) -> u32 {
        let is_extended = P::USES_LATE_MOVE_REDUCTIONS
            && self.options.late_move_reductions
            && !is_full_depth(depth, ply)
            && child_is_forced;
        u32::from(is_extended)
    }

    /// How much less deeply a move is looked at at first.
    #[inline]
    pub(super) fn late_move_reduction<W: SearchWindow>(
        &self,
        child_is_forced: bool,
        index: usize,
        context: NodeContext,
    ) -> u32 {
        let NodeContext { depth, ply, .. } = context;
        if !P::USES_LATE_MOVE_REDUCTIONS
            || !self.options.late_move_reductions
            || index < LATE_MOVE_INDEX_MIN
            || depth < REDUCTION_DEPTH_MIN
            || is_full_depth(depth, ply)
            || context.is_forced
            || child_is_forced
        {
            return 0;
        }
        let plies = reduction_plies(depth, index);
        // Where the line of best play may lead, more care is taken.
        let plies = plies.saturating_sub(u32::from(!W::IS_NULL));
        plies.min(depth - 1)
    }
}

/// Whether a look ends only where the game does: then nothing is to be left out.
const fn is_full_depth(depth: u32, ply: u32) -> bool {
    depth >= FULL_DEPTH - ply
}

/// By how much a late move is reduced: the product of the logarithms of depth and place, as most
/// programs have it.
fn reduction_plies(depth: u32, index: usize) -> u32 {
    let capped_index = u8::try_from(index).unwrap_or(u8::MAX);
    (quarter_log2(depth) * quarter_log2(capped_index.into())) / 36
}

/// Four times the logarithm to the base of two, with straight lines between the powers.
const fn quarter_log2(number: u32) -> u32 {
    let log2_floor = number.ilog2();
    4 * log2_floor + ((number << 2) >> log2_floor) - 4
}
