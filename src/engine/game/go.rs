//! Go on a board of nine by nine points, with area scoring, positional superko and a komi of seven
//! points.
//!
//! A move is `pass` or a point in Go Text Protocol notation: `A1` to `J9`, without the letter I. A
//! position is written row by row, starting with the highest row. Five fields follow: the side to
//! move, the numbers of stones captured by Black and by White, the number of consecutive passes,
//! and the number of plies. For example:
//!
//! ```text
//! ........./........./........./........./....b..../........./........./........./......... w 0 0 0 1
//! ```
//!
//! The game follows the Tromp-Taylor rules ("The Logical Rules of Go", 1996), except that suicide
//! is illegal. Two passes end the game. All stones on the board then count as alive, so players
//! must capture dead stones before they pass. These rules allow extremely long games. This server
//! therefore adds a rule: the game ends and is scored after 1,000 plies.
//!
//! A position does not store the earlier positions, so [`GameHistory`](super::GameHistory) enforces
//! superko.

pub(crate) mod bitboard;
pub(crate) mod incremental_board;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use self::bitboard::Bitboard;
use super::rank_text::RankText;
use super::{
    BoardStyle, Ending, EngineProtocol, GameInfo, IllegalMove, Outcome, ParseMoveError,
    ParsePositionError, Position, RecordFormat, RepetitionRule, Seat, Square, Symmetry,
    append_number, fmt_ascii, parse_plain_number, zobrist,
};

/// Points that White receives for moving second. The value is an integer, so that a game can be
/// drawn.
pub(crate) const KOMI: u32 = 7;

/// Maximum number of plies. A game that reaches this limit ends and is scored. Games that are
/// played to win are far shorter.
const PLIES_MAX: u16 = 1000;

/// Number of consecutive passes that end the game.
const PASSES_MAX: u8 = 2;

/// Names of the columns. The letter I is left out because it looks like J in old print.
const COLUMN_LETTERS: &[u8; 9] = b"ABCDEFGHJ";

/// A position of Go on a board of `N` by `N` points. The parser rejects positions that are clearly
/// unreachable.
#[derive(Clone, Copy, Debug)]
pub struct Go<const N: u8> {
    /// Stones of each seat.
    stones: [Bitboard<N>; 2],
    /// Zobrist key of the stones.
    key: u64,
    /// Number of stones that each seat has captured.
    captures: [u16; 2],
    plies: u16,
    /// Number of consecutive passes immediately before this position, at most two.
    passes: u8,
}

/// A move: a stone on a point, or a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move<const N: u8> {
    /// A turn that places no stone.
    Pass,
    /// A turn that places a stone on this point.
    Play(Point<N>),
}

/// A point of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point<const N: u8> {
    bit_index: u8,
}

impl<const N: u8> Point<N> {
    /// Returns the bit index of the point in a bitboard.
    pub(crate) const fn bit_index(self) -> u8 {
        self.bit_index
    }
}

impl<const N: u8> Move<N> {
    /// Returns the move that plays a stone on the point with this bit index. The point must be on
    /// the board.
    pub(crate) const fn from_bit_index(bit: u8) -> Self {
        Self::Play(Point { bit_index: bit })
    }
}

impl<const N: u8> Go<N> {
    /// Returns the stones of a seat.
    #[inline]
    pub(crate) const fn stones(&self, seat: Seat) -> Bitboard<N> {
        self.stones[seat.index()]
    }

    /// Returns the empty points of the board.
    #[inline]
    pub(crate) fn empty(&self) -> Bitboard<N> {
        !(self.stones[0] | self.stones[1])
    }

    /// Returns the Zobrist key of the stones.
    pub(crate) const fn stones_key(&self) -> u64 {
        self.key
    }

    /// Returns the number of consecutive passes immediately before this position.
    pub(crate) const fn passes(&self) -> u8 {
        self.passes
    }

    /// Returns the number of stones that each seat has captured.
    pub(crate) fn captures(&self) -> [u32; 2] {
        self.captures.map(u32::from)
    }

    /// Returns the number of plies played.
    pub(crate) const fn plies(&self) -> u16 {
        self.plies
    }

    /// Returns the score that each seat would have if the game ended now. The score is the area of
    /// the seat, plus komi for White.
    #[must_use]
    pub fn scores(&self) -> [u32; 2] {
        let [black, white] = self.areas().map(Bitboard::len);
        [black, white + KOMI]
    }

    /// Returns the area of each seat: its stones, and the empty regions that border only its
    /// stones.
    pub(crate) fn areas(&self) -> [Bitboard<N>; 2] {
        compute_areas(self.stones)
    }

    /// Returns the opposing stones that `seat` captures by playing on this point.
    #[inline]
    pub(crate) fn captured_by(&self, seat: Seat, bit: u8) -> Bitboard<N> {
        let others = self.stones(seat.other());
        let empty = self.empty() & !Bitboard::from_bit_index(bit);
        let mut captured = Bitboard::EMPTY;
        let beside = Bitboard::from_bit_index(bit).neighbours() & others;
        for chain in beside.components_in(others) {
            if !chain.neighbours().intersects(empty) {
                captured |= chain;
            }
        }
        captured
    }

    /// Returns whether a stone that `seat` plays on this empty point would have a liberty after
    /// captured stones are removed.
    #[inline]
    pub(crate) fn has_liberty_after(&self, seat: Seat, bit: u8) -> bool {
        let point = Bitboard::from_bit_index(bit);
        let empty = self.empty() & !point;
        if point.neighbours().intersects(empty) {
            return true;
        }
        let chain = point.flood_fill(self.stones(seat));
        chain.neighbours().intersects(empty) || !self.captured_by(seat, bit).is_empty()
    }

    /// Rejects positions that are clearly unreachable: a chain has no liberty, or the counts of
    /// stones, captures, passes and plies do not match.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        let rejected = |reason| Err(ParsePositionError(reason));
        for stones in self.stones {
            let with_liberties = (self.empty().neighbours() & stones).flood_fill(stones);
            if with_liberties != stones {
                return rejected("a chain has no liberties");
            }
        }
        let mut passes_by_seat = [0; 2];
        for seat in Seat::ALL {
            let lost = u32::from(self.captures[seat.other().index()]);
            let placed = self.stones(seat).len() + lost;
            let Some(passes) = self.turn_count(seat).checked_sub(placed) else {
                return rejected("a side has more stones than turns");
            };
            passes_by_seat[seat.index()] = passes;
        }
        let (last, before) = (self.turn().other(), self.turn());
        let [by_last, by_before] = [last, before].map(|seat| passes_by_seat[seat.index()]);
        let fits = match self.passes {
            0 => self.plies == 0 || self.turn_count(last) > by_last,
            1 => by_last > 0 && (self.plies == 1 || self.turn_count(before) > by_before),
            _ => by_last > 0 && by_before > 0,
        };
        if !fits {
            return rejected("the passes do not match the stones");
        }
        Ok(())
    }

    /// Returns the number of turns that a seat has taken.
    const fn turn_count(&self, seat: Seat) -> u32 {
        match seat {
            Seat::First => self.plies as u32 - self.plies as u32 / 2,
            Seat::Second => self.plies as u32 / 2,
        }
    }
}

/// Returns the area of each seat: its stones, and the empty regions that border only its stones.
fn compute_areas<const N: u8>(stones: [Bitboard<N>; 2]) -> [Bitboard<N>; 2] {
    let mut areas = stones;
    let empty = !(stones[0] | stones[1]);
    for region in empty.components_in(empty) {
        let border = region.neighbours();
        let reached = stones.map(|stones| border.intersects(stones));
        match reached {
            [true, false] => areas[0] |= region,
            [false, true] => areas[1] |= region,
            _ => {}
        }
    }
    areas
}

/// Combines the key of the stones and the number of passes into the repetition key.
const fn combine_repetition_key(stones: u64, passes: u8) -> u64 {
    stones ^ zobrist::splitmix64((passes as u64) << 32)
}

static STONE_KEYS: [[u64; 128]; 2] = zobrist::stone_keys();

/// Returns the Zobrist key of the stones of a seat.
#[inline]
fn hash_stones<const N: u8>(seat: Seat, stones: Bitboard<N>) -> u64 {
    let keys = &STONE_KEYS[seat.index()];
    stones.fold(0, |key, bit| key ^ keys[usize::from(bit)])
}

/// Compares all fields except the key, because the stones determine the key.
impl<const N: u8> PartialEq for Go<N> {
    fn eq(&self, other: &Self) -> bool {
        let rest = |pos: &Self| (pos.captures, pos.plies, pos.passes);
        self.stones == other.stones && rest(self) == rest(other)
    }
}

impl<const N: u8> Eq for Go<N> {}

impl<const N: u8> Hash for Go<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.key, self.captures, self.plies, self.passes).hash(state);
    }
}

/// Text of the board.
const RANK_TEXT: RankText = RankText {
    letters: *b"bw",
    shape_error: ParsePositionError("the number of rows and points must match the board size"),
    letter_error: ParsePositionError("points must be 'b', 'w' or '.'"),
};

impl<const N: u8> Position for Go<N> {
    type Move = Move<N>;

    const INFO: GameInfo = GameInfo {
        id: "go",
        title: "Go",
        sides: ["black", "white"],
        files: N,
        ranks: N,
        plies_max: PLIES_MAX as u32,
    };

    const ENGINE_PROTOCOL: EngineProtocol = EngineProtocol::Gtp { komi: KOMI };

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Sgf {
        game: 1,
        rules: &[
            ("KM", "7"),
            ("RU", "area scoring, positional superko, no suicide"),
        ],
    });

    const BOARD_STYLE: BoardStyle = BoardStyle::Intersections;

    const REPETITION_RULE: RepetitionRule = RepetitionRule::Forbidden;

    const SYMMETRIES: &'static [Symmetry] = Symmetry::SQUARE;

    fn initial() -> Self {
        Self {
            stones: [Bitboard::EMPTY; 2],
            key: 0,
            captures: [0; 2],
            plies: 0,
            passes: 0,
        }
    }

    fn turn(&self) -> Seat {
        Seat::to_move_after(self.plies.into())
    }

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let bit = Bitboard::<N>::bit_index(square.file, square.rank);
        (Seat::ALL.into_iter()).find(|seat| self.stones(*seat).has(bit))
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.passes < PASSES_MAX && self.plies < PLIES_MAX {
            return None;
        }
        Some(Outcome::by_points(self.scores()))
    }

    fn ending(&self) -> Option<Ending> {
        self.outcome().map(|_| Ending::by_points(self.scores()))
    }

    /// Superko forbids repeating the stones on the board. A pass leaves the stones unchanged but is
    /// always legal, so the number of passes is also part of the key.
    fn repetition_key(&self) -> u64 {
        combine_repetition_key(self.key, self.passes)
    }

    fn with_counters_reset(&self) -> Self {
        // The reset counters must be consistent with the stones. The number of passes becomes 0, or
        // 1 if the side that moved last has never placed a stone. If neither side has placed a
        // stone, the number of plies becomes 0 or 1.
        let candidates = [(0, self.plies), (1, self.plies), (0, 0), (1, 1)];
        let fits = |pos: &Self| pos.turn() == self.turn() && pos.check_reachable().is_ok();
        candidates
            .map(|(passes, plies)| Self {
                passes,
                plies,
                ..*self
            })
            .into_iter()
            .find(fits)
            .expect("at least one candidate is reachable")
    }

    fn move_to_record_notation(&self, m: Move<N>, _after: &Self) -> String {
        let Move::Play(point) = m else {
            return String::new();
        };
        let (file, rank) = Bitboard::<N>::file_and_rank(point.bit_index);
        RecordFormat::sgf_point(file, N - 1 - rank)
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        let stones = self.stones.map(|stones| {
            stones.map(|bit| {
                let (file, rank) = Bitboard::<N>::file_and_rank(bit);
                Square { file, rank }
            })
        });
        RANK_TEXT.append::<Self>(stones, text);
        text.extend_from_slice(&[b' ', side_letter(self.turn())]);
        let [black, white] = self.captures;
        for number in [black, white, self.passes.into(), self.plies] {
            text.push(b' ');
            append_number(number, text);
        }
    }

    fn append_move_text(m: Move<N>, text: &mut Vec<u8>) {
        let Move::Play(point) = m else {
            text.extend_from_slice(b"pass");
            return;
        };
        let (file, rank) = Bitboard::<N>::file_and_rank(point.bit_index);
        text.extend_from_slice(&[COLUMN_LETTERS[usize::from(file)], b'1' + rank]);
    }

    fn transform_move(m: Move<N>, symmetry: Symmetry) -> Move<N> {
        let Move::Play(point) = m else { return m };
        let (file, rank) = Bitboard::<N>::file_and_rank(point.bit_index);
        let Square { file, rank } = symmetry.transform(Square { file, rank }, N, N);
        Move::from_bit_index(Bitboard::<N>::bit_index(file, rank))
    }

    fn legal_moves(&self, moves: &mut Vec<Move<N>>) {
        if self.outcome().is_none() {
            let seat = self.turn();
            let points = self
                .empty()
                .filter(|bit| self.has_liberty_after(seat, *bit));
            moves.extend(points.map(Move::from_bit_index));
            moves.push(Move::Pass);
        }
    }

    fn check_legal(&self, m: Move<N>) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        let Move::Play(point) = m else {
            return Ok(());
        };
        if !self.empty().has(point.bit_index) {
            return Err(IllegalMove("is already taken"));
        }
        if !self.has_liberty_after(self.turn(), point.bit_index) {
            return Err(IllegalMove("would have no liberties"));
        }
        Ok(())
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move<N>) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        let seat = self.turn();
        self.plies += 1;
        let Move::Play(Point { bit_index: bit }) = m else {
            self.passes += 1;
            return;
        };
        self.passes = 0;
        let captured = self.captured_by(seat, bit);
        self.stones[seat.index()] |= Bitboard::from_bit_index(bit);
        self.key ^= hash_stones(seat, Bitboard::<N>::from_bit_index(bit));
        if !captured.is_empty() {
            let others = &mut self.stones[seat.other().index()];
            *others = *others & !captured;
            self.key ^= hash_stones(seat.other(), captured);
            self.captures[seat.index()] +=
                u16::try_from(captured.len()).expect("at most 81 stones are captured");
        }
    }
}

impl<const N: u8> fmt::Display for Move<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| Go::append_move_text(*self, text))
    }
}

impl<const N: u8> FromStr for Move<N> {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        const MOVE_ERROR: ParseMoveError = ParseMoveError { example: "D4" };

        let text = text.trim();
        if text.eq_ignore_ascii_case("pass") {
            return Ok(Self::Pass);
        }
        let &[column, row @ b'1'..=b'9'] = text.as_bytes() else {
            return Err(MOVE_ERROR);
        };
        let is_column = |name: &u8| *name == column.to_ascii_uppercase();
        let file = COLUMN_LETTERS
            .iter()
            .position(is_column)
            .ok_or(MOVE_ERROR)?;
        let (file, rank) = (u8::try_from(file).map_err(|_| MOVE_ERROR)?, row - b'1');
        if file >= N || rank >= N {
            return Err(MOVE_ERROR);
        }
        Ok(Self::from_bit_index(Bitboard::<N>::bit_index(file, rank)))
    }
}

impl<const N: u8> fmt::Display for Go<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_text(text))
    }
}

const fn side_letter(seat: Seat) -> u8 {
    match seat {
        Seat::First => b'b',
        Seat::Second => b'w',
    }
}

impl<const N: u8> FromStr for Go<N> {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const FIELDS_ERROR: ParsePositionError = ParsePositionError(
            "expected rows, side to move, captures by Black and by White, passes and plies",
        );

        let mut fields = text.split(' ');
        let mut field = || fields.next().ok_or(FIELDS_ERROR);
        let mut stones = [Bitboard::EMPTY; 2];
        RANK_TEXT.parse::<Self>(field()?, |seat, Square { file, rank }| {
            stones[seat.index()] |= Bitboard::from_bit_index(Bitboard::<N>::bit_index(file, rank));
        })?;
        let (turn, numbers) = (field()?, [field()?, field()?, field()?, field()?]);
        if fields.next().is_some() {
            return Err(FIELDS_ERROR);
        }
        let [black, white, passes, plies] = numbers.map(parse_number);
        let (plies, passes) = (plies?, passes?);
        if plies > PLIES_MAX {
            return Err(ParsePositionError("a game has at most 1000 plies"));
        }
        let pos = Self {
            stones,
            key: hash_stones(Seat::First, stones[0]) ^ hash_stones(Seat::Second, stones[1]),
            captures: [black?, white?],
            plies,
            passes: u8::try_from(passes)
                .ok()
                .filter(|passes| *passes <= PASSES_MAX && u16::from(*passes) <= plies)
                .ok_or(ParsePositionError("the number of passes is too high"))?,
        };
        if turn.as_bytes() != [side_letter(pos.turn())] {
            return Err(ParsePositionError(
                "the side to move does not match the number of plies",
            ));
        }
        pos.check_reachable()?;
        Ok(pos)
    }
}

fn parse_number(text: &str) -> Result<u16, ParsePositionError> {
    parse_plain_number(text).ok_or(ParsePositionError(
        "captures, passes and plies must be numbers",
    ))
}

#[cfg(test)]
mod tests;
