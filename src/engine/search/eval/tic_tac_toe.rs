//! Tic-tac-toe at a glance: who has more lines still to hope for.

use crate::game::tic_tac_toe::{LINES, Move, TicTacToe};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Moves, Score, Sight};

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

    fn bounds(&self) -> Bounds {
        if wins(*self, self.turn()) != 0 {
            return Bounds::exactly(Score::win_in(1));
        }
        if wins(*self, self.turn().other()).count_ones() > 1 {
            return Bounds::exactly(Score::loss_in(2));
        }
        Bounds {
            lower: Score::loss_in(2),
            upper: Score::win_in(3),
        }
    }

    fn sight(&self) -> Sight {
        Sight {
            threats: Some(Seat::ALL.map(|seat| wins(*self, seat).count_ones())),
            ..Sight::default()
        }
    }

    /// A win at once needs no second look, and a threat to win leaves no choice.
    fn consider(&self, moves: &mut Moves<Move>) -> Bounds {
        let [own, other] = [self.turn(), self.turn().other()].map(|seat| wins(*self, seat));
        let forced = if own != 0 { own } else { other };
        moves.push_legal_if(self, |m| forced == 0 || forced & m.bit() != 0);
        Bounds::ANY
    }

    /// The middle before the corners before the edges: by how many lines lead through a square.
    fn rank(&self, m: Move) -> i32 {
        LINES
            .into_iter()
            .map(|line| i32::from(line & m.bit() != 0))
            .sum()
    }

    fn index(&self, m: Move) -> usize {
        m.bit().trailing_zeros() as usize
    }

    /// Positions that can be turned or mirrored into each other share a key.
    fn key(&self) -> u64 {
        let [firsts, seconds] = Seat::ALL.map(|seat| &IMAGES[usize::from(self.marks(seat))]);
        let keys = firsts
            .iter()
            .zip(seconds)
            .map(|(first, second)| u64::from(*first) << 9 | u64::from(*second));
        keys.min().unwrap_or_default()
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

/// What every set of squares becomes by the eight ways to turn and mirror the board.
static IMAGES: [[u16; 8]; 512] = {
    let mut images = [[0; 8]; 512];
    let mut marks = 0;
    while marks < 512 {
        let mut image = marks;
        let mut way = 0;
        while way < 8 {
            images[marks as usize][way] = image;
            image = if way % 2 == 0 {
                flipped(image)
            } else {
                transposed(image)
            };
            way += 1;
        }
        marks += 1;
    }
    images
};

/// The squares mirrored on the middle rank: an octal digit is a rank.
const fn flipped(marks: u16) -> u16 {
    (marks & 0o007) << 6 | marks & 0o070 | (marks & 0o700) >> 6
}

/// The squares mirrored on the diagonal from a1: ranks become files.
const fn transposed(marks: u16) -> u16 {
    marks & 0o421
        | (marks & 0o042) << 2
        | (marks & 0o210) >> 2
        | (marks & 0o004) << 4
        | (marks & 0o100) >> 4
}

/// The free squares that complete a line of `seat`.
fn wins(pos: TicTacToe, seat: Seat) -> u16 {
    let [marks, others] = [seat, seat.other()].map(|seat| pos.marks(seat));
    LINES
        .into_iter()
        .map(|line| line & !marks)
        .filter(|rest| rest.is_power_of_two() && rest & others == 0)
        .fold(0, |all, square| all | square)
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
    use std::collections::HashSet;

    use super::*;
    use crate::search::oracle::all_positions;

    /// All 5,478 positions are 765 when those that are turned or mirrored count as one.
    #[test]
    fn images_share_a_key() {
        let keys: HashSet<_> = all_positions().iter().map(TicTacToe::key).collect();
        assert_eq!(keys.len(), 765);
    }

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
