//! Hash keys for positions that consist of a set of stones (Zobrist, "A new hashing method with
//! application for game playing", 1970).

/// Returns a fixed pseudorandom number for each seat and each of `N` squares. The Zobrist key of a
/// position is the exclusive-or of the numbers of all its stones.
pub(super) const fn stone_keys<const N: usize>() -> [[u64; N]; 2] {
    let mut keys = [[0; N]; 2];
    let mut index = 0;
    while index < 2 * N {
        keys[index / N][index % N] = splitmix64(index as u64 + 1);
        index += 1;
    }
    keys
}

/// Returns the n-th number of the pseudorandom sequence SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014).
pub(super) const fn splitmix64(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
