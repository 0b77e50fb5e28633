//! Unconditional life: stones that cannot be captured even if their owner passes for the rest of
//! the game. Each chain of such stones has at least two vital regions, and chains may share
//! regions. Every empty point of a region that is vital to a chain is a liberty of that chain
//! (Benson, "Life in the game of Go", 1976).

use crate::game::go::bitboard::Bitboard;

/// Upper bound on the number of chains of a side.
const CHAINS_MAX: usize = 45;

/// Unconditionally alive stones of a side and the regions that they enclose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnconditionalLife<const N: u8> {
    /// Stones that cannot be captured.
    pub(super) stones: Bitboard<N>,
    /// Regions enclosed by the alive stones, including any opposing stones inside. The opponent
    /// cannot live in these regions.
    pub(super) regions: Bitboard<N>,
}

/// Finds the unconditionally alive stones of a side, given its stones and the empty points.
pub(super) fn unconditional_life<const N: u8>(
    own: Bitboard<N>,
    empty: Bitboard<N>,
) -> UnconditionalLife<N> {
    let mut regions = connected_components(!own);
    // A region is not vital to any chain if one of its empty points touches no own stone.
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

/// Returns the union of the regions that border these stones.
fn enclosed_regions<const N: u8>(stones: Bitboard<N>, regions: &[Bitboard<N>]) -> Bitboard<N> {
    let is_beside_stones = |region: &&Bitboard<N>| region.neighbours().intersects(stones);
    let regions: Vec<Bitboard<N>> = regions.iter().filter(is_beside_stones).copied().collect();
    union(&regions)
}

fn union<const N: u8>(sets: &[Bitboard<N>]) -> Bitboard<N> {
    sets.iter().fold(Bitboard::EMPTY, |all, set| all | *set)
}

/// Returns the connected components of a set.
fn connected_components<const N: u8>(set: Bitboard<N>) -> Vec<Bitboard<N>> {
    let mut components = Vec::with_capacity(CHAINS_MAX);
    components.extend(set.components_in(set));
    components
}
