//! Estimates the values of moves before the tree search has tried them.

use super::patterns::matches_pattern;
use super::tactics::{LadderScope, is_self_atari, urgent_points};
use crate::game::Seat;
use crate::game::go::bitboard::Bitboard;
use crate::game::go::incremental_board::{Board, PASS};
use crate::search::mcts::Candidate;

/// Number of virtual playouts that every move starts with. Half of these playouts count as wins.
const EVEN_PLAYOUTS: u16 = 10;

/// Virtual wins that are added for promising moves. Promising moves are captures and rescues of
/// chains, pattern moves, moves near the last move, and moves on the third line in an empty area.
/// `NEAR_LAST_MOVE_WINS` holds the wins for distances one, two and three from the last move.
const CAPTURE_ONE_WINS: u16 = 15;
const CAPTURE_MANY_WINS: u16 = 30;
const PATTERN_WINS: u16 = 10;
const NEAR_LAST_MOVE_WINS: [u16; 3] = [24, 22, 8];
const THIRD_LINE_WINS: u16 = 10;

/// Virtual losses that are added for bad moves. Bad moves are self-atari and moves on the first two
/// lines in an empty area.
const LOW_LINE_LOSSES: u16 = 10;
const SELF_ATARI_LOSSES: u16 = 10;

/// Distance from the nearest stone beyond which an area counts as empty.
const EMPTY_DISTANCE: u32 = 3;

/// Properties of a position that determine the prior values of its moves.
pub(super) struct MovePriors<const N: u8> {
    /// Points where a move captures or rescues a single stone. `captures_many` holds the points
    /// where a move captures or rescues several stones.
    captures_one: Bitboard<N>,
    captures_many: Bitboard<N>,
    /// Empty points at distances one, two and three from the last move. Stones of the same chain
    /// have distance 0 from each other.
    near_last_move: [Bitboard<N>; 3],
    /// Points within `EMPTY_DISTANCE` steps of a stone, including the stones themselves.
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

    /// Returns the move on this point with its virtual playouts and wins.
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

/// Returns the empty points at distances one, two and three from the last move. Stones of the same
/// chain have distance 0 from each other.
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

/// Returns the distance of a point from the edge. Edge points have distance 0.
fn distance_from_edge<const N: u8>(bit: u8) -> u8 {
    let (file, rank) = Bitboard::<N>::file_and_rank(bit);
    file.min(rank).min(N - 1 - file).min(N - 1 - rank)
}
