//! Othello at a glance: who will be able to choose, and whose discs can no longer be turned over.
//!
//! Discs in the middle of a game mean nothing: nearly all of them change sides. What lasts is
//! stability, which begins in corners and grows along edges, and what leads there is mobility: a side
//! that has few moves must in the end play one that gives a corner away. These are the terms of
//! Rosenbloom's Iago ("A world-championship-level Othello program", 1982): current and potential
//! mobility, stability inside and on edges. How they change in weight in the course of a game is
//! Buro's lesson ("Statistical feature combination for the evaluation of game positions", 1995).

mod last_squares;
mod parity;
mod stability;

use crate::game::Position;
use crate::game::othello::{Move, Othello, neighbours, targets};
use crate::search::{Bounds, Evaluate, Moves, Score};

use last_squares::SQUARES_MAX;
use parity::odd_quarters;
use stability::stable;

/// So many squares the board has.
const SQUARES: i32 = 64;

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// For each corner: the corner, and the square diagonally before it. To hold that square while the
/// corner is free is to offer the corner, and to be able to play there is nothing worth having.
const CORNER_SQUARES: [[u64; 2]; 4] = [
    [1, 1 << 9],
    [1 << 7, 1 << 14],
    [1 << 56, 1 << 49],
    [1 << 63, 1 << 54],
];

/// What the terms are worth with so many free squares or more, in hundredths of the logarithm of the
/// odds to win.
///
/// Fitted by logistic regression to how 5,000 games ended, which the search played against itself with
/// 1,000 nodes a move and estimates of hand-made weights, from random openings and with a random move
/// now and then: to 207,000 positions.
struct Weights {
    empties: u32,
    /// A square to play on, but not one before a free corner.
    mobility: i32,
    /// A disc with a free square beside it: a move for the other side, sooner or later.
    frontier: i32,
    /// A free square beside a disc of the other side.
    potential: i32,
    /// A corner.
    corner: i32,
    /// A corner that can be played on at once.
    open_corner: i32,
    /// A disc before a free corner.
    before_corner: i32,
    /// A disc that can never be turned over.
    stable: i32,
    /// A disc, whatever becomes of it.
    disc: i32,
    /// To be the side that has to move.
    to_move: i32,
}

#[rustfmt::skip] // A table is read by columns.
const WEIGHTS: [Weights; 6] = [
    Weights { empties: 45, mobility: 0,  frontier: -11, potential: 5,  corner: 73, open_corner: 20, before_corner: -76, stable: 37, disc: 7, to_move: -11 },
    Weights { empties: 38, mobility: 5,  frontier: -10, potential: 2,  corner: 81, open_corner: 15, before_corner: -75, stable: 24, disc: 2, to_move: -19 },
    Weights { empties: 31, mobility: 8,  frontier: -9,  potential: 2,  corner: 71, open_corner: 26, before_corner: -56, stable: 17, disc: 1, to_move: -14 },
    Weights { empties: 24, mobility: 9,  frontier: -9,  potential: 1,  corner: 55, open_corner: 32, before_corner: -44, stable: 14, disc: 1, to_move: -23 },
    Weights { empties: 17, mobility: 14, frontier: -10, potential: -2, corner: 49, open_corner: 47, before_corner: -21, stable: 12, disc: 0, to_move: -15 },
    Weights { empties: 0,  mobility: 25, frontier: -16, potential: -8, corner: 35, open_corner: 61, before_corner: -20, stable: 13, disc: 2, to_move: -23 },
];

impl Evaluate for Othello {
    /// With twenty free squares.
    const SOLVED_FROM: u32 = 39;

    const TAKES_TURNS: bool = true;

    const POINTS_MAX: i32 = SQUARES;

    const TRANSPOSES_FROM: u32 = 2 * 10 - 1;

    fn evaluate(&self) -> Score {
        let empties = self.empties();
        let weights = WEIGHTS
            .iter()
            .find(|weights| empties >= weights.empties)
            .expect("the last are for any number");
        let [own, other] = self.discs();
        let free = !(own | other);
        let own_value = value(own, other, free, self.targets(), weights);
        let other_value = value(other, own, free, targets(other, own), weights);
        Score::estimate(own_value - other_value + weights.to_move)
    }

    /// Once few squares are left, the game is played out; before that discs that are safe may be enough.
    #[inline]
    fn finish(&self, alpha: Score, beta: Score, visited: &mut u64) -> Option<Score> {
        let [own, other] = self.discs();
        let window = [alpha.points_below(), beta.points_above()];
        let found = if self.empties() <= SQUARES_MAX {
            Some(last_squares::margin(
                [own, other],
                self.targets(),
                window,
                visited,
            ))
        } else {
            stability_cut(own, other, window[0])
        };
        found.map(Score::won_by)
    }

    fn consider(&self, moves: &mut Moves<Move>) -> Bounds {
        if self.targets() == 0 {
            moves.push_legal(self);
            return Bounds::ANY;
        }
        let [own, other] = self.discs();
        let odd = odd_quarters(!(own | other));
        let mut rest = self.targets();
        while rest != 0 {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let child = self.with_disc(square);
            let odd = count(square & odd);
            moves.push(
                Move::onto_lowest(square),
                rank(&child, square) + 2 * odd,
                child.targets(),
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
        self.with_disc_and_targets(m.bit(), note)
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
        (2 * self.empties()).saturating_sub(u32::from(self.targets() != 0))
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

/// What a side has.
fn value(own: u64, other: u64, free: u64, targets: u64, weights: &Weights) -> i32 {
    let mut useless = 0;
    let mut value = 0;
    for [corner, before] in CORNER_SQUARES {
        if own & corner != 0 {
            value += weights.corner;
        } else if free & corner != 0 {
            value += weights.before_corner * count(own & before);
            useless |= before;
        }
    }
    if own & CORNERS != 0 {
        value += weights.stable * count(stable(own, other));
    }
    value
        + weights.mobility * count(targets & !useless)
        + weights.frontier * count(own & neighbours(free))
        + weights.potential * count(neighbours(other) & free)
        + weights.open_corner * count(targets & CORNERS)
        + weights.disc * count(own)
}

/// The fewer answers a move leaves, the earlier it is tried ("fastest first"), corners above all.
fn rank(child: &Othello, square: u64) -> i32 {
    let answers = count(child.targets()) + count(child.targets() & CORNERS);
    8 * count(square & CORNERS) - 4 * answers
}

#[inline]
fn count(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
