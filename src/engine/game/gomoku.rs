//! Freestyle Gomoku on a board of fifteen by fifteen squares: five or more stones in a row win. A
//! move is a square, `a1` to `o15`. A position is written rank by rank, starting with the highest
//! rank. Runs of empty squares are written as numbers, as in FEN:
//! `15/15/15/15/15/15/15/7b7/15/15/15/15/15/15/15`.
//!
//! Black has no forbidden moves, and there is no swap rule. Allis calls this variant "free-style"
//! ("Searching for Solutions in Games and Artificial Intelligence", 1994, chapter 5).

pub(crate) mod bitboard;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use self::bitboard::Bitboard;
use super::rank_text::append_fen_pieces;
use super::{
    BoardStyle, Ending, EngineProtocol, GameInfo, IllegalMove, LISTED_MOVE_BYTES_MAX, ListedMoves,
    Outcome, ParseMoveError, ParsePositionError, Position, RecordFormat, Seat, Square, Symmetry,
    fmt_ascii, zobrist,
};

const SIZE: u8 = Bitboard::SIZE;

/// Number of stones in a row that win the game.
const ROW_LENGTH: u8 = 5;

/// Bit distances to the next square of a line: along a rank, a descending diagonal, a file and an
/// ascending diagonal.
const LINE_STEPS: [u8; 4] = [
    Bitboard::bit_index(1, 0),
    Bitboard::bit_index(0, 1) - 1,
    Bitboard::bit_index(0, 1),
    Bitboard::bit_index(1, 1),
];

/// A position of Gomoku that can occur in a game.
#[derive(Clone, Copy, Debug)]
pub struct Gomoku {
    /// Stones of the side to move.
    own: Bitboard,
    /// Stones of the opponent, who made the last move.
    other: Bitboard,
    /// Zobrist key of the stones. A null move also changes the key.
    key: u64,
    /// Number of stones played.
    plies: u8,
    /// Whether the last stone completed a row of five or more.
    is_won: bool,
}

/// A move: the square where a stone is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    bit_index: u8,
}

impl Move {
    /// Returns the bit index of the square in a bitboard.
    pub(crate) const fn bit_index(self) -> u8 {
        self.bit_index
    }

    /// Returns the move that places a stone on the square with this bit index. The square must be
    /// on the board.
    pub(crate) const fn from_bit_index(bit: u8) -> Self {
        Self { bit_index: bit }
    }

    const fn at(square: Square) -> Self {
        Self::from_bit_index(Bitboard::bit_index(square.file, square.rank))
    }

    const fn square(self) -> Square {
        let (file, rank) = Bitboard::file_and_rank(self.bit_index);
        Square { file, rank }
    }
}

impl Gomoku {
    /// Returns the stones of the side to move and of its opponent, in this order.
    pub(crate) const fn stones(&self) -> [Bitboard; 2] {
        [self.own, self.other]
    }

    fn stones_of(&self, seat: Seat) -> Bitboard {
        if self.turn() == seat {
            self.own
        } else {
            self.other
        }
    }

    /// Returns the empty squares of the board.
    pub(crate) fn empty_squares(&self) -> Bitboard {
        Bitboard::ALL & !(self.own | self.other)
    }

    /// Returns the position after a null move. Such a position cannot occur in a game. A null move
    /// counts as a ply. Returns `None` if this ply would reach the maximum number of plies.
    pub(crate) const fn after_null_move(&self) -> Option<Self> {
        if self.plies + 1 >= SIZE * SIZE {
            return None;
        }
        Some(Self {
            own: self.other,
            other: self.own,
            key: self.key ^ NULL_MOVE_KEY,
            plies: self.plies + 1,
            is_won: false,
        })
    }

    /// Returns the number of stones played.
    pub(crate) const fn plies(&self) -> u8 {
        self.plies
    }

    /// Returns the Zobrist key of the stones. A null move also changes the key.
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    /// Returns the position where each seat has the given stones. Returns `None` if alternating
    /// turns cannot produce these stone counts.
    fn from_stones(stones: [Bitboard; 2]) -> Option<Self> {
        let [black, white] = stones.map(Bitboard::len);
        let (own, other) = match black.checked_sub(white) {
            Some(0) => (stones[0], stones[1]),
            Some(1) => (stones[1], stones[0]),
            Some(_) | None => return None,
        };
        let seat_key = |seat: Seat| {
            let bits = stones[seat.index()].into_iter();
            bits.fold(0, |key, bit| key ^ stone_key(seat, bit))
        };
        Some(Self {
            own,
            other,
            key: seat_key(Seat::First) ^ seat_key(Seat::Second),
            plies: u8::try_from(black + white).expect("the board has 225 squares"),
            is_won: !rows_of_five(other).is_empty(),
        })
    }

    /// Rejects positions where play continued after a side had five in a row. The last stone must
    /// have completed all rows of five on the board.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        let rows = rows_of_five(self.other);
        let completes_all_rows =
            |bit| rows_of_five(self.other ^ Bitboard::from_bit_index(bit)).is_empty();
        if !rows_of_five(self.own).is_empty()
            || !rows.is_empty() && !rows.into_iter().any(completes_all_rows)
        {
            return Err(ParsePositionError("play continued after five in a row"));
        }
        Ok(())
    }
}

/// Returns the squares of all rows of five or more in a set of stones.
fn rows_of_five(stones: Bitboard) -> Bitboard {
    fn rows_along<const STEP: u8>(stones: Bitboard) -> Bitboard {
        let mut starts = stones;
        for _ in 1..ROW_LENGTH {
            starts = stones & starts.shift_down::<STEP>();
        }
        let mut rows = starts;
        for _ in 1..ROW_LENGTH {
            rows = starts | rows.shift_up::<STEP>();
        }
        rows
    }

    const {
        assert!(
            LINE_STEPS[0] == 1 && LINE_STEPS[1] == 15 && LINE_STEPS[2] == 16 && LINE_STEPS[3] == 17
        )
    };
    rows_along::<1>(stones)
        | rows_along::<15>(stones)
        | rows_along::<16>(stones)
        | rows_along::<17>(stones)
}

/// Returns whether a stone of the set on this square is part of a row of five or more.
fn is_in_row_of_five(stones: Bitboard, bit: u8) -> bool {
    let run = |mut at: u8, next: fn(u8, u8) -> Option<u8>, step: u8| {
        let mut length = 0;
        while let Some(to) = next(at, step).filter(|to| stones.has(*to)) {
            (at, length) = (to, length + 1);
        }
        length
    };
    LINE_STEPS.into_iter().any(|step| {
        1 + run(bit, u8::checked_add, step) + run(bit, u8::checked_sub, step) >= ROW_LENGTH
    })
}

/// Zobrist key of a null move. A null move combines this constant with the key of the position by
/// exclusive-or.
const NULL_MOVE_KEY: u64 = 0x517c_c1b7_2722_0a95;

/// Number of ranks whose numbers have one digit.
const ONE_DIGIT_RANKS: u8 = 9;

/// Maximum length of the moves onto all squares of a rank in a list of moves, with padding.
const LISTED_RANK_BYTES_MAX: usize = 6 * SIZE as usize + LISTED_MOVE_BYTES_MAX;

/// For each rank, the moves onto all of its squares as they appear in a list of moves:
/// `"a1","b1",`.
static LISTED_RANKS: [[u8; LISTED_RANK_BYTES_MAX]; SIZE as usize] = {
    let mut listed_ranks = [[0; LISTED_RANK_BYTES_MAX]; SIZE as usize];
    let mut rank = 0;
    while rank < SIZE {
        let mut len = 0;
        let mut file = 0;
        while file < SIZE {
            let (name, unit) = (b'a' + file, b'0' + (rank + 1) % 10);
            let one_digit = [b'"', name, unit, b'"', b','];
            let two_digits = [b'"', name, b'1', unit, b'"', b','];
            let mut text: &[u8] = if rank < ONE_DIGIT_RANKS {
                &one_digit
            } else {
                &two_digits
            };
            while let [byte, rest @ ..] = text {
                listed_ranks[rank as usize][len] = *byte;
                len += 1;
                text = rest;
            }
            file += 1;
        }
        rank += 1;
    }
    listed_ranks
};

/// Appends the moves onto the empty squares of a rank to a list of moves. Each move has `LENGTH`
/// bytes there.
#[inline]
fn append_listed_moves<const LENGTH: u8>(
    empty: u16,
    listed_rank: &[u8; LISTED_RANK_BYTES_MAX],
    moves: &mut ListedMoves,
    list: &mut Vec<u8>,
) {
    const FULL_RANK: u16 = (1 << SIZE) - 1;

    if empty == FULL_RANK {
        list.extend_from_slice(&listed_rank[..usize::from(LENGTH * SIZE)]);
        return;
    }
    for file in 0..SIZE {
        let m = listed_rank[usize::from(LENGTH * file)..].first_chunk();
        // The move onto an occupied square is overwritten. This is faster than a branch.
        let length = LENGTH * u8::from(empty >> file & 1 != 0);
        moves.push(*m.expect("the rank is padded"), length);
    }
    moves.append_to(list);
}

static STONE_KEYS: [[u64; 256]; 2] = zobrist::stone_keys();

const fn stone_key(seat: Seat, bit: u8) -> u64 {
    STONE_KEYS[seat.index()][bit as usize]
}

/// Compares only the stones, because they determine all other fields of a position that can occur
/// in a game.
impl PartialEq for Gomoku {
    fn eq(&self, other: &Self) -> bool {
        (self.own, self.other) == (other.own, other.other)
    }
}

impl Eq for Gomoku {}

impl Hash for Gomoku {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Position for Gomoku {
    type Move = Move;

    const INFO: GameInfo = GameInfo {
        id: "gomoku",
        title: "Gomoku",
        sides: ["black", "white"],
        files: SIZE,
        ranks: SIZE,
        plies_max: SIZE as u32 * SIZE as u32,
    };

    const ENGINE_PROTOCOL: EngineProtocol = EngineProtocol::Piskvork;

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Sgf {
        game: 4,
        rules: &[],
    });

    const BOARD_STYLE: BoardStyle = BoardStyle::Intersections;

    const SYMMETRIES: &'static [Symmetry] = Symmetry::SQUARE;

    fn initial() -> Self {
        Self {
            own: Bitboard::EMPTY,
            other: Bitboard::EMPTY,
            key: 0,
            plies: 0,
            is_won: false,
        }
    }

    fn turn(&self) -> Seat {
        Seat::to_move_after(self.plies.into())
    }

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let bit = Move::at(square).bit_index;
        (Seat::ALL.into_iter()).find(|seat| self.stones_of(*seat).has(bit))
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.is_won {
            return Some(Outcome::won_by(self.turn().other()));
        }
        (self.plies == SIZE * SIZE).then_some(Outcome::Draw)
    }

    /// If the winning row is longer than five, the result includes all squares of the row. If the
    /// last stone completed several rows, the result includes the squares of all of them.
    fn winning_line(&self) -> Option<Vec<Square>> {
        let squares = rows_of_five(self.other).iter_ascending();
        let squares = squares.map(|bit| Move::from_bit_index(bit).square());
        self.is_won.then(|| squares.collect())
    }

    /// A seat can win as long as some five squares in a row contain no stone of the opponent.
    fn can_win(&self, seat: Seat) -> bool {
        !rows_of_five(Bitboard::ALL & !self.stones_of(seat.other())).is_empty()
    }

    fn ending(&self) -> Option<Ending> {
        let detail = match self.outcome()? {
            Outcome::Decisive { .. } => "five",
            Outcome::Draw => "full",
        };
        Some(Ending::without_scores(detail))
    }

    fn move_to_record_notation(&self, m: Move, _after: &Self) -> String {
        let Square { file, rank } = m.square();
        RecordFormat::sgf_point(file, SIZE - 1 - rank)
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        let (own, occupied) = (self.own.ranks(), (self.own | self.other).ranks());
        let letters = match self.turn() {
            Seat::First => *b"wb",
            Seat::Second => *b"bw",
        };
        let letter = |rank: usize, file: u8| letters[usize::from(own[rank] >> file & 1)];
        append_fen_pieces(occupied, SIZE, letter, text);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        m.square().append_to(text);
    }

    fn append_legal_moves(&self, list: &mut Vec<u8>) {
        if self.outcome().is_some() {
            return;
        }
        let mut moves = ListedMoves::EMPTY;
        let ranks = self.empty_squares().ranks().into_iter().zip(&LISTED_RANKS);
        for (rank, (empty, listed_rank)) in (0..).zip(ranks) {
            if rank < ONE_DIGIT_RANKS {
                append_listed_moves::<5>(empty, listed_rank, &mut moves, list);
            } else {
                append_listed_moves::<6>(empty, listed_rank, &mut moves, list);
            }
        }
    }

    fn transform_move(m: Move, symmetry: Symmetry) -> Move {
        Move::at(symmetry.transform(m.square(), SIZE, SIZE))
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.outcome().is_none() {
            let squares = self.empty_squares().iter_ascending();
            moves.extend(squares.map(Move::from_bit_index));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if (self.own | self.other).has(m.bit_index) {
            return Err(IllegalMove("is already taken"));
        }
        Ok(())
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        let own = self.own | Bitboard::from_bit_index(m.bit_index);
        *self = Self {
            own: self.other,
            other: own,
            key: self.key ^ stone_key(self.turn(), m.bit_index),
            plies: self.plies + 1,
            is_won: is_in_row_of_five(own, m.bit_index),
        };
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| Gomoku::append_move_text(*self, text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let square = Square::parse(text, SIZE, SIZE);
        square.map(Self::at).ok_or(ParseMoveError { example: "h8" })
    }
}

impl fmt::Display for Gomoku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_text(text))
    }
}

impl FromStr for Gomoku {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const SHAPE_ERROR: ParsePositionError =
            ParsePositionError("expected fifteen ranks of fifteen squares");

        let mut stones = [Bitboard::EMPTY; 2];
        let mut ranks = text.split('/');
        for rank in (0..SIZE).rev() {
            let seats = parse_rank(ranks.next().ok_or(SHAPE_ERROR)?)?;
            if seats.len() != usize::from(SIZE) {
                return Err(SHAPE_ERROR);
            }
            for (file, seat) in (0..SIZE).zip(seats) {
                if let Some(seat) = seat {
                    let stones = &mut stones[seat.index()];
                    *stones = *stones | Bitboard::from_bit_index(Bitboard::bit_index(file, rank));
                }
            }
        }
        if ranks.next().is_some() {
            return Err(SHAPE_ERROR);
        }
        let pos = Self::from_stones(stones).ok_or(ParsePositionError(
            "the stone counts do not fit alternating turns",
        ))?;
        pos.check_reachable()?;
        Ok(pos)
    }
}

/// Parses a rank and returns the stone on each square, or `None` for an empty square. Stops when
/// the result has more squares than a rank, so that long text is not parsed in full.
fn parse_rank(text: &str) -> Result<Vec<Option<Seat>>, ParsePositionError> {
    const COUNT_ERROR: ParsePositionError =
        ParsePositionError("adjacent empty squares must be written as one number from 1 to 15");

    let mut seats = Vec::new();
    let mut rest = text.as_bytes();
    let mut after_number = false;
    while let Some((&first, others)) = rest.split_first() {
        if seats.len() > usize::from(SIZE) {
            break;
        }
        rest = others;
        match first {
            b'b' => seats.push(Some(Seat::First)),
            b'w' => seats.push(Some(Seat::Second)),
            b'1'..=b'9' if !after_number => {
                let mut count = usize::from(first - b'0');
                if let (1, Some((&second @ b'0'..=b'5', others))) = (count, others.split_first()) {
                    count = 10 + usize::from(second - b'0');
                    rest = others;
                }
                seats.resize(seats.len() + count, None);
            }
            b'0'..=b'9' => return Err(COUNT_ERROR),
            _ => {
                return Err(ParsePositionError(
                    "squares must be 'b', 'w' or a number of empty squares",
                ));
            }
        }
        after_number = first.is_ascii_digit();
    }
    Ok(seats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance;

    #[test]
    fn passes_the_conformance_suite() {
        conformance::check_game::<Gomoku>();
        conformance::check_seats_alternate::<Gomoku>();
    }

    fn check_rejected(text: &str, reason: &str) {
        let error = text.parse::<Gomoku>().expect_err(text);
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }

    /// Returns a board with these ranks at the bottom and empty ranks above them.
    fn bottom_ranks(ranks: &[&str]) -> String {
        let empty = vec!["15"; usize::from(SIZE) - ranks.len()];
        [&empty, ranks].concat().join("/")
    }

    #[test]
    fn unreachable_positions_are_rejected() {
        check_rejected("", "fifteen ranks");
        check_rejected(&bottom_ranks(&["14"]), "fifteen ranks");
        check_rejected(&bottom_ranks(&["15b"]), "fifteen ranks");
        check_rejected(&format!("{}/15", bottom_ranks(&["15"])), "fifteen ranks");
        check_rejected(&bottom_ranks(&["x14"]), "'b', 'w' or a number");
        check_rejected(&bottom_ranks(&["0b14"]), "from 1 to 15");
        check_rejected(&bottom_ranks(&["16"]), "from 1 to 15");
        check_rejected(&bottom_ranks(&["105"]), "from 1 to 15");
        check_rejected(&bottom_ranks(&["w14"]), "alternating turns");
        check_rejected(&bottom_ranks(&["b12bb"]), "alternating turns");
        check_rejected(
            &bottom_ranks(&["bbbbb10", "wwwww10"]),
            "after five in a row",
        );
        check_rejected(
            &bottom_ranks(&["bbbbb10", "wwww1w9"]),
            "after five in a row",
        );
        // The two rows of five share no square, so no single stone can have completed both.
        check_rejected(
            &bottom_ranks(&["bbbbb10", "wwww1wwww6", "bbbbb2w7"]),
            "after five in a row",
        );
    }

    fn position_after(moves: &str) -> Gomoku {
        let mut pos = Gomoku::initial();
        for text in moves.split_whitespace() {
            pos.play(text.parse().expect(text)).expect(text);
        }
        pos
    }

    fn check_winning_line(moves: &str, squares: &str) {
        let pos = position_after(moves);
        let line = pos.winning_line().expect(moves);
        let names: Vec<_> = line.iter().map(Square::to_string).collect();
        assert_eq!(names.join(" "), squares, "{moves}");
        let winner = pos.turn().other();
        assert_eq!(pos.outcome(), Some(Outcome::Decisive { winner }));
        assert_eq!(pos.ending().expect("the game is over").detail, "five");
        assert_eq!(pos.to_string().parse(), Ok(pos));
    }

    #[test]
    fn five_or_more_in_a_row_win() {
        check_winning_line("a1 a2 b1 b2 c1 c2 d1 d2 e1", "a1 b1 c1 d1 e1");
        check_winning_line("o1 a2 o2 b2 o3 c2 o4 d2 o5", "o1 o2 o3 o4 o5");
        check_winning_line("k11 a1 l12 b1 m13 c1 n14 d1 o15", "k11 l12 m13 n14 o15");
        check_winning_line("a5 a1 b4 b1 c3 c1 d2 d1 f6 e1", "a1 b1 c1 d1 e1");
        check_winning_line("e1 o1 d2 o2 c3 o3 b4 o4 a5", "e1 d2 c3 b4 a5");
        check_winning_line("a1 a3 b1 b3 c1 c3 e1 e3 f1 f3 d1", "a1 b1 c1 d1 e1 f1");
        check_winning_line(
            "a1 h2 b1 i2 c1 h4 d1 i4 e2 h6 e3 i6 e4 h8 e5 i8 e1",
            "a1 b1 c1 d1 e1 e2 e3 e4 e5",
        );
    }

    #[test]
    fn rows_do_not_wrap_around_the_edge() {
        for moves in [
            "m1 a9 n1 b9 o1 c9 a2 e9 b2",
            "a14 f1 a15 g1 b1 h1 b2 j1 b3",
            "n3 f1 o4 g1 a6 h1 b7 j1 c8",
            "c3 f1 b4 g1 a5 h1 o5 j1 n6",
        ] {
            assert_eq!(position_after(moves).outcome(), None, "{moves}");
        }
    }

    #[test]
    fn full_board_without_a_row_is_a_draw() {
        // In this pattern, the colours change after every second file and swap on each rank.
        // Neither side has more than two adjacent stones on any line.
        let is_black = |file: u8, rank: u8| (file / 2 + rank).is_multiple_of(2);
        let squares = || (0..SIZE).flat_map(|rank| (0..SIZE).map(move |file| (file, rank)));
        let (black, white): (Vec<_>, Vec<_>) = squares().partition(|(f, r)| is_black(*f, *r));
        assert_eq!((black.len(), white.len()), (113, 112));
        let stones = [black, white].map(|squares| {
            let bits = squares
                .iter()
                .map(|(file, rank)| Bitboard::bit_index(*file, *rank));
            bits.fold(Bitboard::EMPTY, |all, bit| {
                all | Bitboard::from_bit_index(bit)
            })
        });
        let pos =
            Gomoku::from_stones(stones).expect("the stones are consistent with alternating turns");
        assert_eq!(pos.outcome(), Some(Outcome::Draw));
        assert_eq!(pos.ending().expect("the game is over").detail, "full");
        assert_eq!(pos.to_string().parse(), Ok(pos));
        assert_eq!(pos.winning_line(), None);
        assert_eq!(Seat::ALL.map(|seat| pos.can_win(seat)), [false, false]);

        // If White's stones are removed from the lowest rank, only Black can still complete a row
        // there. If Black's stones are removed from the lowest rank instead, only White can.
        let [white, black] = pos.stones();
        let lowest = (0..SIZE).map(|file| Bitboard::from_bit_index(Bitboard::bit_index(file, 0)));
        let lowest = lowest.fold(Bitboard::EMPTY, |all, square| all | square);
        let [fewer_white, fewer_black] = [white, black].map(|stones| stones & !lowest);
        for (own, other, can_win) in [
            (black, fewer_white, [true, false]),
            (fewer_black, white, [false, true]),
        ] {
            let start = Gomoku::initial();
            let pos = Gomoku {
                own,
                other,
                ..start
            };
            assert_eq!(Seat::ALL.map(|seat| pos.can_win(seat)), can_win);
            assert!(Seat::ALL.iter().all(|seat| start.can_win(*seat)));
        }
    }

    #[test]
    fn incremental_state_matches_the_stones() {
        for seed in 0..30 {
            for pos in conformance::random_game::<Gomoku>(seed).0 {
                let read: Gomoku = pos
                    .to_string()
                    .parse()
                    .expect("a reached position is valid");
                assert_eq!(
                    (read.key, read.plies, read.is_won),
                    (pos.key, pos.plies, pos.is_won),
                    "{pos}"
                );
            }
        }
    }

    #[test]
    fn moves_are_written_as_squares() {
        let read = |text: &str| text.parse::<Move>().map(|m| m.to_string());
        assert_eq!(read(" O15 "), Ok("o15".to_owned()));
        for text in ["", "h", "8h", "p1", "a16", "a0", "a01", "a1a", "pass"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
