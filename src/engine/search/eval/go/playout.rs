//! How a game of Go is played out: by chance, but for what is urgent and for good shapes beside the last
//! moves.

use super::patterns::is_shape;
use super::tactics::{Ladders, is_self_atari, urgent};
use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::{BIT_COUNT, Board};
use crate::search::chance::{Chance, scaled};

/// How often a playout looks for what is urgent, and for shapes; and how often it minds to lose stones by
/// what it has found so, and by what it has drawn. Of 2^32.
const SEES_URGENT: u64 = percent(90);
const SEES_SHAPES: u64 = percent(95);
const MINDS_LOSS: u64 = percent(90);
const MINDS_DRAWN_LOSS: u64 = percent(50);

const fn percent(share: u64) -> u64 {
    (1 << 32) / 100 * share
}

/// The next move of a playout; `None` where nothing is left but to fill eyes.
pub(super) fn drawn<const N: u8>(board: &Board<N>, chance: &mut Chance) -> Option<u8> {
    let areas = surroundings(board);
    if happens(SEES_URGENT, chance) {
        for area in areas {
            if let Some(bit) = urgent_in(board, area, chance) {
                return Some(bit);
            }
        }
    }
    if happens(SEES_SHAPES, chance) {
        for area in areas {
            for bit in Rotated::of(area & board.empty(), chance) {
                if is_shape(board.neighbourhood(bit)) && is_good(board, bit, MINDS_LOSS, chance) {
                    return Some(bit);
                }
            }
        }
    }
    let mut points = Rotated::of(board.empty(), chance);
    points.find(|bit| !is_eye(board, *bit) && is_good(board, *bit, MINDS_DRAWN_LOSS, chance))
}

/// Whether this empty point is an eye of the side to move, which the other side cannot make false.
#[inline]
pub(super) fn is_eye<const N: u8>(board: &Board<N>, bit: u8) -> bool {
    let own = board.stones(board.turn());
    if Board::<N>::neighbours(bit).intersects(!own) {
        return false;
    }
    let point = Bitboard::<N>::from_bit_index(bit);
    let taken = point.diagonals() & board.stones(board.turn().other());
    taken.is_empty() || taken.is_single() && !Bitboard::<N>::EDGE.has(bit)
}

/// The last move and the points around it, and those around the move before that.
#[inline]
fn surroundings<const N: u8>(board: &Board<N>) -> [Bitboard<N>; 2] {
    let [last, before] = board.last_moves().map(|bit| {
        bit.map_or(Bitboard::EMPTY, |bit| {
            let point = Bitboard::from_bit_index(bit);
            point | point.neighbours() | point.diagonals()
        })
    });
    [last, before & !last]
}

/// A move that captures or saves a chain that has a stone here.
#[inline]
fn urgent_in<const N: u8>(board: &Board<N>, area: Bitboard<N>, chance: &mut Chance) -> Option<u8> {
    let mut seen = Bitboard::EMPTY;
    for stone in Rotated::of(area & !board.empty(), chance) {
        if seen.has(stone) {
            continue;
        }
        let chain = board.chain(stone);
        seen |= chain.stones;
        let points = urgent(board, chain, Ladders::OnEdge);
        if points.is_empty() {
            continue;
        }
        for bit in Rotated::of(points, chance) {
            if is_good(board, bit, MINDS_LOSS, chance) {
                return Some(bit);
            }
        }
    }
    None
}

/// Whether the side to move may play here, and does not lose stones by it, as far as it minds.
#[inline]
fn is_good<const N: u8>(board: &Board<N>, bit: u8, minds: u64, chance: &mut Chance) -> bool {
    board.is_legal(bit) && !(happens(minds, chance) && is_self_atari(board, bit, Ladders::OnEdge))
}

#[inline]
fn happens(share: u64, chance: &mut Chance) -> bool {
    chance.number() >> 32 < share
}

/// Points in their order, from one on that is drawn.
struct Rotated<const N: u8> {
    from: Bitboard<N>,
    rest: Bitboard<N>,
}

impl<const N: u8> Rotated<N> {
    #[inline]
    fn of(points: Bitboard<N>, chance: &mut Chance) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "it is less than 90")]
        let place = scaled(chance.number(), BIT_COUNT) as u8;
        let from = points.at_or_above(place);
        Self {
            from,
            rest: points & !from,
        }
    }
}

impl<const N: u8> Iterator for Rotated<N> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.from.next().or_else(|| self.rest.next())
    }
}
