//! What is thought of a move before it is tried.

use super::patterns::matches_pattern;
use super::tactics::{LadderScope, is_self_atari, urgent_points};
use crate::game::Seat;
use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::{Board, PASS};
use crate::search::mcts::Candidate;

/// For how many playouts a thought counts. Half of these are won.
const EVEN_PLAYOUTS: u16 = 10;

/// All of these are won: to capture or to save a stone, or several; a shape; to play near the last move, by
/// how far away; and on the third line where all is empty.
const CAPTURE_ONE_WINS: u16 = 15;
const CAPTURE_MANY_WINS: u16 = 30;
const PATTERN_WINS: u16 = 10;
const NEAR_LAST_MOVE_WINS: [u16; 3] = [24, 22, 8];
const THIRD_LINE_WINS: u16 = 10;

/// All of these are lost: the first two lines where all is empty, and to lose stones.
const LOW_LINE_LOSSES: u16 = 10;
const SELF_ATARI_LOSSES: u16 = 10;

/// Stones no farther away than so many steps make an area not empty.
const EMPTY_DISTANCE: u32 = 3;

/// What is thought of all moves of the side to move.
pub(super) struct MovePriors<const N: u8> {
    /// Where a stone captures or saves one, or more.
    captures_one: Bitboard<N>,
    captures_many: Bitboard<N>,
    /// The points near the last move, by how far away: stones of a chain are no distance from each other.
    near_last_move: [Bitboard<N>; 3],
    /// The points that stones are near to.
    near_stones: Bitboard<N>,
}

impl<const N: u8> MovePriors<N> {
    pub(super) const PASS_PRIOR: Candidate = Candidate {
        m: PASS,
        prior_playouts: EVEN_PLAYOUTS,
        prior_wins: EVEN_PLAYOUTS / 2,
    };

    pub(super) fn from_board(board: &Board<N>) -> Self {
        let stones = Seat::ALL.map(|seat| board.stones(seat));
        let mut near_stones = stones[0] | stones[1];
        for _ in 0..EMPTY_DISTANCE {
            near_stones |= near_stones.neighbours();
        }
        let mut priors = Self {
            captures_one: Bitboard::EMPTY,
            captures_many: Bitboard::EMPTY,
            near_last_move: points_near_last_move(board),
            near_stones,
        };
        for mut remaining in stones {
            while let Some(next) = remaining.first() {
                let chain = board.chain(next);
                remaining = remaining & !chain.stones;
                let points = urgent_points(board, chain, LadderScope::Everywhere);
                if chain.stones.is_single() {
                    priors.captures_one |= points;
                } else {
                    priors.captures_many |= points;
                }
            }
        }
        priors
    }

    /// What is thought of a stone on this point.
    pub(super) fn candidate_with_prior(&self, board: &Board<N>, bit: u8) -> Candidate {
        let mut prior_wins = 0;
        if self.captures_many.has(bit) {
            prior_wins += CAPTURE_MANY_WINS;
        } else if self.captures_one.has(bit) {
            prior_wins += CAPTURE_ONE_WINS;
        }
        if matches_pattern(board.neighbourhood(bit)) {
            prior_wins += PATTERN_WINS;
        }
        for (points, playouts) in self.near_last_move.iter().zip(NEAR_LAST_MOVE_WINS) {
            if points.has(bit) {
                prior_wins += playouts;
            }
        }
        let mut prior_losses = 0;
        if !self.near_stones.has(bit) {
            match distance_from_edge::<N>(bit) {
                0 | 1 => prior_losses += LOW_LINE_LOSSES,
                2 => prior_wins += THIRD_LINE_WINS,
                _ => {}
            }
        }
        if is_self_atari(board, bit, LadderScope::Everywhere) {
            prior_losses += SELF_ATARI_LOSSES;
        }
        Candidate {
            m: bit,
            prior_playouts: EVEN_PLAYOUTS + prior_wins + prior_losses,
            prior_wins: EVEN_PLAYOUTS / 2 + prior_wins,
        }
    }
}

/// The empty points one, two and three steps from the last move.
fn points_near_last_move<const N: u8>(board: &Board<N>) -> [Bitboard<N>; 3] {
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
fn distance_from_edge<const N: u8>(bit: u8) -> u8 {
    let (file, rank) = Bitboard::<N>::file_and_rank(bit);
    file.min(rank).min(N - 1 - file).min(N - 1 - rank)
}
