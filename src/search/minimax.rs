//! Plain minimax, by the textbook (Shannon 1950): every line of play to the given depth, nothing
//! left out. Far too slow to play with and too simple to be wrong: the judge of every other search.

use super::{Evaluate, Score};
use crate::game::Seat;

/// What plain minimax found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<M> {
    /// The value for the seat to move.
    pub score: Score,
    /// The first of the best moves; none once there is an outcome, or at depth 0.
    pub best: Option<M>,
    /// Positions visited, the one asked about and all final ones among them.
    pub nodes: u64,
}

/// Values a position by looking at every line of play of up to `depth` plies.
#[must_use]
pub fn minimax<P: Evaluate>(pos: &P, depth: u32) -> Verdict<P::Move> {
    let seat = pos.turn();
    let mut nodes = 0;
    let (score, best) = visit(pos, seat, depth, 0, &mut nodes);
    Verdict { score, best, nodes }
}

/// The value for `seat`, who takes the best where it is to move and fears the worst elsewhere.
/// Whose turn it is, is asked of every position: sides need not alternate.
fn visit<P: Evaluate>(
    pos: &P,
    seat: Seat,
    depth: u32,
    ply: u32,
    nodes: &mut u64,
) -> (Score, Option<P::Move>) {
    *nodes += 1;
    if let Some(outcome) = pos.outcome() {
        return (Score::of(outcome, seat, ply), None);
    }
    let own_turn = pos.turn() == seat;
    if depth == 0 {
        return (
            if own_turn {
                pos.evaluate()
            } else {
                -pos.evaluate()
            },
            None,
        );
    }

    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    let mut best = (if own_turn { Score::WORST } else { Score::BEST }, None);
    for m in moves {
        let (score, _) = visit(&pos.after(m), seat, depth - 1, ply + 1, nodes);
        if if own_turn {
            score > best.0
        } else {
            score < best.0
        } {
            best = (score, Some(m));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::tic_tac_toe::TicTacToe;

    /// The empty board is a draw, and its whole tree has 549,946 nodes.
    #[test]
    fn the_whole_tree_of_tic_tac_toe_is_visited() {
        let verdict = minimax(&TicTacToe::start(), 9);
        assert_eq!((verdict.score, verdict.nodes), (Score::DRAW, 549_946));
    }
}
