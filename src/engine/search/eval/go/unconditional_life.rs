//! What cannot die whatever is played, even if its owner passes for the rest of the game: chains
//! that share two regions each, of which every empty point is a liberty of theirs (Benson, "Life in
//! the game of Go", 1976).

use crate::game::go::bitboard::Bitboard;

/// More chains than this a side cannot have.
const CHAINS_MAX: usize = 45;

/// What a side has for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnconditionalLife<const N: u8> {
    /// Its stones that cannot be captured.
    pub(super) stones: Bitboard<N>,
    /// The regions these enclose, and whatever lies in them: where the other side cannot live.
    pub(super) regions: Bitboard<N>,
}

/// The stones of a side that are alive without any further move, by its stones and the empty points.
pub(super) fn unconditional_life<const N: u8>(
    own: Bitboard<N>,
    empty: Bitboard<N>,
) -> UnconditionalLife<N> {
    let mut regions = connected_components(!own);
    // Of a region whose empty points are not all beside it, no chain can be sure.
    regions.retain(|region| {
        let inner = *region & empty & !own.neighbours();
        inner.is_empty()
    });
    let mut chains = connected_components(own);
    loop {
        let count_vital_regions = |chain: Bitboard<N>| {
            let liberties = chain.neighbours() & empty;
            let is_vital = |region: &&Bitboard<N>| {
                let points = **region & empty;
                !points.is_empty() && (points & !liberties).is_empty()
            };
            regions.iter().filter(is_vital).count()
        };
        let count = chains.len();
        chains.retain(|chain| count_vital_regions(*chain) >= 2);
        let stones = union(&chains);
        let other_stones = own & !stones;
        let removed = count - chains.len();
        regions.retain(|region| !region.neighbours().intersects(other_stones));
        if removed == 0 {
            return UnconditionalLife {
                stones,
                regions: enclosed_regions(stones, &regions),
            };
        }
    }
}

/// The regions that the chains enclose; none if there are no chains.
fn enclosed_regions<const N: u8>(stones: Bitboard<N>, regions: &[Bitboard<N>]) -> Bitboard<N> {
    let is_beside_stones = |region: &&Bitboard<N>| region.neighbours().intersects(stones);
    let regions: Vec<Bitboard<N>> = regions.iter().filter(is_beside_stones).copied().collect();
    union(&regions)
}

fn union<const N: u8>(sets: &[Bitboard<N>]) -> Bitboard<N> {
    sets.iter().fold(Bitboard::EMPTY, |all, set| all | *set)
}

/// The connected parts of a set.
fn connected_components<const N: u8>(set: Bitboard<N>) -> Vec<Bitboard<N>> {
    let mut components = Vec::with_capacity(CHAINS_MAX);
    let mut remaining = set;
    while !remaining.is_empty() {
        let component = remaining.lowest().flood_fill(remaining);
        remaining = remaining & !component;
        components.push(component);
    }
    components
}
