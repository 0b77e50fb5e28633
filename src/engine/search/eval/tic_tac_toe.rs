//! Tic-tac-toe evaluation: counts the lines that each side can still complete.

use crate::game::tic_tac_toe::{LINES, Move, TicTacToe};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, MoveStack, Score, VisibleFeatures};

/// Value of a line that only one seat has marks on, indexed by the number of marks. A line with two
/// marks threatens to win, so it is worth more than two lines with a single mark each.
const OPEN_LINE_VALUES: [i32; 3] = [0, 10, 40];

impl Evaluate for TicTacToe {
    /// The game can be solved from the start.
    const SOLVABLE_PLIES_MAX: u32 = 9;

    /// Number of positions that can arise in play.
    const POSITIONS_MAX: usize = 5_478;

    const SEATS_ALTERNATE: bool = true;

    const MOVE_INDEX_COUNT: usize = 9;

    fn evaluate(&self) -> Score {
        let seat = self.turn();
        Score::estimate(open_lines_value(*self, seat) - open_lines_value(*self, seat.other()))
    }

    fn static_bounds(&self) -> Bounds {
        if winning_squares(*self, self.turn()) != 0 {
            return Bounds::exact(Score::win_in(1));
        }
        if winning_squares(*self, self.turn().other()).count_ones() > 1 {
            return Bounds::exact(Score::loss_in(2));
        }
        Bounds {
            lower: Score::loss_in(2),
            upper: Score::win_in(3),
        }
    }

    fn visible_features(&self) -> VisibleFeatures {
        VisibleFeatures {
            winning_threats: Some(Seat::ALL.map(|seat| winning_squares(*self, seat).count_ones())),
            ..VisibleFeatures::default()
        }
    }

    /// If the side to move can win at once, lists only the winning moves. Otherwise, if the
    /// opponent threatens to complete a line, lists only the moves that block it.
    fn list_candidates(&self, moves: &mut MoveStack<Move>) -> Bounds {
        let [own, other] =
            [self.turn(), self.turn().other()].map(|seat| winning_squares(*self, seat));
        let forced = if own != 0 { own } else { other };
        moves.push_legal_if(self, |m| forced == 0 || forced & m.bit() != 0);
        Bounds::UNBOUNDED
    }

    /// Ranks a move by the number of lines through its square. The centre comes first, then the
    /// corners, then the edges.
    fn rank_move(&self, m: Move) -> i32 {
        LINES
            .into_iter()
            .map(|line| i32::from(line & m.bit() != 0))
            .sum()
    }

    fn move_index(&self, m: Move) -> usize {
        m.bit().trailing_zeros() as usize
    }

    /// Positions that are rotations or reflections of each other share a key.
    fn key(&self) -> u64 {
        let [firsts, seconds] =
            Seat::ALL.map(|seat| &SYMMETRIC_IMAGES[usize::from(self.marks(seat))]);
        let keys = firsts
            .iter()
            .zip(seconds)
            .map(|(first, second)| u64::from(*first) << 9 | u64::from(*second));
        keys.min().unwrap_or_default()
    }

    fn remaining_plies_max(&self) -> u32 {
        let marked = self.marks(Seat::First) | self.marks(Seat::Second);
        Self::INFO.plies_max - marked.count_ones()
    }

    /// Returns ten minus the number of plies for a win, and the negative of this number for a loss.
    /// Textbooks use this scale. Estimates are returned unchanged.
    fn conventional_score(&self, score: Score) -> i32 {
        let Some(plies) = score.plies_to_end() else {
            return score.value();
        };
        let size = 10 - plies.cast_signed();
        if score > Score::DRAW { size } else { -size }
    }
}

/// Images of every possible set of squares under the eight rotations and reflections of the board.
static SYMMETRIC_IMAGES: [[u16; 8]; 512] = {
    let mut images = [[0; 8]; 512];
    let mut marks = 0;
    while marks < 512 {
        let mut image = marks;
        let mut symmetry = 0;
        while symmetry < 8 {
            images[marks as usize][symmetry] = image;
            image = if symmetry % 2 == 0 {
                flip_ranks(image)
            } else {
                transpose(image)
            };
            symmetry += 1;
        }
        marks += 1;
    }
    images
};

/// Mirrors the squares across the middle rank. Each octal digit of `marks` is a rank.
const fn flip_ranks(marks: u16) -> u16 {
    (marks & 0o007) << 6 | marks & 0o070 | (marks & 0o700) >> 6
}

/// Mirrors the squares across the diagonal through a1, so that ranks become files.
const fn transpose(marks: u16) -> u16 {
    marks & 0o421
        | (marks & 0o042) << 2
        | (marks & 0o210) >> 2
        | (marks & 0o004) << 4
        | (marks & 0o100) >> 4
}

/// Returns the free squares that complete a line of `seat`.
fn winning_squares(pos: TicTacToe, seat: Seat) -> u16 {
    let [marks, others] = [seat, seat.other()].map(|seat| pos.marks(seat));
    LINES
        .into_iter()
        .map(|line| line & !marks)
        .filter(|rest| rest.is_power_of_two() && rest & others == 0)
        .fold(0, |all, square| all | square)
}

fn open_lines_value(pos: TicTacToe, seat: Seat) -> i32 {
    LINES
        .into_iter()
        .filter(|line| pos.marks(seat.other()) & line == 0)
        .filter_map(|line| OPEN_LINE_VALUES.get((pos.marks(seat) & line).count_ones() as usize))
        .sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::search::minimax_comparison_tests::all_positions;

    /// The 5,478 positions form 765 classes under rotation and reflection.
    #[test]
    fn symmetric_positions_share_a_key() {
        let keys: HashSet<_> = all_positions().iter().map(TicTacToe::key).collect();
        assert_eq!(keys.len(), 765);
    }

    fn check_value(position: &str, value: i32) {
        let pos: TicTacToe = position.parse().expect(position);
        assert_eq!(pos.evaluate().value(), value, "{position}");
    }

    #[test]
    fn open_lines_count_for_the_seat_to_move() {
        check_value(".../.../...", 0);
        check_value(".../.x./...", -40);
        check_value("o../.x./...", 30 - 20);
        check_value("o../.x./..x", 20 - 50);
        check_value(".o./.x./..x", 10 - 80);
    }
}
