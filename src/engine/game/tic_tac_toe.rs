//! Tic-tac-toe. A move is a square, `a1` to `c3`. A position is written rank by rank, starting with
//! the highest rank, as in FEN: `x../.o./...`.
//!
//! The marks of a side are a `u16` with one bit for each square and three bits for each rank. Each
//! octal digit in the constants below therefore describes one rank.

use std::fmt;
use std::str::FromStr;

use super::rank_text::RankText;
use super::{
    DiagramPiece, GameInfo, IllegalMove, Outcome, ParseMoveError, ParsePositionError, PieceColor,
    PiecePaths, PieceShape, Position, RecordFormat, Seat, Square, Symmetry, bit_index, fmt_ascii,
    single_squares,
};

const SIZE: u8 = 3;
const SQUARES: u8 = SIZE * SIZE;
const ALL_SQUARES: u16 = 0o777;

/// The eight lines: three ranks, three files, two diagonals.
pub(crate) const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// A position of tic-tac-toe that can occur in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TicTacToe {
    /// Squares marked by each seat.
    marks: [u16; 2],
}

/// A move: the square that is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Bit number of the square: `a1` is 0, `b1` is 1, `c3` is 8.
    index: u8,
}

impl Move {
    const fn at(Square { file, rank }: Square) -> Self {
        Self {
            index: rank * SIZE + file,
        }
    }

    const fn from_bit(bit: u64) -> Self {
        Self {
            index: bit_index(bit),
        }
    }

    const fn square(self) -> Square {
        Square {
            file: self.index % SIZE,
            rank: self.index / SIZE,
        }
    }

    /// Returns the bitboard that contains only the square of the move.
    pub(crate) const fn bit(self) -> u16 {
        1 << self.index
    }
}

impl TicTacToe {
    /// Returns the squares that `seat` has marked, with a bit for each square. The lowest bit is
    /// `a1`.
    pub(crate) const fn marks(self, seat: Seat) -> u16 {
        self.marks[seat.index()]
    }

    const fn occupied(self) -> u16 {
        self.marks[0] | self.marks[1]
    }

    /// Returns the squares of all complete lines of `seat`, or 0 if it has none.
    fn completed_lines(self, seat: Seat) -> u16 {
        let marks = self.marks(seat);
        LINES
            .into_iter()
            .filter(|line| marks & line == *line)
            .fold(0, |all, line| all | line)
    }

    /// Rejects positions that cannot occur in a game: a side has too many marks, or play continued
    /// after a complete line.
    fn check_reachable(self) -> Result<(), ParsePositionError> {
        let [first_marks, second_marks] = self.marks.map(u16::count_ones);
        let turn = match first_marks.checked_sub(second_marks) {
            Some(0) => Seat::First,
            Some(1) => Seat::Second,
            Some(_) | None => {
                return Err(ParsePositionError(
                    "the numbers of x and o do not fit alternating turns",
                ));
            }
        };
        // The side to move cannot have a complete line. Such a line would have ended the game
        // before the opponent's last mark.
        if self.completed_lines(turn) != 0 {
            return Err(ParsePositionError("play continued after three in a row"));
        }
        Ok(())
    }
}

/// Text of the board.
const RANK_TEXT: RankText = RankText {
    letters: *b"xo",
    shape_error: ParsePositionError("expected three ranks of three squares"),
    letter_error: ParsePositionError("squares must be 'x', 'o' or '.'"),
};

/// Outline of an x.
const CROSS_PATHS: PiecePaths = &[
    &[[-24, -31], [31, 24], [24, 31], [-31, -24]],
    &[[24, -31], [31, -24], [-24, 31], [-31, 24]],
];

impl Position for TicTacToe {
    type Move = Move;

    const INFO: GameInfo = GameInfo {
        id: "tic-tac-toe",
        title: "Tic-tac-toe",
        sides: ["x", "o"],
        files: SIZE,
        ranks: SIZE,
        plies_max: SQUARES as u32,
    };

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Txt);

    const PIECE_COLORS: [PieceColor; 2] = [PieceColor::Blue, PieceColor::Red];

    const SYMMETRIES: &'static [Symmetry] = Symmetry::SQUARE;

    const ALLOWS_DRAW_OFFERS: bool = false;

    fn initial() -> Self {
        Self { marks: [0; 2] }
    }

    fn turn(&self) -> Seat {
        if self.marks[0].count_ones() == self.marks[1].count_ones() {
            Seat::First
        } else {
            Seat::Second
        }
    }

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let has = |seat: &Seat| self.marks(*seat) & Move::at(square).bit() != 0;
        Seat::ALL.into_iter().find(has)
    }

    fn diagram_piece(&self, square: Square) -> Option<DiagramPiece> {
        let seat = self.seat_at(square)?;
        Some(DiagramPiece {
            shape: [PieceShape::Paths(CROSS_PATHS), PieceShape::Ring][seat.index()],
            color: Self::PIECE_COLORS[seat.index()],
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        // Only the seat that has just moved can have completed a line.
        let last = self.turn().other();
        if self.completed_lines(last) != 0 {
            return Some(Outcome::won_by(last));
        }
        (self.occupied() == ALL_SQUARES).then_some(Outcome::Draw)
    }

    /// If a mark completes two lines, the result contains the squares of both lines.
    fn winning_line(&self) -> Option<Vec<Square>> {
        let line = self.completed_lines(self.turn().other());
        let all = (0..SQUARES).map(|index| Move { index });
        (line != 0).then(|| {
            all.filter(|m| line & m.bit() != 0)
                .map(Move::square)
                .collect()
        })
    }

    /// A seat can win as long as some line contains no mark of the opponent.
    fn can_win(&self, seat: Seat) -> bool {
        let others = self.marks(seat.other());
        LINES.into_iter().any(|line| line & others == 0)
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        let squares = self
            .marks
            .map(|marks| single_squares(marks.into()).map(|bit| Move::from_bit(bit).square()));
        RANK_TEXT.append::<Self>(squares, text);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        m.square().append_to(text);
    }

    fn transform_move(m: Move, symmetry: Symmetry) -> Move {
        Move::at(symmetry.transform(m.square(), SIZE, SIZE))
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.outcome().is_none() {
            let free = ALL_SQUARES & !self.occupied();
            moves.extend(
                (0..SQUARES)
                    .map(|index| Move { index })
                    .filter(|m| free & m.bit() != 0),
            );
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.occupied() & m.bit() != 0 {
            return Err(IllegalMove("is already taken"));
        }
        Ok(())
    }

    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        self.marks[self.turn().index()] |= m.bit();
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| TicTacToe::append_move_text(*self, text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let square = Square::parse(text, SIZE, SIZE);
        square.map(Self::at).ok_or(ParseMoveError { example: "b2" })
    }
}

impl fmt::Display for TicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_text(text))
    }
}

impl FromStr for TicTacToe {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let mut pos = Self::initial();
        RANK_TEXT.parse::<Self>(text, |seat, square| {
            pos.marks[seat.index()] |= Move::at(square).bit();
        })?;
        pos.check_reachable()?;
        Ok(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance;

    #[test]
    fn passes_the_conformance_suite() {
        conformance::check_game::<TicTacToe>();
        conformance::check_seats_alternate::<TicTacToe>();
    }

    fn check_rejected(text: &str, reason: &str) {
        let error = text.parse::<TicTacToe>().expect_err(text);
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }

    #[test]
    fn unreachable_positions_are_rejected() {
        check_rejected("", "three ranks");
        check_rejected(".../...", "three ranks");
        check_rejected(".../.../.../", "three ranks");
        check_rejected("..../.../..", "three ranks");
        check_rejected(".../.e./...", "'x', 'o' or '.'");
        check_rejected(".../.é/...", "'x', 'o' or '.'");
        check_rejected(".../.o./...", "alternating turns");
        check_rejected("x../.../..x", "alternating turns");
        check_rejected("xxx/ooo/...", "after three in a row");
        check_rejected("xxx/o.o/o..", "after three in a row");
        check_rejected("ooo/xx./xx.", "after three in a row");
    }

    /// Of the 19,683 ways to fill the board with x, o and empty squares, 5,478 can occur in a game.
    #[test]
    fn exactly_the_reachable_positions_are_parsed() {
        let read = (0..3_u32.pow(9)).filter(|code| {
            let square = |i: u32| ["x", "o", "."][(code / 3_u32.pow(i) % 3) as usize];
            let rank = |r: u32| [3 * r, 3 * r + 1, 3 * r + 2].map(square).concat();
            [0, 1, 2].map(rank).join("/").parse::<TicTacToe>().is_ok()
        });
        assert_eq!(read.count(), 5478);
    }

    #[test]
    fn moves_are_parsed_case_insensitively() {
        let read = |text: &str| text.parse::<Move>().map(|m| m.to_string());
        assert_eq!(read(" B2 "), Ok("b2".to_owned()));
        for text in [
            "", "b", "2b", "d1", "a4", "a0", "a01", "a+1", "a1a", "é1", "a1000",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn can_win_requires_an_open_line() {
        for (text, can_win) in [
            (".../.../...", [true, true]),
            ("x../.o./...", [true, true]),
            // In the next position, only x can still complete a line: a diagonal. In the position
            // after it, only o can still complete a line: the middle rank.
            ("xo./oxx/.xo", [true, false]),
            ("xxo/oo./xox", [false, true]),
            ("xox/oxx/oxo", [false, false]),
        ] {
            let pos: TicTacToe = text.parse().expect(text);
            assert_eq!(Seat::ALL.map(|seat| pos.can_win(seat)), can_win, "{text}");
        }
    }

    #[test]
    fn winning_line_contains_both_completed_lines() {
        let pos: TicTacToe = "xxx/oxo/oox".parse().expect("the position is reachable");
        let line = pos.winning_line().expect("x has won");
        let names: Vec<_> = line.iter().map(Square::to_string).collect();
        assert_eq!(names, ["c1", "b2", "a3", "b3", "c3"]);
    }
}
