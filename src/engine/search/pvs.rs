//! Principal variation search: alpha-beta that looks at the first move of a position in full, and
//! asks of every other only whether it is better (Marsland and Campbell, "Parallel search of
//! strongly ordered game trees", 1982).
//!
//! Written as negamax: every position is valued for the seat to move in it. Fail-soft: a result
//! outside the window is still a true bound, and as tight as was seen. Wins and losses are counted
//! from the position that is valued, as the table keeps them, so scores are shifted by a ply on the
//! way from a position to the next, and nowhere else.

mod pruning;

use self::pruning::Outlook;
use super::budget::{Budget, Spent};
use super::lines::Lines;
use super::moves::{Moves, Ranked};
use super::ordering::Learnt;
use super::parts::Parts;
use super::path::Path;
use super::table::{NO_MOVE, Slot, Table, TableEntry};
use super::window::{Bounds, NullWindow, Scope};
use super::{Evaluate, Score};
use crate::game::{KeyHistory, RepetitionRule, Seat};

/// The depth of a look that ends where the game does.
pub(super) const TO_THE_END: u32 = u8::MAX as u32;

/// Mixed into the keys of positions of which only wins and losses are asked.
const PROOF_SALT: u64 = 0xd1b5_4a32_d192_ed03;

/// Up to this ply helpers go other ways. Farther on they would only search worse for it.
const VARIED_PLIES: u32 = 8;

/// One search: its budget, and buffers that are reused by all its nodes.
#[derive(Debug)]
pub(super) struct Searcher<'a, P: Evaluate> {
    pub(super) budget: Budget<'a>,
    pub(super) parts: Parts,
    table: &'a Table,
    path: Path,
    moves: Moves<P::Move>,
    learnt: Learnt,
    /// Not 0 for a helper, which is to go other ways.
    variety: u32,
    pub(super) lines: Lines<P::Move>,
    /// How many values were no more than estimates.
    pub(super) estimates: u64,
    /// The greatest ply that was reached.
    pub(super) deepest: u32,
    /// How many places of the table have been taken.
    places_taken: u64,
    /// How many moves were not looked at since one before them was enough.
    pub(super) skipped: u64,
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
        table: &'a Table,
        parts: Parts,
        past: &KeyHistory,
    ) -> Self {
        Self {
            budget,
            parts,
            table,
            path: Path::after(past),
            moves: Moves::new(),
            learnt: Learnt::default(),
            variety: 0,
            lines: Lines::default(),
            estimates: 0,
            deepest: 0,
            places_taken: 0,
            skipped: 0,
            table_hits: 0,
            root_best: None,
        }
    }

    /// This search with a slightly different order of moves, another for every number.
    pub(super) const fn varied(mut self, variety: u32) -> Self {
        self.variety = variety;
        self
    }

    /// The value for `seat`, who has just moved, of `child`, reached after `ply` plies. It is counted
    /// from the position before, as the window is.
    #[inline]
    pub(super) fn child_value<W: Scope>(
        &mut self,
        seat: Seat,
        child: &P,
        depth: u32,
        ply: u32,
        window: W,
    ) -> Result<Score, Spent> {
        let window = window.sooner();
        let score = if P::TAKES_TURNS || child.turn() != seat {
            -self.value(child, depth, ply, window.across())?
        } else {
            self.value(child, depth, ply, window)?
        };
        Ok(score.later(1))
    }

    /// The value for the seat to move of `pos`, reached after `ply` plies, looking `depth` plies
    /// further.
    #[inline]
    pub(super) fn value<W: Scope>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        mut window: W,
    ) -> Result<Score, Spent> {
        self.budget.visit()?;
        self.deepest = self.deepest.max(ply);
        if !W::IS_NULL {
            self.lines.clear(ply);
        }
        if let Some(outcome) = pos.outcome() {
            return Ok(Score::of_end(outcome, pos.ending(), pos.turn(), 0));
        }
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            if self.path.ends(pos, ply) {
                // It is a draw by this path alone, so nothing is proven.
                self.estimates += 1;
                return Ok(Score::DRAW);
            }
            self.path.reach(pos, ply);
        }

        // Bounds of the value by the plies to the nearest possible end (mate-distance pruning), and by
        // what the game knows. Where the line of best play is wanted, it is followed to its end.
        let mut known = Bounds::ANY;
        if self.parts.knowledge && (W::IS_NULL || depth == 0) {
            let mut visited = 0;
            let found = pos.finish(window.alpha(), window.beta(), &mut visited);
            self.budget.add(visited);
            if let Some(score) = found {
                return Ok(score);
            }
            known = pos.bounds();
            if let Some(score) = window.narrow(known) {
                return Ok(score);
            }
        }
        if depth == 0 {
            self.estimates += 1;
            if !self.parts.estimates {
                return Ok(Score::DRAW);
            }
            return self.quiet_value(pos, ply, window);
        }
        self.look(pos, depth, ply, window, known)
    }

    /// The value of a position of which a glance did not tell enough.
    fn look<W: Scope>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        mut window: W,
        mut known: Bounds,
    ) -> Result<Score, Spent> {
        let estimates = self.estimates;
        let slot = self.slot(pos);
        let mut table_move = NO_MOVE;
        if let Some(entry) = slot.and_then(Slot::get) {
            self.table_hits += 1;
            table_move = entry.ordinal;
            // At the root a move is wanted, whatever is known.
            if W::IS_NULL && ply > 0 {
                let (bounds, estimated) = entry.bounds_at(depth, self.parts.deeper);
                self.estimates += u64::from(estimated);
                known = bounds.within(known);
                if let Some(score) = window.narrow(known) {
                    return Ok(score);
                }
            }
        }
        let depth = self.depth_with(table_move, depth, ply);
        let outlook = self.outlook::<W>(pos, depth, ply);
        if let Some(score) = self.good_enough(pos, outlook, window)? {
            return Ok(score);
        }

        let below = self.moves.begin();
        let bounds = self.consider(pos);
        if W::IS_NULL && ply > 0 {
            known = known.within(bounds);
            if let Some(score) = window.narrow(bounds) {
                self.moves.end(below);
                return Ok(score);
            }
        }
        if self.variety != 0 && ply < VARIED_PLIES {
            self.moves.vary(self.variety ^ ply);
        }
        if W::IS_NULL
            && ply > 0
            && let Some(score) = self.transposed(pos, depth, window)
        {
            self.moves.end(below);
            return Ok(score);
        }
        self.learnt.rank(pos, &mut self.moves, table_move, ply);
        let (best, ordinal) = self.best_move(pos, depth, ply, window, outlook)?;
        self.moves.end(below);

        if let Some(slot) = slot {
            let complete = self.estimates == estimates;
            let entry = TableEntry::new(known.learn(window, best), depth, complete, ordinal);
            self.places_taken += u64::from(slot.put(entry));
        }
        Ok(best)
    }

    /// Where the table keeps what is known of a position, if the table is used.
    #[inline]
    fn slot(&self, pos: &P) -> Option<Slot<'a>> {
        // What was estimated is of no use to a proof.
        let salt = if self.parts.estimates { 0 } else { PROOF_SALT };
        (self.parts.table).then(|| self.table.slot(pos.key() ^ salt))
    }

    /// A value that is good enough, where the table knows it of a position that one of the moves on top of
    /// the stack leads to (enhanced transposition cut-off: Plaat et al., "Exploiting graph properties of
    /// game trees", 1996).
    #[inline]
    fn transposed(&mut self, pos: &P, depth: u32, window: impl Scope) -> Option<Score> {
        if !self.parts.knowledge || !P::TAKES_TURNS || pos.plies_left() < P::TRANSPOSES_FROM {
            return None;
        }
        for index in 0..self.moves.len() {
            let Ranked { m, note, .. } = self.moves.list()[index];
            let Some(entry) = self.slot(&pos.follow(m, note)).and_then(Slot::get) else {
                continue;
            };
            let (bounds, estimated) = entry.bounds_at(depth - 1, self.parts.deeper);
            let least = (-bounds.upper).later(1);
            if least >= window.beta() {
                self.estimates += u64::from(estimated);
                return Some(least);
            }
        }
        None
    }

    /// Searches the moves on top of the stack, the most promising first, until one is good enough.
    /// Returns the best score, and the ordinal of the move that has it if it is above alpha.
    #[inline]
    fn best_move<W: Scope>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        window: W,
        outlook: Outlook,
    ) -> Result<(Score, u8), Spent> {
        let mut best = (Score::WORST, NO_MOVE);
        let mut rest = window;
        for index in 0..self.moves.len() {
            let ranked = self.moves.pick(index);
            let child = if self.parts.knowledge {
                pos.follow(ranked.m, ranked.note)
            } else {
                pos.after(ranked.m)
            };
            if self.path.forbids(&child, ply + 1) {
                continue;
            }
            if depth == 1 && !self.parts.estimates && !child.is_tense() {
                // Nobody has lost who is not in check, or the like; what else it is worth is not the question.
                best.0 = best.0.max(Score::DRAW);
                self.estimates += 1;
                continue;
            }
            let is_tense = P::REDUCES && child.is_tense();
            if let Some(most) = self.futile(is_tense, &ranked, index, outlook, rest, best.0) {
                best.0 = best.0.max(most);
                continue;
            }
            let reduction = self.reduction::<W>(is_tense, index, outlook);
            let left = depth - 1 + self.extension(is_tense, outlook);
            let score = self.move_value(pos, &child, index, (left, reduction), ply, rest)?;
            if score > best.0 {
                best.0 = score;
                if score > rest.alpha() {
                    best.1 = ranked.ordinal;
                    if ply == 0 {
                        self.root_best = Some(ranked.m);
                    }
                    if !W::IS_NULL {
                        self.lines.extend(ply, ranked.m);
                    }
                    // The opponent, who has something better elsewhere, will not come here.
                    if score >= rest.beta() {
                        self.learnt.cut(pos, &mut self.moves, index, depth, ply);
                        self.skipped += (self.moves.len() - index - 1) as u64;
                        break;
                    }
                    rest = rest.above(score);
                }
            }
        }
        Ok(best)
    }

    /// The value that a move leads to: in full if it is the first, else first asked only whether it
    /// is better, and that perhaps less deeply.
    #[inline]
    fn move_value<W: Scope>(
        &mut self,
        pos: &P,
        child: &P,
        index: usize,
        (left, reduction): (u32, u32),
        ply: u32,
        window: W,
    ) -> Result<Score, Spent> {
        // Where seats take turns it does not matter whose turn it is, and nobody need ask.
        let seat = if P::TAKES_TURNS {
            Seat::First
        } else {
            pos.turn()
        };
        let alpha = window.alpha();
        let scout = NullWindow { alpha };
        if reduction > 0 {
            let less = left.saturating_sub(reduction);
            let score = self.child_value(seat, child, less, ply + 1, scout)?;
            if score <= alpha {
                return Ok(score);
            }
        }
        if index > 0 && !W::IS_NULL {
            let score = self.child_value(seat, child, left, ply + 1, scout)?;
            if score <= alpha || score >= window.beta() {
                return Ok(score);
            }
        }
        self.child_value(seat, child, left, ply + 1, window)
    }

    /// The value of a position at the end of the look: an estimate, or better, if noisy moves lead
    /// to one, their value (quiescence search: Harris, "The heuristic search and the game of chess",
    /// 1975).
    fn quiet_value<W: Scope>(&mut self, pos: &P, ply: u32, mut window: W) -> Result<Score, Spent> {
        if !P::NOISY || !self.parts.quiescence {
            return Ok(pos.evaluate());
        }
        // Where there is little choice, to leave things as they are is none.
        let mut best = if pos.is_tense() {
            Score::WORST
        } else {
            pos.evaluate()
        };
        if best >= window.beta() {
            return Ok(best);
        }
        window = window.above(best);
        let below = self.moves.begin();
        pos.noisy(&mut self.moves);
        for index in 0..self.moves.len() {
            let Ranked { m, note, .. } = self.moves.pick(index);
            let child = pos.follow(m, note);
            if self.path.forbids(&child, ply + 1) {
                continue;
            }
            let score = self.child_value(pos.turn(), &child, 0, ply + 1, window)?;
            best = best.max(score);
            if score >= window.beta() {
                break;
            }
            window = window.above(score);
        }
        self.moves.end(below);
        Ok(best)
    }

    #[inline]
    fn consider(&mut self, pos: &P) -> Bounds {
        if self.parts.knowledge {
            pos.consider(&mut self.moves)
        } else {
            self.moves.push_legal(pos);
            Bounds::ANY
        }
    }

    /// How many of a thousand places of the table hold what this search has found.
    pub(super) fn table_use(&self) -> u32 {
        let per_mille = self.places_taken * 1000 / self.table.places();
        u32::try_from(per_mille).unwrap_or(1000).min(1000)
    }

    /// The moves worth considering where the search begins, the most promising first, and a score
    /// that the value is no worse than.
    pub(super) fn first_moves(&mut self, pos: &P) -> (Vec<P::Move>, Score) {
        self.listed(pos, |search| {
            if search.parts.knowledge {
                pos.consider_first(&mut search.moves)
            } else {
                search.consider(pos)
            }
        })
    }

    /// The moves worth considering in `pos`, where lines begin, the most promising first.
    pub(super) fn promising(&mut self, pos: &P) -> Vec<P::Move> {
        self.listed(pos, |search| search.consider(pos)).0
    }

    /// The moves that `list` lists, the most promising first, and the lower of the bounds it tells.
    fn listed(&mut self, pos: &P, list: impl FnOnce(&mut Self) -> Bounds) -> (Vec<P::Move>, Score) {
        let below = self.moves.begin();
        let bounds = list(self);
        let moves = (0..self.moves.len())
            .map(|index| self.moves.pick(index).m)
            .collect();
        self.moves.end(below);
        (self.allowed(pos, moves), bounds.lower)
    }

    /// All legal moves of `pos`, where lines begin, in the order of the rules.
    pub(super) fn legal(&mut self, pos: &P) -> Vec<P::Move> {
        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        self.allowed(pos, moves)
    }

    fn allowed(&mut self, pos: &P, mut moves: Vec<P::Move>) -> Vec<P::Move> {
        self.begin(pos);
        if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            moves.retain(|m| !self.path.forbids(&pos.after(*m), 1));
        }
        moves
    }

    /// Lets all lines begin with `pos`.
    pub(super) fn begin(&mut self, pos: &P) {
        self.path.reach(pos, 0);
    }
}
