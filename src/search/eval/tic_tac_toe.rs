//! Tic-tac-toe at a glance: who has more lines still to hope for.

use crate::game::tic_tac_toe::{LINES, TicTacToe};
use crate::game::{Position, Seat};
use crate::search::{Evaluate, Score};

/// What a line is worth that only one seat has marks on, by their number. Two marks threaten to
/// win, so they outweigh any two lines with one.
const OPEN_LINE: [i32; 3] = [0, 10, 40];

impl Evaluate for TicTacToe {
    fn evaluate(&self) -> Score {
        let seat = self.turn();
        Score::estimate(open_lines(*self, seat) - open_lines(*self, seat.other()))
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
