//! Position text of games on small boards: the ranks from the top, separated by slashes, with a
//! character for each square.

use super::{ParsePositionError, Position, Seat, Square, bit_index};

/// Characters and errors of the text of a game. An empty square is a dot.
pub(super) struct RankText {
    /// Letters of the pieces of each seat.
    pub(super) letters: [u8; 2],
    /// Error for a wrong number of ranks or squares.
    pub(super) shape_error: ParsePositionError,
    /// Error for any other character.
    pub(super) letter_error: ParsePositionError,
}

impl RankText {
    /// Appends the pieces of a position. `squares` contains the squares of the pieces of each seat.
    pub(super) fn append<P: Position>(
        &self,
        squares: [impl Iterator<Item = Square>; 2],
        text: &mut Vec<u8>,
    ) {
        let (files, ranks) = (usize::from(P::INFO.files), usize::from(P::INFO.ranks));
        let start = text.len();
        text.resize(start + ranks * (files + 1) - 1, b'.');
        let board = &mut text[start..];
        for rank in 1..ranks {
            board[rank * (files + 1) - 1] = b'/';
        }
        for (squares, letter) in squares.into_iter().zip(self.letters) {
            for Square { file, rank } in squares {
                let row = ranks - 1 - usize::from(rank);
                board[row * (files + 1) + usize::from(file)] = letter;
            }
        }
    }

    /// Parses the pieces of a position and calls `place` for each of them.
    pub(super) fn parse<P: Position>(
        &self,
        text: &str,
        mut place: impl FnMut(Seat, Square),
    ) -> Result<(), ParsePositionError> {
        let mut ranks = text.split('/');
        for rank in (0..P::INFO.ranks).rev() {
            let squares = ranks.next().ok_or(self.shape_error)?.as_bytes();
            if squares.len() != usize::from(P::INFO.files) {
                return Err(self.shape_error);
            }
            for (file, letter) in (0..).zip(squares) {
                let mut seats = Seat::ALL.into_iter();
                match seats.find(|seat| self.letters[seat.index()] == *letter) {
                    Some(seat) => place(seat, Square { file, rank }),
                    None if *letter == b'.' => {}
                    None => return Err(self.letter_error),
                }
            }
        }
        ranks.next().map_or(Ok(()), |_| Err(self.shape_error))
    }
}

/// Appends the pieces of a position as in FEN: runs of empty squares are written as numbers.
/// `occupied` has a bit for each square of each rank. `letter` returns the letter of the piece at
/// an occupied rank and file. The board has at most fifteen files, and the text at most 255 bytes.
#[inline]
pub(super) fn append_fen_pieces<const RANKS: usize>(
    occupied: [u16; RANKS],
    files: u8,
    letter: impl Fn(usize, u8) -> u8,
    text: &mut Vec<u8>,
) {
    // Writing single bytes to an array is faster than to a `Vec`.
    let mut bytes = [0; 256];
    let mut len: u8 = 0;
    let mut push = |byte| {
        bytes[usize::from(len)] = byte;
        len += 1;
    };
    for (rank, squares) in occupied.into_iter().enumerate().rev() {
        // The bit after the last file ends the last run of empty squares.
        let mut squares = squares | 1 << files;
        let mut next_file = 0;
        while squares != 0 {
            let file = bit_index(squares.into());
            match file - next_file {
                0 => {}
                empty @ 1..10 => push(b'0' + empty),
                empty => {
                    push(b'1');
                    push(b'0' + empty - 10);
                }
            }
            if file < files {
                push(letter(rank, file));
            }
            next_file = file + 1;
            squares &= squares - 1;
        }
        if rank != 0 {
            push(b'/');
        }
    }
    text.extend_from_slice(&bytes[..usize::from(len)]);
}
