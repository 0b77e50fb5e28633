//! Iterative deepening: one ply ahead, then two, then three, until something runs out. The last
//! complete look is the answer, and the best move of each look is tried first in the next, where
//! it makes alpha-beta cut most (Slate and Atkin, "Chess 4.5", 1977).

use super::alpha_beta::{AlphaBeta, Window};
use super::budget::{Budget, Spent};
use super::{Evaluate, Limits, Report, Score, Stop};

/// What looking ahead has found.
#[derive(Debug)]
pub(super) struct Findings<M> {
    pub(super) report: Report<M>,
    /// The best move and all that are within the wanted margin of it, each with its value.
    pub(super) close: Vec<(M, Score)>,
}

/// Values `pos`, and each move that is at most `margin` worse than the best; without a margin only
/// the best. `None` once there is an outcome. The first ply is looked at whatever the limits say.
pub(super) fn deepen<P: Evaluate>(
    pos: &P,
    margin: Option<u32>,
    limits: &Limits,
    stop: &Stop,
) -> Option<Findings<P::Move>> {
    if pos.outcome().is_some() {
        return None;
    }
    let mut roots = Vec::new();
    pos.legal_moves(&mut roots);

    let mut search = AlphaBeta::new(Budget::new(limits, stop));
    let mut last = Look::default();
    for depth in 1..=limits.depth.unwrap_or(u32::MAX).max(1) {
        if depth > 1 && search.budget.enforce().is_err() {
            break;
        }
        search.estimated = false;
        let mut look = Look {
            depth,
            ..Look::default()
        };
        if look.run(&mut search, pos, &roots, margin).is_err() {
            // The best of last time comes first, so what has been seen of this look in full is
            // that move, seen from farther, and perhaps one that is better still.
            if !look.pv.is_empty() {
                (last.score, last.pv) = (look.score, look.pv);
            }
            break;
        }
        let best = roots
            .iter()
            .position(|m| look.pv.first() == Some(m))
            .unwrap_or(0);
        roots[..=best].rotate_right(1);
        last = look;
        // What ends within the depth is known for certain, and so is what was never estimated.
        if last.score.plies_to_end().is_some() || !search.estimated {
            break;
        }
    }

    let Look {
        score,
        depth,
        pv,
        close,
    } = last;
    let (nodes, time) = (search.budget.nodes(), search.budget.elapsed());
    Some(Findings {
        report: Report {
            score,
            depth,
            nodes,
            time,
            pv,
        },
        close,
    })
}

/// One look at the root moves, from a certain depth.
struct Look<M> {
    depth: u32,
    score: Score,
    pv: Vec<M>,
    close: Vec<(M, Score)>,
}

impl<M> Default for Look<M> {
    fn default() -> Self {
        Self {
            depth: 0,
            score: Score::WORST,
            pv: Vec::new(),
            close: Vec::new(),
        }
    }
}

impl<M: Copy + Eq> Look<M> {
    /// Looks at all moves, or at as many as the budget allows.
    fn run<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut AlphaBeta<'_, P>,
        pos: &P,
        roots: &[M],
        margin: Option<u32>,
    ) -> Result<(), Spent> {
        search.budget.visit()?;
        for m in roots {
            // A move that fails low here is worse than the best by more than the margin, and will
            // still be so when the best has become better.
            let alpha = margin.map_or(self.score, |margin| {
                self.score.lowered(margin.saturating_add(1))
            });
            let window = Window {
                alpha,
                ..Window::FULL
            };
            let score = search.value(&pos.after(*m), pos.turn(), self.depth - 1, 1, window)?;
            if score > alpha {
                self.close.push((*m, score));
            }
            if score > self.score {
                self.score = score;
                self.pv.clear();
                self.pv.push(*m);
                self.pv.extend_from_slice(search.line_at(1));
            }
        }
        let least = margin.map_or(self.score, |margin| self.score.lowered(margin));
        self.close.retain(|(_, score)| *score >= least);
        Ok(())
    }
}
