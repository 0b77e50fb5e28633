//! Portable Draughts Notation (PDN) for moves and positions.
//!
//! A step is written `11-15`. A capture is written `22x15x8`, with the start square and every
//! landing square. Programs and books use other separators, such as `22:15:8`, so [`parse_squares`]
//! ignores the separator.
//!
//! A position is written in the FEN that PDN defines: the side to move, then the squares of White
//! and of Black. Kings have a `K` before the number, as in `B:WK5,21,22:B1,2:H0:F1`. The field `H`
//! gives the number of plies since the last capture or move of a man, and `F` gives the move
//! number.
//!
//! The parser also accepts some variants:
//!
//! - The field `F`, or both `H` and `F`, may be missing.
//! - A counter above its maximum is reduced to the maximum.
//! - The pieces of Black may precede the pieces of White.
//! - Consecutive squares may be written as a range, as in `W21-32`.
//! - Spaces, lower-case letters and a full stop at the end are accepted.

use std::fmt;
use std::str::FromStr;

use super::bitboard::{Direction, bit_at, king_row, square_bit_index, square_number};
use super::{Draughts, Move, PIECES_PER_SIDE, QUIET_PLIES_MAX};
use crate::game::{
    ParseMoveError, ParsePositionError, Seat, append_number, bit_index, fmt_ascii, parse_count,
    parse_plain_number, single_squares, strip_move_number,
};

/// Maximum number of jumps in one capture. The documentation of `Move` explains this limit.
const JUMPS_MAX: u8 = 9;

const MOVE_ERROR: ParseMoveError = ParseMoveError { example: "11-15" };

impl Move {
    /// Appends the move in PDN.
    pub(super) fn append_to(self, text: &mut Vec<u8>) {
        append_number(square_number(self.from).into(), text);
        if !self.is_capture() {
            text.push(b'-');
            append_square(self.trace().to, text);
        }
        let mut current = bit_at(self.from);
        for direction in self.jump_directions() {
            current = direction.shift(direction.shift(current));
            text.push(b'x');
            append_square(current, text);
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_to(text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let text = text.trim();
        match text.split_once('-') {
            Some((from, to)) => {
                step_between(parse_square(from)?, parse_square(to)?).ok_or(MOVE_ERROR)
            }
            None => jump_chain(text.split(['x', 'X']).map(parse_square)),
        }
    }
}

/// Returns the step between two squares, if they are neighbours.
fn step_between(from: u8, to: u8) -> Option<Move> {
    let leads_to_target = |direction: &Direction| direction.shift(bit_at(from)) == bit_at(to);
    let direction = Direction::ALL.into_iter().find(leads_to_target)?;
    Some(Move::step(from, direction))
}

/// Returns the capture that starts on the first square and lands on the other squares in order.
fn jump_chain(
    mut squares: impl Iterator<Item = Result<u8, ParseMoveError>>,
) -> Result<Move, ParseMoveError> {
    let from = squares.next().ok_or(MOVE_ERROR)??;
    let (mut chain, mut current) = (Move::empty_chain(from), bit_at(from));
    for square in squares {
        let to = bit_at(square?);
        let leads_to_target =
            |direction: &Direction| direction.shift(direction.shift(current)) == to;
        let direction = Direction::ALL.into_iter().find(leads_to_target);
        if chain.capture_count() == JUMPS_MAX {
            return Err(MOVE_ERROR);
        }
        (chain, current) = (chain.with_jump(direction.ok_or(MOVE_ERROR)?), to);
    }
    Some(chain)
        .filter(|chain| chain.is_capture())
        .ok_or(MOVE_ERROR)
}

/// Parses the squares of a step or capture with any separators, and returns their bit indices.
/// Skips a move number before the squares and annotation symbols after them.
pub(super) fn parse_squares(text: &str) -> Result<Vec<u8>, ParseMoveError> {
    let text = strip_move_number(text);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "!?*".contains(c));
    let ends_with_squares = [text.chars().next(), text.chars().next_back()]
        .iter()
        .all(|end| end.is_some_and(|c| c.is_ascii_digit()));
    if !ends_with_squares {
        return Err(MOVE_ERROR);
    }
    let squares = text.split(is_separator).filter(|square| !square.is_empty());
    let indices: Vec<u8> = squares.map(parse_square).collect::<Result<_, _>>()?;
    if (2..=usize::from(JUMPS_MAX) + 1).contains(&indices.len()) {
        Ok(indices)
    } else {
        Err(MOVE_ERROR)
    }
}

/// Returns whether this character can separate the squares of a move.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "-‐‑–—−>xX×:*,".contains(c)
}

/// Returns the move that starts on the first square and visits the other squares in order. Returns
/// `None` if the board geometry allows no such move. The move is a step to a neighbouring square or
/// a chain of jumps.
pub(super) fn move_through(indices: &[u8]) -> Option<Move> {
    let step = match *indices {
        [from, to] => step_between(from, to),
        _ => None,
    };
    step.or_else(|| jump_chain(indices.iter().map(|index| Ok(*index))).ok())
}

/// Parses a square number and returns the bit index of the square.
fn parse_square(text: &str) -> Result<u8, ParseMoveError> {
    parse_plain_number::<u8>(text)
        .and_then(square_bit_index)
        .ok_or(MOVE_ERROR)
}

impl Draughts {
    /// Appends the position as a FEN string of PDN.
    pub(super) fn append_fen(&self, text: &mut Vec<u8>) {
        text.push(side_letter(self.turn));
        for seat in [Seat::Second, Seat::First] {
            text.extend_from_slice(&[b':', side_letter(seat)]);
            for (index, square) in single_squares(self.pieces_by_seat[seat.index()]).enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                if self.kings & square != 0 {
                    text.push(b'K');
                }
                append_square(square, text);
            }
        }
        text.extend_from_slice(b":H");
        append_number(self.quiet_plies.into(), text);
        text.extend_from_slice(b":F");
        append_number(self.move_number, text);
    }
}

/// Appends the number of a square.
fn append_square(square: u64, text: &mut Vec<u8>) {
    append_number(square_number(bit_index(square)).into(), text);
}

impl fmt::Display for Draughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_fen(text))
    }
}

const fn side_letter(seat: Seat) -> u8 {
    match seat {
        Seat::First => b'B',
        Seat::Second => b'W',
    }
}

impl FromStr for Draughts {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const SHAPE_ERROR: ParsePositionError = ParsePositionError(
            "expected the side to move and the squares of both sides, as in B:W21,K5:B1,2",
        );

        let mut text: String = text.split_ascii_whitespace().collect();
        text.make_ascii_uppercase();
        let mut fields = text.strip_suffix('.').unwrap_or(&text).split(':');
        let turn = match fields.next() {
            Some("B") => Seat::First,
            Some("W") => Seat::Second,
            Some(_) | None => return Err(SHAPE_ERROR),
        };
        let mut pos = Self {
            pieces_by_seat: [0; 2],
            kings: 0,
            turn,
            quiet_plies: 0,
            move_number: 0,
        };
        let mut number = None;
        let piece_lists = [
            fields.next().ok_or(SHAPE_ERROR)?,
            fields.next().ok_or(SHAPE_ERROR)?,
        ];
        for (seat, name) in [(Seat::First, 'B'), (Seat::Second, 'W')] {
            let list = piece_lists
                .iter()
                .find_map(|field| field.strip_prefix(name));
            pos.place_pieces(seat, list.ok_or(SHAPE_ERROR)?)?;
        }
        for (name, field) in ["H", "F"].into_iter().zip(fields.by_ref()) {
            let digits = field.strip_prefix(name).ok_or(SHAPE_ERROR)?;
            match name {
                "H" => pos.quiet_plies = parse_count(digits, QUIET_PLIES_MAX).ok_or(SHAPE_ERROR)?,
                _ => number = Some(parse_count(digits, u16::MAX).ok_or(SHAPE_ERROR)?),
            }
        }
        // If the text has no move number, the parser uses the lowest one that is possible with this
        // number of quiet plies.
        let quiet_before_move = pos
            .quiet_plies
            .saturating_sub(u8::from(turn == Seat::Second));
        pos.move_number = number.unwrap_or(1 + u16::from(quiet_before_move.div_ceil(2)));
        if fields.next().is_some() {
            return Err(SHAPE_ERROR);
        }
        pos.check_reachable()?;
        Ok(pos)
    }
}

impl Draughts {
    /// Places the pieces of a side on the listed squares.
    fn place_pieces(&mut self, seat: Seat, list: &str) -> Result<(), ParsePositionError> {
        const SQUARE_ERROR: ParsePositionError =
            ParsePositionError("squares must be numbers from 1 to 32");

        for piece in list.split(',').filter(|_| !list.is_empty()) {
            let (digits, is_king) = match piece.strip_prefix('K') {
                Some(digits) => (digits, true),
                None => (piece, false),
            };
            let (first, last) = digits.split_once('-').unwrap_or((digits, digits));
            let [first, last] = [first, last].map(parse_plain_number::<u8>);
            let (first, last) = (first.ok_or(SQUARE_ERROR)?, last.ok_or(SQUARE_ERROR)?);
            if first > last {
                return Err(ParsePositionError(
                    "a range of squares must be ascending, as in 21-32",
                ));
            }
            for number in first..=last {
                let square = square_bit_index(number).map(bit_at).ok_or(SQUARE_ERROR)?;
                if self.free() & square == 0 {
                    return Err(ParsePositionError("a square is listed twice"));
                }
                self.pieces_by_seat[seat.index()] |= square;
                if is_king {
                    self.kings |= square;
                }
            }
        }
        Ok(())
    }

    /// Rejects positions that are clearly unreachable.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        let pieces = |seat: Seat| self.pieces_by_seat[seat.index()];
        let reason = if Seat::ALL
            .into_iter()
            .any(|seat| pieces(seat).count_ones() > u32::from(PIECES_PER_SIDE))
        {
            "a side has more than twelve pieces"
        } else if pieces(self.turn.other()) == 0 {
            "the side that just moved has no pieces"
        } else if Seat::ALL
            .into_iter()
            .any(|seat| self.men(seat) & king_row(seat) != 0)
        {
            "a man cannot be on its last row, where it is crowned"
        } else if self.move_number == 0 {
            "the move number must be at least 1"
        } else if u32::from(self.quiet_plies) > self.plies() {
            "the count of quiet plies exceeds the plies played"
        } else {
            return Ok(());
        };
        Err(ParsePositionError(reason))
    }
}
