//! Parity: in a region with an odd number of empty squares, the side that plays first also plays
//! last.

/// The four quadrants of the board.
const QUARTERS: [u64; 4] = {
    let first = 0x0f0f_0f0f;
    [first, first << 4, first << 32, first << 36]
};

/// Returns the quadrants with an odd number of empty squares. Quadrants approximate the regions of
/// connected empty squares, because finding the exact regions costs more time than it saves.
#[inline]
pub(super) fn odd_quarters(free: u64) -> u64 {
    let is_odd = |quarter: &u64| (free & quarter).count_ones() % 2 == 1;
    let odd = QUARTERS.into_iter().filter(is_odd);
    odd.fold(0, |all, quarter| all | quarter)
}
