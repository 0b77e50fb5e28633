//! Alpha-beta: minimax that leaves out lines which cannot change the result (Knuth and Moore, "An
//! analysis of alpha-beta pruning", 1975).
//!
//! Written as negamax, each position valued for the seat to move in it, and fail-soft: a result
//! outside the window is still a true bound, and as tight as was seen. Sides need not alternate:
//! the sign turns where the seat does.

use super::budget::{Budget, Spent};
use super::{Evaluate, Score};
use crate::game::{Position, Seat};

/// The scores that matter: what a seat is already sure of, and what its opponent will not allow.
/// A result at or below `alpha` is an upper bound, one at or above `beta` a lower bound, and one
/// between is the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

impl Window {
    /// Every score matters.
    pub(super) const FULL: Self = Self {
        alpha: Score::WORST,
        beta: Score::BEST,
    };

    /// The same scores as the opponent sees them.
    fn across(self) -> Self {
        Self {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }
}

/// One search: its budget, and buffers that are reused by all its nodes.
#[derive(Debug)]
pub(super) struct AlphaBeta<'a, P: Position> {
    pub(super) budget: Budget<'a>,
    /// Whether any position was estimated rather than known, since this was last cleared.
    pub(super) estimated: bool,
    /// The moves of all positions from the root to here, one above the other.
    moves: Vec<P::Move>,
    /// The best line from the position at each ply, as far as it was seen to be within the window.
    lines: Vec<Vec<P::Move>>,
}

impl<'a, P: Evaluate> AlphaBeta<'a, P> {
    pub(super) const fn new(budget: Budget<'a>) -> Self {
        Self {
            budget,
            estimated: false,
            moves: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The value for `seat` of `pos`, reached after `ply` plies, looking `depth` plies further.
    pub(super) fn value(
        &mut self,
        pos: &P,
        seat: Seat,
        depth: u32,
        ply: u32,
        window: Window,
    ) -> Result<Score, Spent> {
        self.budget.visit()?;
        self.line_at(ply).clear();
        if let Some(outcome) = pos.outcome() {
            return Ok(Score::of(outcome, seat, ply));
        }
        let own_turn = pos.turn() == seat;
        if depth == 0 {
            self.estimated = true;
            return Ok(if own_turn {
                pos.evaluate()
            } else {
                -pos.evaluate()
            });
        }
        if own_turn {
            self.best_child(pos, depth, ply, window)
        } else {
            self.best_child(pos, depth, ply, window.across())
                .map(|score| -score)
        }
    }

    /// The value of `pos` for the seat to move, by that of its children.
    fn best_child(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        Window { mut alpha, beta }: Window,
    ) -> Result<Score, Spent> {
        let seat = pos.turn();
        let first = self.moves.len();
        pos.legal_moves(&mut self.moves);

        let mut best = Score::WORST;
        for index in first..self.moves.len() {
            let m = self.moves[index];
            let child = pos.after(m);
            let score = self.value(&child, seat, depth - 1, ply + 1, Window { alpha, beta })?;
            best = best.max(score);
            if score > alpha {
                alpha = score;
                self.extend_line(ply, m);
            }
            // The opponent, who has something better elsewhere, will not come here: a cutoff.
            if alpha >= beta {
                break;
            }
        }
        self.moves.truncate(first);
        Ok(best)
    }

    /// The best line from the position that was valued last at `ply`.
    pub(super) fn line_at(&mut self, ply: u32) -> &mut Vec<P::Move> {
        let ply = ply as usize;
        if self.lines.len() <= ply {
            self.lines.resize_with(ply + 1, Vec::new);
        }
        &mut self.lines[ply]
    }

    /// The best line at `ply` is now `m` and what follows it.
    fn extend_line(&mut self, ply: u32, m: P::Move) {
        let (upper, lower) = self.lines.split_at_mut(ply as usize + 1);
        let (line, rest) = (&mut upper[ply as usize], &lower[0]);
        line.clear();
        line.push(m);
        line.extend_from_slice(rest);
    }
}
