//! Plain minimax, by the textbook (Shannon 1950): every line of play to the given depth, nothing
//! left out. Far too slow to play with and too simple to be wrong: the judge of every other search.

use super::pv_table::PvTable;
use super::{Evaluate, Score};
use crate::game::{Outcome, Position, Seat};

/// What a search by the textbook found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextbookResult<M> {
    /// The value for the seat to move.
    pub score: Score,
    /// Every move with its value, in the order of the rules; none once there is an outcome, or at
    /// depth 0.
    pub moves: Vec<(M, Score)>,
    /// The principal variation: best play by both sides, to the depth.
    pub pv: Vec<M>,
    /// Positions visited, the one asked about and all final ones among them.
    pub nodes: u64,
    /// Moves that were not looked at, since they could not change the value.
    pub pruned: u64,
}

/// How the end of a game is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A win is worth the more the nearer it is: the faster win and the slower loss are preferred. Where
    /// points decide, it is worth its points.
    Plies,
    /// A win is a win.
    Outcome,
}

impl Scale {
    /// What an outcome of `pos` after `ply` plies is worth to `seat`.
    #[must_use]
    pub fn score<P: Position>(self, pos: &P, outcome: Outcome, seat: Seat, ply: u32) -> Score {
        match self {
            Self::Plies => Score::from_game_end(outcome, pos.ending(), seat, ply),
            Self::Outcome => Score::from_outcome(outcome, seat, 0),
        }
    }
}

/// Values a position by looking at every line of play of up to `depth` plies.
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
    /// The value for `seat`, who takes the best where it is to move and fears the worst elsewhere.
    /// Whose turn it is, is asked of every position: sides need not alternate. `move_scores` is told the
    /// value of every move.
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
            if let Some(told) = &mut move_scores {
                told.push((m, score));
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

    /// The empty board is a draw, and its whole tree has 549,946 nodes.
    #[test]
    fn tic_tac_toe_is_a_draw_with_a_full_tree_of_549946_nodes() {
        for scale in [Scale::Plies, Scale::Outcome] {
            let result = minimax(&TicTacToe::initial(), 9, scale);
            assert_eq!((result.score, result.nodes), (Score::DRAW, 549_946));
        }
    }

    /// A game that points decide is worth its points, to either side.
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
            // Who has passed last could do no worse.
            assert!(
                minimax(before_end, 1, Scale::Plies).score >= -value,
                "{before_end}"
            );
        }
    }
}
