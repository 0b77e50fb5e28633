//! Minimal tic-tac-toe for the floor server.

/// Names of the squares by index.
pub(crate) const SQUARES: [&str; 9] = ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"];

/// The eight winning lines as bit sets of squares. Each octal digit is one rank.
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// Squares that each player has marked, with one bit per square.
#[derive(Debug, Default)]
pub(crate) struct Board {
    marks: [u16; 2],
    /// Number of moves played.
    pub(crate) ply: u64,
}

impl Board {
    /// Returns the index of the seat to move.
    pub(crate) fn turn(&self) -> usize {
        usize::from(self.ply % 2 == 1)
    }

    fn is_free(&self, square: usize) -> bool {
        (self.marks[0] | self.marks[1]) & 1 << square == 0
    }

    /// Returns whether a player has completed a line or the board is full.
    pub(crate) fn is_over(&self) -> bool {
        let has_line = |marks: &u16| LINES.iter().any(|line| marks & line == *line);
        self.ply == 9 || self.marks.iter().any(has_line)
    }

    /// Plays a move and returns its square, or `None` if the move is not legal.
    pub(crate) fn play(&mut self, seat: usize, ply: u64, m: [u8; 2]) -> Option<usize> {
        let square = SQUARES.iter().position(|square| square.as_bytes() == m)?;
        let is_legal = !self.is_over() && self.is_free(square);
        if ply != self.ply || seat != self.turn() || !is_legal {
            return None;
        }
        self.marks[seat] |= 1 << square;
        self.ply += 1;
        Some(square)
    }

    /// Returns the names of the squares that can be played.
    pub(crate) fn legal_moves(&self) -> Vec<&'static str> {
        let free = (0..9).filter(|&square| !self.is_over() && self.is_free(square));
        free.map(|square| SQUARES[square]).collect()
    }

    /// Returns the board in the notation of the protocol.
    pub(crate) fn position(&self) -> String {
        let mut text = *b".../.../...";
        for (seat, mark) in [b'x', b'o'].into_iter().enumerate() {
            for square in (0..9).filter(|square| self.marks[seat] >> square & 1 == 1) {
                text[(2 - square / 3) * 4 + square % 3] = mark;
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}
