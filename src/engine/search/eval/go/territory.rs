//! Territory estimate without lookahead: each point belongs to the side that is nearer to it.

use crate::game::go::bitboard::Bitboard;

/// Value of a point for the nearer side, indexed by distance. A side's stones have distance 0 and
/// the adjacent points distance 1. Points far from all stones count for neither side.
const POINT_VALUES: [i32; 6] = [16, 16, 12, 8, 5, 2];

/// Expected share of a group's points that survives, in sixteenths, indexed by the group's room.
/// The room is the number of empty points nearest to the group, plus half the number of contested
/// points next to it. A group counts as alive if it has more room than the table covers, or if its
/// empty points form separate regions.
const SURVIVAL_BY_ROOM: [i32; 7] = [4, 5, 7, 9, 11, 13, 15];

const SURVIVAL_MAX: i32 = 16;

/// Returns the territory of the first side minus that of the second, in sixteenths of a point.
pub(super) fn territory_balance<const N: u8>(own: Bitboard<N>, other: Bitboard<N>) -> i32 {
    let influence = Influence::from_stones([own, other]);
    influence.side_value(0) - influence.side_value(1)
}

struct Influence<const N: u8> {
    /// Points that are nearer to one side, indexed by distance and then by side.
    nearest: [[Bitboard<N>; 2]; POINT_VALUES.len()],
    /// Points that are equally near to both sides.
    contested: Bitboard<N>,
}

impl<const N: u8> Influence<N> {
    fn from_stones(stones: [Bitboard<N>; 2]) -> Self {
        let mut nearest = [[Bitboard::EMPTY; 2]; POINT_VALUES.len()];
        let mut unreached = !(stones[0] | stones[1]);
        let (mut frontier, mut contested) = (stones, Bitboard::EMPTY);
        for layer in &mut nearest {
            *layer = frontier;
            let reached = frontier.map(|points| points.neighbours() & unreached);
            // A point that both sides reach at the same distance is contested, and influence does
            // not spread beyond it.
            contested |= reached[0] & reached[1];
            frontier = [reached[0] & !reached[1], reached[1] & !reached[0]];
            unreached = unreached & !(reached[0] | reached[1]);
        }
        Self { nearest, contested }
    }

    /// Returns the value of a side, summed over its groups. A group consists of connected stones
    /// and the points nearest to them. If a group lacks room for two eyes, only the share that is
    /// expected to survive counts for its owner. The remaining share counts for the opponent.
    fn side_value(&self, side: usize) -> i32 {
        let layers = self.nearest.map(|layer| layer[side]);
        let [stones, empty @ ..] = layers;
        let room = empty
            .iter()
            .fold(Bitboard::EMPTY, |all, points| all | *points);
        let mut value = 0;
        for group in stones.components_in(stones | room) {
            let group_value: i32 = (layers.iter().zip(POINT_VALUES))
                .map(|(points, point_value)| point_value * (*points & group).len().cast_signed())
                .sum();
            let exits = group.neighbours() & self.contested;
            let survival = survival(group & room, exits.len() as usize / 2);
            value += group_value * (2 * survival - SURVIVAL_MAX) / SURVIVAL_MAX;
        }
        value
    }
}

/// Returns the share of a group that is expected to survive, in sixteenths. `room` holds the empty
/// points nearest to the group. `extra_points` is added to the number of these points.
fn survival<const N: u8>(room: Bitboard<N>, extra_points: usize) -> i32 {
    let size = room.len() as usize + extra_points;
    let has_eyes = || room.lowest().flood_fill(room) != room;
    match SURVIVAL_BY_ROOM.get(size) {
        Some(survival) if !has_eyes() => *survival,
        Some(_) | None => SURVIVAL_MAX,
    }
}
