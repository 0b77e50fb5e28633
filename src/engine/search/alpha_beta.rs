//! Alpha-beta, by the textbook: minimax that leaves out lines which cannot change the result (Knuth
//! and Moore, "An analysis of alpha-beta pruning", 1975). Moves are tried in the order in which the
//! rules list them, and nothing is remembered: what that alone saves can be seen here, and what
//! better order and a table save beyond, in `pvs`.
//!
//! Written as negamax, each position valued for the seat to move in it, and fail-soft: a result
//! outside the window is still a true bound. Sides need not alternate: the sign turns where the
//! seat does.

use super::minimax::{Scale, TextbookResult};
use super::pv_table::PvTable;
use super::search_window::{SearchWindow, Window};
use super::{Evaluate, Score};
use crate::game::Seat;

/// Values a position by looking up to `depth` plies ahead. Of the moves, those after the first best
/// have no values, but bounds that their values do not exceed.
#[must_use]
pub fn alpha_beta<P: Evaluate>(pos: &P, depth: u32, scale: Scale) -> TextbookResult<P::Move> {
    let mut search = AlphaBeta {
        scale,
        nodes: 0,
        pruned: 0,
        pv_table: PvTable::default(),
    };
    let mut moves = Vec::new();
    let score = search.search_position(pos, pos.turn(), depth, 0, Window::FULL, Some(&mut moves));
    TextbookResult {
        score,
        moves,
        pv: search.pv_table.line_at(0).to_vec(),
        nodes: search.nodes,
        pruned: search.pruned,
    }
}

struct AlphaBeta<M> {
    scale: Scale,
    nodes: u64,
    pruned: u64,
    pv_table: PvTable<M>,
}

impl<M: Copy> AlphaBeta<M> {
    /// The value for `seat` of `pos`, reached after `ply` plies, looking `depth` plies further.
    /// `move_scores` is told the value of every move.
    fn search_position<P: Evaluate<Move = M>>(
        &mut self,
        pos: &P,
        seat: Seat,
        depth: u32,
        ply: u32,
        window: Window,
        move_scores: Option<&mut Vec<(M, Score)>>,
    ) -> Score {
        self.nodes += 1;
        self.pv_table.start_line(ply);
        if let Some(outcome) = pos.outcome() {
            return self.scale.score(pos, outcome, seat, ply);
        }
        let own_turn = pos.turn() == seat;
        let (window, sign) = if own_turn {
            (window, 1)
        } else {
            (window.negated(), -1)
        };
        let score = if depth == 0 {
            pos.evaluate()
        } else {
            self.search_children(pos, depth, ply, window, move_scores)
        };
        if sign > 0 { score } else { -score }
    }

    /// The value of `pos` for the seat to move, by that of its children.
    fn search_children<P: Evaluate<Move = M>>(
        &mut self,
        pos: &P,
        depth: u32,
        ply: u32,
        Window { mut alpha, beta }: Window,
        mut move_scores: Option<&mut Vec<(M, Score)>>,
    ) -> Score {
        let seat = pos.turn();
        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        let mut best = Score::WORST;
        for (index, m) in moves.iter().enumerate() {
            let window = Window { alpha, beta };
            let score =
                self.search_position(&pos.after(*m), seat, depth - 1, ply + 1, window, None);
            if let Some(told) = &mut move_scores {
                told.push((*m, score));
            }
            if score > best {
                best = score;
                self.pv_table.extend(ply, *m);
            }
            alpha = alpha.max(score);
            // The opponent, who has something better elsewhere, will not come here: a cutoff.
            if alpha >= beta {
                self.pruned += (moves.len() - index - 1) as u64;
                break;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::tic_tac_toe::TicTacToe;

    /// The effort of plain alpha-beta on the empty board, squares in the order of the board, is
    /// known. Cutting only where alpha exceeds beta, a common mistake, would show as over 100,000
    /// nodes.
    #[test]
    fn node_counts_on_empty_board_match_known_values() {
        let nodes = |scale| alpha_beta(&TicTacToe::initial(), 9, scale).nodes;
        assert_eq!(nodes(Scale::Plies), 20_866);
        assert_eq!(nodes(Scale::Outcome), 18_297);
    }
}
