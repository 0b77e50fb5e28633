//! English draughts (American checkers), by the rules of the World Checkers/Draughts Federation: men
//! move and capture forwards only, a capture must be made and made to its end, any of several may be
//! chosen, and a man that reaches the last row stops there and is crowned. A side that cannot move has lost.
//! A game is drawn after forty moves of each side without a capture or a move of a man, and when a
//! position comes for the third time.
//!
//! Both moves and positions are written as in PDN, the field's portable notation, by the numbers of
//! the squares. Black, who moves first, begins on 1 to 12. [`Draughts::square`] tells where they lie.

mod board;
mod endings;
mod notation;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{
    Ending, Figure, GameInfo, Ground, IllegalMove, Outcome, Paint, Position, ReadMoveError,
    RecordFormat, Repetition, Seat, Shape, Square,
};

pub(crate) use board::ROWS;
use board::{BOARD, Way, bit, place};

/// Files, and as many ranks.
const SIZE: u8 = 8;

/// How many squares there are to play on.
const SQUARES: u8 = SIZE * SIZE / 2;

/// How many pieces a side begins with.
const PIECES: u8 = 12;

/// After so many plies without a capture or a move of a man the game is drawn.
const QUIET_PLIES_MAX: u8 = 80;

/// A position of draughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draughts {
    /// The pieces of each seat, kings among them.
    sides: [u64; 2],
    /// The kings of both.
    kings: u64,
    turn: Seat,
    /// How many plies were played since a capture or a move of a man.
    quiet: u8,
    /// The number of the move, as players count: one for both sides.
    number: u16,
}

/// A move: a step, or a chain of jumps, each of which captures what it leads over.
///
/// Which squares it leads over follows from where it begins and from the ways it takes, so it can be
/// written in full without its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The square it begins on, as the place of its bit.
    from: u8,
    /// How many jumps there are; none is a step.
    jumps: u8,
    /// The way of the step, or of each jump, two bits for each, the first one lowest. Jumped squares
    /// lie two rows apart and never on an edge, of which there are nine at most: 18 bits.
    ways: u32,
}

impl Move {
    /// How many numbers `index` has.
    pub(crate) const INDICES: usize = 32 * 32;

    const fn step(from: u8, way: Way) -> Self {
        Self {
            from,
            jumps: 0,
            ways: way as u32,
        }
    }

    /// A chain of jumps, of which there is none yet.
    const fn chain(from: u8) -> Self {
        Self {
            from,
            jumps: 0,
            ways: 0,
        }
    }

    /// The chain with a jump at its end.
    const fn and_jump(self, way: Way) -> Self {
        Self {
            jumps: self.jumps + 1,
            ways: self.ways | (way as u32) << (2 * self.jumps),
            ..self
        }
    }

    /// The ways of the jumps.
    fn jump_ways(self) -> impl Iterator<Item = Way> {
        (0..self.jumps).map(move |jump| Way::of_bits(self.ways >> (2 * jump)))
    }

    /// What it leads to: the square where it ends, and the squares that are jumped over.
    fn traced(self) -> Trace {
        let from = bit(self.from);
        if self.jumps == 0 {
            return Trace {
                to: Way::of_bits(self.ways).from(from),
                captured: 0,
            };
        }
        let begin = Trace {
            to: from,
            captured: 0,
        };
        self.jump_ways().fold(begin, |Trace { to, captured }, way| {
            let over = way.from(to);
            Trace {
                to: way.from(over),
                captured: captured | over,
            }
        })
    }

    /// Whether it captures.
    #[must_use]
    pub const fn is_capture(self) -> bool {
        self.jumps > 0
    }

    /// How many pieces it captures.
    pub(crate) const fn captures(self) -> u8 {
        self.jumps
    }

    /// Tells moves apart by where they begin and end: a number below `INDICES`.
    pub(crate) fn index(self) -> usize {
        let number = |place| usize::from(board::number(place) - 1);
        number(self.from) * 32 + number(place(self.traced().to))
    }
}

#[derive(Clone, Copy)]
struct Trace {
    to: u64,
    captured: u64,
}

impl Draughts {
    /// The square of the board on which the square with this number lies, from 1 to 32.
    ///
    /// As black sees it, who sits below: 1 to 4 are on the first rank from right to left, so that 4
    /// is a1 and 1 is g1; 5 to 8 are on the second, 8 on b2 and 5 on h2; and so on up to 32 on b8.
    #[must_use]
    pub fn square(number: u8) -> Option<Square> {
        let index = number.checked_sub(1).filter(|index| *index < SQUARES)?;
        let (rank, from_right) = (index / 4, index % 4);
        Some(Square {
            file: 6 - 2 * from_right + rank % 2,
            rank,
        })
    }

    /// Where these bits lie on the board.
    pub(crate) fn squares_of(mut bits: u64) -> impl Iterator<Item = Square> {
        std::iter::from_fn(move || {
            let square = bits & bits.wrapping_neg();
            bits ^= square;
            (square != 0).then(|| Self::square(board::number(place(square))))?
        })
    }

    /// The squares that a man of a seat on one of these could ever come to.
    pub(crate) fn ahead_of(seat: Seat, squares: u64) -> u64 {
        let ways = match seat {
            Seat::First => [Way::UpRight, Way::UpLeft],
            Seat::Second => [Way::DownLeft, Way::DownRight],
        };
        let mut ahead = squares;
        for _ in 1..SIZE {
            ahead |= ways[0].from(ahead) | ways[1].from(ahead);
        }
        ahead ^ squares
    }

    /// The squares of the men of a seat.
    pub(crate) const fn men(&self, seat: Seat) -> u64 {
        self.sides[seat.index()] & !self.kings
    }

    /// The squares of the kings of a seat.
    pub(crate) const fn kings(&self, seat: Seat) -> u64 {
        self.sides[seat.index()] & self.kings
    }

    /// The squares of all pieces.
    pub(crate) const fn taken(&self) -> u64 {
        self.sides[0] | self.sides[1]
    }

    /// The free squares.
    #[inline]
    const fn free(&self) -> u64 {
        BOARD & !self.taken()
    }

    /// How many plies were played since a capture or a move of a man.
    pub(crate) const fn quiet_plies(&self) -> u8 {
        self.quiet
    }

    /// The pieces of a seat that can go this way.
    #[inline]
    const fn able(&self, seat: Seat, way: Way) -> u64 {
        let pieces = self.sides[seat.index()];
        if way.is_forwards(seat) {
            pieces
        } else {
            pieces & self.kings
        }
    }

    /// The pieces of a seat that can take a step this way.
    #[inline]
    const fn steppers(&self, seat: Seat, way: Way) -> u64 {
        self.able(seat, way) & way.back().from(self.free())
    }

    /// The pieces of a seat that can jump this way.
    #[inline]
    const fn jumpers(&self, seat: Seat, way: Way) -> u64 {
        let (other, back) = (self.sides[seat.other().index()], way.back());
        self.able(seat, way) & back.from(other & back.from(self.free()))
    }

    /// The pieces of a seat that can take a step.
    #[inline]
    pub(crate) fn mobile(&self, seat: Seat) -> u64 {
        Way::ALL
            .into_iter()
            .fold(0, |all, way| all | self.steppers(seat, way))
    }

    /// The pieces of the side to move that can capture.
    #[inline]
    pub(crate) fn capturers(&self) -> u64 {
        Way::ALL
            .into_iter()
            .fold(0, |all, way| all | self.jumpers(self.turn, way))
    }

    /// Appends the captures: every chain of jumps that cannot be gone on with.
    pub(crate) fn captures(&self, moves: &mut Vec<Move>) {
        let mut rest = self.capturers();
        while rest != 0 {
            let from = rest & rest.wrapping_neg();
            rest ^= from;
            let jumper = Jumper {
                seat: self.turn,
                is_king: self.kings & from != 0,
                // It leaves its square, and may come back to it.
                free: self.free() | from,
            };
            let other = self.sides[self.turn.other().index()];
            jumper.go_on(from, other, Move::chain(place(from)), moves);
        }
    }

    fn steps(&self, moves: &mut Vec<Move>) {
        let mut rest = self.mobile(self.turn);
        while rest != 0 {
            let from = rest & rest.wrapping_neg();
            rest ^= from;
            let ways = Way::ALL.into_iter();
            let possible = ways.filter(|way| self.steppers(self.turn, *way) & from != 0);
            moves.extend(possible.map(|way| Move::step(place(from), way)));
        }
    }

    fn can_move(&self) -> bool {
        self.mobile(self.turn) != 0 || self.capturers() != 0
    }

    fn listed(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        moves
    }

    /// How many plies were played from the start.
    fn plies(&self) -> u32 {
        2 * (u32::from(self.number) - 1) + u32::from(self.turn == Seat::Second)
    }
}

/// A piece on its way through a chain of jumps.
struct Jumper {
    seat: Seat,
    is_king: bool,
    free: u64,
}

impl Jumper {
    /// Appends every chain that begins with `chain`, which has led to `at`. Of the other side's
    /// pieces those are left that were not jumped over yet: none is jumped over twice. That they stay
    /// on the board until the end makes no other difference, as no chain ever lands where one was.
    fn go_on(&self, at: u64, other: u64, chain: Move, moves: &mut Vec<Move>) {
        let mut ends = true;
        for way in Way::ALL {
            if !self.is_king && !way.is_forwards(self.seat) {
                continue;
            }
            let over = way.from(at) & other;
            let to = way.from(over) & self.free;
            if to != 0 {
                ends = false;
                self.go_on(to, other ^ over, chain.and_jump(way), moves);
            }
        }
        if ends {
            moves.push(chain);
        }
    }
}

impl Position for Draughts {
    type Move = Move;

    const REPETITION: Repetition = Repetition::DrawnAtThird;

    const RETURNS_AFTER: usize = 4;

    const INFO: GameInfo = GameInfo {
        id: "draughts",
        title: "Draughts",
        sides: ["black", "white"],
        files: SIZE,
        ranks: SIZE,
        // What cannot be taken back: 23 captures, since one piece is left, and moves of men, of which
        // the four on each of a side's three rows have 7, 6 and 5 to the last row, 144 in all. Before
        // each, and after the last, there are less than 80 plies, or the 80 that end the game:
        // 167 * 80 + 80.
        plies_max: 13_440,
    };

    const RECORD: Option<RecordFormat> = Some(RecordFormat::Pdn { game_type: "21" });

    const GROUND: Ground = Ground::Chequered;

    fn start() -> Self {
        Self {
            sides: [ROWS[0] | ROWS[1] | ROWS[2], ROWS[5] | ROWS[6] | ROWS[7]],
            kings: 0,
            turn: Seat::First,
            quiet: 0,
            number: 1,
        }
    }

    #[inline]
    fn turn(&self) -> Seat {
        self.turn
    }

    #[inline]
    fn figure(&self, at: Square) -> Option<Figure> {
        let stands_on = |bits: u64| Self::squares_of(bits).any(|square| square == at);
        let mut seats = Seat::ALL.into_iter();
        let seat = seats.find(|seat| stands_on(self.sides[seat.index()]))?;
        let shape = match stands_on(self.kings) {
            true => Shape::Crowned,
            false => Shape::Disc,
        };
        Some(Figure {
            shape,
            paint: [Paint::Black, Paint::White][seat.index()],
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.can_move() {
            return Some(Outcome::Decisive {
                winner: self.turn.other(),
            });
        }
        (self.quiet >= QUIET_PLIES_MAX).then_some(Outcome::Draw)
    }

    fn ending(&self) -> Option<Ending> {
        let detail = match self.outcome()? {
            Outcome::Decisive { winner: _ } => "no-moves",
            Outcome::Draw => "forty-moves",
        };
        Some(Ending {
            detail,
            scores: None,
        })
    }

    fn repetition_key(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.sides, self.kings, self.turn).hash(&mut hasher);
        hasher.finish()
    }

    fn reversible_plies(&self) -> usize {
        usize::from(self.quiet)
    }

    /// Forty moves without progress are a draw that a player has to claim.
    fn resumed(&self) -> Self {
        Self { quiet: 0, ..*self }
    }

    /// A player has to claim the draw by forty moves.
    fn unclaimed(&self) -> Option<Self> {
        let is_drawn = self.quiet >= QUIET_PLIES_MAX && self.can_move();
        is_drawn.then_some(Self { quiet: 0, ..*self })
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.quiet >= QUIET_PLIES_MAX {
            return;
        }
        let before = moves.len();
        self.captures(moves);
        if moves.len() == before {
            self.steps(moves);
        }
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        let legal = self.listed();
        if legal.contains(&m) {
            return Ok(());
        }
        let begins = |longer: &Move| {
            longer.from == m.from && longer.jumps > m.jumps && m.is_capture() && {
                m.jump_ways()
                    .eq(longer.jump_ways().take(usize::from(m.jumps)))
            }
        };
        let reason = if self.sides[self.turn.index()] & bit(m.from) == 0 {
            "begins where the side to move has no piece"
        } else if !m.is_capture() && self.capturers() != 0 {
            "is not allowed where a capture is possible"
        } else if legal.iter().any(begins) {
            "stops where the capture must go on"
        } else {
            "is not how that piece can move"
        };
        Err(IllegalMove(reason))
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check(m), Ok(()), "{m} in {self}");
        let (from, Trace { to, captured }) = (bit(m.from), m.traced());
        let is_king = self.kings & from != 0;
        let (own, other) = (self.turn.index(), self.turn.other().index());
        // A chain may end where it began.
        self.sides[own] = self.sides[own] & !from | to;
        self.sides[other] &= !captured;
        self.kings &= !(from | captured);
        if is_king || to & board::last_row(self.turn) != 0 {
            self.kings |= to;
        }
        self.quiet = if is_king && captured == 0 {
            self.quiet + 1
        } else {
            0
        };
        let is_last_of_move = u16::from(self.turn == Seat::Second);
        self.number = self.number.saturating_add(is_last_of_move);
        self.turn = self.turn.other();
    }

    /// The sign between the squares does not matter. A capture may also be written by its first and last
    /// square alone, if no other begins and ends there.
    fn read_move(&self, text: &str) -> Result<Move, ReadMoveError> {
        if let Ok(m) = text.parse()
            && self.check(m).is_ok()
        {
            return Ok(m);
        }
        let places = notation::read_squares(text)?;
        let full = notation::move_over(&places);
        let legal = self.listed();
        if let Some(m) = full.filter(|m| legal.contains(m)) {
            return Ok(m);
        }
        let fits = |m: &&Move| matches!(places[..], [from, to] if m.from == from && place(m.traced().to) == to);
        let mut fitting = legal.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(m), None) => Ok(*m),
            (Some(_), Some(_)) => Err(ReadMoveError::Illegal(IllegalMove(
                "can be more than one capture: name all squares where it lands",
            ))),
            // Squares that no move connects are squares all the same.
            (None, _) => full.ok_or(ReadMoveError::Illegal(IllegalMove(
                "is not how any piece moves",
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
