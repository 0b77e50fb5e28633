//! Principal variation search: alpha-beta that looks at the first move of a position in full, and
//! asks of every other only whether it is better (Marsland and Campbell, "Parallel search of
//! strongly ordered game trees", 1982).
//!
//! Written as negamax: every position is valued for the seat to move in it. Fail-soft: a result
//! outside the window is still a true bound, and as tight as was seen. Wins and losses are counted
//! from the position that is valued, as the table keeps them, so scores are shifted by a ply on the
//! way from a position to the next, and nowhere else.

mod pruning;

use self::pruning::NodeContext;
use super::budget::{Budget, BudgetExhausted};
use super::move_ordering::OrderingHeuristics;
use super::move_stack::{MoveStack, RankedMove};
use super::pv_table::PvTable;
use super::search_options::SearchOptions;
use super::search_path::SearchPath;
use super::search_window::{Bounds, NullWindow, SearchWindow};
use super::transposition_table::{NO_MOVE, Slot, TableEntry, TranspositionTable};
use super::{Evaluate, Score};
use crate::game::{KeyHistory, RepetitionRule, Seat};

/// The depth of a look that ends where the game does.
pub(super) const FULL_DEPTH: u32 = u8::MAX as u32;

/// Mixed into the keys of positions of which only wins and losses are asked.
const PROOF_KEY_SALT: u64 = 0xd1b5_4a32_d192_ed03;

/// Up to this ply helpers go other ways. Farther on they would only search worse for it.
const ORDERING_SEED_PLIES_MAX: u32 = 8;

/// One search: its budget, and buffers that are reused by all its nodes.
#[derive(Debug)]
pub(super) struct Searcher<'a, P: Evaluate> {
    pub(super) budget: Budget<'a>,
    pub(super) options: SearchOptions,
    table: &'a TranspositionTable,
    path: SearchPath,
    moves: MoveStack<P::Move>,
    ordering: OrderingHeuristics,
    /// Not 0 for a helper, which is to go other ways.
    ordering_seed: u32,
    pub(super) pv_table: PvTable<P::Move>,
    /// How many values were no more than estimates.
    pub(super) estimate_count: u64,
    /// The greatest ply that was reached.
    pub(super) deepest_ply: u32,
    /// How many places of the table have been taken.
    table_entries_used: u64,
    /// How many moves were not looked at since one before them was enough.
    pub(super) cutoff_skips: u64,
    /// How many positions were found in the table.
    pub(super) table_hits: u64,
    /// The move that was best at the root when the value was last seen to be within or above the
    /// window.
    pub(super) root_best: Option<P::Move>,
}

impl<'a, P: Evaluate> Searcher<'a, P> {
    /// A search of a position with this past.
    pub(super) fn new(
        budget: Budget<'a>,
        table: &'a TranspositionTable,
        options: SearchOptions,
        key_history: &KeyHistory,
    ) -> Self {
        Self {
            budget,
            options,
            table,
            path: SearchPath::from_history(key_history),
            moves: MoveStack::new(),
            ordering: OrderingHeuristics::default(),
            ordering_seed: 0,
            pv_table: PvTable::default(),
            estimate_count: 0,
            deepest_ply: 0,
            table_entries_used: 0,
            cutoff_skips: 0,
            table_hits: 0,
            root_best: None,
        }
    }

    /// This search with a slightly different order of moves, another for every number.
    pub(super) const fn with_ordering_seed(mut self, ordering_seed: u32) -> Self {
        self.ordering_seed = ordering_seed;
        self
    }

    /// The value for `seat`, who has just moved, of `child`, reached after `ply` plies. It is counted
    /// from the position before, as the window is.
    #[inline]
    pub(super) fn search_child<W: SearchWindow>(
        &mut self,
        seat: Seat,
        child: &P,
        depth: u32,
        ply: u32,
        window: W,
    ) -> Result<Score, BudgetExhausted> {
        let window = window.for_next_ply();
        let score = if P::SEATS_ALTERNATE || child.turn() != seat {
            -self.search_position(child, depth, ply, window.negated())?
        } else {
            self.search_position(child, depth, ply, window)?
        };
        Ok(score.delayed_by(1))
    }

    /// The value for the seat to move of `pos`, reached after `ply` plies, looking `depth` plies
    /// further.
    #[inline]
    pub(super) fn search_position<W: SearchWindow>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        mut window: W,
    ) -> Result<Score, BudgetExhausted> {
        self.budget.visit_node()?;
        self.deepest_ply = self.deepest_ply.max(ply);
        if !W::IS_NULL {
            self.pv_table.start_line(ply);
        }
        if let Some(outcome) = pos.outcome() {
            return Ok(Score::from_game_end(outcome, pos.ending(), pos.turn(), 0));
        }
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            if self.path.is_repetition_draw(pos, ply) {
                // It is a draw by this path alone, so nothing is proven.
                self.estimate_count += 1;
                return Ok(Score::DRAW);
            }
            self.path.visit(pos, ply);
        }

        // Bounds of the value by the plies to the nearest possible end (mate-distance pruning), and by
        // what the game knows. Where the line of best play is wanted, it is followed to its end.
        let mut known_bounds = Bounds::UNBOUNDED;
        if self.options.game_knowledge && (W::IS_NULL || depth == 0) {
            let mut nodes = 0;
            let solved = pos.solve_directly(window.alpha(), window.beta(), &mut nodes);
            self.budget.add_nodes(nodes);
            if let Some(score) = solved {
                return Ok(score);
            }
            known_bounds = pos.static_bounds();
            if let Some(score) = window.narrow(known_bounds) {
                return Ok(score);
            }
        }
        if depth == 0 {
            self.estimate_count += 1;
            if !self.options.evaluate_leaves {
                return Ok(Score::DRAW);
            }
            return self.quiescence_search(pos, ply, window);
        }
        self.search_node(pos, depth, ply, window, known_bounds)
    }

    /// The value of a position of which a glance did not tell enough.
    fn search_node<W: SearchWindow>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        mut window: W,
        mut known_bounds: Bounds,
    ) -> Result<Score, BudgetExhausted> {
        let estimates_before = self.estimate_count;
        let slot = self.table_slot(pos);
        let mut table_move = NO_MOVE;
        if let Some(entry) = slot.and_then(Slot::get) {
            self.table_hits += 1;
            table_move = entry.ordinal;
            // At the root a move is wanted, whatever is known.
            if W::IS_NULL && ply > 0 {
                let (bounds, is_estimate) =
                    entry.bounds_at(depth, self.options.accept_deeper_entries);
                self.estimate_count += u64::from(is_estimate);
                known_bounds = bounds.intersect(known_bounds);
                if let Some(score) = window.narrow(known_bounds) {
                    return Ok(score);
                }
            }
        }
        let depth = self.internal_iterative_reduction(table_move, depth, ply);
        let outlook = self.node_context::<W>(pos, depth, ply);
        if let Some(score) = self.try_static_cutoff(pos, outlook, window)? {
            return Ok(score);
        }

        let below_start = self.moves.push_list();
        let candidate_bounds = self.list_candidates(pos);
        if W::IS_NULL && ply > 0 {
            known_bounds = known_bounds.intersect(candidate_bounds);
            if let Some(score) = window.narrow(candidate_bounds) {
                self.moves.pop_list(below_start);
                return Ok(score);
            }
        }
        if self.ordering_seed != 0 && ply < ORDERING_SEED_PLIES_MAX {
            self.moves.perturb_ranks(self.ordering_seed ^ ply);
        }
        if W::IS_NULL
            && ply > 0
            && let Some(score) = self.probe_child_entries(pos, depth, window)
        {
            self.moves.pop_list(below_start);
            return Ok(score);
        }
        self.ordering
            .rank_moves(pos, &mut self.moves, table_move, ply);
        let (best, ordinal) = self.search_best_move(pos, depth, ply, window, outlook)?;
        self.moves.pop_list(below_start);

        if let Some(slot) = slot {
            let is_exact = self.estimate_count == estimates_before;
            let entry = TableEntry::new(
                known_bounds.updated_with(window, best),
                depth,
                is_exact,
                ordinal,
            );
            self.table_entries_used += u64::from(slot.put(entry));
        }
        Ok(best)
    }

    /// Where the table keeps what is known of a position, if the table is used.
    #[inline]
    fn table_slot(&self, pos: &P) -> Option<Slot<'a>> {
        // What was estimated is of no use to a proof.
        let salt = if self.options.evaluate_leaves {
            0
        } else {
            PROOF_KEY_SALT
        };
        (self.options.transposition_table).then(|| self.table.slot(pos.key() ^ salt))
    }

    /// A value that is good enough, where the table knows it of a position that one of the moves on top of
    /// the stack leads to (enhanced transposition cut-off: Plaat et al., "Exploiting graph properties of
    /// game trees", 1996).
    #[inline]
    fn probe_child_entries(
        &mut self,
        pos: &P,
        depth: u32,
        window: impl SearchWindow,
    ) -> Option<Score> {
        if !self.options.game_knowledge
            || !P::SEATS_ALTERNATE
            || pos.remaining_plies_max() < P::ENHANCED_CUTOFF_PLIES_MIN
        {
            return None;
        }
        for index in 0..self.moves.len() {
            let RankedMove { m, note, .. } = self.moves.top_list()[index];
            let Some(entry) = self
                .table_slot(&pos.after_candidate(m, note))
                .and_then(Slot::get)
            else {
                continue;
            };
            let (bounds, is_estimate) =
                entry.bounds_at(depth - 1, self.options.accept_deeper_entries);
            let lower_bound = (-bounds.upper).delayed_by(1);
            if lower_bound >= window.beta() {
                self.estimate_count += u64::from(is_estimate);
                return Some(lower_bound);
            }
        }
        None
    }

    /// Searches the moves on top of the stack, the most promising first, until one is good enough.
    /// Returns the best score, and the ordinal of the move that has it if it is above alpha.
    #[inline]
    fn search_best_move<W: SearchWindow>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        window: W,
        outlook: NodeContext,
    ) -> Result<(Score, u8), BudgetExhausted> {
        let mut best = (Score::WORST, NO_MOVE);
        let mut remaining = window;
        for index in 0..self.moves.len() {
            let ranked = self.moves.pick(index);
            let child = if self.options.game_knowledge {
                pos.after_candidate(ranked.m, ranked.note)
            } else {
                pos.after(ranked.m)
            };
            if self.path.is_forbidden(&child, ply + 1) {
                continue;
            }
            if depth == 1 && !self.options.evaluate_leaves && !child.is_forced() {
                // Nobody has lost who is not in check, or the like; what else it is worth is not the question.
                best.0 = best.0.max(Score::DRAW);
                self.estimate_count += 1;
                continue;
            }
            let child_is_forced = P::USES_LATE_MOVE_REDUCTIONS && child.is_forced();
            if let Some(score_max) =
                self.futility_bound(child_is_forced, &ranked, index, outlook, remaining, best.0)
            {
                best.0 = best.0.max(score_max);
                continue;
            }
            let reduction = self.late_move_reduction::<W>(child_is_forced, index, outlook);
            let depth_left = depth - 1 + self.check_extension(child_is_forced, outlook);
            let score =
                self.search_move(pos, &child, index, (depth_left, reduction), ply, remaining)?;
            if score > best.0 {
                best.0 = score;
                if score > remaining.alpha() {
                    best.1 = ranked.ordinal;
                    if ply == 0 {
                        self.root_best = Some(ranked.m);
                    }
                    if !W::IS_NULL {
                        self.pv_table.extend(ply, ranked.m);
                    }
                    // The opponent, who has something better elsewhere, will not come here.
                    if score >= remaining.beta() {
                        self.ordering
                            .record_cutoff(pos, &mut self.moves, index, depth, ply);
                        self.cutoff_skips += (self.moves.len() - index - 1) as u64;
                        break;
                    }
                    remaining = remaining.with_raised_alpha(score);
                }
            }
        }
        Ok(best)
    }

    /// The value that a move leads to: in full if it is the first, else first asked only whether it
    /// is better, and that perhaps less deeply.
    #[inline]
    fn search_move<W: SearchWindow>(
        &mut self,
        pos: &P,
        child: &P,
        index: usize,
        (depth_left, reduction): (u32, u32),
        ply: u32,
        window: W,
    ) -> Result<Score, BudgetExhausted> {
        // Where seats take turns it does not matter whose turn it is, and nobody need ask.
        let seat = if P::SEATS_ALTERNATE {
            Seat::First
        } else {
            pos.turn()
        };
        let alpha = window.alpha();
        let null_window = NullWindow { alpha };
        if reduction > 0 {
            let reduced_depth = depth_left.saturating_sub(reduction);
            let score = self.search_child(seat, child, reduced_depth, ply + 1, null_window)?;
            if score <= alpha {
                return Ok(score);
            }
        }
        if index > 0 && !W::IS_NULL {
            let score = self.search_child(seat, child, depth_left, ply + 1, null_window)?;
            if score <= alpha || score >= window.beta() {
                return Ok(score);
            }
        }
        self.search_child(seat, child, depth_left, ply + 1, window)
    }

    /// The value of a position at the end of the look: an estimate, or better, if noisy moves lead
    /// to one, their value (quiescence search: Harris, "The heuristic search and the game of chess",
    /// 1975).
    fn quiescence_search<W: SearchWindow>(
        &mut self,
        pos: &P,
        ply: u32,
        mut window: W,
    ) -> Result<Score, BudgetExhausted> {
        if !P::HAS_NOISY_MOVES || !self.options.quiescence {
            return Ok(pos.evaluate());
        }
        // Where there is little choice, to leave things as they are is none.
        let mut best = if pos.is_forced() {
            Score::WORST
        } else {
            pos.evaluate()
        };
        if best >= window.beta() {
            return Ok(best);
        }
        window = window.with_raised_alpha(best);
        let below_start = self.moves.push_list();
        pos.list_noisy_moves(&mut self.moves);
        for index in 0..self.moves.len() {
            let RankedMove { m, note, .. } = self.moves.pick(index);
            let child = pos.after_candidate(m, note);
            if self.path.is_forbidden(&child, ply + 1) {
                continue;
            }
            let score = self.search_child(pos.turn(), &child, 0, ply + 1, window)?;
            best = best.max(score);
            if score >= window.beta() {
                break;
            }
            window = window.with_raised_alpha(score);
        }
        self.moves.pop_list(below_start);
        Ok(best)
    }

    #[inline]
    fn list_candidates(&mut self, pos: &P) -> Bounds {
        if self.options.game_knowledge {
            pos.list_candidates(&mut self.moves)
        } else {
            self.moves.push_legal(pos);
            Bounds::UNBOUNDED
        }
    }

    /// How many of a thousand places of the table hold what this search has found.
    pub(super) fn table_fill_per_mille(&self) -> u32 {
        let per_mille = self.table_entries_used * 1000 / self.table.capacity();
        u32::try_from(per_mille).unwrap_or(1000).min(1000)
    }

    /// The moves worth considering where the search begins, the most promising first, and a score
    /// that the value is no worse than.
    pub(super) fn root_moves(&mut self, pos: &P) -> (Vec<P::Move>, Score) {
        self.collect_moves(pos, |search| {
            if search.options.game_knowledge {
                pos.list_root_candidates(&mut search.moves)
            } else {
                search.list_candidates(pos)
            }
        })
    }

    /// The moves worth considering in `pos`, where lines begin, the most promising first.
    pub(super) fn ordered_moves(&mut self, pos: &P) -> Vec<P::Move> {
        self.collect_moves(pos, |search| search.list_candidates(pos))
            .0
    }

    /// The moves that `list` lists, the most promising first, and the lower of the bounds it tells.
    fn collect_moves(
        &mut self,
        pos: &P,
        list_moves: impl FnOnce(&mut Self) -> Bounds,
    ) -> (Vec<P::Move>, Score) {
        let below_start = self.moves.push_list();
        let bounds = list_moves(self);
        let moves = (0..self.moves.len())
            .map(|index| self.moves.pick(index).m)
            .collect();
        self.moves.pop_list(below_start);
        (self.remove_forbidden_moves(pos, moves), bounds.lower)
    }

    /// All legal moves of `pos`, where lines begin, in the order of the rules.
    pub(super) fn legal_root_moves(&mut self, pos: &P) -> Vec<P::Move> {
        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        self.remove_forbidden_moves(pos, moves)
    }

    fn remove_forbidden_moves(&mut self, pos: &P, mut moves: Vec<P::Move>) -> Vec<P::Move> {
        self.set_root(pos);
        if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            moves.retain(|m| !self.path.is_forbidden(&pos.after(*m), 1));
        }
        moves
    }

    /// Lets all lines begin with `pos`.
    pub(super) fn set_root(&mut self, pos: &P) {
        self.path.visit(pos, 0);
    }
}
