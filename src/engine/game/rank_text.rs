//! Position text of games on small boards: the ranks from the top, separated by slashes, with a
//! character for each square.

use std::fmt;

use super::{ParsePositionError, Position, Seat, Square};

/// Maximum number of bytes of the text, each with a slash at its end: the board of Go has the most.
const BYTES_MAX: usize = 9 * 10;

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
    /// Writes the pieces of a position.
    ///
    /// The text is built in a buffer and written in a single call. Building the text first is six
    /// times as fast as many small writes.
    pub(super) fn write<P: Position>(&self, pos: &P, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b'/'; BYTES_MAX];
        let mut len = 0;
        for rank in (0..P::INFO.ranks).rev() {
            for file in 0..P::INFO.files {
                let letter = |seat: Seat| self.letters[seat.index()];
                text[len] = pos.seat_at(Square { file, rank }).map_or(b'.', letter);
                len += 1;
            }
            len += 1;
        }
        f.write_str(str::from_utf8(&text[..len - 1]).expect("the text is ASCII"))
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
