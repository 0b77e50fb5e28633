//! Iterative deepening: searches to depth 1, then 2, then 3, until a limit is reached. The last
//! completed iteration gives the result.
//!
//! Each iteration starts with the best move of the previous one, because alpha-beta prunes most if
//! the best move comes first (Slate and Atkin, "Chess 4.5", 1977).

use super::budget::BudgetExhausted;
use super::pvs::{FULL_DEPTH, Searcher};
use super::quick_win_search::QuickWinSearch;
use super::search_result::SearchResult;
use super::search_window::{NullWindow, Window};
use super::{Evaluate, Score};

/// Maximum depth of an iteration. Only a search to the end of the game uses a greater depth.
pub(super) const DEPTH_MAX: u32 = FULL_DEPTH - 1;

/// Minimum depth of an iteration that uses aspiration windows. From this depth on, the value is
/// expected to be close to the value of the previous iteration.
const ASPIRATION_DEPTH_MIN: u32 = 4;

/// Half the width of the search window in each attempt. The window is centred on the score of the
/// previous iteration. Slate and Atkin call such a window an aspiration window.
const ASPIRATION_MARGINS: [u32; 2] = [25, 120];

/// Searches `pos` by iterative deepening. The result contains the value of `pos` and every move
/// that is at most `margin` worse than the best move. If `margin` is `None`, the result contains
/// only the best move. The game must not be over.
///
/// The first iteration ignores the limits.
pub(super) fn deepen<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    margin: Option<u32>,
    depth_max: u32,
) -> SearchResult<P::Move> {
    deepen_until(search, pos, margin, depth_max, |found, _| {
        found.is_final::<P>()
    })
}

/// Searches like [`deepen`], but calls `should_stop` after every completed iteration to decide
/// whether to continue.
pub(super) fn deepen_until<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    margin: Option<u32>,
    depth_max: u32,
    mut should_stop: impl FnMut(&SearchResult<P::Move>, &Searcher<'_, P>) -> bool,
) -> SearchResult<P::Move> {
    let mut root_moves = if margin.is_some() && !search.options.selective_root {
        // The caller requests the values of all moves, so the list of root moves must include
        // losing moves.
        search.legal_root_moves(pos)
    } else {
        let (moves, lower) = search.root_moves(pos);
        if let [m] = moves[..]
            && lower > Score::DRAW
            && lower.plies_to_end().is_some()
        {
            // The only candidate move is a proven win, so the function returns it without a search.
            // A search might still find a faster win.
            return SearchResult {
                depth: 1,
                ..SearchResult::from_win(lower, &[m])
            };
        }
        moves
    };

    let mut short_wins = QuickWinSearch::new(depth_max);
    let mut previous = SearchResult::NONE;
    for depth in 1..=depth_max.clamp(1, DEPTH_MAX) {
        let estimates = search.estimate_count;
        let mut iteration = SearchResult {
            depth,
            ..SearchResult::NONE
        };
        if iteration
            .search_with_aspiration_windows(search, pos, &root_moves, margin, &previous)
            .is_err()
        {
            // Each iteration searches the previous best move first. Even an interrupted iteration
            // has therefore searched this move more deeply, and may have found a better move.
            if !iteration.pv.is_empty() {
                (previous.score, previous.pv) = (iteration.score, iteration.pv);
            }
            break;
        }
        iteration.is_exact = search.estimate_count == estimates;
        if let Some(best) = iteration.pv.first() {
            move_to_front(&mut root_moves, 0, *best);
        }
        previous = iteration;
        // The search now has a result that it can return, so the limits apply from here on.
        let is_exhausted = search.budget.enforce().is_err();
        if margin.is_none() && !is_exhausted {
            let known_win_plies = previous
                .score
                .plies_to_end()
                .filter(|_| previous.score > Score::DRAW);
            match short_wins.run(search, pos, known_win_plies) {
                Ok(Some(win)) => return win,
                Ok(None) => {}
                Err(BudgetExhausted) => break,
            }
        }
        if should_stop(&previous, search) || is_exhausted {
            break;
        }
    }
    previous
}

/// Moves `best` forward to `index` and keeps the order of the other moves. Does nothing if `best`
/// is already before `index`.
pub(super) fn move_to_front<M: Copy + Eq>(root_moves: &mut [M], index: usize, best: M) {
    let current = root_moves.iter().position(|m| *m == best).unwrap_or(index);
    if current >= index {
        root_moves[index..=current].rotate_right(1);
    }
}

impl<M: Copy + Eq> SearchResult<M> {
    /// Searches all root moves. The function first tries narrow windows around the previous score.
    /// If the score lies outside these windows, the function searches with the full window.
    pub(super) fn search_with_aspiration_windows<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        root_moves: &[M],
        margin: Option<u32>,
        previous: &Self,
    ) -> Result<(), BudgetExhausted> {
        let uses_aspiration = search.options.aspiration_windows
            && margin.is_none()
            && self.depth >= ASPIRATION_DEPTH_MIN;
        if uses_aspiration {
            for aspiration_margin in ASPIRATION_MARGINS {
                let window = Window::around(previous.score, aspiration_margin);
                self.search_root_moves(search, pos, root_moves, margin, window)?;
                if window.alpha < self.score && self.score < window.beta {
                    return Ok(());
                }
                *self = Self {
                    depth: self.depth,
                    ..Self::NONE
                };
            }
        }
        self.search_root_moves(search, pos, root_moves, margin, Window::FULL)
    }

    /// Searches the root moves until a score reaches the upper end of the window or the budget is
    /// exhausted.
    fn search_root_moves<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        root_moves: &[M],
        margin: Option<u32>,
        window: Window,
    ) -> Result<(), BudgetExhausted> {
        search.budget.visit_node()?;
        search.set_root(pos);
        for (index, m) in root_moves.iter().enumerate() {
            // A move that fails low is worse than the best move so far by more than the margin. If
            // a later move becomes the best move, this difference only grows.
            let alpha = margin.map_or(self.score.max(window.alpha), |margin| {
                self.score.saturating_sub(margin.saturating_add(1))
            });
            let window = Window { alpha, ..window };
            let child = pos.after(*m);
            let (seat, depth) = (pos.turn(), self.depth - 1);
            if index > 0 && margin.is_none() {
                let null_window = NullWindow { alpha };
                if search.search_child(seat, &child, depth, 1, null_window)? <= alpha {
                    continue;
                }
            }
            let score = search.search_child(seat, &child, depth, 1, window)?;
            if score > alpha {
                self.near_best_moves.push((*m, score));
            }
            if score > self.score {
                self.score = score;
                self.pv.clear();
                self.pv.push(*m);
                // The line of play after a move that fails low is unknown.
                if score > alpha {
                    self.pv.extend_from_slice(search.pv_table.line_at(1));
                }
            }
            if score >= window.beta {
                break;
            }
        }
        let score_min = margin.map_or(self.score, |margin| self.score.saturating_sub(margin));
        self.near_best_moves
            .retain(|(_, score)| *score >= score_min);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::game::GameHistory;
    use crate::game::chess::Chess;
    use crate::search::{Limits, Report, Stop, TranspositionTable, search, search_with_progress};

    /// In this position, captures alone lead to a win, so the first iteration already finds a win.
    /// Proving that no faster win exists takes many nodes.
    #[test]
    fn node_limit_holds_when_first_iteration_finds_a_win() {
        let fen = "2r2bnr/ppNb2pp/2p5/3B3k/P2QP2q/2P1BP2/1P3N1P/4K1R1 w - - 3 21";
        let pos: Chess = fen.parse().expect("the FEN is valid");
        let (limits, table) = (Limits::nodes(400), TranspositionTable::new(1 << 20));
        let report = search(&GameHistory::from(pos), &limits, &Stop::new(), &table);
        let Report { nodes, score, .. } = report.expect("the game is not over");
        assert!(score.plies_to_end().is_some());
        assert!(nodes < 1_000, "{nodes} nodes");
    }

    /// Every reported line of play must be legal, even if the search was interrupted in an
    /// iteration that failed low.
    #[test]
    fn pv_is_legal_wherever_the_search_is_cut_off() {
        let mut table = TranspositionTable::new(1 << 20);
        for first in ["h2h4", "e2e4", "a2a3", "g2g4"] {
            let mut history = GameHistory::<Chess>::initial();
            history.play(first.parse().expect(first)).expect(first);
            for nodes in (500..6000).step_by(250) {
                table.clear();
                let check = |pv: &[_]| {
                    let mut replayed = history.clone();
                    for m in pv {
                        let played = replayed.play(*m);
                        assert_eq!(played, Ok(()), "{first}, {nodes} nodes: {m} in {pv:?}");
                    }
                };
                let limits = Limits::nodes(nodes);
                let mut on_progress = |report: &Report<_>| check(&report.pv);
                let report =
                    search_with_progress(&history, &limits, &Stop::new(), &table, &mut on_progress);
                check(&report.expect("the game is not over").pv);
            }
        }
    }
}
