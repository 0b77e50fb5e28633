//! Sets of points of a board with `N` by `N` points, where `N` is at most nine.

use std::ops::Not;

use derive_more::{BitAnd, BitOr, BitOrAssign};

/// A set of points with one bit for each point. The lowest bit is a1. A bit that is always empty
/// separates the rows, so that no point has a neighbour on the opposite edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, BitAnd, BitOr, BitOrAssign)]
pub(crate) struct Bitboard<const N: u8>(u128);

impl<const N: u8> Bitboard<N> {
    const ROW_BITS: u8 = {
        assert!(1 < N && N <= 9, "the board fits into 128 bits");
        N + 1
    };

    pub(crate) const EMPTY: Self = Self(0);

    /// All points of the board.
    pub(crate) const ALL: Self = {
        let mut all = 0;
        let mut row = 0;
        while row < N {
            all |= ((1 << N) - 1) << (row * Self::ROW_BITS);
            row += 1;
        }
        Self(all)
    };

    /// Points on the edge of the board.
    pub(crate) const EDGE: Self = {
        let mut inner = 0;
        let mut row = 1;
        while row < N - 1 {
            inner |= ((1 << (N - 2)) - 1) << (row * Self::ROW_BITS + 1);
            row += 1;
        }
        Self(Self::ALL.0 & !inner)
    };

    /// Returns the set that contains only the point with this bit index.
    #[inline]
    pub(crate) const fn from_bit_index(bit: u8) -> Self {
        Self(1 << bit)
    }

    /// Returns the bit index of the point at this column and row, both counted from 0.
    pub(crate) const fn bit_index(file: u8, rank: u8) -> u8 {
        rank * Self::ROW_BITS + file
    }

    /// Returns the column and row of the point with this bit index.
    pub(crate) const fn file_and_rank(bit: u8) -> (u8, u8) {
        (bit % Self::ROW_BITS, bit / Self::ROW_BITS)
    }

    #[inline]
    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0 >> bit & 1 != 0
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    #[inline]
    pub(crate) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether the set has exactly one point.
    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.0 != 0 && self.0 & (self.0 - 1) == 0
    }

    /// Returns the set that contains only the lowest point of this set. Returns the empty set if
    /// this set is empty.
    #[inline]
    pub(crate) const fn lowest(self) -> Self {
        Self(self.0 & self.0.wrapping_neg())
    }

    /// Returns the bit index of the lowest point, or `None` if the set is empty.
    #[inline]
    pub(crate) fn first(self) -> Option<u8> {
        let mut points = self;
        points.next()
    }

    /// Returns the points of the set whose bit index is at least `bit`.
    #[inline]
    pub(crate) const fn at_or_above(self, bit: u8) -> Self {
        Self(self.0 & (u128::MAX << bit))
    }

    /// Returns all points that are adjacent to a point of the set. The result can include points of
    /// the set.
    #[inline]
    pub(crate) const fn neighbours(self) -> Self {
        let Self(set) = self;
        let row = Self::ROW_BITS;
        Self((set << 1 | set >> 1 | set << row | set >> row) & Self::ALL.0)
    }

    /// Returns the points that are diagonally adjacent to the points of the set.
    #[inline]
    pub(crate) const fn diagonals(self) -> Self {
        let Self(set) = self;
        let (up, down) = (Self::ROW_BITS + 1, Self::ROW_BITS - 1);
        Self((set << up | set >> up | set << down | set >> down) & Self::ALL.0)
    }

    /// Returns the set and all points of `within` that are connected to the set through points of
    /// `within`.
    #[inline]
    pub(crate) const fn flood_fill(self, within: Self) -> Self {
        let mut all = self;
        loop {
            let more = Self(all.0 | all.neighbours().0 & within.0);
            if more.0 == all.0 {
                return all;
            }
            all = more;
        }
    }

    /// Returns the connected components of `within` that contain a point of this set. Every point
    /// of this set must be in `within`.
    #[inline]
    pub(crate) fn components_in(self, within: Self) -> impl Iterator<Item = Self> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let component = rest.lowest().flood_fill(within);
            rest = rest & !component;
            Some(component)
        })
    }
}

/// Returns the points of the board that are not in the set.
impl<const N: u8> Not for Bitboard<N> {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(Self::ALL.0 & !self.0)
    }
}

/// Iterates over the bit indices of the points in ascending order.
impl<const N: u8> Iterator for Bitboard<N> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a bit number is less than 128"
        )]
        let bit = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_adjacency<const N: u8>() {
        assert_eq!(Bitboard::<N>::ALL.len(), u32::from(N) * u32::from(N));
        for bit in Bitboard::<N>::ALL {
            let (file, rank) = Bitboard::<N>::file_and_rank(bit);
            let distances = |other: u8| {
                let (f, r) = Bitboard::<N>::file_and_rank(other);
                (f.abs_diff(file), r.abs_diff(rank))
            };
            let point = Bitboard::<N>::from_bit_index(bit);
            for other in Bitboard::<N>::ALL {
                let is_neighbour = matches!(distances(other), (0, 1) | (1, 0));
                assert_eq!(point.neighbours().has(other), is_neighbour, "{bit} {other}");
                let is_diagonal = distances(other) == (1, 1);
                assert_eq!(point.diagonals().has(other), is_diagonal, "{bit} {other}");
            }
            let on_edge = [file, rank].iter().any(|at| *at == 0 || *at == N - 1);
            assert_eq!(Bitboard::<N>::EDGE.has(bit), on_edge, "{bit}");
        }
    }

    #[test]
    fn neighbours_and_diagonals_match_board_geometry() {
        check_adjacency::<2>();
        check_adjacency::<3>();
        check_adjacency::<9>();
    }
}
