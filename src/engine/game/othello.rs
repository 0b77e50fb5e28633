//! Othello under the rules of the World Othello Federation. A move is the square of the disc, such
//! as `d3`, or `pass`. Passing is legal only for a side that cannot flip any disc. The parser also
//! accepts the words that other programs use for a pass.
//!
//! A position is written in the common format of Othello programs: the 64 squares from a1 to h1,
//! then a2 to h2, up to h8, followed by a space and the side to move. `*` is a black disc, `O` is a
//! white disc and `-` is an empty square. The parser also accepts the letters and spacing of other
//! programs, and the lines of Othello board files (OBF).
//!
//! Othello boards are drawn with rank 1 at the top. A higher rank is therefore lower on the screen.

mod bitboard;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{
    BoardStyle, Ending, GameInfo, IllegalMove, Outcome, ParseMoveError, ParsePositionError,
    Position, RecordFormat, Seat, Square, Symmetry, bit_index, fmt_ascii, single_squares,
};

pub(crate) use bitboard::{flipped_discs, neighbours, playable_squares};

/// Number of files, which is also the number of ranks.
const SIZE: u8 = 8;
const SQUARES: u8 = SIZE * SIZE;

/// The centre squares d4, e4, d5 and e5, which hold discs throughout the game.
const CENTRE: u64 = 0x0000_0018_1800_0000;

/// Notations for a pass, with their sources:
///
/// - `pass`: the Go Text Protocol and this server
/// - `ps`: game transcripts
/// - `pa`: the Generic Game Format of the server GGS
/// - `--`: the program Edax
const PASS_WORDS: [&str; 4] = ["pass", "ps", "pa", "--"];

/// A position of Othello.
///
/// The position also stores the playable squares. The legal moves, the mobility of the side to
/// move, and the end of the game are derived from these squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Othello {
    /// Discs of the side to move. The lowest bit is a1, the next is b1, and the ninth is a2.
    own: u64,
    /// Discs of the opponent.
    other: u64,
    /// Squares where the side to move can play.
    playable_squares: u64,
    turn: Seat,
}

/// A move: a disc on a square, or a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move(u8);

impl Move {
    /// A pass: the move that places no disc.
    pub const PASS: Self = Self(SQUARES);

    const fn at(square: Square) -> Self {
        Self(square.rank * SIZE + square.file)
    }

    /// Returns the move that places a disc on the lowest square of a set.
    #[inline]
    pub(crate) const fn from_lowest_square(squares: u64) -> Self {
        Self(bit_index(squares))
    }

    /// Returns the bitboard of the move's square, or 0 for a pass.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        if self.0 < SQUARES { 1 << self.0 } else { 0 }
    }

    /// Returns the square of the move, or `None` for a pass.
    #[must_use]
    pub fn square(self) -> Option<Square> {
        (self != Self::PASS).then_some(Square {
            file: self.0 % SIZE,
            rank: self.0 / SIZE,
        })
    }
}

impl Othello {
    /// Returns the discs of the side to move and of its opponent, in this order.
    #[inline]
    #[must_use]
    pub const fn discs(&self) -> [u64; 2] {
        [self.own, self.other]
    }

    /// Returns the squares where the side to move can play.
    #[inline]
    pub(crate) const fn playable_squares(&self) -> u64 {
        self.playable_squares
    }

    /// Returns the number of empty squares.
    #[inline]
    #[must_use]
    pub const fn empties(&self) -> u32 {
        (self.own | self.other).count_zeros()
    }

    /// Returns the position with these discs.
    #[inline]
    fn from_discs(own: u64, other: u64, turn: Seat) -> Self {
        Self {
            own,
            other,
            playable_squares: playable_squares(own, other),
            turn,
        }
    }

    /// Returns the position after the side to move places a disc on this square. The square must be
    /// playable.
    #[inline]
    pub(crate) fn after_disc(&self, square: u64) -> Self {
        let flipped = flipped_discs(self.own, self.other, square);
        Self::from_discs(
            self.other ^ flipped,
            self.own ^ flipped ^ square,
            self.turn.other(),
        )
    }

    /// Returns the position after the side to move places a disc on this square. The square must be
    /// playable. `playable_squares` must contain the squares where the opponent can play in the new
    /// position.
    #[inline]
    pub(crate) fn after_disc_with_playable(&self, square: u64, playable_squares: u64) -> Self {
        let flipped = flipped_discs(self.own, self.other, square);
        Self {
            own: self.other ^ flipped,
            other: self.own ^ flipped ^ square,
            playable_squares,
            turn: self.turn.other(),
        }
    }

    /// Returns whether the side to move must pass. This is the case if it has no playable square
    /// but its opponent has one.
    #[inline]
    fn must_pass(&self) -> bool {
        self.playable_squares == 0 && playable_squares(self.other, self.own) != 0
    }

    /// Returns the number of discs of each seat.
    fn disc_counts(&self) -> [u32; 2] {
        let counts = [self.own.count_ones(), self.other.count_ones()];
        self.turn.order_by_seat(counts)
    }

    /// Returns the final score of each seat. The winner also scores one point for each empty
    /// square. In a draw, the seats share the empty squares equally. The scores therefore add up to
    /// 64.
    fn scores(&self) -> [u32; 2] {
        let [first, second] = self.disc_counts();
        let empties = self.empties();
        match first.cmp(&second) {
            Ordering::Less => [first, second + empties],
            Ordering::Equal => [first + empties / 2, second + empties / 2],
            Ordering::Greater => [first + empties, second],
        }
    }
}

impl Position for Othello {
    type Move = Move;

    const INFO: GameInfo = GameInfo {
        id: "othello",
        title: "Othello",
        sides: ["black", "white"],
        files: SIZE,
        ranks: SIZE,
        // A game has at most sixty moves that place a disc. Every move that places a disc, except
        // the first, can follow one pass.
        plies_max: 119,
    };

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Sgf {
        game: 2,
        rules: &[],
    });

    const BOARD_STYLE: BoardStyle = BoardStyle::GreenGrid;

    const FIRST_RANK_AT_TOP: bool = true;

    const SYMMETRIES: &'static [Symmetry] = Symmetry::DIAGONALS;

    fn initial() -> Self {
        Self::from_discs(0x0000_0008_1000_0000, 0x0000_0010_0800_0000, Seat::First)
    }

    #[inline]
    fn turn(&self) -> Seat {
        self.turn
    }

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let bit = Move::at(square).bit();
        let is_own = self.own & bit != 0;
        let owner = if is_own { self.turn } else { self.turn.other() };
        (is_own || self.other & bit != 0).then_some(owner)
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.playable_squares != 0 || self.must_pass() {
            return None;
        }
        Some(Outcome::by_points(self.disc_counts()))
    }

    fn ending(&self) -> Option<Ending> {
        self.outcome().map(|_| Ending::by_points(self.scores()))
    }

    /// Edax and the WTHOR database leave out passes in their game records.
    fn implicit_pass(&self) -> Option<Move> {
        self.must_pass().then_some(Move::PASS)
    }

    #[inline]
    fn move_to_record_notation(&self, m: Move, _after: &Self) -> String {
        let point = |square: Square| RecordFormat::sgf_point(square.file, square.rank);
        m.square().map(point).unwrap_or_default()
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        let (letters, turn) = match self.turn {
            Seat::First => (*b"*O", b'*'),
            Seat::Second => (*b"O*", b'O'),
        };
        let mut squares = [b'-'; SQUARES as usize];
        for (discs, letter) in [self.own, self.other].into_iter().zip(letters) {
            for square in single_squares(discs) {
                squares[usize::from(bit_index(square))] = letter;
            }
        }
        text.extend_from_slice(&squares);
        text.extend_from_slice(&[b' ', turn]);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        match m.square() {
            Some(square) => square.append_to(text),
            None => text.extend_from_slice(b"pass"),
        }
    }

    fn transform_move(m: Move, symmetry: Symmetry) -> Move {
        let square = m.square();
        square.map_or(m, |square| Move::at(symmetry.transform(square, SIZE, SIZE)))
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        moves.extend(single_squares(self.playable_squares).map(Move::from_lowest_square));
        if self.must_pass() {
            moves.push(Move::PASS);
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        let reason = if m == Move::PASS {
            if self.playable_squares == 0 {
                return Ok(());
            }
            "is allowed only if there is no other move"
        } else if self.playable_squares & m.bit() != 0 {
            return Ok(());
        } else if (self.own | self.other) & m.bit() != 0 {
            "is already taken"
        } else {
            "flips no discs"
        };
        Err(IllegalMove(reason))
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        *self = if m == Move::PASS {
            Self::from_discs(self.other, self.own, self.turn.other())
        } else {
            self.after_disc(m.bit())
        };
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| Othello::append_move_text(*self, text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let word = text.trim();
        if PASS_WORDS
            .iter()
            .any(|pass| word.eq_ignore_ascii_case(pass))
        {
            return Ok(Self::PASS);
        }
        let square = Square::parse(text, SIZE, SIZE);
        square.map(Self::at).ok_or(ParseMoveError { example: "d3" })
    }
}

impl fmt::Display for Othello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_text(text))
    }
}

impl FromStr for Othello {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const SHAPE_ERROR: ParsePositionError =
            ParsePositionError("expected 64 squares, a space and the side to move");

        // Move evaluations and comments follow the position in an Othello board file, so this
        // parser ignores them.
        let end = text.find([';', '%']).unwrap_or(text.len());
        let letters: Vec<char> = (text[..end].chars())
            .filter(|letter| !letter.is_ascii_whitespace())
            .collect();
        let (turn, squares) = letters.split_last().ok_or(SHAPE_ERROR)?;
        if squares.len() != usize::from(SQUARES) {
            return Err(SHAPE_ERROR);
        }
        let (mut black, mut white) = (0, 0);
        for (square, letter) in squares.iter().enumerate() {
            match parse_side(*letter) {
                Some(Seat::First) => black |= 1 << square,
                Some(Seat::Second) => white |= 1 << square,
                None if "-.".contains(*letter) => {}
                None => {
                    return Err(ParsePositionError("squares must be '*', 'O' or '-'"));
                }
            }
        }
        check_reachable(black | white)?;
        match parse_side(*turn).ok_or(ParsePositionError("the side to move must be '*' or 'O'"))? {
            Seat::First => Ok(Self::from_discs(black, white, Seat::First)),
            Seat::Second => Ok(Self::from_discs(white, black, Seat::Second)),
        }
    }
}

/// Returns the side that this character represents in Othello programs.
const fn parse_side(letter: char) -> Option<Seat> {
    match letter {
        '*' | 'X' | 'x' | 'B' | 'b' => Some(Seat::First),
        'O' | 'o' | '0' | 'W' | 'w' => Some(Seat::Second),
        _ => None,
    }
}

/// Rejects positions where discs are on unreachable squares. A game starts with discs in the
/// centre, and every later disc is placed next to an existing disc.
fn check_reachable(discs: u64) -> Result<(), ParsePositionError> {
    if discs & CENTRE != CENTRE {
        return Err(ParsePositionError(
            "the four centre squares must be occupied",
        ));
    }
    let mut reached = CENTRE;
    loop {
        let next = reached | neighbours(reached) & discs;
        if next == reached {
            break;
        }
        reached = next;
    }
    if reached != discs {
        return Err(ParsePositionError("a disc is not connected to the others"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
