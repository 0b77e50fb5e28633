//! Parity: where an odd number of squares is free, whoever plays there first also plays there last.

/// The quarters of the board.
const QUARTERS: [u64; 4] = {
    let first = 0x0f0f_0f0f;
    [first, first << 4, first << 32, first << 36]
};

/// The quarters with an odd number of these free squares. A region that is closed in is seldom just a
/// quarter, but to find regions costs more than it saves.
#[inline]
pub(super) fn odd_quarters(free: u64) -> u64 {
    let is_odd = |quarter: &u64| (free & quarter).count_ones() % 2 == 1;
    let odd = QUARTERS.into_iter().filter(is_odd);
    odd.fold(0, |all, quarter| all | quarter)
}
