//! Iterative deepening: one ply ahead, then two, then three, until something runs out. The last
//! complete look is the answer, and the best move of each look is tried first in the next, where
//! it makes alpha-beta cut most (Slate and Atkin, "Chess 4.5", 1977).

use super::budget::Spent;
use super::findings::Findings;
use super::pvs::{Searcher, TO_THE_END};
use super::short_win::ShortWins;
use super::window::{NullWindow, Window};
use super::{Evaluate, Score};

/// No look goes deeper, but that which ends where the game does.
pub(super) const DEPTH_MAX: u32 = TO_THE_END - 1;

/// From this depth on the value is expected to be near that of the look before.
const ASPIRATION_DEPTH_MIN: u32 = 4;

/// How near: windows are open by this to both sides (Slate and Atkin, again, who called the window
/// one of aspiration).
const ASPIRATIONS: [u32; 2] = [25, 120];

/// Values `pos`, in which there is no outcome yet, and each move that is at most `margin` worse than
/// the best; without a margin only the best. The first ply is looked at whatever the limits say.
pub(super) fn deepen<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    margin: Option<u32>,
    depth_max: u32,
) -> Findings<P::Move> {
    deepen_until(search, pos, margin, depth_max, |found, _| {
        found.is_final::<P>()
    })
}

/// Deepens as [`deepen`] does, but asks `is_enough` after every complete look whether to stop.
pub(super) fn deepen_until<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    margin: Option<u32>,
    depth_max: u32,
    mut is_enough: impl FnMut(&Findings<P::Move>, &Searcher<'_, P>) -> bool,
) -> Findings<P::Move> {
    let mut roots = if margin.is_some() && !search.parts.selection {
        // Also what surely loses has a value that is asked for.
        search.legal(pos)
    } else {
        let (moves, lower) = search.first_moves(pos);
        if let [m] = moves[..]
            && lower > Score::DRAW
            && lower.plies_to_end().is_some()
        {
            // A faster one may be known to those who look.
            return Findings {
                depth: 1,
                ..Findings::of_win(lower, &[m])
            };
        }
        moves
    };

    let mut short_wins = ShortWins::up_to(depth_max);
    let mut last = Findings::NONE;
    for depth in 1..=depth_max.clamp(1, DEPTH_MAX) {
        let estimates = search.estimates;
        let mut look = Findings {
            depth,
            ..Findings::NONE
        };
        if look.aspire(search, pos, &roots, margin, &last).is_err() {
            // The best of last time comes first, so what has been seen of this look in full is
            // that move, seen from farther, and perhaps one that is better still.
            if !look.pv.is_empty() {
                (last.score, last.pv) = (look.score, look.pv);
            }
            break;
        }
        look.complete = search.estimates == estimates;
        if let Some(best) = look.pv.first() {
            order(&mut roots, 0, *best);
        }
        last = look;
        // There is an answer now, so limits hold.
        let is_spent = search.budget.enforce().is_err();
        if margin.is_none() && !is_spent {
            let known = last
                .score
                .plies_to_end()
                .filter(|_| last.score > Score::DRAW);
            match short_wins.look(search, pos, known) {
                Ok(Some(win)) => return win,
                Ok(None) => {}
                Err(Spent) => break,
            }
        }
        if is_enough(&last, search) || is_spent {
            break;
        }
    }
    last
}

/// Moves the best to this place of the list, which is at or before its own. The others stay in order.
pub(super) fn order<M: Copy + Eq>(roots: &mut [M], place: usize, best: M) {
    let at = roots.iter().position(|m| *m == best).unwrap_or(place);
    if at >= place {
        roots[place..=at].rotate_right(1);
    }
}

impl<M: Copy + Eq> Findings<M> {
    /// Looks at all moves, at first as if the value were near that of the last look.
    pub(super) fn aspire<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        roots: &[M],
        margin: Option<u32>,
        last: &Self,
    ) -> Result<(), Spent> {
        let aspires =
            search.parts.aspiration && margin.is_none() && self.depth >= ASPIRATION_DEPTH_MIN;
        if aspires {
            for by in ASPIRATIONS {
                let window = Window::around(last.score, by);
                self.look(search, pos, roots, margin, window)?;
                if window.alpha < self.score && self.score < window.beta {
                    return Ok(());
                }
                *self = Self {
                    depth: self.depth,
                    ..Self::NONE
                };
            }
        }
        self.look(search, pos, roots, margin, Window::FULL)
    }

    /// Looks at all moves, or at as many as the budget allows.
    fn look<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        roots: &[M],
        margin: Option<u32>,
        window: Window,
    ) -> Result<(), Spent> {
        search.budget.visit()?;
        search.begin(pos);
        for (index, m) in roots.iter().enumerate() {
            // A move that fails low here is worse than the best by more than the margin, and will
            // still be so when the best has become better.
            let alpha = margin.map_or(self.score.max(window.alpha), |margin| {
                self.score.lowered(margin.saturating_add(1))
            });
            let window = Window { alpha, ..window };
            let child = pos.after(*m);
            let (seat, depth) = (pos.turn(), self.depth - 1);
            if index > 0 && margin.is_none() {
                let scout = NullWindow { alpha };
                if search.child_value(seat, &child, depth, 1, scout)? <= alpha {
                    continue;
                }
            }
            let score = search.child_value(seat, &child, depth, 1, window)?;
            if score > alpha {
                self.close.push((*m, score));
            }
            if score > self.score {
                self.score = score;
                self.pv.clear();
                self.pv.push(*m);
                // Of a move that is worth no more than was asked for, no line was seen.
                if score > alpha {
                    self.pv.extend_from_slice(search.lines.at(1));
                }
            }
            if score >= window.beta {
                break;
            }
        }
        let least = margin.map_or(self.score, |margin| self.score.lowered(margin));
        self.close.retain(|(_, score)| *score >= least);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::game::GameHistory;
    use crate::game::chess::Chess;
    use crate::search::{Limits, Report, Stop, Table, search, search_watched};

    /// Here captures alone lead to a win, so the first look sees one already. That no faster one is there
    /// takes long to prove.
    #[test]
    fn limits_hold_where_the_first_look_sees_a_win() {
        let fen = "2r2bnr/ppNb2pp/2p5/3B3k/P2QP2q/2P1BP2/1P3N1P/4K1R1 w - - 3 21";
        let pos: Chess = fen.parse().expect("FEN");
        let (limits, table) = (Limits::nodes(400), Table::new(1 << 20));
        let report = search(&GameHistory::from(pos), &limits, &Stop::new(), &table);
        let Report { nodes, score, .. } = report.expect("the game goes on");
        assert!(score.plies_to_end().is_some());
        assert!(nodes < 1_000, "{nodes} nodes");
    }

    /// Every line that is told can be played, also where a search was cut off in the middle of a look
    /// that had come out worse than expected.
    #[test]
    fn lines_can_be_played_wherever_a_search_is_cut_off() {
        let mut table = Table::new(1 << 20);
        for first in ["h2h4", "e2e4", "a2a3", "g2g4"] {
            let mut course = GameHistory::<Chess>::initial();
            course.play(first.parse().expect(first)).expect(first);
            for nodes in (500..6000).step_by(250) {
                table.forget();
                let check = |pv: &[_]| {
                    let mut line = course.clone();
                    for m in pv {
                        let played = line.play(*m);
                        assert_eq!(played, Ok(()), "{first}, {nodes} nodes: {m} in {pv:?}");
                    }
                };
                let limits = Limits::nodes(nodes);
                let mut watch = |report: &Report<_>| check(&report.pv);
                let report = search_watched(&course, &limits, &Stop::new(), &table, &mut watch);
                check(&report.expect("the game goes on").pv);
            }
        }
    }
}
