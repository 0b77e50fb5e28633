//! Rules of the games: positions as plain values, the moves that change them, and their notation.
//!
//! The code in this module is deterministic: it uses neither the clock nor random numbers. It does
//! not depend on matches or players. A new game needs a file in this module, a file in
//! `search::eval` and a line in the catalog.

pub(crate) mod board_appearance;
pub mod chess;
#[cfg(test)]
pub(crate) mod conformance;
pub mod connect_four;
pub mod draughts;
pub(crate) mod game_history;
pub mod go;
pub mod gomoku;
pub mod othello;
pub mod perft;
mod protocols_and_file_formats;
mod rank_text;
mod symmetry;
pub mod tic_tac_toe;
mod zobrist;

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;
use std::io::Write;
use std::str::FromStr;

pub use board_appearance::{BoardStyle, Diagram, DiagramPiece, PieceColor, PiecePaths, PieceShape};
pub use game_history::{GameHistory, KeyHistory, RepetitionRule};
pub use protocols_and_file_formats::{EngineProtocol, RecordFormat};
pub use symmetry::Symmetry;

/// One of the two sides of a game. Seat 0 moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seat {
    /// Seat 0, which makes the first move of the game.
    First,
    /// Seat 1.
    Second,
}

impl Seat {
    /// Both seats: seat 0, then seat 1.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// Returns the opposite seat.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Returns the seat to move after `plies` plies, for games with alternating turns.
    #[must_use]
    #[inline]
    pub const fn to_move_after(plies: u32) -> Self {
        if plies.is_multiple_of(2) {
            Self::First
        } else {
            Self::Second
        }
    }

    /// Returns the number of the seat, 0 or 1, as used in the protocol and in game records.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the seat with this number, if it is 0 or 1.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::First),
            1 => Some(Self::Second),
            _ => None,
        }
    }

    /// Returns the number of the seat as an index into an array of two elements.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns 1 for seat 0 and -1 for seat 1: the sign of a value for this seat, if positive
    /// values are good for seat 0.
    pub(crate) const fn sign(self) -> i32 {
        1 - 2 * self as i32
    }

    /// Orders the values of this seat and of its opponent by the numbers of the seats.
    #[must_use]
    pub(crate) fn order_by_seat<T>(self, [own, other]: [T; 2]) -> [T; 2] {
        match self {
            Self::First => [own, other],
            Self::Second => [other, own],
        }
    }
}

/// Outcome of a game under its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// One seat has won.
    Decisive {
        /// Seat that has won.
        winner: Seat,
    },
    /// Neither seat has won.
    Draw,
}

impl Outcome {
    /// Returns the seat that has won, or `None` for a draw.
    #[must_use]
    pub const fn winner(self) -> Option<Seat> {
        match self {
            Self::Decisive { winner } => Some(winner),
            Self::Draw => None,
        }
    }

    /// Returns the outcome of a game that this seat has won.
    #[must_use]
    pub const fn won_by(winner: Seat) -> Self {
        Self::Decisive { winner }
    }

    /// Returns the outcome of a game that the seat with more points has won.
    fn by_points([first, second]: [u32; 2]) -> Self {
        match first.cmp(&second) {
            Ordering::Less => Self::won_by(Seat::Second),
            Ordering::Equal => Self::Draw,
            Ordering::Greater => Self::won_by(Seat::First),
        }
    }
}

/// How a game ended, for games that can end in several ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Name of the ending, in lower case with hyphens: `checkmate`.
    pub detail: &'static str,
    /// Points of each seat, in games decided by points.
    pub scores: Option<[u32; 2]>,
}

impl Ending {
    /// Returns the ending of a game that is not decided by points.
    const fn without_scores(detail: &'static str) -> Self {
        Self {
            detail,
            scores: None,
        }
    }

    /// Returns the ending of a game that is decided by points.
    const fn by_points(scores: [u32; 2]) -> Self {
        Self {
            detail: "score",
            scores: Some(scores),
        }
    }
}

/// Fixed properties of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Identifier of the game in the protocol, in lower case with hyphens: `tic-tac-toe`.
    pub id: &'static str,
    /// Display name of the game: `Tic-tac-toe`.
    pub title: &'static str,
    /// Names of the seats in this game, by seat number: `["x", "o"]`.
    pub sides: [&'static str; 2],
    /// Width of the board in squares.
    pub files: u8,
    /// Height of the board in squares.
    pub ranks: u8,
    /// Maximum length of a game in plies.
    pub plies_max: u32,
}

/// Square of a board. Its text form is a file letter and a rank number: `a1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Square {
    /// Column, counted from 0 (`a`).
    pub file: u8,
    /// Row, counted from 0 (`1`).
    pub rank: u8,
}

impl Square {
    /// Parses a square of a board of the given size. Ignores case and surrounding whitespace.
    #[must_use]
    pub fn parse(text: &str, files: u8, ranks: u8) -> Option<Self> {
        // A valid square of two bytes contains no whitespace, so text of two bytes is not trimmed.
        // Trimming would take most of the time of this function.
        let text = if text.len() == 2 { text } else { text.trim() };
        let file = text
            .bytes()
            .next()?
            .to_ascii_lowercase()
            .checked_sub(b'a')?;
        let number = text.get(1..)?;
        // `parse` would also accept `+1` and `01`, which are not valid rank numbers.
        if !number.starts_with(|c: char| matches!(c, '1'..='9')) {
            return None;
        }
        let rank = number.parse::<u8>().ok()? - 1;
        (file < files && rank < ranks).then_some(Self { file, rank })
    }

    /// Appends the text form of the square.
    #[inline]
    pub fn append_to(self, text: &mut Vec<u8>) {
        text.push(b'a' + self.file);
        append_number(u16::from(self.rank) + 1, text);
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_to(text))
    }
}

/// Implements `Display` with a function that appends ASCII text.
fn fmt_ascii(f: &mut fmt::Formatter<'_>, append_text: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut text = Vec::new();
    append_text(&mut text);
    f.write_str(str::from_utf8(&text).expect("the text is ASCII"))
}

/// Appends a number in decimal notation.
#[inline]
fn append_number(number: u16, text: &mut Vec<u8>) {
    if number < 10 {
        text.push(digit(number));
    } else {
        append_digits(number, text);
    }
}

fn append_digits(mut number: u16, text: &mut Vec<u8>) {
    let mut digits = [0; 5];
    let mut start = digits.len();
    while number > 0 {
        start -= 1;
        digits[start] = digit(number % 10);
        number /= 10;
    }
    text.extend_from_slice(&digits[start..]);
}

/// Returns the digit for a number below 10.
#[expect(clippy::cast_possible_truncation, reason = "a digit is less than 10")]
const fn digit(number: u16) -> u8 {
    b'0' + number as u8
}

/// Appends `m` in quotes, followed by a comma.
fn append_quoted_move<P: Position>(m: P::Move, list: &mut Vec<u8>) {
    list.push(b'"');
    P::append_move_text(m, list);
    list.extend_from_slice(b"\",");
}

/// Parses a number of plies or moves that consists of digits only. A number above `max` is reduced
/// to `max`.
fn parse_count<T: FromStr + Ord>(digits: &str, max: T) -> Option<T> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The text contains only digits, so parsing fails only if the number is too large for `T`.
    Some(match digits.parse::<T>() {
        Ok(count) => count.min(max),
        Err(_) => max,
    })
}

/// Parses a number without a sign or leading zeros.
fn parse_plain_number<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text == "0" || text.starts_with(|c: char| matches!(c, '1'..='9'));
    text.parse().ok().filter(|_| is_plain)
}

/// Moves that are about to be appended to a list of moves, each in quotes and followed by a comma.
///
/// A move is written as a whole register, whatever its length. This is faster than appending bytes
/// to a `Vec`.
struct ListedMoves {
    bytes: [u8; u8::MAX as usize + LISTED_MOVE_BYTES_MAX],
    len: u8,
}

/// Maximum length of a move in [`ListedMoves`]. It is the size of a register.
const LISTED_MOVE_BYTES_MAX: usize = 8;

impl ListedMoves {
    const EMPTY: Self = Self {
        bytes: [0; u8::MAX as usize + LISTED_MOVE_BYTES_MAX],
        len: 0,
    };

    /// Adds the first `length` bytes of `m`. All moves together have at most 255 bytes.
    #[inline]
    fn push(&mut self, m: [u8; LISTED_MOVE_BYTES_MAX], length: u8) {
        self.bytes[usize::from(self.len)..][..LISTED_MOVE_BYTES_MAX].copy_from_slice(&m);
        self.len += length;
    }

    /// Moves the contents to the end of the list.
    #[inline]
    fn append_to(&mut self, list: &mut Vec<u8>) {
        list.extend_from_slice(&self.bytes[..usize::from(self.len)]);
        self.len = 0;
    }
}

/// Initial capacity of a list of legal moves. With this capacity, most lists never need to grow.
const MOVES_CAPACITY: usize = 64;

/// Returns the index of the lowest bit, or 64 if there is none.
#[inline]
const fn bit_index(bits: u64) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bit number is less than 65"
    )]
    let index = bits.trailing_zeros() as u8;
    index
}

/// Splits a bitboard into bitboards with one square each, the lowest square first.
#[inline]
pub(crate) fn single_squares(mut squares: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let square = squares & squares.wrapping_neg();
        squares ^= square;
        (square != 0).then_some(square)
    })
}

/// Returns the text without the move number before the move: `e4` for `1.e4`, `1. e4`, `1... e4` or
/// `1… e4`.
fn strip_move_number(text: &str) -> &str {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with(['.', '…']) {
        rest.trim_start_matches(|c: char| matches!(c, '.' | '…') || c.is_whitespace())
    } else {
        text
    }
}

/// Error returned when text is not a move in the notation of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a move of this game: expected a move such as {example}")]
pub struct ParseMoveError {
    /// Example of a move in the notation of the game.
    pub example: &'static str,
}

/// Error returned when text names no move in the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadMoveError {
    /// The text is not a move in any notation of the game.
    #[error(transparent)]
    Unreadable(#[from] ParseMoveError),
    /// The text is in a notation of the game, but matches no move in this position.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

/// Error returned when text is not a position of the game, or is a position that play cannot reach.
/// The message states the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid position: {0}")]
pub struct ParsePositionError(pub &'static str);

/// Error returned when a move cannot be played in the current position.
///
/// The message completes a sentence that begins with the move: `is already taken`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IllegalMove(pub &'static str);

impl IllegalMove {
    /// Reason why no move can be played after the end of the game.
    pub const GAME_OVER: Self = Self("cannot be played: the game is over");
}

/// Position of a game, with the rules for its moves. A position is a small value.
///
/// The text form of a position is its notation in the protocol. Parsing rejects positions that play
/// cannot reach. This check is incomplete, because the moves that led to the position are unknown.
///
/// A position does not contain the earlier positions of the game. If the rules depend on the
/// earlier positions, the implementation sets [`REPETITION_RULE`](Self::REPETITION_RULE). A
/// [`GameHistory`] combines the current position with the history that this rule needs.
pub trait Position:
    Clone
    + Eq
    + Hash
    + fmt::Debug
    + fmt::Display
    + FromStr<Err = ParsePositionError>
    + Send
    + Sync
    + 'static
{
    /// Move of the game. Its text form is the notation in the protocol. Parsing does not check
    /// whether the move is legal.
    type Move: Copy
        + Eq
        + fmt::Debug
        + fmt::Display
        + FromStr<Err = ParseMoveError>
        + Send
        + Sync
        + 'static;

    /// Fixed properties of the game.
    const INFO: GameInfo;

    /// Rule for repeated positions.
    const REPETITION_RULE: RepetitionRule = RepetitionRule::Unrestricted;

    /// Minimum number of plies until a position can occur again. The default of 2 is correct for
    /// every game with alternating turns. In games such as chess, the minimum is 4, because each
    /// seat needs one move away and one move back.
    const REPETITION_PLIES_MIN: usize = 2;

    /// Protocol of engines that play this game. The default is UCI, which can express the moves of
    /// any game.
    const ENGINE_PROTOCOL: EngineProtocol = EngineProtocol::Uci;

    /// File format of game records, if there is one.
    const RECORD_FORMAT: Option<RecordFormat> = None;

    /// Style of the board in diagrams.
    const BOARD_STYLE: BoardStyle = BoardStyle::Grid;

    /// Colours of the pieces of each seat in diagrams.
    const PIECE_COLORS: [PieceColor; 2] = [PieceColor::Black, PieceColor::White];

    /// Whether the board is drawn with rank 1 at the top.
    const FIRST_RANK_AT_TOP: bool = false;

    /// Whether players may agree on a draw before the game is over. It is `false` for a game that
    /// is too short to need draw offers.
    const ALLOWS_DRAW_OFFERS: bool = true;

    /// Symmetries that leave the initial position and the rules unchanged. [`Symmetry::IDENTITY`]
    /// comes first.
    const SYMMETRIES: &'static [Symmetry] = Symmetry::IDENTITY_ONLY;

    /// Returns the position before the first move.
    fn initial() -> Self;

    /// Returns the seat to move. The result has no meaning after the end of the game.
    fn turn(&self) -> Seat;

    /// Returns the outcome of the game, or `None` while it is in progress.
    fn outcome(&self) -> Option<Outcome>;

    /// Returns whether the king of the seat to move is attacked. Returns `false` in games without
    /// kings.
    fn in_check(&self) -> bool {
        false
    }

    /// Returns the squares of the winning line, in games that are won by a line. Otherwise returns
    /// `None`.
    fn winning_line(&self) -> Option<Vec<Square>> {
        None
    }

    /// Returns the kind of ending, such as checkmate or stalemate. Returns `None` while the game is
    /// in progress, and in games that do not distinguish kinds of endings.
    fn ending(&self) -> Option<Ending> {
        None
    }

    /// Returns the seat whose piece is on a square, or `None` if the square is empty. Diagrams and
    /// the text of the position use it.
    fn seat_at(&self, _square: Square) -> Option<Seat> {
        None
    }

    /// Returns the shape and colour of the piece on a square, or `None` if the square is empty. In
    /// most games, the pieces are discs in the colours of the seats.
    fn diagram_piece(&self, square: Square) -> Option<DiagramPiece> {
        self.seat_at(square).map(|seat| DiagramPiece {
            shape: PieceShape::Disc,
            color: Self::PIECE_COLORS[seat.index()],
        })
    }

    /// Returns whether `seat` can still win by some sequence of legal moves, however unlikely.
    /// Returns `true` if the answer is unknown.
    ///
    /// A player whose time runs out loses only if the opponent can still win. Otherwise the match
    /// is drawn.
    fn can_win(&self, _seat: Seat) -> bool {
        true
    }

    /// Returns a key of the position for the repetition rule. Positions that the rule treats as
    /// equal have equal keys. Other positions rarely have equal keys. Only games with a repetition
    /// rule use the key.
    fn repetition_key(&self) -> u64 {
        0
    }

    /// Returns the number of plies since the last irreversible move. Positions before the last
    /// irreversible move cannot occur again. In games that do not count reversible moves, returns
    /// `usize::MAX`.
    fn reversible_plies(&self) -> usize {
        usize::MAX
    }

    /// Resets the counters that can end the game and returns the resulting position. Examples are
    /// the number of successive passes and the number of moves without a capture. The game can
    /// continue from the returned position. By default, returns the position unchanged.
    #[must_use]
    fn with_counters_reset(&self) -> Self {
        self.clone()
    }

    /// Returns the position that continues the game after an unclaimed draw, for example under the
    /// fifty-move rule. Returns `None` if the game is not drawn, or if the draw needs no claim.
    #[must_use]
    fn with_draw_waived(&self) -> Option<Self> {
        None
    }

    /// Returns the pass if it is the only legal move and records of this game may leave out such
    /// passes. Otherwise returns `None`.
    fn implicit_pass(&self) -> Option<Self::Move> {
        None
    }

    /// Returns the move that `text` names in this position, in any notation that players of the
    /// game use. The move may be illegal.
    ///
    /// # Errors
    ///
    /// Returns an error if the text names no move.
    fn read_move(&self, text: &str) -> Result<Self::Move, ReadMoveError> {
        Ok(text.parse()?)
    }

    /// Returns the legal move `m` in the notation of [`RECORD_FORMAT`](Self::RECORD_FORMAT).
    /// `after` is the position after the move.
    fn move_to_record_notation(&self, m: Self::Move, _after: &Self) -> String {
        m.to_string()
    }

    /// Applies one of the [`SYMMETRIES`](Self::SYMMETRIES) to the squares of `m` and returns the
    /// resulting move.
    #[must_use]
    fn transform_move(m: Self::Move, _symmetry: Symmetry) -> Self::Move {
        m
    }

    /// Appends the text form of the position: the ASCII text that `Display` writes.
    ///
    /// The server writes the position and the list of legal moves after every move of a match.
    /// Formatting them with `Display` would take most of the time of a move. The games therefore
    /// override this function and [`append_move_text`](Self::append_move_text), and their `Display`
    /// calls the overridden function.
    fn append_text(&self, text: &mut Vec<u8>) {
        write!(text, "{self}").expect("writing to a Vec cannot fail");
    }

    /// Appends the text form of a move: the ASCII text that `Display` writes.
    fn append_move_text(m: Self::Move, text: &mut Vec<u8>) {
        write!(text, "{m}").expect("writing to a Vec cannot fail");
    }

    /// Appends the text of every legal move in quotes, followed by a comma. The order is that of
    /// [`legal_moves`](Self::legal_moves). Some games override this function with a faster one.
    fn append_legal_moves(&self, list: &mut Vec<u8>) {
        let mut moves = Vec::with_capacity(MOVES_CAPACITY);
        self.legal_moves(&mut moves);
        for m in moves {
            append_quoted_move::<Self>(m, list);
        }
    }

    /// Appends every legal move, in a fixed order. Appends nothing if the game is over.
    fn legal_moves(&self, moves: &mut Vec<Self::Move>);

    /// Checks that `m` can be played in this position.
    ///
    /// # Errors
    ///
    /// Returns the reason if `m` cannot be played.
    fn check_legal(&self, m: Self::Move) -> Result<(), IllegalMove>;

    /// Appends the moves that remain possible after the end of the game, in a fixed order. The
    /// default implementation appends nothing.
    ///
    /// These moves can be played only in a [resumed](GameHistory::resume) game. Some engine
    /// protocols require the engine to keep playing after the end of the game.
    fn moves_after_end(&self, _moves: &mut Vec<Self::Move>) {}

    /// Checks that `m` is one of the [`moves_after_end`](Self::moves_after_end).
    ///
    /// # Errors
    ///
    /// Returns the reason if `m` is not one of them.
    fn check_legal_after_end(&self, _m: Self::Move) -> Result<(), IllegalMove> {
        Err(IllegalMove::GAME_OVER)
    }

    /// Plays `m` without a legality check. `m` must be a legal move or one of the
    /// [`moves_after_end`](Self::moves_after_end).
    fn play_unchecked(&mut self, m: Self::Move);

    /// Returns the position after `m`. The move must be legal.
    #[must_use]
    #[inline]
    fn after(&self, m: Self::Move) -> Self {
        let mut after = self.clone();
        after.play_unchecked(m);
        after
    }

    /// Plays `m`. The position is unchanged if the move is illegal.
    ///
    /// # Errors
    ///
    /// Returns the reason if `m` cannot be played.
    fn play(&mut self, m: Self::Move) -> Result<(), IllegalMove> {
        self.check_legal(m)?;
        self.play_unchecked(m);
        Ok(())
    }
}
