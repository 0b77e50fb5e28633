//! Ways to turn a board over or around after which the same game begins on it.

/// A way to lay a board down: turned, mirrored, or as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// First files become ranks, which only a square board allows.
    transposed: bool,
    /// Then left becomes right.
    mirrored: bool,
    /// Then the bottom becomes the top.
    flipped: bool,
}

impl Symmetry {
    /// The board as it is.
    pub const IDENTITY: Self = Self::new(false, false, false);

    /// All there is to a game whose board has a way to lie.
    pub(crate) const IDENTITY_ONLY: &'static [Self] = &[Self::IDENTITY];

    /// Left and right are alike.
    pub(crate) const LEFT_RIGHT: &'static [Self] = &[Self::IDENTITY, Self::new(false, true, false)];

    /// Both diagonals are axes, as with two pairs of discs across each other in the centre.
    pub(crate) const DIAGONALS: &'static [Self] = &[
        Self::IDENTITY,
        Self::new(false, true, true),
        Self::new(true, false, false),
        Self::new(true, true, true),
    ];

    /// All eight of a square.
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

    /// What undoes it.
    #[must_use]
    pub const fn inverse(self) -> Self {
        if self.transposed {
            Self::new(true, self.flipped, self.mirrored)
        } else {
            self
        }
    }

    /// Where the square of this file and rank comes to lie on a board of this size.
    #[must_use]
    pub const fn transform(self, (file, rank): (u8, u8), files: u8, ranks: u8) -> (u8, u8) {
        let (file, rank) = if self.transposed {
            (rank, file)
        } else {
            (file, rank)
        };
        let file = if self.mirrored {
            files - 1 - file
        } else {
            file
        };
        let rank = if self.flipped { ranks - 1 - rank } else { rank };
        (file, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_every_symmetry() {
        for symmetry in Symmetry::SQUARE {
            for square in [(0, 0), (1, 0), (0, 2), (2, 1)] {
                let transformed = symmetry.transform(square, 3, 3);
                assert_eq!(
                    symmetry.inverse().transform(transformed, 3, 3),
                    square,
                    "{symmetry:?}"
                );
            }
        }
        assert_eq!(Symmetry::LEFT_RIGHT[1].transform((0, 5), 7, 6), (6, 5));
    }
}
