//! The rules of games: positions as values, the moves that change them, and how both are written.
//!
//! Nothing here reads a clock, draws a random number, waits, or knows of matches and players. A
//! game is a file below this module, one in `search::eval`, and a line in the catalog.

pub mod chess;
#[cfg(test)]
pub(crate) mod conformance;
pub mod connect_four;
mod conventions;
pub(crate) mod diagram;
pub mod draughts;
pub(crate) mod game_history;
pub mod go;
pub mod gomoku;
pub mod othello;
pub mod perft;
mod symmetry;
pub mod tic_tac_toe;
mod zobrist;

use std::fmt::{self, Write};
use std::hash::Hash;
use std::str::FromStr;

pub use conventions::{EngineProtocol, RecordFormat};
pub use diagram::{BoardStyle, Diagram, DiagramPiece, PieceColor, PiecePaths, PieceShape};
pub use game_history::{GameHistory, KeyHistory, RepetitionRule};
pub use symmetry::Symmetry;

/// One of the two places at the board. Seat 0 moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seat {
    /// Seat 0: makes the first move of the game.
    First,
    /// Seat 1.
    Second,
}

impl Seat {
    /// Both seats, in order of their numbers.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// The seat across the board.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The seat that moves after so many plies, where the seats take turns.
    #[must_use]
    #[inline]
    pub const fn to_move_after(plies: u32) -> Self {
        if plies.is_multiple_of(2) {
            Self::First
        } else {
            Self::Second
        }
    }

    /// The seat's number, 0 or 1, by which the wire and records name it.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// The seat with this number, if there is one.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::First),
            1 => Some(Self::Second),
            _ => None,
        }
    }

    /// The seat's number as an index into a pair.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// How a game ended by its own rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// One seat has won.
    Decisive {
        /// The seat that has won.
        winner: Seat,
    },
    /// Nobody has won.
    Draw,
}

/// In which of the several ways that its rules know a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The way, in lower case with hyphens: `checkmate`.
    pub detail: &'static str,
    /// The points of the seats, in games that are decided by counting.
    pub scores: Option<[u32; 2]>,
}

/// What is fixed about a game, whatever its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// The name of the game on the wire, in lower case with hyphens: `tic-tac-toe`.
    pub id: &'static str,
    /// The name for people: `Tic-tac-toe`.
    pub title: &'static str,
    /// What the seats are called in this game, by seat number: `["x", "o"]`.
    pub sides: [&'static str; 2],
    /// The width of the board in squares.
    pub files: u8,
    /// The height of the board in squares.
    pub ranks: u8,
    /// No game is longer than this many plies.
    pub plies_max: u32,
}

/// A square of a board, counted from the lower left corner as seen by seat 0. Written as a file
/// letter and a rank number: `a1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Square {
    /// The column, from 0 (`a`).
    pub file: u8,
    /// The row, from 0 (`1`).
    pub rank: u8,
}

impl Square {
    /// Reads a square of a board of this size, without regard to case and surrounding space.
    #[must_use]
    pub fn parse(text: &str, files: u8, ranks: u8) -> Option<Self> {
        // To trim takes longer than all else; what is no longer than a square has nothing to spare.
        let text = if text.len() == 2 { text } else { text.trim() };
        let file = text
            .bytes()
            .next()?
            .to_ascii_lowercase()
            .checked_sub(b'a')?;
        let number = text.get(1..)?;
        // `parse` would also take `+1` and `01`, which are not how a rank is written.
        if !number.starts_with(|c: char| matches!(c, '1'..='9')) {
            return None;
        }
        let rank = number.parse::<u8>().ok()? - 1;
        (file < files && rank < ranks).then_some(Self { file, rank })
    }

    /// Appends what `Display` writes.
    pub fn append_to(self, text: &mut String) {
        text.push(char::from(b'a' + self.file));
        let (tens, units) = ((self.rank + 1) / 10, (self.rank + 1) % 10);
        if tens > 0 {
            text.push(char::from(b'0' + tens));
        }
        text.push(char::from(b'0' + units));
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file), self.rank + 1)
    }
}

/// Reads a count of plies or moves, written in digits only. A value above `max` counts as `max`.
fn parse_count<T: FromStr + Ord>(digits: &str, max: T) -> Option<T> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits alone fail to parse only when the value is too large.
    Some(match digits.parse::<T>() {
        Ok(count) => count.min(max),
        Err(_) => max,
    })
}

/// The text without the move number in front of the move: `e4` of `1.e4`, `1. e4`, `1... e4` or `1… e4`.
fn strip_move_number(text: &str) -> &str {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with(['.', '…']) {
        rest.trim_start_matches(|c: char| matches!(c, '.' | '…') || c.is_whitespace())
    } else {
        text
    }
}

/// The text is not a move in this game's notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a move of this game, which looks like {example}")]
pub struct ParseMoveError {
    /// A text that would have been read.
    pub example: &'static str,
}

/// The text names no move here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadMoveError {
    /// It is not in a notation of this game.
    #[error(transparent)]
    Unreadable(#[from] ParseMoveError),
    /// It is, but means no move of this position.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

/// The text is not a position of this game, or not one that play can reach; and what is wrong with
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of this game: {0}")]
pub struct ParsePositionError(pub &'static str);

/// The move exists in this game, but cannot be played in this position; and why not, as the end of a
/// sentence that names the move: `is already taken`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IllegalMove(pub &'static str);

impl IllegalMove {
    /// Why no move can be played once there is an outcome.
    pub const GAME_OVER: Self = Self("cannot be played: the game is over");
}

/// A position of one game: a small value, and the moves that change it.
///
/// The text form of a position is its wire notation, and parsing it accepts only positions that
/// play can reach, as far as that can be told from one.
///
/// A position knows nothing of those before it. Where the rules ask for them, they say so by
/// [`REPETITION_RULE`](Self::REPETITION_RULE), and a game that is played is a [`GameHistory`].
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
    /// The text form is the wire notation: parsing reads a move's name, never whether it is legal.
    type Move: Copy
        + Eq
        + fmt::Debug
        + fmt::Display
        + FromStr<Err = ParseMoveError>
        + Send
        + Sync
        + 'static;

    /// What is fixed about the game.
    const INFO: GameInfo;

    /// What the rules say of a position that comes again.
    const REPETITION_RULE: RepetitionRule = RepetitionRule::Unrestricted;

    /// After how many plies a position can come again, at the earliest: two where the seats take
    /// turns, and four where no single move changes nothing, so that both have to go and to come back.
    const REPETITION_PLIES_MIN: usize = 2;

    /// The protocol that programs of this game speak. Where they have none of their own: UCI, which
    /// does for any game.
    const ENGINE_PROTOCOL: EngineProtocol = EngineProtocol::Uci;

    /// The format in which games of this kind are kept, if there is one.
    const RECORD_FORMAT: Option<RecordFormat> = None;

    /// Of what the board is made.
    const BOARD_STYLE: BoardStyle = BoardStyle::Grid;

    /// Whether the board is drawn with rank 1 at the top.
    const FIRST_RANK_AT_TOP: bool = false;

    /// Whether players may agree on a draw before the game is over. Not where it is over so soon that
    /// nobody need.
    const ALLOWS_DRAW_OFFERS: bool = true;

    /// The ways to lay the board down after which the same game begins on it, [`Symmetry::IDENTITY`] first.
    const SYMMETRIES: &'static [Symmetry] = Symmetry::IDENTITY_ONLY;

    /// The position before the first move.
    fn initial() -> Self;

    /// The seat that moves next. Once there is an outcome it means nothing.
    fn turn(&self) -> Seat;

    /// How the game ended, or `None` while it goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// Whether the seat to move has a king that is attacked, in games that have kings.
    fn in_check(&self) -> bool {
        false
    }

    /// The squares that make the win, in games that are won by a line; else `None`.
    fn winning_line(&self) -> Option<Vec<Square>> {
        None
    }

    /// How the game ended, in games that know several ways to; `None` while it goes on.
    fn ending(&self) -> Option<Ending> {
        None
    }

    /// What stands on a square, as it is drawn.
    fn diagram_piece(&self, _at: Square) -> Option<DiagramPiece> {
        None
    }

    /// Whether `seat` can still win, by any series of legal moves however bad: so whoever runs out of
    /// time loses to it, and else draws. `true` where the game does not know.
    fn can_win(&self, _seat: Seat) -> bool {
        true
    }

    /// A key that positions share if the rule of repetition counts them as one, and hardly ever else. Asked for only where there is such a rule.
    fn repetition_key(&self) -> u64 {
        0
    }

    /// How many of the positions just before this one could come again: those since the last move
    /// that cannot be undone.
    fn reversible_plies(&self) -> usize {
        usize::MAX
    }

    /// The position as it is if the game goes on all the same, where what was played before ended it:
    /// two passes, or fifty moves without a capture. In other games the position itself.
    #[must_use]
    fn with_counters_reset(&self) -> Self {
        self.clone()
    }

    /// The position from which the game continues if no player claims the draw that the rules let a
    /// player claim here, such as fifty moves without a capture. `None` if the game is not drawn, or if
    /// the draw needs no claim.
    #[must_use]
    fn with_draw_waived(&self) -> Option<Self> {
        None
    }

    /// The only legal move here, if records of the game may leave it out: a forced pass.
    fn implicit_pass(&self) -> Option<Self::Move> {
        None
    }

    /// The move that `text` names here, in any notation that players of the game use, whether or not
    /// it is legal.
    ///
    /// # Errors
    ///
    /// The text names no move.
    fn read_move(&self, text: &str) -> Result<Self::Move, ReadMoveError> {
        Ok(text.parse()?)
    }

    /// The move `m`, which is legal here, as [`RECORD_FORMAT`](Self::RECORD_FORMAT) writes it.
    fn move_to_record_notation(&self, m: Self::Move) -> String {
        m.to_string()
    }

    /// The move that `m` becomes on a board that is laid down in one of the
    /// [`SYMMETRIES`](Self::SYMMETRIES).
    #[must_use]
    fn transform_move(m: Self::Move, _symmetry: Symmetry) -> Self::Move {
        m
    }

    /// Appends the text form of a move: what its `Display` writes. Every legal move is told with every
    /// move that is played, so games that have a shorter way than that take it.
    fn append_move_text(m: Self::Move, text: &mut String) {
        write!(text, "{m}").expect("writing to a String cannot fail");
    }

    /// Appends every legal move, in a fixed order, and none once there is an outcome.
    fn legal_moves(&self, moves: &mut Vec<Self::Move>);

    /// Tells whether `m` can be played here.
    ///
    /// # Errors
    ///
    /// Says why it cannot.
    fn check_legal(&self, m: Self::Move) -> Result<(), IllegalMove>;

    /// Appends the moves that remain possible in a position that has ended the game, in a fixed order.
    /// Only a [resumed](GameHistory::resume) game uses them, since programs of some protocols must move on.
    /// By default there are none.
    fn moves_after_end(&self, _moves: &mut Vec<Self::Move>) {}

    /// Tells whether `m` is one of the [`moves_after_end`](Self::moves_after_end).
    ///
    /// # Errors
    ///
    /// Says why it is not.
    fn check_legal_after_end(&self, _m: Self::Move) -> Result<(), IllegalMove> {
        Err(IllegalMove::GAME_OVER)
    }

    /// Plays `m`, which the caller knows to be legal, or possible after the end of the game.
    fn play_unchecked(&mut self, m: Self::Move);

    /// The position after `m`, which the caller knows to be legal.
    #[must_use]
    #[inline]
    fn after(&self, m: Self::Move) -> Self {
        let mut after = self.clone();
        after.play_unchecked(m);
        after
    }

    /// Plays `m`, or leaves the position as it was.
    ///
    /// # Errors
    ///
    /// Says why `m` cannot be played here.
    fn play(&mut self, m: Self::Move) -> Result<(), IllegalMove> {
        self.check_legal(m)?;
        self.play_unchecked(m);
        Ok(())
    }
}
