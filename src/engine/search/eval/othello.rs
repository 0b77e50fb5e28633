//! Othello at a glance: what the discs will come to, as self-play has taught.
//!
//! Discs in the middle of a game mean nothing: nearly all of them change sides. What lasts is
//! stability, which begins in corners and grows along edges, and what leads there is mobility: a side
//! that has few moves must in the end play one that gives a corner away (Rosenbloom, "A
//! world-championship-level Othello program", 1982). How edges, corners and lines lie tells of both, and what
//! that is worth is learnt (`patterns`). Ends are played out by discs.

mod last_squares;
mod parity;
mod patterns;
mod stability;

use std::ops::RangeInclusive;

use crate::game::othello::{Move, Othello};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, Moves, Score, Sight, Strength};

use last_squares::SQUARES_MAX;
use parity::odd_quarters;
pub use patterns::Features;
use stability::stable;

/// So many squares the board has.
const SQUARES: i32 = 64;

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// With so many free squares the end may be solved, and what follows is worth a better order of moves: by what
/// they seem to be worth. With fewer that costs more than it saves.
const WEIGHED: RangeInclusive<u32> = 12..=26;

/// How much of what a move seems to be worth counts for its rank.
const WORTH_OF_RANK: i32 = 4;

impl Evaluate for Othello {
    /// With twenty free squares.
    const SOLVED_FROM: u32 = 39;

    const TAKES_TURNS: bool = true;

    const REDUCES: bool = true;

    /// Four discs.
    const SWING: u32 = 4 * patterns::DISC.unsigned_abs();

    const POINTS_MAX: i32 = SQUARES;

    const POINT: i32 = patterns::DISC;

    const TRANSPOSES_FROM: u32 = 2 * 10 - 1;

    /// What is learnt sees so much at a glance that lower levels have to be content with more.
    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(300), blocks: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(125), blocks: false },
            Level::Medium   => Strength { depth: 2,        margin: Some(140), blocks: true },
            Level::Hard     => Strength { depth: 4,        margin: Some(75),  blocks: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      blocks: true },
        }
    }

    fn evaluate(&self) -> Score {
        Score::estimate(patterns::value(self))
    }

    /// Once few squares are left, the game is played out; before that discs that are safe may be enough.
    #[inline]
    fn finish(&self, alpha: Score, beta: Score, visited: &mut u64) -> Option<Score> {
        let [own, other] = self.discs();
        let window = [alpha.points_below(), beta.points_above()];
        let found = if self.empties() <= SQUARES_MAX {
            Some(last_squares::margin(
                [own, other],
                self.playable_squares(),
                window,
                visited,
            ))
        } else {
            stability_cut(own, other, window[0])
        };
        found.map(Score::won_by)
    }

    fn consider(&self, moves: &mut Moves<Move>) -> Bounds {
        if self.playable_squares() == 0 {
            moves.push_legal(self);
            return Bounds::ANY;
        }
        let [own, other] = self.discs();
        let odd = odd_quarters(!(own | other));
        let is_weighed = WEIGHED.contains(&self.empties());
        let mut rest = self.playable_squares();
        while rest != 0 {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let child = self.after_disc(square);
            let mut rank = rank(&child, square) + 2 * count(square & odd);
            if is_weighed {
                rank -= patterns::value(&child) / WORTH_OF_RANK;
            }
            moves.push(
                Move::from_lowest_square(square),
                rank,
                child.playable_squares(),
            );
        }
        Bounds::ANY
    }

    /// The note is what the other side can play on then.
    #[inline]
    fn follow(&self, m: Move, note: u64) -> Self {
        if m == Move::PASS {
            return self.after(m);
        }
        self.after_disc_with_playable(m.bit(), note)
    }

    fn sight(&self) -> Sight {
        let mut corners = self.discs().map(|discs| (discs & CORNERS).count_ones());
        if self.turn() == Seat::Second {
            corners.reverse();
        }
        Sight {
            corners: Some(corners),
            moves: Some(self.playable_squares().count_ones()),
            ..Sight::default()
        }
    }

    /// Positions share a key if they differ in colours alone: all that counts is who moves.
    #[inline]
    fn key(&self) -> u64 {
        let [own, other] = self.discs();
        let mixed = own.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ other;
        mixed.wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// Each square, and before each but the first perhaps a pass.
    #[inline]
    fn plies_left(&self) -> u32 {
        (2 * self.empties()).saturating_sub(u32::from(self.playable_squares() != 0))
    }
}

/// By how many discs a side has won a game that is over: the free squares are the winner's.
fn margin_at_end(own: u64, other: u64) -> i32 {
    let difference = count(own) - count(other);
    difference + difference.signum() * count(!(own | other))
}

/// What the side to move wins by at most, if that is no more than `alpha`: discs that the other side has
/// for good, and twice as many, are missing in the end.
#[inline]
fn stability_cut(own: u64, other: u64, alpha: i32) -> Option<i32> {
    let bound = |safe: u64| SQUARES - 2 * count(safe);
    if other & CORNERS == 0 || bound(other) > alpha {
        return None;
    }
    Some(bound(stable(other, own))).filter(|bound| *bound <= alpha)
}

/// The fewer answers a move leaves, the earlier it is tried ("fastest first"), corners above all.
fn rank(child: &Othello, square: u64) -> i32 {
    let answers = count(child.playable_squares()) + count(child.playable_squares() & CORNERS);
    8 * count(square & CORNERS) - 4 * answers
}

#[inline]
fn count(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
