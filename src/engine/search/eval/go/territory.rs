//! Whose the points will be, as far as that can be told without looking ahead.

use crate::game::go::bitboard::Bitboard;

/// What a point is worth to the side that is nearer to it, by how near it is: its stones, the points
/// beside them, and so on. A stone far away makes no territory yet.
const POINT_VALUES: [i32; 6] = [16, 16, 12, 8, 5, 2];

/// How much of a group is still there in the end, in sixteenths, by the points that it has to make
/// eyes on and the half of those that it can still run to. A group of two eyes is alive.
const SURVIVAL_BY_ROOM: [i32; 7] = [4, 5, 7, 9, 11, 13, 15];

const SURVIVAL_MAX: i32 = 16;

/// The points that one side will have before the other, in sixteenths of a point.
pub(super) fn territory_balance<const N: u8>(own: Bitboard<N>, other: Bitboard<N>) -> i32 {
    let influence = Influence::from_stones([own, other]);
    influence.side_value(0) - influence.side_value(1)
}

struct Influence<const N: u8> {
    /// The points that each side is nearest to, by how near.
    nearest: [[Bitboard<N>; 2]; POINT_VALUES.len()],
    /// The points that both sides are as near to.
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
            // Who comes to a point at the same time as the other blocks the way for both.
            contested |= reached[0] & reached[1];
            frontier = [reached[0] & !reached[1], reached[1] & !reached[0]];
            unreached = unreached & !(reached[0] | reached[1]);
        }
        Self { nearest, contested }
    }

    /// What a side has, group by group: its stones and the points it is nearest to, as far as they
    /// are connected. A group that has no room for two eyes is worth as much less, and the other side
    /// as much more.
    fn side_value(&self, side: usize) -> i32 {
        let layers = self.nearest.map(|layer| layer[side]);
        let [stones, empty @ ..] = layers;
        let room = empty
            .iter()
            .fold(Bitboard::EMPTY, |all, points| all | *points);
        let mut remaining = stones;
        let mut value = 0;
        while !remaining.is_empty() {
            let group = remaining.lowest().flood_fill(stones | room);
            remaining = remaining & !group;
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

/// How much of a group is still there in the end, by the points it alone is near to, and a number of
/// others.
fn survival<const N: u8>(room: Bitboard<N>, extra_points: usize) -> i32 {
    let size = room.len() as usize + extra_points;
    let has_eyes = || room.lowest().flood_fill(room) != room;
    match SURVIVAL_BY_ROOM.get(size) {
        Some(survival) if !has_eyes() => *survival,
        Some(_) | None => SURVIVAL_MAX,
    }
}
