//! Plain minimax search (Shannon, 1950), which searches every line of play to the given depth
//! without pruning.
//!
//! It is too slow for play, but simple enough to serve as the reference in the tests of every other
//! search.

use super::pv_table::PvTable;
use super::{Evaluate, Score};
use crate::game::{Outcome, Position, Seat};

/// Result of a textbook search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextbookResult<M> {
    /// Value of the position for the seat to move.
    pub score: Score,
    /// Every move with its value, in the order of move generation. The list is empty if the game is
    /// over or the depth is 0.
    pub moves: Vec<(M, Score)>,
    /// Principal variation: best play by both sides, up to the search depth.
    pub pv: Vec<M>,
    /// Number of visited positions, including the root and all final positions.
    pub nodes: u64,
    /// Number of moves that were skipped because they could not change the value.
    pub pruned: u64,
}

/// Rule for scoring finished games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Scores depend on the number of plies to the end, so the search prefers faster wins and
    /// slower losses. In a game decided by points, the score depends only on the point margin.
    Plies,
    /// Scores depend only on the winner: all wins have the same score, regardless of the number of
    /// plies.
    Outcome,
}

impl Scale {
    /// Returns the score for `seat` if the game ends in `pos` with `outcome` after `ply` plies.
    #[must_use]
    pub fn score<P: Position>(self, pos: &P, outcome: Outcome, seat: Seat, ply: u32) -> Score {
        match self {
            Self::Plies => Score::from_game_end(outcome, pos.ending(), seat, ply),
            Self::Outcome => Score::from_outcome(outcome, seat, 0),
        }
    }
}

/// Searches every line of play from `pos` to `depth` plies.
#[must_use]
pub fn minimax<P: Evaluate>(pos: &P, depth: u32, scale: Scale) -> TextbookResult<P::Move> {
    let mut moves = Vec::new();
    let mut search = Minimax {
        scale,
        nodes: 0,
        pv_table: PvTable::default(),
    };
    let score = search.search_position(pos, pos.turn(), depth, 0, Some(&mut moves));
    TextbookResult {
        score,
        moves,
        pv: search.pv_table.line_at(0).to_vec(),
        nodes: search.nodes,
        pruned: 0,
    }
}

struct Minimax<M> {
    scale: Scale,
    nodes: u64,
    pv_table: PvTable<M>,
}

impl<M: Copy> Minimax<M> {
    /// Returns the value of `pos` for `seat`. This value is the maximum of the move scores if
    /// `seat` is to move, and otherwise the minimum. Stores the score of every move in
    /// `move_scores`.
    ///
    /// The function reads the seat to move from each position, because a seat may move several
    /// times in a row.
    fn search_position<P: Evaluate<Move = M>>(
        &mut self,
        pos: &P,
        seat: Seat,
        depth: u32,
        ply: u32,
        mut move_scores: Option<&mut Vec<(M, Score)>>,
    ) -> Score {
        self.nodes += 1;
        self.pv_table.start_line(ply);
        if let Some(outcome) = pos.outcome() {
            return self.scale.score(pos, outcome, seat, ply);
        }
        let own_turn = pos.turn() == seat;
        if depth == 0 {
            let score = pos.evaluate();
            return if own_turn { score } else { -score };
        }

        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        let mut best = if own_turn { Score::WORST } else { Score::BEST };
        for m in moves {
            let score = self.search_position(&pos.after(m), seat, depth - 1, ply + 1, None);
            if let Some(scores) = &mut move_scores {
                scores.push((m, score));
            }
            let is_better = if own_turn { score > best } else { score < best };
            if is_better {
                best = score;
                self.pv_table.extend(ply, m);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::random_game;
    use crate::game::go::Go;
    use crate::game::tic_tac_toe::TicTacToe;

    #[test]
    fn tic_tac_toe_is_a_draw_with_a_full_tree_of_549946_nodes() {
        for scale in [Scale::Plies, Scale::Outcome] {
            let result = minimax(&TicTacToe::initial(), 9, scale);
            assert_eq!((result.score, result.nodes), (Score::DRAW, 549_946));
        }
    }

    #[test]
    fn finished_go_game_is_scored_by_points() {
        for seed in 0..20 {
            let positions = random_game::<Go<5>>(seed).0;
            let [.., before_end, end] = &positions[..] else {
                panic!("the game has moves");
            };
            let points = end.ending().and_then(|ending| ending.scores);
            let [first, second] = points.expect("the game is over").map(u32::cast_signed);
            let sign = if end.turn() == Seat::First { 1 } else { -1 };
            let value = Score::win_by_points(sign * (first - second));
            assert_eq!(minimax(end, 0, Scale::Plies).score, value, "{end}");
            // The last move of the game was legal in the position before the end. The value of that
            // position is therefore at least the value of the last move.
            assert!(
                minimax(before_end, 1, Scale::Plies).score >= -value,
                "{before_end}"
            );
        }
    }
}
