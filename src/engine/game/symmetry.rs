//! Rotations and reflections of a board that leave the rules of the game unchanged.

use super::Square;

/// A rotation or reflection of the board, or the identity. Files and ranks are swapped first, then
/// left and right, then top and bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// Whether files and ranks are swapped. This requires a square board.
    transposed: bool,
    /// Whether left and right are swapped.
    mirrored: bool,
    /// Whether top and bottom are swapped.
    flipped: bool,
}

impl Symmetry {
    /// The identity.
    pub const IDENTITY: Self = Self::new(false, false, false);

    /// Symmetries of a board that has no symmetry except the identity.
    pub(crate) const IDENTITY_ONLY: &'static [Self] = &[Self::IDENTITY];

    /// Symmetries of a board that can be mirrored from left to right.
    pub(crate) const LEFT_RIGHT: &'static [Self] = &[Self::IDENTITY, Self::new(false, true, false)];

    /// Symmetries of a board that can be reflected in both diagonals, such as the initial position
    /// of Othello.
    pub(crate) const DIAGONALS: &'static [Self] = &[
        Self::IDENTITY,
        Self::new(false, true, true),
        Self::new(true, false, false),
        Self::new(true, true, true),
    ];

    /// All eight symmetries of a square.
    pub(crate) const SQUARE: &'static [Self] = &[
        Self::IDENTITY,
        Self::new(false, true, false),
        Self::new(false, false, true),
        Self::new(false, true, true),
        Self::new(true, false, false),
        Self::new(true, true, false),
        Self::new(true, false, true),
        Self::new(true, true, true),
    ];

    const fn new(transposed: bool, mirrored: bool, flipped: bool) -> Self {
        Self {
            transposed,
            mirrored,
            flipped,
        }
    }

    /// Returns the symmetry that undoes this one.
    #[must_use]
    pub const fn inverse(self) -> Self {
        if self.transposed {
            Self::new(true, self.flipped, self.mirrored)
        } else {
            self
        }
    }

    /// Returns the square that this symmetry maps a square of a board of the given size to.
    #[must_use]
    pub const fn transform(self, square: Square, files: u8, ranks: u8) -> Square {
        let Square { mut file, mut rank } = square;
        if self.transposed {
            (file, rank) = (rank, file);
        }
        if self.mirrored {
            file = files - 1 - file;
        }
        if self.flipped {
            rank = ranks - 1 - rank;
        }
        Square { file, rank }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_every_symmetry() {
        for symmetry in Symmetry::SQUARE {
            for (file, rank) in [(0, 0), (1, 0), (0, 2), (2, 1)] {
                let square = Square { file, rank };
                let transformed = symmetry.transform(square, 3, 3);
                assert_eq!(
                    symmetry.inverse().transform(transformed, 3, 3),
                    square,
                    "{symmetry:?}"
                );
            }
        }
        let [left, right] = [0, 6].map(|file| Square { file, rank: 5 });
        assert_eq!(Symmetry::LEFT_RIGHT[1].transform(left, 7, 6), right);
    }
}
