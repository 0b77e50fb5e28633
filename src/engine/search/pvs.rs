//! Principal variation search: alpha-beta that searches the first move of a position in full. For
//! every other move, the search first tests only whether the move is better than the best move so
//! far (Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982).
//!
//! The search is a negamax: it evaluates every position for the seat to move. It is fail-soft: a
//! result outside the window is the tightest bound that the search found.
//!
//! Wins and losses are counted from the evaluated position, as in the transposition table. The
//! search therefore adjusts a score by one ply when it passes the score between a position and its
//! child.

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
use super::{Evaluate, Limits, Score, Stop};
use crate::game::{KeyHistory, RepetitionRule, Seat};

/// Depth value that requests a search to the end of the game.
pub(super) const FULL_DEPTH: u32 = u8::MAX as u32;

/// Salt for the table keys of searches that only prove wins and losses.
const PROOF_KEY_SALT: u64 = 0xd1b5_4a32_d192_ed03;

/// Number of plies from the root within which helper threads use a different move order. At later
/// plies, a different order would only make their search less efficient.
const ORDERING_SEED_PLIES_MAX: u32 = 8;

/// State of a search: its budget, and buffers that all nodes reuse.
#[derive(Debug)]
pub(super) struct Searcher<'a, P: Evaluate> {
    pub(super) budget: Budget<'a>,
    pub(super) options: SearchOptions,
    table: &'a TranspositionTable,
    path: SearchPath,
    moves: MoveStack<P::Move>,
    ordering: OrderingHeuristics,
    /// Seed that varies the move order. The seed is 0 on the main thread and different on each
    /// helper thread, so that the threads search different lines.
    ordering_seed: u32,
    pub(super) pv_table: PvTable<P::Move>,
    /// Number of times that the search used an estimate instead of a proven value.
    pub(super) estimate_count: u64,
    /// Greatest ply reached so far.
    pub(super) deepest_ply: u32,
    /// Number of table slots filled by this search.
    table_entries_used: u64,
    /// Number of moves skipped after a beta cutoff.
    pub(super) cutoff_skips: u64,
    /// Number of positions found in the table.
    pub(super) table_hits: u64,
    /// Last root move that the search found to be better than alpha.
    pub(super) root_best: Option<P::Move>,
}

impl<'a, P: Evaluate> Searcher<'a, P> {
    /// Creates a search from a root position with the given history.
    pub(super) fn new(
        limits: Limits,
        stop: &'a Stop,
        table: &'a TranspositionTable,
        options: SearchOptions,
        key_history: &KeyHistory,
    ) -> Self {
        Self {
            budget: Budget::new(limits, stop),
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

    /// Sets the seed that slightly varies the move order.
    pub(super) const fn with_ordering_seed(mut self, ordering_seed: u32) -> Self {
        self.ordering_seed = ordering_seed;
        self
    }

    /// Searches `child`, the position after a move by `seat`, and returns its value for `seat`.
    /// `ply` is the distance of `child` from the root. Distances in the result and in the window
    /// are counted from the position before the move.
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

    /// Searches `pos` to `depth` plies and returns its value for the seat to move. `ply` is the
    /// distance of `pos` from the root.
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
                // A draw by repetition depends on the earlier positions of the line, so the result
                // is not proven.
                self.estimate_count += 1;
                return Ok(Score::DRAW);
            }
            self.path.visit(pos, ply);
        }

        // The bounds follow from the distance to the nearest possible end (mate-distance pruning)
        // and from game knowledge. The search ignores these bounds on the principal variation, so
        // that the line is searched to its end.
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

    /// Searches a position whose static bounds do not determine the result.
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
            // At the root, the search must also find a move, so a value from the table is not
            // sufficient.
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

    /// Returns the table slot of a position, or `None` if the table is not used.
    #[inline]
    fn table_slot(&self, pos: &P) -> Option<Slot<'a>> {
        // Searches that prove wins use separate table entries, because the entries of other
        // searches contain estimates.
        let salt = if self.options.evaluate_leaves {
            0
        } else {
            PROOF_KEY_SALT
        };
        (self.options.transposition_table).then(|| self.table.slot(pos.key() ^ salt))
    }

    /// Looks up the positions after the listed moves in the table. Returns a score that reaches
    /// beta, if the table contains one (enhanced transposition cutoff: Plaat et al., "Exploiting
    /// graph properties of game trees", 1996).
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

    /// Searches the moves of the top list, most promising first, until a score reaches beta.
    ///
    /// Returns the best score and the ordinal of its move. The ordinal is `NO_MOVE` if the score
    /// does not exceed alpha.
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
                // If a position is not forced, the seat to move cannot have lost. For example, a
                // king that is not in check is not mated. A search that proves wins therefore
                // counts such a position as a draw.
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
                    // Beta cutoff: the opponent has a better alternative earlier in the line and
                    // avoids this position.
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

    /// Returns the value of a move. The first move is searched in full. Every other move is first
    /// tested with a null window, possibly at reduced depth, and searched in full only if it is
    /// better.
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
        // If the seats alternate, `search_child` ignores `seat`, so there is no need to call
        // `turn`.
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

    /// Returns the value of a position at the depth limit. The value is the static evaluation, or
    /// the value of a noisy move if that is better (quiescence search: Harris, "The heuristic
    /// search and the game of chess", 1975).
    fn quiescence_search<W: SearchWindow>(
        &mut self,
        pos: &P,
        ply: u32,
        mut window: W,
    ) -> Result<Score, BudgetExhausted> {
        if !P::HAS_NOISY_MOVES || !self.options.quiescence {
            return Ok(pos.evaluate());
        }
        // In a forced position, every quiet move may make the position worse. The evaluation is
        // therefore not a lower bound of the value.
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

    /// Returns the share of the table that holds entries of this search, in per mille.
    pub(super) fn table_fill_per_mille(&self) -> u32 {
        let per_mille = self.table_entries_used * 1000 / self.table.capacity();
        u32::try_from(per_mille).unwrap_or(1000).min(1000)
    }

    /// Returns the candidate moves at the root, most promising first, and a lower bound of the
    /// value.
    pub(super) fn root_moves(&mut self, pos: &P) -> (Vec<P::Move>, Score) {
        self.collect_moves(pos, |search| {
            if search.options.game_knowledge {
                pos.list_root_candidates(&mut search.moves)
            } else {
                search.list_candidates(pos)
            }
        })
    }

    /// Makes `pos` the root and returns its candidate moves, most promising first.
    pub(super) fn ordered_moves(&mut self, pos: &P) -> Vec<P::Move> {
        self.collect_moves(pos, |search| search.list_candidates(pos))
            .0
    }

    /// Makes `pos` the root. Lists moves with `list_moves` and returns them, most promising first.
    /// Also returns the lower bound that `list_moves` found.
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

    /// Makes `pos` the root and returns its legal moves in the order of move generation. Leaves out
    /// moves that the repetition rule forbids.
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

    /// Makes `pos` the root of the current line of play.
    pub(super) fn set_root(&mut self, pos: &P) {
        self.path.visit(pos, 0);
    }
}
