//! The squares as bits: row after row from black's side, with a bit between every two rows that is
//! no square, so that one step is as far wherever it begins, four or five bits (Samuel, "Some studies
//! in machine learning using the game of checkers", 1959). A step over an edge comes to such a bit.

use crate::game::Seat;

/// Every square.
pub(super) const BOARD: u64 = {
    let (mut all, mut row) = (0, 0);
    while row < 8 {
        all |= ROWS[row];
        row += 1;
    }
    all
};

/// The squares of each row, black's own first.
pub(crate) const ROWS: [u64; 8] = {
    let (mut rows, mut row) = ([0; 8], 0);
    while row < 8 {
        rows[row] = 0b1111 << (4 * row + row / 2);
        row += 1;
    }
    rows
};

/// One of the four directions of a step. Away from black, numbers grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Away from black, to its right.
    UpRight,
    /// Away from black, to its left.
    UpLeft,
    /// The way back of the first.
    DownLeft,
    /// The way back of the second.
    DownRight,
}

impl Direction {
    pub(super) const ALL: [Self; 4] =
        [Self::UpRight, Self::UpLeft, Self::DownLeft, Self::DownRight];

    /// The way whose number the two lowest bits are.
    pub(super) const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::UpRight,
            1 => Self::UpLeft,
            2 => Self::DownLeft,
            _ => Self::DownRight,
        }
    }

    /// The squares one step from those of a set.
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

/// The row on which a seat's men are crowned.
pub(super) const fn king_row(seat: Seat) -> u64 {
    match seat {
        Seat::First => ROWS[7],
        Seat::Second => ROWS[0],
    }
}

/// The bit at a place.
pub(super) const fn bit_at(index: u8) -> u64 {
    1 << index
}

/// The place of a bit.
pub(super) const fn bit_index(bit: u64) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bit number is less than 65"
    )]
    let index = bit.trailing_zeros() as u8;
    index
}

/// The number that players know the square by, from 1.
pub(super) const fn square_number(index: u8) -> u8 {
    index - index / 9 + 1
}

/// The place of the square with this number.
pub(super) fn square_bit_index(number: u8) -> Option<u8> {
    let index = number
        .checked_sub(1)
        .filter(|index| *index < super::SQUARES)?;
    Some(index + index / 8)
}
