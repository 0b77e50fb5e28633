//! Gomoku, freestyle: on fifteen ranks of fifteen squares, five or more stones in a row win. A move
//! is a square, `a1` to `o15`; a position is written rank by rank from the highest with runs of
//! empty squares as numbers, as in FEN: `15/15/15/15/15/15/15/7b7/15/15/15/15/15/15/15`.
//!
//! There are no other rules: black has no forbidden moves, and there is no swap (Allis, "Searching
//! for Solutions in Games and Artificial Intelligence", 1994, chapter 5, calls it "free-style").

pub(crate) mod squares;

use std::fmt;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use self::squares::Squares;
use super::{
    Ending, EngineProtocol, Figure, GameInfo, Ground, IllegalMove, Outcome, Paint, ParseMoveError,
    ParsePositionError, Position, RecordFormat, Seat, Shape, Square, Symmetry, zobrist,
};

const SIZE: u8 = Squares::SIZE;

/// How many stones in a row win.
const FIVE: u8 = 5;

/// The steps to the next square of a line: along a rank, on both diagonals, and along a file.
const STEPS: [u8; 4] = [
    Squares::bit(1, 0),
    Squares::bit(0, 1) - 1,
    Squares::bit(0, 1),
    Squares::bit(1, 1),
];

/// A position of Gomoku, and only such as play can reach.
#[derive(Clone, Copy, Debug)]
pub struct Gomoku {
    /// The stones of the side to move.
    own: Squares,
    /// The stones of the other side, which has moved last.
    other: Squares,
    /// A number that positions with other stones hardly ever share.
    key: u64,
    /// How many stones have been played.
    plies: u8,
    /// Whether the last stone has made a row of five or more.
    won: bool,
}

/// A move: the square that a stone is put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    bit: u8,
}

impl Move {
    /// The number of the square in a set of squares.
    pub(crate) const fn bit(self) -> u8 {
        self.bit
    }

    /// The move onto the square with this number, which lies on the board.
    pub(crate) const fn onto(bit: u8) -> Self {
        Self { bit }
    }

    const fn square(self) -> Square {
        let (file, rank) = Squares::place(self.bit);
        Square { file, rank }
    }
}

impl Gomoku {
    /// The stones of the side to move and of the other.
    pub(crate) const fn stones(&self) -> [Squares; 2] {
        [self.own, self.other]
    }

    /// The squares without a stone.
    pub(crate) fn free(&self) -> Squares {
        Squares::ALL & !(self.own | self.other)
    }

    /// The position if the side to move could pass; `None` where the board would be full. Not one that
    /// play can reach.
    pub(crate) const fn passed(&self) -> Option<Self> {
        if self.plies + 1 >= SIZE * SIZE {
            return None;
        }
        Some(Self {
            own: self.other,
            other: self.own,
            key: self.key ^ PASSED_KEY,
            plies: self.plies + 1,
            won: false,
        })
    }

    /// How many stones have been played.
    pub(crate) const fn plies(&self) -> u8 {
        self.plies
    }

    /// A number that positions with other stones hardly ever share.
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    /// The position with these stones of either seat, if they can have taken turns.
    fn with(stones: [Squares; 2]) -> Option<Self> {
        let [black, white] = stones.map(Squares::len);
        let (own, other) = match black.checked_sub(white) {
            Some(0) => (stones[0], stones[1]),
            Some(1) => (stones[1], stones[0]),
            Some(_) | None => return None,
        };
        let key = |seat: Seat| {
            let bits = stones[seat.index()].into_iter();
            bits.fold(0, |key, bit| key ^ stone_key(seat, bit))
        };
        Some(Self {
            own,
            other,
            key: key(Seat::First) ^ key(Seat::Second),
            plies: u8::try_from(black + white).expect("the board has 225 squares"),
            won: !rows_of_five(other).is_empty(),
        })
    }

    /// Refuses a game that was played on after a row of five: before the last stone there was none.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        let rows = rows_of_five(self.other);
        let has_last = |bit| rows_of_five(self.other ^ Squares::of(bit)).is_empty();
        if !rows_of_five(self.own).is_empty() || !rows.is_empty() && !rows.into_iter().any(has_last)
        {
            return Err(ParsePositionError("play went on after a row of five"));
        }
        Ok(())
    }
}

/// The squares of all rows of five or more in a set.
fn rows_of_five(stones: Squares) -> Squares {
    fn along<const STEP: u8>(stones: Squares) -> Squares {
        let mut starts = stones;
        for _ in 1..FIVE {
            starts = stones & starts.down::<STEP>();
        }
        let mut rows = starts;
        for _ in 1..FIVE {
            rows = starts | rows.up::<STEP>();
        }
        rows
    }

    const { assert!(STEPS[0] == 1 && STEPS[1] == 15 && STEPS[2] == 16 && STEPS[3] == 17) };
    along::<1>(stones) | along::<15>(stones) | along::<16>(stones) | along::<17>(stones)
}

/// Whether a stone of the set on this square is one of a row of five or more.
fn is_in_a_five(stones: Squares, bit: u8) -> bool {
    let run = |mut at: u8, next: fn(u8, u8) -> Option<u8>, step: u8| {
        let mut length = 0;
        while let Some(to) = next(at, step).filter(|to| stones.has(*to)) {
            (at, length) = (to, length + 1);
        }
        length
    };
    STEPS
        .into_iter()
        .any(|step| 1 + run(bit, u8::checked_add, step) + run(bit, u8::checked_sub, step) >= FIVE)
}

/// Mixed into the key of a position in which the sides have not taken turns.
const PASSED_KEY: u64 = 0x517c_c1b7_2722_0a95;

static STONE_KEYS: [[u64; 256]; 2] = zobrist::stone_keys();

const fn stone_key(seat: Seat, bit: u8) -> u64 {
    STONE_KEYS[seat.index()][bit as usize]
}

/// Positions are what their stones are: all else follows.
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

    const ENGINE: EngineProtocol = EngineProtocol::Piskvork;

    const RECORD: Option<RecordFormat> = Some(RecordFormat::Sgf {
        game: 4,
        rules: &[],
    });

    const GROUND: Ground = Ground::Lines;

    const SYMMETRIES: &'static [Symmetry] = Symmetry::SQUARE;

    fn start() -> Self {
        Self {
            own: Squares::NONE,
            other: Squares::NONE,
            key: 0,
            plies: 0,
            won: false,
        }
    }

    fn turn(&self) -> Seat {
        Seat::after_plies(self.plies.into())
    }

    #[inline]
    fn figure(&self, at: Square) -> Option<Figure> {
        let bit = Squares::bit(at.file, at.rank);
        let is_own = self.own.has(bit);
        if !is_own && !self.other.has(bit) {
            return None;
        }
        let seat = if is_own {
            self.turn()
        } else {
            self.turn().other()
        };
        Some(Figure {
            shape: Shape::Disc,
            paint: [Paint::Black, Paint::White][seat.index()],
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.won {
            return Some(Outcome::Decisive {
                winner: self.turn().other(),
            });
        }
        (self.plies == SIZE * SIZE).then_some(Outcome::Draw)
    }

    /// All of a row that is longer than five, and of all rows that the last stone has completed.
    fn line(&self) -> Option<Vec<Square>> {
        let squares = rows_of_five(self.other).rising();
        self.won
            .then(|| squares.map(|bit| Move { bit }.square()).collect())
    }

    /// A row of five without a stone of the other side is left.
    fn can_win(&self, seat: Seat) -> bool {
        let others = if self.turn() == seat {
            self.other
        } else {
            self.own
        };
        !rows_of_five(Squares::ALL & !others).is_empty()
    }

    fn ending(&self) -> Option<Ending> {
        let detail = match self.outcome()? {
            Outcome::Decisive { .. } => "five",
            Outcome::Draw => "full",
        };
        Some(Ending {
            detail,
            scores: None,
        })
    }

    fn recorded(&self, m: Move) -> String {
        let Square { file, rank } = m.square();
        RecordFormat::sgf_point(file, SIZE - 1 - rank)
    }

    fn push_move(m: Move, text: &mut String) {
        m.square().push(text);
    }

    fn turned(m: Move, by: Symmetry) -> Move {
        let (file, rank) = by.place(Squares::place(m.bit), SIZE, SIZE);
        Move::onto(Squares::bit(file, rank))
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.outcome().is_none() {
            moves.extend(self.free().rising().map(|bit| Move { bit }));
        }
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if (self.own | self.other).has(m.bit) {
            return Err(IllegalMove("is already taken"));
        }
        Ok(())
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check(m), Ok(()), "{m} in {self}");
        let own = self.own | Squares::of(m.bit);
        *self = Self {
            own: self.other,
            other: own,
            key: self.key ^ stone_key(self.turn(), m.bit),
            plies: self.plies + 1,
            won: is_in_a_five(own, m.bit),
        };
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.square().fmt(f)
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let Square { file, rank } =
            Square::read(text, SIZE, SIZE).ok_or(ParseMoveError { example: "h8" })?;
        Ok(Self {
            bit: Squares::bit(file, rank),
        })
    }
}

impl fmt::Display for Gomoku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = match self.turn() {
            Seat::First => [self.own, self.other],
            Seat::Second => [self.other, self.own],
        };
        for rank in (0..SIZE).rev() {
            let mut empty = 0;
            for file in 0..SIZE {
                let bit = Squares::bit(file, rank);
                let stone = match (black.has(bit), white.has(bit)) {
                    (true, _) => 'b',
                    (false, true) => 'w',
                    (false, false) => {
                        empty += 1;
                        continue;
                    }
                };
                if empty != 0 {
                    write!(f, "{empty}")?;
                    empty = 0;
                }
                f.write_char(stone)?;
            }
            if empty != 0 {
                write!(f, "{empty}")?;
            }
            if rank != 0 {
                f.write_char('/')?;
            }
        }
        Ok(())
    }
}

impl FromStr for Gomoku {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const SHAPE: ParsePositionError =
            ParsePositionError("fifteen ranks of fifteen squares are needed");

        let mut stones = [Squares::NONE; 2];
        let mut ranks = text.split('/');
        for rank in (0..SIZE).rev() {
            let seats = read_rank(ranks.next().ok_or(SHAPE)?)?;
            if seats.len() != usize::from(SIZE) {
                return Err(SHAPE);
            }
            for (file, seat) in (0..SIZE).zip(seats) {
                if let Some(seat) = seat {
                    let stones = &mut stones[seat.index()];
                    *stones = *stones | Squares::of(Squares::bit(file, rank));
                }
            }
        }
        if ranks.next().is_some() {
            return Err(SHAPE);
        }
        let pos = Self::with(stones).ok_or(ParsePositionError("the sides have not taken turns"))?;
        pos.check_reachable()?;
        Ok(pos)
    }
}

/// Whose stones a rank has. A rank that is too long is read no farther than that shows.
fn read_rank(text: &str) -> Result<Vec<Option<Seat>>, ParsePositionError> {
    const NUMBER: ParsePositionError = ParsePositionError(
        "empty squares are counted from 1 to 15, all that are beside each other together",
    );

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
            b'0'..=b'9' => return Err(NUMBER),
            _ => {
                return Err(ParsePositionError(
                    "a square is b or w, or empty and counted",
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
    use crate::game::laws;

    #[test]
    fn obeys_the_laws_of_games() {
        laws::check::<Gomoku>();
        laws::check_alternates::<Gomoku>();
    }

    fn check_refused(text: &str, reason: &str) {
        let refused = text.parse::<Gomoku>().expect_err(text);
        assert!(refused.to_string().contains(reason), "{text}: {refused}");
    }

    /// The lowest ranks, with empty ones above.
    fn with_ranks(ranks: &[&str]) -> String {
        let empty = vec!["15"; usize::from(SIZE) - ranks.len()];
        [&empty, ranks].concat().join("/")
    }

    #[test]
    fn positions_that_play_cannot_reach_are_refused() {
        check_refused("", "fifteen ranks");
        check_refused(&with_ranks(&["14"]), "fifteen ranks");
        check_refused(&with_ranks(&["15b"]), "fifteen ranks");
        check_refused(&format!("{}/15", with_ranks(&["15"])), "fifteen ranks");
        check_refused(&with_ranks(&["x14"]), "b or w");
        check_refused(&with_ranks(&["0b14"]), "counted from 1");
        check_refused(&with_ranks(&["16"]), "counted from 1");
        check_refused(&with_ranks(&["105"]), "counted from 1");
        check_refused(&with_ranks(&["w14"]), "taken turns");
        check_refused(&with_ranks(&["b12bb"]), "taken turns");
        check_refused(&with_ranks(&["bbbbb10", "wwwww10"]), "after a row");
        check_refused(&with_ranks(&["bbbbb10", "wwww1w9"]), "after a row");
        // Two rows that no single stone can have completed.
        check_refused(
            &with_ranks(&["bbbbb10", "wwww1wwww6", "bbbbb2w7"]),
            "after a row",
        );
    }

    fn after(moves: &str) -> Gomoku {
        let mut pos = Gomoku::start();
        for text in moves.split_whitespace() {
            pos.play(text.parse().expect(text)).expect(text);
        }
        pos
    }

    fn check_line(moves: &str, squares: &str) {
        let pos = after(moves);
        let line = pos.line().expect(moves);
        let names: Vec<_> = line.iter().map(Square::to_string).collect();
        assert_eq!(names.join(" "), squares, "{moves}");
        let winner = pos.turn().other();
        assert_eq!(pos.outcome(), Some(Outcome::Decisive { winner }));
        assert_eq!(pos.ending().expect("it has ended").detail, "five");
        assert_eq!(pos.to_string().parse(), Ok(pos));
    }

    #[test]
    fn five_or_more_in_a_row_win() {
        check_line("a1 a2 b1 b2 c1 c2 d1 d2 e1", "a1 b1 c1 d1 e1");
        check_line("o1 a2 o2 b2 o3 c2 o4 d2 o5", "o1 o2 o3 o4 o5");
        check_line("k11 a1 l12 b1 m13 c1 n14 d1 o15", "k11 l12 m13 n14 o15");
        check_line("a5 a1 b4 b1 c3 c1 d2 d1 f6 e1", "a1 b1 c1 d1 e1");
        check_line("e1 o1 d2 o2 c3 o3 b4 o4 a5", "e1 d2 c3 b4 a5");
        check_line("a1 a3 b1 b3 c1 c3 e1 e3 f1 f3 d1", "a1 b1 c1 d1 e1 f1");
        check_line(
            "a1 h2 b1 i2 c1 h4 d1 i4 e2 h6 e3 i6 e4 h8 e5 i8 e1",
            "a1 b1 c1 d1 e1 e2 e3 e4 e5",
        );
    }

    /// What would be a row if the board were rolled up is none.
    #[test]
    fn a_row_does_not_run_over_the_edge() {
        for moves in [
            "m1 a9 n1 b9 o1 c9 a2 e9 b2",
            "a14 f1 a15 g1 b1 h1 b2 j1 b3",
            "n3 f1 o4 g1 a6 h1 b7 j1 c8",
            "c3 f1 b4 g1 a5 h1 o5 j1 n6",
        ] {
            assert_eq!(after(moves).outcome(), None, "{moves}");
        }
    }

    #[test]
    fn a_full_board_is_a_draw() {
        // Pairs of files, shifted by a rank each: no side has more than two beside each other.
        let is_black = |file: u8, rank: u8| (file / 2 + rank).is_multiple_of(2);
        let squares = || (0..SIZE).flat_map(|rank| (0..SIZE).map(move |file| (file, rank)));
        let (black, white): (Vec<_>, Vec<_>) = squares().partition(|(f, r)| is_black(*f, *r));
        assert_eq!((black.len(), white.len()), (113, 112));
        let stones = [black, white].map(|squares| {
            let bits = squares
                .iter()
                .map(|(file, rank)| Squares::bit(*file, *rank));
            bits.fold(Squares::NONE, |all, bit| all | Squares::of(bit))
        });
        let pos = Gomoku::with(stones).expect("black has one more");
        assert_eq!(pos.outcome(), Some(Outcome::Draw));
        assert_eq!(pos.ending().expect("it has ended").detail, "full");
        assert_eq!(pos.to_string().parse(), Ok(pos));
        assert_eq!(pos.line(), None);
        assert_eq!(Seat::ALL.map(|seat| pos.can_win(seat)), [false, false]);

        // Without white's stones on the lowest rank black has rows left there, and white has none; and
        // the same with the sides changed.
        let [white, black] = pos.stones();
        let lowest = (0..SIZE).map(|file| Squares::of(Squares::bit(file, 0)));
        let lowest = lowest.fold(Squares::NONE, |all, square| all | square);
        let [fewer_white, fewer_black] = [white, black].map(|stones| stones & !lowest);
        for (own, other, can_win) in [
            (black, fewer_white, [true, false]),
            (fewer_black, white, [false, true]),
        ] {
            let start = Gomoku::start();
            let pos = Gomoku {
                own,
                other,
                ..start
            };
            assert_eq!(Seat::ALL.map(|seat| pos.can_win(seat)), can_win);
            assert!(Seat::ALL.iter().all(|seat| start.can_win(*seat)));
        }
    }

    /// What is kept beside the stones is what would be found by looking at them.
    #[test]
    fn what_is_kept_follows_from_the_stones() {
        for seed in 0..30 {
            for pos in laws::random_game::<Gomoku>(seed).0 {
                let read: Gomoku = pos.to_string().parse().expect("it was reached");
                assert_eq!(
                    (read.key, read.plies, read.won),
                    (pos.key, pos.plies, pos.won),
                    "{pos}"
                );
            }
        }
    }

    #[test]
    fn moves_are_squares() {
        let read = |text: &str| text.parse::<Move>().map(|m| m.to_string());
        assert_eq!(read(" O15 "), Ok("o15".to_owned()));
        for text in ["", "h", "8h", "p1", "a16", "a0", "a01", "a1a", "pass"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
