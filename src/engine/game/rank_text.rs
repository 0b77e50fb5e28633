//! Position text of games on small boards: the ranks from the top, separated by slashes, with a
//! character for each square.

use super::{ParsePositionError, Position, Seat, Square, append_number, bit_index};

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
    /// Appends the pieces of a position.
    pub(super) fn append<P: Position>(&self, pos: &P, text: &mut Vec<u8>) {
        for rank in (0..P::INFO.ranks).rev() {
            for file in 0..P::INFO.files {
                let letter = |seat: Seat| self.letters[seat.index()];
                text.push(pos.seat_at(Square { file, rank }).map_or(b'.', letter));
            }
            if rank != 0 {
                text.push(b'/');
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

/// Appends a rank as in FEN: runs of empty squares are written as numbers. `occupied` has a bit for
/// each square of the rank, and `letter` returns the letter of the piece on an occupied square.
#[inline]
pub(super) fn append_fen_rank(
    mut occupied: u16,
    files: u8,
    letter: impl Fn(u8) -> u8,
    text: &mut Vec<u8>,
) {
    let mut next = 0;
    while occupied != 0 {
        let file = bit_index(occupied.into());
        if file > next {
            append_number((file - next).into(), text);
        }
        text.push(letter(file));
        next = file + 1;
        occupied &= occupied - 1;
    }
    if next < files {
        append_number((files - next).into(), text);
    }
}
