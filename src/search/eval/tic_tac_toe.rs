//! Tic-tac-toe at a glance: who has more lines still to hope for.

use crate::game::tic_tac_toe::{LINES, TicTacToe};
use crate::game::{Position, Seat};
use crate::search::{Evaluate, Score};

/// What a line is worth that only one seat has marks on, by their number. Two marks threaten to
/// win, so they outweigh any two lines with one.
const OPEN_LINE: [i32; 3] = [0, 10, 40];

impl Evaluate for TicTacToe {
    /// From the start.
    const SOLVED_FROM: u32 = 9;

    /// All that play can reach are 5,478.
    const POSITIONS_MAX: usize = 5_478;

    const TAKES_TURNS: bool = true;

    const MOVE_INDICES: usize = 9;

    fn evaluate(&self) -> Score {
        let seat = self.turn();
        Score::estimate(open_lines(*self, seat) - open_lines(*self, seat.other()))
    }

    fn key(&self) -> u64 {
        let marks = |seat| u64::from(self.marks(seat));
        marks(Seat::First) << 9 | marks(Seat::Second)
    }

    fn plies_left(&self) -> u32 {
        let marked = self.marks(Seat::First) | self.marks(Seat::Second);
        Self::INFO.plies_max - marked.count_ones()
    }

    /// Ten less the plies to the end, as in the textbooks.
    fn customary(&self, score: Score) -> i32 {
        let Some(plies) = score.plies_to_end() else {
            return score.value();
        };
        let size = 10 - plies.cast_signed();
        if score > Score::DRAW { size } else { -size }
    }
}

fn open_lines(pos: TicTacToe, seat: Seat) -> i32 {
    LINES
        .into_iter()
        .filter(|line| pos.marks(seat.other()) & line == 0)
        .filter_map(|line| OPEN_LINE.get((pos.marks(seat) & line).count_ones() as usize))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(position: &str, value: i32) {
        let pos: TicTacToe = position.parse().expect(position);
        assert_eq!(pos.evaluate().value(), value, "{position}");
    }

    #[test]
    fn open_lines_count_for_the_seat_to_move() {
        check(".../.../...", 0);
        check(".../.x./...", -40);
        check("o../.x./...", 30 - 20);
        check("o../.x./..x", 20 - 50);
        check(".o./.x./..x", 10 - 80);
    }
}
