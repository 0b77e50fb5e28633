//! Bitboards for draughts. The squares are numbered row by row from Black's side, and an unused bit
//! follows every two rows.
//!
//! With this layout, a step in a given direction shifts every square by a fixed distance of four or
//! five bits (Samuel, "Some studies in machine learning using the game of checkers", 1959). A step
//! over an edge leads to an unused bit.

use crate::game::Seat;

/// All squares.
pub(super) const BOARD: u64 = {
    let (mut all, mut row) = (0, 0);
    while row < 8 {
        all |= ROWS[row];
        row += 1;
    }
    all
};

/// Squares of each row. The first row is the one nearest to Black.
pub(crate) const ROWS: [u64; 8] = {
    let (mut rows, mut row) = ([0; 8], 0);
    while row < 8 {
        rows[row] = 0b1111 << (4 * row + row / 2);
        row += 1;
    }
    rows
};

/// One of the four directions of a step. Square numbers increase away from Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// A step away from Black and to Black's right.
    UpRight,
    /// A step away from Black and to Black's left.
    UpLeft,
    /// A step towards Black and to Black's left.
    DownLeft,
    /// A step towards Black and to Black's right.
    DownRight,
}

impl Direction {
    pub(super) const ALL: [Self; 4] =
        [Self::UpRight, Self::UpLeft, Self::DownLeft, Self::DownRight];

    /// Returns the direction encoded in the two lowest bits of a number.
    pub(super) const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::UpRight,
            1 => Self::UpLeft,
            2 => Self::DownLeft,
            _ => Self::DownRight,
        }
    }

    /// Shifts a set of squares by a step in this direction. Squares that leave the board are
    /// dropped.
    #[inline]
    pub(super) const fn shift(self, squares: u64) -> u64 {
        let shifted = match self {
            Self::UpRight => squares << 4,
            Self::UpLeft => squares << 5,
            Self::DownLeft => squares >> 4,
            Self::DownRight => squares >> 5,
        };
        shifted & BOARD
    }

    pub(super) const fn opposite(self) -> Self {
        match self {
            Self::UpRight => Self::DownLeft,
            Self::UpLeft => Self::DownRight,
            Self::DownLeft => Self::UpRight,
            Self::DownRight => Self::UpLeft,
        }
    }

    pub(super) const fn is_forward_for(self, seat: Seat) -> bool {
        match self {
            Self::UpRight | Self::UpLeft => matches!(seat, Seat::First),
            Self::DownLeft | Self::DownRight => matches!(seat, Seat::Second),
        }
    }
}

/// Returns the squares of the row where a seat's men are crowned.
pub(super) const fn king_row(seat: Seat) -> u64 {
    match seat {
        Seat::First => ROWS[7],
        Seat::Second => ROWS[0],
    }
}

/// Returns the bit with this index.
pub(super) const fn bit_at(index: u8) -> u64 {
    1 << index
}

/// Returns the number of a square in draughts notation, counted from 1.
pub(super) const fn square_number(index: u8) -> u8 {
    index - index / 9 + 1
}

/// Returns the bit index of the square with this number in draughts notation.
pub(super) fn square_bit_index(number: u8) -> Option<u8> {
    let index = number
        .checked_sub(1)
        .filter(|index| *index < super::SQUARES)?;
    Some(index + index / 8)
}
