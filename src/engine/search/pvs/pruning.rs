//! Selective search: reduces the search depth of lines of play that rarely matter, or skips these
//! lines.
//!
//! These techniques can cause errors. Each game therefore enables the techniques it uses, and test
//! matches measure their benefit. Reported wins and losses are still correct: the search skips no
//! move while all moves searched so far lose.

use super::{FULL_DEPTH, Searcher};
use crate::search::budget::BudgetExhausted;
use crate::search::move_ordering::uses_history;
use crate::search::move_stack::RankedMove;
use crate::search::search_window::SearchWindow;
use crate::search::transposition_table::NO_MOVE;
use crate::search::{Evaluate, Score};

/// Number of plies by which the search depth is reduced after a null move (often called R). For
/// every `NULL_MOVE_DEPTH_STEP` plies of search depth, the reduction grows by one ply.
const NULL_MOVE_REDUCTION: u32 = 3;
const NULL_MOVE_DEPTH_STEP: u32 = 4;

/// Index of the first late move in the move order. Late moves are first searched at reduced depth
/// (late move reductions: Romstad, "An introduction to late move reductions", 2006).
const LATE_MOVE_INDEX_MIN: usize = 3;

/// Minimum depth for reductions and null moves. At lower depths, a reduced search would see almost
/// nothing.
const REDUCTION_DEPTH_MIN: u32 = 3;

/// Minimum depth at which the search reduces the depth by one ply if the table has no move for the
/// position (internal iterative reduction: Schröder, 2020). The next iteration can then use the
/// move that the shallower search stored in the table.
const ITERATIVE_REDUCTION_DEPTH_MIN: u32 = 5;

/// Maximum depth at which an evaluation far above beta ends the search of a position (reverse
/// futility pruning). Heinz, "Extended futility pruning", 1998, calls this technique static null
/// move.
const REVERSE_FUTILITY_DEPTH_MAX: u32 = 7;

/// Maximum depth at which the search skips quiet moves if the evaluation is far below alpha
/// (futility pruning: Heinz, "Extended futility pruning", 1998).
const FUTILITY_DEPTH_MAX: u32 = 6;

/// Maximum depth at which the search skips quiet moves late in the order (move count based pruning:
/// Romstad, "An introduction to late move reductions", 2006).
const MOVE_COUNT_PRUNING_DEPTH_MAX: u32 = 5;

/// Properties of a position that are known before its moves are searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeContext {
    /// Remaining search depth in plies. `ply` is the distance from the root.
    depth: u32,
    ply: u32,
    /// Whether the seat to move has few options, as in check.
    is_forced: bool,
    /// Static evaluation, if a pruning technique needs it.
    estimate: Option<Score>,
}

impl<P: Evaluate> Searcher<'_, P> {
    /// Creates the context of a position. Evaluates the position only if the window is a null
    /// window and a pruning technique needs the evaluation.
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

    /// Returns the search depth for a position, reduced by one ply if the table has no move for it.
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

    /// Returns a score of at least beta if the static evaluation or a null move suggests that the
    /// position is good enough for a cutoff.
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

    /// Tests whether the position is good enough for the seat even after a pass. If so, the search
    /// tries no move in this position (Donninger, "Null move and deep search", 1993).
    ///
    /// The test gives a wrong result if passing would be the best move (zugzwang). Each game
    /// therefore decides whether to enable null moves.
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
        // A win that is found after a pass is not proven.
        let is_cutoff = score >= window.beta() && !score.is_decided();
        self.estimate_count += u64::from(is_cutoff);
        Ok(is_cutoff.then_some(score))
    }

    /// Decides whether the search can skip a move. If the search can skip the move, returns an
    /// upper bound of the move's score. This bound is at most alpha. If the search must not skip
    /// the move, returns `None`.
    ///
    /// `child_is_forced` states whether the move leads to a forced position.
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

    /// Returns the number of plies by which the search of a move is extended.
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

    /// Returns the number of plies by which the first search of a move is reduced.
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
        // Moves on the principal variation are reduced less, because errors there cost more.
        let plies = plies.saturating_sub(u32::from(!W::IS_NULL));
        plies.min(depth - 1)
    }
}

/// Returns whether a search continues to the end of the game. Such a search must not skip any line
/// of play, because its result counts as exact.
const fn is_full_depth(depth: u32, ply: u32) -> bool {
    depth >= FULL_DEPTH - ply
}

/// Returns the depth reduction of a late move in plies. The reduction is proportional to log(depth)
/// times log(index). Most engines use this formula.
fn reduction_plies(depth: u32, index: usize) -> u32 {
    let capped_index = u8::try_from(index).unwrap_or(u8::MAX);
    (quarter_log2(depth) * quarter_log2(capped_index.into())) / 36
}

/// Returns four times the base-2 logarithm of `number`, interpolated linearly between powers of
/// two. The depth reduction of late moves is computed from this number.
const fn quarter_log2(number: u32) -> u32 {
    let log2_floor = number.ilog2();
    4 * log2_floor + ((number << 2) >> log2_floor) - 4
}
