//! What is thought of a move before it is tried.

use super::patterns::is_shape;
use super::tactics::{Ladders, is_self_atari, urgent};
use crate::game::Seat;
use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::{Board, PASS};
use crate::search::tree::Candidate;

/// For how many playouts a thought counts. Half of these are won.
const EVEN: u16 = 10;

/// All of these are won: to capture or to save a stone, or several; a shape; to play near the last move, by
/// how far away; and on the third line where all is empty.
const CAPTURE_ONE: u16 = 15;
const CAPTURE_MANY: u16 = 30;
const SHAPE: u16 = 10;
const NEAR: [u16; 3] = [24, 22, 8];
const THIRD_LINE: u16 = 10;

/// All of these are lost: the first two lines where all is empty, and to lose stones.
const LOW_LINE: u16 = 10;
const SELF_ATARI: u16 = 10;

/// Stones no farther away than so many steps make an area not empty.
const EMPTY_STEPS: u32 = 3;

/// What is thought of all moves of the side to move.
pub(super) struct Thoughts<const N: u8> {
    /// Where a stone captures or saves one, or more.
    captures_one: Bitboard<N>,
    captures_many: Bitboard<N>,
    /// The points near the last move, by how far away: stones of a chain are no distance from each other.
    near: [Bitboard<N>; 3],
    /// The points that stones are near to.
    busy: Bitboard<N>,
}

impl<const N: u8> Thoughts<N> {
    pub(super) const OF_A_PASS: Candidate = Candidate {
        m: PASS,
        playouts: EVEN,
        won: EVEN / 2,
    };

    pub(super) fn of(board: &Board<N>) -> Self {
        let stones = Seat::ALL.map(|seat| board.stones(seat));
        let mut busy = stones[0] | stones[1];
        for _ in 0..EMPTY_STEPS {
            busy |= busy.neighbours();
        }
        let mut thoughts = Self {
            captures_one: Bitboard::EMPTY,
            captures_many: Bitboard::EMPTY,
            near: near(board),
            busy,
        };
        for mut rest in stones {
            while let Some(next) = rest.first() {
                let chain = board.chain(next);
                rest = rest & !chain.stones;
                let points = urgent(board, chain, Ladders::Everywhere);
                if chain.stones.is_single() {
                    thoughts.captures_one |= points;
                } else {
                    thoughts.captures_many |= points;
                }
            }
        }
        thoughts
    }

    /// What is thought of a stone on this point.
    pub(super) fn candidate(&self, board: &Board<N>, bit: u8) -> Candidate {
        let mut won = 0;
        if self.captures_many.has(bit) {
            won += CAPTURE_MANY;
        } else if self.captures_one.has(bit) {
            won += CAPTURE_ONE;
        }
        if is_shape(board.neighbourhood(bit)) {
            won += SHAPE;
        }
        for (points, playouts) in self.near.iter().zip(NEAR) {
            if points.has(bit) {
                won += playouts;
            }
        }
        let mut lost = 0;
        if !self.busy.has(bit) {
            match line::<N>(bit) {
                0 | 1 => lost += LOW_LINE,
                2 => won += THIRD_LINE,
                _ => {}
            }
        }
        if is_self_atari(board, bit, Ladders::Everywhere) {
            lost += SELF_ATARI;
        }
        Candidate {
            m: bit,
            playouts: EVEN + won + lost,
            won: EVEN / 2 + won,
        }
    }
}

/// The empty points one, two and three steps from the last move.
fn near<const N: u8>(board: &Board<N>) -> [Bitboard<N>; 3] {
    let mut rings = [Bitboard::EMPTY; 3];
    let Some(last) = board.last_moves()[0] else {
        return rings;
    };
    let mut reached = Bitboard::from_bit_index(last);
    if !board.empty().has(last) {
        reached |= board.chain(last).stones;
    }
    for ring in &mut rings {
        let step = reached.neighbours() & !reached;
        *ring = step & board.empty();
        reached |= step;
        for bit in step & !board.empty() {
            reached |= board.chain(bit).stones;
        }
    }
    rings
}

/// How far from the edge a point is.
fn line<const N: u8>(bit: u8) -> u8 {
    let (file, rank) = Bitboard::<N>::file_and_rank(bit);
    file.min(rank).min(N - 1 - file).min(N - 1 - rank)
}
