//! Playout policy: prefers urgent moves and pattern moves near the last two moves, and otherwise
//! plays at random.

use super::patterns::matches_pattern;
use super::tactics::{LadderScope, is_self_atari, urgent_points};
use crate::game::go::bitboard::Bitboard;
use crate::game::go::incremental_board::{BIT_COUNT, Board};
use crate::search::seeded_rng::{SeededRng, scale_to_range};

/// Probabilities of the steps in a playout, in units of 2^-32. For each move, a playout first looks
/// for urgent moves, then for pattern moves, and otherwise plays a random move.
/// `SELF_ATARI_CHECK_PROBABILITY` is the probability that an urgent or pattern move is checked for
/// self-atari. `RANDOM_MOVE_SELF_ATARI_CHECK_PROBABILITY` is the probability that a random move is
/// checked for self-atari.
const URGENT_PROBABILITY: u64 = percent(90);
const PATTERN_PROBABILITY: u64 = percent(95);
const SELF_ATARI_CHECK_PROBABILITY: u64 = percent(90);
const RANDOM_MOVE_SELF_ATARI_CHECK_PROBABILITY: u64 = percent(50);

const fn percent(percentage: u64) -> u64 {
    (1 << 32) / 100 * percentage
}

/// Chooses the next move of a playout. Returns `None`, which means a pass, if the side to move has
/// no acceptable move outside its own eyes.
pub(super) fn choose_playout_move<const N: u8>(
    board: &Board<N>,
    rng: &mut SeededRng,
) -> Option<u8> {
    let areas = recent_areas(board);
    if draw_bool(URGENT_PROBABILITY, rng) {
        for area in areas {
            if let Some(bit) = urgent_move_in(board, area, rng) {
                return Some(bit);
            }
        }
    }
    if draw_bool(PATTERN_PROBABILITY, rng) {
        for area in areas {
            for bit in RotatedPoints::starting_at_random(area & board.empty(), rng) {
                if matches_pattern(board.neighbourhood(bit))
                    && is_acceptable(board, bit, SELF_ATARI_CHECK_PROBABILITY, rng)
                {
                    return Some(bit);
                }
            }
        }
    }
    let mut points = RotatedPoints::starting_at_random(board.empty(), rng);
    points.find(|bit| {
        !is_eye(board, *bit)
            && is_acceptable(board, *bit, RANDOM_MOVE_SELF_ATARI_CHECK_PROBABILITY, rng)
    })
}

/// Returns whether this empty point is an eye of the side to move that the opponent cannot make
/// false.
#[inline]
pub(super) fn is_eye<const N: u8>(board: &Board<N>, bit: u8) -> bool {
    let own = board.stones(board.turn());
    if Board::<N>::neighbours(bit).intersects(!own) {
        return false;
    }
    let point = Bitboard::<N>::from_bit_index(bit);
    let taken_diagonals = point.diagonals() & board.stones(board.turn().other());
    taken_diagonals.is_empty() || taken_diagonals.is_single() && !Bitboard::<N>::EDGE.has(bit)
}

/// Returns two areas: the last move with its surrounding points, and the move before it with its
/// surrounding points. The second area excludes the points of the first area.
#[inline]
fn recent_areas<const N: u8>(board: &Board<N>) -> [Bitboard<N>; 2] {
    let [last, previous] = board.last_moves().map(|bit| {
        bit.map_or(Bitboard::EMPTY, |bit| {
            let point = Bitboard::from_bit_index(bit);
            point | point.neighbours() | point.diagonals()
        })
    });
    [last, previous & !last]
}

/// Returns a move that captures or rescues a chain with a stone in `area`.
#[inline]
fn urgent_move_in<const N: u8>(
    board: &Board<N>,
    area: Bitboard<N>,
    rng: &mut SeededRng,
) -> Option<u8> {
    let mut checked = Bitboard::EMPTY;
    for stone in RotatedPoints::starting_at_random(area & !board.empty(), rng) {
        if checked.has(stone) {
            continue;
        }
        let chain = board.chain(stone);
        checked |= chain.stones;
        let points = urgent_points(board, chain, LadderScope::OnEdge);
        if points.is_empty() {
            continue;
        }
        for bit in RotatedPoints::starting_at_random(points, rng) {
            if is_acceptable(board, bit, SELF_ATARI_CHECK_PROBABILITY, rng) {
                return Some(bit);
            }
        }
    }
    None
}

/// Returns whether the side to move may play on this point. With probability `check_probability`,
/// the function also rejects moves that lose stones by self-atari.
#[inline]
fn is_acceptable<const N: u8>(
    board: &Board<N>,
    bit: u8,
    check_probability: u64,
    rng: &mut SeededRng,
) -> bool {
    board.is_legal(bit)
        && !(draw_bool(check_probability, rng) && is_self_atari(board, bit, LadderScope::OnEdge))
}

#[inline]
fn draw_bool(probability: u64, rng: &mut SeededRng) -> bool {
    rng.next_u64() >> 32 < probability
}

/// Iterator over points in ascending order that begins at a random point and wraps around.
struct RotatedPoints<const N: u8> {
    first_points: Bitboard<N>,
    remaining: Bitboard<N>,
}

impl<const N: u8> RotatedPoints<N> {
    #[inline]
    fn starting_at_random(points: Bitboard<N>, rng: &mut SeededRng) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the result is less than 90"
        )]
        let start = scale_to_range(rng.next_u64(), BIT_COUNT) as u8;
        let first_points = points.at_or_above(start);
        Self {
            first_points,
            remaining: points & !first_points,
        }
    }
}

impl<const N: u8> Iterator for RotatedPoints<N> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.first_points.next().or_else(|| self.remaining.next())
    }
}
