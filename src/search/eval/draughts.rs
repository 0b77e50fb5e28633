//! Draughts at a glance: who has more pieces.

use crate::game::draughts::{Draughts, Move};
use crate::game::{Position, Seat};
use crate::search::{Evaluate, Score};

/// What a man is worth.
const MAN: i32 = 100;

/// What a king is worth: half as much again (Samuel, "Some studies in machine learning using the game
/// of checkers", 1959).
const KING: i32 = 150;

/// From so many quiet plies on, how many there are makes a difference to what can still be done
/// before the game is drawn.
const QUIET_PLIES_THAT_MATTER: u8 = 48;

impl Evaluate for Draughts {
    const TAKES_TURNS: bool = true;

    const MOVE_INDICES: usize = Move::INDICES;

    fn evaluate(&self) -> Score {
        Score::estimate(material(self, self.turn()) - material(self, self.turn().other()))
    }

    fn index(&self, m: Move) -> usize {
        m.index()
    }

    /// The same for positions that differ in their counts alone, until these matter.
    fn key(&self) -> u64 {
        let quiet = self.quiet_plies().saturating_sub(QUIET_PLIES_THAT_MATTER);
        self.repetition_key() ^ u64::from(quiet).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

fn material(pos: &Draughts, seat: Seat) -> i32 {
    let count = |pieces: u64| pieces.count_ones().cast_signed();
    MAN * count(pos.men(seat)) + KING * count(pos.kings(seat))
}
