//! Othello at a glance: how free the side to move is.

use crate::game::othello::{Move, Othello};
use crate::search::{Evaluate, Score};

impl Evaluate for Othello {
    const TAKES_TURNS: bool = true;
    const MOVE_INDICES: usize = Move::COUNT;

    fn evaluate(&self) -> Score {
        Score::estimate(self.targets().count_ones().cast_signed())
    }

    fn index(&self, m: Move) -> usize {
        m.index()
    }
}
