//! English draughts (American checkers) under the rules of the World Checkers/Draughts Federation:
//!
//! - Men move and capture forwards only.
//! - A capture is mandatory and must be completed. If several captures are possible, the player may
//!   choose any of them.
//! - A man that reaches the last row ends its move there and is crowned.
//! - A side that cannot move loses.
//! - The game is drawn after forty moves by each side without a capture or a move of a man. It is
//!   also drawn at the third occurrence of a position.
//!
//! Moves and positions are written in Portable Draughts Notation (PDN), which numbers the squares.
//! Black moves first and starts on squares 1 to 12. [`Draughts::square`] converts a number to a
//! square of the board.

mod bitboard;
mod endgame_indexing;
mod notation;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{
    BoardStyle, DiagramPiece, Ending, GameInfo, IllegalMove, Outcome, PieceShape, Position,
    ReadMoveError, RecordFormat, RepetitionRule, Seat, Square, bit_index, single_squares,
};

pub(crate) use bitboard::ROWS;
use bitboard::{BOARD, Direction, bit_at};

/// Number of files, which is also the number of ranks.
const SIZE: u8 = 8;

/// Number of playable squares.
const SQUARES: u8 = SIZE * SIZE / 2;

/// Number of pieces of each side at the start.
const PIECES_PER_SIDE: u8 = 12;

/// Number of consecutive plies that draw the game if none of them is a capture or a move of a man.
const QUIET_PLIES_MAX: u8 = 80;

/// A position of draughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draughts {
    /// Pieces of each seat, including kings.
    pieces_by_seat: [u64; 2],
    /// Kings of both seats.
    kings: u64,
    turn: Seat,
    /// Number of plies since the last capture or move of a man.
    quiet_plies: u8,
    /// Move number, which increases after each move of White.
    move_number: u16,
}

/// A move: a step, or a chain of jumps. Each jump captures a piece.
///
/// The origin and the directions determine all squares of the move. The move can therefore be
/// written in full without knowing the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Bit index of the origin.
    from: u8,
    /// Number of jumps, or 0 for a step.
    jumps: u8,
    /// Direction of the step, or of each jump. Each direction takes two bits, and the first
    /// direction is in the lowest bits.
    ///
    /// The squares that are jumped over are two rows apart and never on an edge. A chain has at
    /// most nine jumps, so 18 bits suffice.
    directions: u32,
}

impl Move {
    /// Exclusive upper bound of the numbers that [`index`](Self::index) returns.
    pub(crate) const INDEX_COUNT: usize = 32 * 32;

    const fn step(from: u8, direction: Direction) -> Self {
        Self {
            from,
            jumps: 0,
            directions: direction as u32,
        }
    }

    /// Returns a chain that starts at `from` and has no jumps yet. The caller must add the jumps.
    const fn empty_chain(from: u8) -> Self {
        Self {
            from,
            jumps: 0,
            directions: 0,
        }
    }

    /// Returns the chain extended by one jump.
    const fn with_jump(self, direction: Direction) -> Self {
        Self {
            jumps: self.jumps + 1,
            directions: self.directions | (direction as u32) << (2 * self.jumps),
            ..self
        }
    }

    /// Returns the directions of the jumps.
    fn jump_directions(self) -> impl Iterator<Item = Direction> {
        (0..self.jumps).map(move |jump| Direction::from_bits(self.directions >> (2 * jump)))
    }

    /// Returns the destination and the squares jumped over.
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

    /// Returns whether the move is a capture.
    #[must_use]
    pub const fn is_capture(self) -> bool {
        self.jumps > 0
    }

    /// Returns the number of captured pieces.
    pub(crate) const fn capture_count(self) -> u8 {
        self.jumps
    }

    /// Returns a number below `INDEX_COUNT` that identifies the origin and destination of the move.
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
    /// Returns the board square with this number, from 1 to 32, or `None` for other numbers.
    ///
    /// Black sits at the bottom of the board. Squares 1 to 4 are on the first rank from right to
    /// left: 1 is g1 and 4 is a1. Squares 5 to 8 are on the second rank: 5 is h2 and 8 is b2. The
    /// last square, 32, is b8.
    #[must_use]
    pub fn square(number: u8) -> Option<Square> {
        let index = number.checked_sub(1).filter(|index| *index < SQUARES)?;
        let (rank, from_right) = (index / 4, index % 4);
        Some(Square {
            file: 6 - 2 * from_right + rank % 2,
            rank,
        })
    }

    /// Returns the board squares of a bitboard.
    pub(crate) fn squares_of(bits: u64) -> impl Iterator<Item = Square> {
        single_squares(bits).filter_map(|bit| Self::square(bitboard::square_number(bit_index(bit))))
    }

    /// Returns the squares that men of the given seat can reach from `squares` on an empty board,
    /// in any number of moves. The result does not include the given squares.
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

    /// Returns the squares of the men of a seat.
    pub(crate) const fn men(&self, seat: Seat) -> u64 {
        self.pieces_by_seat[seat.index()] & !self.kings
    }

    /// Returns the squares of the kings of a seat.
    pub(crate) const fn kings(&self, seat: Seat) -> u64 {
        self.pieces_by_seat[seat.index()] & self.kings
    }

    /// Returns the squares of all pieces.
    pub(crate) const fn occupied(&self) -> u64 {
        self.pieces_by_seat[0] | self.pieces_by_seat[1]
    }

    /// Returns the free squares.
    #[inline]
    const fn free(&self) -> u64 {
        BOARD & !self.occupied()
    }

    /// Returns the number of plies since the last capture or move of a man.
    pub(crate) const fn quiet_plies(&self) -> u8 {
        self.quiet_plies
    }

    /// Returns the pieces of a seat that may move in this direction. Men may only move forwards.
    #[inline]
    const fn pieces_for_direction(&self, seat: Seat, direction: Direction) -> u64 {
        let pieces = self.pieces_by_seat[seat.index()];
        if direction.is_forward_for(seat) {
            pieces
        } else {
            pieces & self.kings
        }
    }

    /// Returns the pieces of a seat that can step in this direction.
    #[inline]
    const fn steppers(&self, seat: Seat, direction: Direction) -> u64 {
        self.pieces_for_direction(seat, direction) & direction.opposite().shift(self.free())
    }

    /// Returns the pieces of `seat` that can jump in the given direction.
    #[inline]
    const fn jumpers(&self, seat: Seat, direction: Direction) -> u64 {
        let (other, back) = (
            self.pieces_by_seat[seat.other().index()],
            direction.opposite(),
        );
        self.pieces_for_direction(seat, direction) & back.shift(other & back.shift(self.free()))
    }

    /// Returns the pieces of a seat that can step in any direction.
    #[inline]
    pub(crate) fn movable_pieces(&self, seat: Seat) -> u64 {
        Direction::ALL
            .into_iter()
            .fold(0, |all, direction| all | self.steppers(seat, direction))
    }

    /// Returns the pieces of the side to move that can capture.
    #[inline]
    pub(crate) fn capturers(&self) -> u64 {
        Direction::ALL
            .into_iter()
            .fold(0, |all, direction| all | self.jumpers(self.turn, direction))
    }

    /// Appends all captures. A capture is a chain of jumps that cannot be extended.
    pub(crate) fn push_captures(&self, moves: &mut Vec<Move>) {
        for from in single_squares(self.capturers()) {
            let jumper = Jumper {
                seat: self.turn,
                is_king: self.kings & from != 0,
                // The origin counts as a free square, because the piece leaves it and the chain may
                // return to it.
                free: self.free() | from,
            };
            let other = self.pieces_by_seat[self.turn.other().index()];
            jumper.extend_chain(from, other, Move::empty_chain(bit_index(from)), moves);
        }
    }

    fn push_steps(&self, moves: &mut Vec<Move>) {
        for from in single_squares(self.movable_pieces(self.turn)) {
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

    /// Returns the number of plies since the start of the game.
    fn plies(&self) -> u32 {
        2 * (u32::from(self.move_number) - 1) + u32::from(self.turn == Seat::Second)
    }
}

/// A piece that makes a chain of jumps.
struct Jumper {
    seat: Seat,
    is_king: bool,
    free: u64,
}

impl Jumper {
    /// Appends every complete chain of jumps that begins with `chain`. `at` contains the square
    /// where `chain` ends.
    ///
    /// `other` contains the opposing pieces that the chain has not jumped over. The pieces already
    /// jumped over are excluded, because no piece may be jumped twice. Jumped pieces stay on the
    /// board until the end of the chain. Jumped pieces do not block the chain, because the chain
    /// never lands on their squares.
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
        // Irreversible plies are captures and moves of men. At most 23 of the 24 pieces can be
        // captured. At the start, each side has four men on each of three rows. These men are 7, 6
        // and 5 moves from the last row, which makes 144 moves for both sides.
        //
        // A game therefore has at most 144 + 23 = 167 irreversible plies. Each irreversible ply
        // ends a section of at most 80 plies. After the last irreversible ply, 80 reversible plies
        // end the game, which makes 167 * 80 + 80 plies in total.
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

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let mut seats = Seat::ALL.into_iter();
        seats
            .find(|seat| Self::squares_of(self.pieces_by_seat[seat.index()]).any(|at| at == square))
    }

    fn diagram_piece(&self, square: Square) -> Option<DiagramPiece> {
        let seat = self.seat_at(square)?;
        let shape = match Self::squares_of(self.kings).any(|at| at == square) {
            true => PieceShape::CrownedDisc,
            false => PieceShape::Disc,
        };
        let color = Self::PIECE_COLORS[seat.index()];
        Some(DiagramPiece { shape, color })
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.can_move() {
            return Some(Outcome::won_by(self.turn.other()));
        }
        (self.quiet_plies >= QUIET_PLIES_MAX).then_some(Outcome::Draw)
    }

    fn ending(&self) -> Option<Ending> {
        let detail = match self.outcome()? {
            Outcome::Decisive { winner: _ } => "no-moves",
            Outcome::Draw => "forty-moves",
        };
        Some(Ending::without_scores(detail))
    }

    fn repetition_key(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.pieces_by_seat, self.kings, self.turn).hash(&mut hasher);
        hasher.finish()
    }

    fn reversible_plies(&self) -> usize {
        usize::from(self.quiet_plies)
    }

    /// Under the official rules, forty moves without progress are a draw only if a player claims
    /// it. A resumed game therefore continues, and the count of plies without progress restarts at
    /// 0.
    fn with_counters_reset(&self) -> Self {
        Self {
            quiet_plies: 0,
            ..*self
        }
    }

    /// Under the official rules, a player must claim the draw after forty moves without progress.
    fn with_draw_waived(&self) -> Option<Self> {
        let is_drawn = self.quiet_plies >= QUIET_PLIES_MAX && self.can_move();
        is_drawn.then_some(Self {
            quiet_plies: 0,
            ..*self
        })
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        self.append_fen(text);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        m.append_to(text);
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
            "does not start on a piece of the side to move"
        } else if !m.is_capture() && self.capturers() != 0 {
            "is not allowed: a capture is mandatory"
        } else if legal.iter().any(is_prefix_of) {
            "stops before the capture is complete"
        } else {
            "is not a legal move for that piece"
        };
        Err(IllegalMove(reason))
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        let (from, Trace { to, captured }) = (bit_at(m.from), m.trace());
        let is_king = self.kings & from != 0;
        let (own, other) = (self.turn.index(), self.turn.other().index());
        // A chain may end on its origin, so the origin is cleared before the destination is set.
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

    /// The separator between the squares is ignored. A capture may be written with only its first
    /// and last square if these squares identify a single legal move.
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
                "is ambiguous: give every square of the capture",
            ))),
            // If the text names valid squares that form no move, the error is `Illegal`, because
            // the notation itself is valid.
            (None, _) => explicit_move.ok_or(ReadMoveError::Illegal(IllegalMove(
                "is not a possible move",
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
