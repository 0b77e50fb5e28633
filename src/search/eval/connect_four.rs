//! Connect Four at a glance: who has better squares to hope for.
//!
//! What decides quiet games is who must play below a square on which the opponent would win. With
//! all else filled, the first player is left to play on odd ranks and the second on even ones, so
//! a square counts for more to the side that comes to it so (Allis, "A knowledge-based approach of
//! Connect-Four", 1988).

use crate::game::connect_four::ConnectFour;
use crate::game::{Position, Seat};
use crate::search::{Evaluate, Score};

/// What a free square is worth on which a side would complete a line, by whether its rank is one
/// that the side comes to when all else is filled.
const WINNING_SQUARE: [i32; 2] = [12, 40];

/// What a disc is worth on each file: a measure of the lines that lead through its squares.
const DISC_ON_FILE: [i32; 4] = [0, 2, 4, 7];

impl Evaluate for ConnectFour {
    fn evaluate(&self) -> Score {
        let [own, other] = self.discs();
        let [own_wins, other_wins] = self.wins();
        let seat = self.turn();
        Score::estimate(
            squares(own) + threats(own_wins, seat)
                - squares(other)
                - threats(other_wins, seat.other()),
        )
    }
}

/// Ranks 1, 3 and 5 of every file.
const ODD_RANKS: u64 = ConnectFour::ranks([0, 2, 4]);

/// Ranks 2, 4 and 6.
const EVEN_RANKS: u64 = ConnectFour::ranks([1, 3, 5]);

fn threats(squares: u64, seat: Seat) -> i32 {
    let fitting = squares
        & match seat {
            Seat::First => ODD_RANKS,
            Seat::Second => EVEN_RANKS,
        };
    let count = |squares: u64| squares.count_ones().cast_signed();
    WINNING_SQUARE[0] * count(squares ^ fitting) + WINNING_SQUARE[1] * count(fitting)
}

fn squares(discs: u64) -> i32 {
    (0..4)
        .map(|distance: u8| {
            let files = ConnectFour::file(distance) | ConnectFour::file(6 - distance);
            DISC_ON_FILE[usize::from(distance)] * (discs & files).count_ones().cast_signed()
        })
        .sum()
}
