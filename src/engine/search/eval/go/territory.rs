//! Whose the points will be, as far as that can be told without looking ahead.

use crate::game::go::bitboard::Bitboard;

/// What a point is worth to the side that is nearer to it, by how near it is: its stones, the points
/// beside them, and so on. A stone far away makes no territory yet.
const POINT: [i32; 6] = [16, 16, 12, 8, 5, 2];

/// How much of a group is still there in the end, in sixteenths, by the points that it has to make
/// eyes on and the half of those that it can still run to. A group of two eyes is alive.
const SURVIVAL: [i32; 7] = [4, 5, 7, 9, 11, 13, 15];

const WHOLE: i32 = 16;

/// The points that one side will have before the other, in sixteenths of a point.
pub(super) fn balance<const N: u8>(own: Bitboard<N>, other: Bitboard<N>) -> i32 {
    let influence = Influence::of([own, other]);
    influence.of_side(0) - influence.of_side(1)
}

struct Influence<const N: u8> {
    /// The points that each side is nearest to, by how near.
    near: [[Bitboard<N>; 2]; POINT.len()],
    /// The points that both sides are as near to.
    open: Bitboard<N>,
}

impl<const N: u8> Influence<N> {
    fn of(stones: [Bitboard<N>; 2]) -> Self {
        let mut near = [[Bitboard::EMPTY; 2]; POINT.len()];
        let mut rest = !(stones[0] | stones[1]);
        let (mut front, mut open) = (stones, Bitboard::EMPTY);
        for layer in &mut near {
            *layer = front;
            let reached = front.map(|points| points.neighbours() & rest);
            // Who comes to a point at the same time as the other blocks the way for both.
            open |= reached[0] & reached[1];
            front = [reached[0] & !reached[1], reached[1] & !reached[0]];
            rest = rest & !(reached[0] | reached[1]);
        }
        Self { near, open }
    }

    /// What a side has, group by group: its stones and the points it is nearest to, as far as they
    /// are connected. A group that has no room for two eyes is worth as much less, and the other side
    /// as much more.
    fn of_side(&self, side: usize) -> i32 {
        let near = self.near.map(|layer| layer[side]);
        let [stones, empty @ ..] = near;
        let room = empty
            .iter()
            .fold(Bitboard::EMPTY, |all, points| all | *points);
        let mut rest = stones;
        let mut value = 0;
        while !rest.is_empty() {
            let group = rest.lowest().flood_fill(stones | room);
            rest = rest & !group;
            let worth: i32 = (near.iter().zip(POINT))
                .map(|(points, worth)| worth * (*points & group).len().cast_signed())
                .sum();
            let exits = group.neighbours() & self.open;
            let survival = survival(group & room, exits.len() as usize / 2);
            value += worth * (2 * survival - WHOLE) / WHOLE;
        }
        value
    }
}

/// How much of a group is still there in the end, by the points it alone is near to, and a number of
/// others.
fn survival<const N: u8>(room: Bitboard<N>, others: usize) -> i32 {
    let size = room.len() as usize + others;
    let has_eyes = || room.lowest().flood_fill(room) != room;
    match SURVIVAL.get(size) {
        Some(survival) if !has_eyes() => *survival,
        Some(_) | None => WHOLE,
    }
}
