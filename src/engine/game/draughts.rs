//! English draughts (American checkers), by the rules of the World Checkers/Draughts Federation: men
//! move and capture forwards only, a capture must be made and made to its end, any of several may be
//! chosen, and a man that reaches the last row stops there and is crowned. A side that cannot move has lost.
//! A game is drawn after forty moves of each side without a capture or a move of a man, and when a
//! position comes for the third time.
//!
//! Both moves and positions are written as in PDN, the field's portable notation, by the numbers of
//! the squares. Black, who moves first, begins on 1 to 12. [`Draughts::square`] tells where they lie.

mod bitboard;
mod endgames;
mod notation;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{
    BoardStyle, DiagramPiece, Ending, GameInfo, IllegalMove, Outcome, PieceColor, PieceShape,
    Position, ReadMoveError, RecordFormat, RepetitionRule, Seat, Square,
};

pub(crate) use bitboard::ROWS;
use bitboard::{BOARD, Direction, bit_at, bit_index};

/// Files, and as many ranks.
const SIZE: u8 = 8;

/// How many squares there are to play on.
const SQUARES: u8 = SIZE * SIZE / 2;

/// How many pieces a side begins with.
const PIECES_PER_SIDE: u8 = 12;

/// After so many plies without a capture or a move of a man the game is drawn.
const QUIET_PLIES_MAX: u8 = 80;

/// A position of draughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draughts {
    /// The pieces of each seat, kings among them.
    pieces_by_seat: [u64; 2],
    /// The kings of both.
    kings: u64,
    turn: Seat,
    /// How many plies were played since a capture or a move of a man.
    quiet_plies: u8,
    /// The number of the move, as players count: one for both sides.
    move_number: u16,
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
    directions: u32,
}

impl Move {
    /// How many numbers `index` has.
    pub(crate) const INDEX_COUNT: usize = 32 * 32;

    const fn step(from: u8, direction: Direction) -> Self {
        Self {
            from,
            jumps: 0,
            directions: direction as u32,
        }
    }

    /// A chain of jumps, of which there is none yet.
    const fn empty_chain(from: u8) -> Self {
        Self {
            from,
            jumps: 0,
            directions: 0,
        }
    }

    /// The chain with a jump at its end.
    const fn with_jump(self, direction: Direction) -> Self {
        Self {
            jumps: self.jumps + 1,
            directions: self.directions | (direction as u32) << (2 * self.jumps),
            ..self
        }
    }

    /// The ways of the jumps.
    fn jump_directions(self) -> impl Iterator<Item = Direction> {
        (0..self.jumps).map(move |jump| Direction::from_bits(self.directions >> (2 * jump)))
    }

    /// What it leads to: the square where it ends, and the squares that are jumped over.
    fn trace(self) -> Trace {
        let from = bit_at(self.from);
        if self.jumps == 0 {
            return Trace {
                to: Direction::from_bits(self.directions).shift(from),
                captured: 0,
            };
        }
        let start = Trace {
            to: from,
            captured: 0,
        };
        self.jump_directions()
            .fold(start, |Trace { to, captured }, direction| {
                let over = direction.shift(to);
                Trace {
                    to: direction.shift(over),
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
    pub(crate) const fn capture_count(self) -> u8 {
        self.jumps
    }

    /// Tells moves apart by where they begin and end: a number below `INDICES`.
    pub(crate) fn index(self) -> usize {
        let number = |place| usize::from(bitboard::square_number(place) - 1);
        number(self.from) * 32 + number(bit_index(self.trace().to))
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
            (square != 0).then(|| Self::square(bitboard::square_number(bit_index(square))))?
        })
    }

    /// The squares that a man of a seat on one of these could ever come to.
    pub(crate) fn reachable_by_men(seat: Seat, squares: u64) -> u64 {
        let directions = match seat {
            Seat::First => [Direction::UpRight, Direction::UpLeft],
            Seat::Second => [Direction::DownLeft, Direction::DownRight],
        };
        let mut reachable = squares;
        for _ in 1..SIZE {
            reachable |= directions[0].shift(reachable) | directions[1].shift(reachable);
        }
        reachable ^ squares
    }

    /// The squares of the men of a seat.
    pub(crate) const fn men(&self, seat: Seat) -> u64 {
        self.pieces_by_seat[seat.index()] & !self.kings
    }

    /// The squares of the kings of a seat.
    pub(crate) const fn kings(&self, seat: Seat) -> u64 {
        self.pieces_by_seat[seat.index()] & self.kings
    }

    /// The squares of all pieces.
    pub(crate) const fn occupied(&self) -> u64 {
        self.pieces_by_seat[0] | self.pieces_by_seat[1]
    }

    /// The free squares.
    #[inline]
    const fn free(&self) -> u64 {
        BOARD & !self.occupied()
    }

    /// How many plies were played since a capture or a move of a man.
    pub(crate) const fn quiet_plies(&self) -> u8 {
        self.quiet_plies
    }

    /// The pieces of a seat that can go this way.
    #[inline]
    const fn pieces_for_direction(&self, seat: Seat, direction: Direction) -> u64 {
        let pieces = self.pieces_by_seat[seat.index()];
        if direction.is_forward_for(seat) {
            pieces
        } else {
            pieces & self.kings
        }
    }

    /// The pieces of a seat that can take a step this way.
    #[inline]
    const fn steppers(&self, seat: Seat, direction: Direction) -> u64 {
        self.pieces_for_direction(seat, direction) & direction.opposite().shift(self.free())
    }

    /// The pieces of a seat that can jump this way.
    #[inline]
    const fn jumpers(&self, seat: Seat, direction: Direction) -> u64 {
        let (other, back) = (
            self.pieces_by_seat[seat.other().index()],
            direction.opposite(),
        );
        self.pieces_for_direction(seat, direction) & back.shift(other & back.shift(self.free()))
    }

    /// The pieces of a seat that can take a step.
    #[inline]
    pub(crate) fn movable_pieces(&self, seat: Seat) -> u64 {
        Direction::ALL
            .into_iter()
            .fold(0, |all, direction| all | self.steppers(seat, direction))
    }

    /// The pieces of the side to move that can capture.
    #[inline]
    pub(crate) fn capturers(&self) -> u64 {
        Direction::ALL
            .into_iter()
            .fold(0, |all, direction| all | self.jumpers(self.turn, direction))
    }

    /// Appends the captures: every chain of jumps that cannot be gone on with.
    pub(crate) fn push_captures(&self, moves: &mut Vec<Move>) {
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
            let other = self.pieces_by_seat[self.turn.other().index()];
            jumper.extend_chain(from, other, Move::empty_chain(bit_index(from)), moves);
        }
    }

    fn push_steps(&self, moves: &mut Vec<Move>) {
        let mut rest = self.movable_pieces(self.turn);
        while rest != 0 {
            let from = rest & rest.wrapping_neg();
            rest ^= from;
            let directions = Direction::ALL.into_iter();
            let possible =
                directions.filter(|direction| self.steppers(self.turn, *direction) & from != 0);
            moves.extend(possible.map(|direction| Move::step(bit_index(from), direction)));
        }
    }

    fn can_move(&self) -> bool {
        self.movable_pieces(self.turn) != 0 || self.capturers() != 0
    }

    fn list_legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        moves
    }

    /// How many plies were played from the start.
    fn plies(&self) -> u32 {
        2 * (u32::from(self.move_number) - 1) + u32::from(self.turn == Seat::Second)
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
    fn extend_chain(&self, at: u64, other: u64, chain: Move, moves: &mut Vec<Move>) {
        let mut is_complete = true;
        for direction in Direction::ALL {
            if !self.is_king && !direction.is_forward_for(self.seat) {
                continue;
            }
            let over = direction.shift(at) & other;
            let to = direction.shift(over) & self.free;
            if to != 0 {
                is_complete = false;
                self.extend_chain(to, other ^ over, chain.with_jump(direction), moves);
            }
        }
        if is_complete {
            moves.push(chain);
        }
    }
}

impl Position for Draughts {
    type Move = Move;

    const REPETITION_RULE: RepetitionRule = RepetitionRule::ThreefoldDraw;

    const REPETITION_PLIES_MIN: usize = 4;

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

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Pdn { game_type: "21" });

    const BOARD_STYLE: BoardStyle = BoardStyle::Chequered;

    fn initial() -> Self {
        Self {
            pieces_by_seat: [ROWS[0] | ROWS[1] | ROWS[2], ROWS[5] | ROWS[6] | ROWS[7]],
            kings: 0,
            turn: Seat::First,
            quiet_plies: 0,
            move_number: 1,
        }
    }

    #[inline]
    fn turn(&self) -> Seat {
        self.turn
    }

    #[inline]
    fn diagram_piece(&self, at: Square) -> Option<DiagramPiece> {
        let is_in = |bits: u64| Self::squares_of(bits).any(|square| square == at);
        let mut seats = Seat::ALL.into_iter();
        let seat = seats.find(|seat| is_in(self.pieces_by_seat[seat.index()]))?;
        let shape = match is_in(self.kings) {
            true => PieceShape::CrownedDisc,
            false => PieceShape::Disc,
        };
        Some(DiagramPiece {
            shape,
            color: [PieceColor::Black, PieceColor::White][seat.index()],
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.can_move() {
            return Some(Outcome::Decisive {
                winner: self.turn.other(),
            });
        }
        (self.quiet_plies >= QUIET_PLIES_MAX).then_some(Outcome::Draw)
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
        (self.pieces_by_seat, self.kings, self.turn).hash(&mut hasher);
        hasher.finish()
    }

    fn reversible_plies(&self) -> usize {
        usize::from(self.quiet_plies)
    }

    /// Forty moves without progress are a draw that a player has to claim.
    fn with_counters_reset(&self) -> Self {
        Self {
            quiet_plies: 0,
            ..*self
        }
    }

    /// A player has to claim the draw by forty moves.
    fn with_draw_waived(&self) -> Option<Self> {
        let is_drawn = self.quiet_plies >= QUIET_PLIES_MAX && self.can_move();
        is_drawn.then_some(Self {
            quiet_plies: 0,
            ..*self
        })
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.quiet_plies >= QUIET_PLIES_MAX {
            return;
        }
        let before = moves.len();
        self.push_captures(moves);
        if moves.len() == before {
            self.push_steps(moves);
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        let legal = self.list_legal_moves();
        if legal.contains(&m) {
            return Ok(());
        }
        let is_prefix_of = |longer: &Move| {
            longer.from == m.from && longer.jumps > m.jumps && m.is_capture() && {
                m.jump_directions()
                    .eq(longer.jump_directions().take(usize::from(m.jumps)))
            }
        };
        let reason = if self.pieces_by_seat[self.turn.index()] & bit_at(m.from) == 0 {
            "begins where the side to move has no piece"
        } else if !m.is_capture() && self.capturers() != 0 {
            "is not allowed where a capture is possible"
        } else if legal.iter().any(is_prefix_of) {
            "stops where the capture must go on"
        } else {
            "is not how that piece can move"
        };
        Err(IllegalMove(reason))
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        let (from, Trace { to, captured }) = (bit_at(m.from), m.trace());
        let is_king = self.kings & from != 0;
        let (own, other) = (self.turn.index(), self.turn.other().index());
        // A chain may end where it began.
        self.pieces_by_seat[own] = self.pieces_by_seat[own] & !from | to;
        self.pieces_by_seat[other] &= !captured;
        self.kings &= !(from | captured);
        if is_king || to & bitboard::king_row(self.turn) != 0 {
            self.kings |= to;
        }
        self.quiet_plies = if is_king && captured == 0 {
            self.quiet_plies + 1
        } else {
            0
        };
        let is_last_of_move = u16::from(self.turn == Seat::Second);
        self.move_number = self.move_number.saturating_add(is_last_of_move);
        self.turn = self.turn.other();
    }

    /// The sign between the squares does not matter. A capture may also be written by its first and last
    /// square alone, if no other begins and ends there.
    fn read_move(&self, text: &str) -> Result<Move, ReadMoveError> {
        if let Ok(m) = text.parse()
            && self.check_legal(m).is_ok()
        {
            return Ok(m);
        }
        let indices = notation::parse_squares(text)?;
        let explicit_move = notation::move_through(&indices);
        let legal = self.list_legal_moves();
        if let Some(m) = explicit_move.filter(|m| legal.contains(m)) {
            return Ok(m);
        }
        let matches_ends = |m: &&Move| matches!(indices[..], [from, to] if m.from == from && bit_index(m.trace().to) == to);
        let mut matching = legal.iter().filter(matches_ends);
        match (matching.next(), matching.next()) {
            (Some(m), None) => Ok(*m),
            (Some(_), Some(_)) => Err(ReadMoveError::Illegal(IllegalMove(
                "can be more than one capture: name all squares where it lands",
            ))),
            // Squares that no move connects are squares all the same.
            (None, _) => explicit_move.ok_or(ReadMoveError::Illegal(IllegalMove(
                "is not how any piece moves",
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
