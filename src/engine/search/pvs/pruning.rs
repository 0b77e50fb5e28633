//! What is looked at less deeply, or not at all, since it hardly ever matters.
//!
//! All of this may err, so games ask for it, and it is measured in matches rather than proven. But
//! whatever is said to be won or lost is: no defence is left out as long as only losses are known.

use super::{Searcher, TO_THE_END};
use crate::search::budget::Spent;
use crate::search::moves::Ranked;
use crate::search::ordering::is_learnt;
use crate::search::table::NO_MOVE;
use crate::search::window::Scope;
use crate::search::{Evaluate, Score};

/// How many plies less are looked ahead after a null move ("R"), and for how many plies of depth one
/// more.
const NULL_MOVE_REDUCTION: u32 = 3;
const NULL_MOVE_DEPTH_STEP: u32 = 4;

/// From this place in the order on a move is late, and looked at less deeply at first (late move
/// reductions: Romstad, "An introduction to late move reductions", 2006).
const LATE_MOVE: usize = 3;

/// Below this depth nothing is reduced: the look would see next to nothing.
const REDUCED_DEPTH_MIN: u32 = 3;

/// From this depth on a position without a move from the table is looked at a ply less deeply: the
/// next look will have one (internal iterative reduction: Schröder, 2020).
const UNKNOWN_DEPTH_MIN: u32 = 5;

/// Up to this depth an estimate that is good enough by far ends the look (reverse futility pruning:
/// Heinz, "Extended futility pruning", 1998, calls it static null move).
const GOOD_ENOUGH_DEPTH_MAX: u32 = 7;

/// Up to this depth quiet moves are left out where the estimate is too bad by far (futility pruning:
/// Heinz, again).
const FUTILE_DEPTH_MAX: u32 = 6;

/// Up to this depth quiet moves late in the order are left out (move count based pruning: Romstad,
/// again).
const COUNTED_DEPTH_MAX: u32 = 5;

/// What is known of a position before its moves are looked at one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// How many plies it is looked ahead, and after how many it was reached.
    depth: u32,
    ply: u32,
    /// Whether there is little choice.
    is_tense: bool,
    /// What it seems to be worth, where that may decide anything.
    estimate: Option<Score>,
}

impl<P: Evaluate> Searcher<'_, P> {
    /// What a glance tells of a position that is asked a yes or a no about.
    #[inline]
    pub(super) fn outlook<W: Scope>(&self, pos: &P, depth: u32, ply: u32) -> Outlook {
        let is_tense = P::REDUCES && pos.is_tense();
        let estimates = P::SWING > 0
            && W::IS_NULL
            && !is_tense
            && ply > 0
            && !looks_to_the_end(depth, ply)
            && (self.parts.futility || self.parts.null_move);
        Outlook {
            depth,
            ply,
            is_tense,
            estimate: estimates.then(|| pos.evaluate()),
        }
    }

    /// The depth to look at a position with, of which the table knows this move.
    #[inline]
    pub(super) fn depth_with(&self, table_move: u8, depth: u32, ply: u32) -> u32 {
        let reduces = P::REDUCES
            && self.parts.reductions
            && self.parts.table
            && table_move == NO_MOVE
            && depth >= UNKNOWN_DEPTH_MIN
            && !looks_to_the_end(depth, ply);
        depth - u32::from(reduces)
    }

    /// A value that is good enough for the seat to move, by an estimate alone or by passing.
    #[inline]
    pub(super) fn good_enough<W: Scope>(
        &mut self,
        pos: &P,
        outlook: Outlook,
        window: W,
    ) -> Result<Option<Score>, Spent> {
        let Outlook { depth, ply, .. } = outlook;
        if !W::IS_NULL || outlook.is_tense {
            return Ok(None);
        }
        if let Some(estimate) = outlook.estimate {
            if self.parts.futility
                && depth <= GOOD_ENOUGH_DEPTH_MAX
                && estimate.lowered(P::SWING * depth) >= window.beta()
            {
                self.estimates += 1;
                return Ok(Some(estimate));
            }
            if estimate < window.beta() {
                return Ok(None);
            }
        }
        if self.parts.null_move {
            self.null_move(pos, depth, ply, window)
        } else {
            Ok(None)
        }
    }

    /// A seat whose position is too good even if it passes need not look for a move (Donninger,
    /// "Null move and deep search", 1993). Wrong where passing would be the best move, so games ask
    /// for it.
    #[inline]
    fn null_move(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        window: impl Scope,
    ) -> Result<Option<Score>, Spent> {
        if depth < REDUCED_DEPTH_MIN || looks_to_the_end(depth, ply) {
            return Ok(None);
        }
        let Some(passed) = pos.passed() else {
            return Ok(None);
        };
        let depth = depth.saturating_sub(NULL_MOVE_REDUCTION + depth / NULL_MOVE_DEPTH_STEP);
        let score = self.child_value(pos.turn(), &passed, depth, ply + 1, window)?;
        // A win that is seen after a pass is not proven.
        let holds = score >= window.beta() && !score.is_decided();
        self.estimates += u64::from(holds);
        Ok(holds.then_some(score))
    }

    /// What a move that need not be looked at is worth at most; `None` for one that must be. It leads to a
    /// position that is tense or not.
    #[inline]
    pub(super) fn futile<W: Scope>(
        &mut self,
        is_tense: bool,
        ranked: &Ranked<P::Move>,
        index: usize,
        outlook: Outlook,
        window: W,
        best: Score,
    ) -> Option<Score> {
        let depth = outlook.depth;
        let estimate = outlook.estimate.filter(|_| self.parts.futility)?;
        let is_saved = index == 0 || depth > FUTILE_DEPTH_MAX || !is_learnt(ranked.rank);
        if is_saved || best.is_loss() || is_tense {
            return None;
        }
        let hope = estimate.raised(P::SWING * (depth + 1));
        let is_counted_out =
            depth <= COUNTED_DEPTH_MAX && index >= LATE_MOVE + (depth * depth) as usize;
        if hope > window.alpha() && !is_counted_out {
            return None;
        }
        self.estimates += 1;
        Some(if hope > window.alpha() {
            window.alpha()
        } else {
            hope
        })
    }

    /// How much deeper a move is looked at than others.
    #[inline]
    pub(super) fn extension(&self, is_tense: bool, Outlook { depth, ply, .. }: Outlook) -> u32 {
        let extends =
            P::REDUCES && self.parts.reductions && !looks_to_the_end(depth, ply) && is_tense;
        u32::from(extends)
    }

    /// How much less deeply a move is looked at at first.
    #[inline]
    pub(super) fn reduction<W: Scope>(
        &self,
        is_tense: bool,
        index: usize,
        outlook: Outlook,
    ) -> u32 {
        let Outlook { depth, ply, .. } = outlook;
        if !P::REDUCES
            || !self.parts.reductions
            || index < LATE_MOVE
            || depth < REDUCED_DEPTH_MIN
            || looks_to_the_end(depth, ply)
            || outlook.is_tense
            || is_tense
        {
            return 0;
        }
        let plies = plies_less(depth, index);
        // Where the line of best play may lead, more care is taken.
        let plies = plies.saturating_sub(u32::from(!W::IS_NULL));
        plies.min(depth - 1)
    }
}

/// Whether a look ends only where the game does: then nothing is to be left out.
const fn looks_to_the_end(depth: u32, ply: u32) -> bool {
    depth >= TO_THE_END - ply
}

/// By how much a late move is reduced: the product of the logarithms of depth and place, as most
/// programs have it.
fn plies_less(depth: u32, index: usize) -> u32 {
    let place = u8::try_from(index).unwrap_or(u8::MAX);
    (quarters(depth) * quarters(place.into())) / 36
}

/// Four times the logarithm to the base of two, with straight lines between the powers.
const fn quarters(number: u32) -> u32 {
    let whole = number.ilog2();
    4 * whole + ((number << 2) >> whole) - 4
}
