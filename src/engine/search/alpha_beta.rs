//! Textbook alpha-beta search: minimax that skips lines of play that cannot change the result
//! (Knuth and Moore, "An analysis of alpha-beta pruning", 1975).
//!
//! The search tries moves in the order of move generation and stores nothing between positions. The
//! node count of this search therefore shows how much alpha-beta alone saves. The `pvs` module adds
//! move ordering and a transposition table.
//!
//! The search is a negamax: it evaluates each position for the seat to move. It is fail-soft: a
//! result outside the window is still a valid bound. A seat may move several times in a row, so the
//! sign of a score changes only when the seat to move changes.

use super::minimax::{Scale, TextbookResult};
use super::pv_table::PvTable;
use super::search_window::{SearchWindow, Window};
use super::{Evaluate, Score};
use crate::game::Seat;

/// Searches `pos` to `depth` plies with alpha-beta pruning.
///
/// The score of a root move is exact only if it is better than the scores of all moves before it.
/// Every other score is an upper bound.
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
    /// Searches `pos` to `depth` plies and returns its value from the viewpoint of `seat`. `ply` is
    /// the distance of `pos` from the root of the search. Stores the score of every searched move
    /// in `move_scores`.
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

    /// Searches the legal moves of `pos` and returns the best score for the seat to move.
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
            if let Some(scores) = &mut move_scores {
                scores.push((*m, score));
            }
            if score > best {
                best = score;
                self.pv_table.extend(ply, *m);
            }
            alpha = alpha.max(score);
            // Beta cutoff: the opponent has a better alternative earlier in the line and avoids
            // this position.
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

    /// The node counts of alpha-beta search on the empty tic-tac-toe board must equal known values.
    /// Moves are searched in board order. A common mistake is to cut off only if alpha exceeds
    /// beta, and not if they are equal. With this mistake, the search would visit over 100,000
    /// nodes.
    #[test]
    fn node_counts_on_empty_board_match_known_values() {
        let nodes = |scale| alpha_beta(&TicTacToe::initial(), 9, scale).nodes;
        assert_eq!(nodes(Scale::Plies), 20_866);
        assert_eq!(nodes(Scale::Outcome), 18_297);
    }
}
