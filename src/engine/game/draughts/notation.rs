//! Moves and positions as PDN, the field's portable notation, writes them.
//!
//! A step is `11-15`, a capture `22x15x8`: every square on which it lands. Programs and books put other signs
//! between the squares, such as `22:15:8`, so [`read_squares`] ignores the sign.
//!
//! A position is PDN's FEN:
//! the side to move, then the squares of white and of black, kings with a `K` before the number:
//! `B:WK5,21,22:B1,2:H0:F1`. After `H` stands how many plies were played since a capture or a move
//! of a man, after `F` the number of the move; both may be left out in what is read. So may squares
//! between the ends of a run, `W21-32`; and a full stop at the end, spaces and small letters are read.
//! A count above its maximum is read as the maximum.

use std::fmt;
use std::str::FromStr;

use super::board::{Way, bit, last_row, number, place, place_of};
use super::{Draughts, Move, PIECES, QUIET_PLIES_MAX};
use crate::game::{ParseMoveError, ParsePositionError, Seat, read_count, without_move_number};

/// No chain of jumps is longer: see `Move`.
const JUMPS_MAX: u8 = 9;

const NO_MOVE: ParseMoveError = ParseMoveError { example: "11-15" };

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", number(self.from))?;
        if !self.is_capture() {
            return write!(f, "-{}", number(place(self.traced().to)));
        }
        let mut at = bit(self.from);
        for way in self.jump_ways() {
            at = way.from(way.from(at));
            write!(f, "x{}", number(place(at)))?;
        }
        Ok(())
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let text = text.trim();
        if let Some((from, to)) = text.split_once('-') {
            let (from, to) = (read_place(from)?, read_place(to)?);
            let leads = |way: &Way| way.from(bit(from)) == bit(to);
            let way = Way::ALL.into_iter().find(leads).ok_or(NO_MOVE)?;
            return Ok(Self::step(from, way));
        }
        let mut squares = text.split(['x', 'X']);
        let from = read_place(squares.next().ok_or(NO_MOVE)?)?;
        let (mut chain, mut at) = (Self::chain(from), bit(from));
        for square in squares {
            let to = bit(read_place(square)?);
            let leads = |way: &Way| way.from(way.from(at)) == to;
            let way = Way::ALL.into_iter().find(leads).ok_or(NO_MOVE)?;
            if chain.captures() == JUMPS_MAX {
                return Err(NO_MOVE);
            }
            (chain, at) = (chain.and_jump(way), to);
        }
        if chain.is_capture() {
            Ok(chain)
        } else {
            Err(NO_MOVE)
        }
    }
}

/// The places of the squares that a text names as a step or a capture does, whatever signs stand between
/// them. A move number before them and marks of praise or blame behind them are skipped.
pub(super) fn read_squares(text: &str) -> Result<Vec<u8>, ParseMoveError> {
    let text = without_move_number(text);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "!?*".contains(c));
    let ends_with_squares = [text.chars().next(), text.chars().next_back()]
        .iter()
        .all(|end| end.is_some_and(|c| c.is_ascii_digit()));
    if !ends_with_squares {
        return Err(NO_MOVE);
    }
    let squares = text.split(is_separator).filter(|square| !square.is_empty());
    let places: Vec<u8> = squares.map(read_place).collect::<Result<_, _>>()?;
    if (2..=usize::from(JUMPS_MAX) + 1).contains(&places.len()) {
        Ok(places)
    } else {
        Err(NO_MOVE)
    }
}

/// Whether programs or people write this between the squares of a move.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "-‐‑–—−>xX×:*,".contains(c)
}

/// The move over these places, if the geometry of the board allows one: a step to a neighbour, or jumps.
pub(super) fn move_over(places: &[u8]) -> Option<Move> {
    let (from, landings) = places.split_first()?;
    if let [to] = landings
        && let Some(way) = (Way::ALL.into_iter()).find(|way| way.from(bit(*from)) == bit(*to))
    {
        return Some(Move::step(*from, way));
    }
    let (mut chain, mut at) = (Move::chain(*from), bit(*from));
    for to in landings {
        let leads = |way: &Way| way.from(way.from(at)) == bit(*to);
        (chain, at) = (chain.and_jump(Way::ALL.into_iter().find(leads)?), bit(*to));
    }
    Some(chain)
}

/// The place of the square whose number is written so.
fn read_place(text: &str) -> Result<u8, ParseMoveError> {
    read_number::<u8>(text).and_then(place_of).ok_or(NO_MOVE)
}

/// A number as it is written: `parse` would also take `+1` and `01`.
fn read_number<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text == "0" || text.starts_with(|c: char| matches!(c, '1'..='9'));
    text.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Draughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(letter(self.turn))?;
        for seat in [Seat::Second, Seat::First] {
            write!(f, ":{}", letter(seat))?;
            let mut rest = self.sides[seat.index()];
            let mut before = "";
            while rest != 0 {
                let square = rest & rest.wrapping_neg();
                rest ^= square;
                let king = if self.kings & square != 0 { "K" } else { "" };
                write!(f, "{before}{king}{}", number(place(square)))?;
                before = ",";
            }
        }
        write!(f, ":H{}:F{}", self.quiet, self.number)
    }
}

const fn letter(seat: Seat) -> &'static str {
    match seat {
        Seat::First => "B",
        Seat::Second => "W",
    }
}

impl FromStr for Draughts {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        const SHAPE: ParsePositionError = ParsePositionError(
            "the side to move and the squares of both sides are needed, as in B:W21,K5:B1,2",
        );

        let mut text: String = text.split_ascii_whitespace().collect();
        text.make_ascii_uppercase();
        let mut fields = text.strip_suffix('.').unwrap_or(&text).split(':');
        let turn = match fields.next() {
            Some("B") => Seat::First,
            Some("W") => Seat::Second,
            Some(_) | None => return Err(SHAPE),
        };
        let mut pos = Self {
            sides: [0; 2],
            kings: 0,
            turn,
            quiet: 0,
            number: 0,
        };
        let mut number = None;
        let two = [fields.next().ok_or(SHAPE)?, fields.next().ok_or(SHAPE)?];
        for (seat, name) in [(Seat::First, 'B'), (Seat::Second, 'W')] {
            let list = two.iter().find_map(|field| field.strip_prefix(name));
            pos.place_all(seat, list.ok_or(SHAPE)?)?;
        }
        for (name, field) in ["H", "F"].into_iter().zip(fields.by_ref()) {
            let digits = field.strip_prefix(name).ok_or(SHAPE)?;
            match name {
                "H" => pos.quiet = read_count(digits, QUIET_PLIES_MAX).ok_or(SHAPE)?,
                _ => number = Some(read_count(digits, u16::MAX).ok_or(SHAPE)?),
            }
        }
        // Without a number of the move, the smallest one that leaves room for the quiet plies.
        let quiet_before_move = pos.quiet.saturating_sub(u8::from(turn == Seat::Second));
        pos.number = number.unwrap_or(1 + u16::from(quiet_before_move.div_ceil(2)));
        if fields.next().is_some() {
            return Err(SHAPE);
        }
        pos.check_reachable()?;
        Ok(pos)
    }
}

impl Draughts {
    /// Puts the pieces of a side where the list says.
    fn place_all(&mut self, seat: Seat, list: &str) -> Result<(), ParsePositionError> {
        const NO_SQUARE: ParsePositionError =
            ParsePositionError("a square is a number from 1 to 32");

        for piece in list.split(',').filter(|_| !list.is_empty()) {
            let (digits, is_king) = match piece.strip_prefix('K') {
                Some(digits) => (digits, true),
                None => (piece, false),
            };
            let (first, last) = digits.split_once('-').unwrap_or((digits, digits));
            let [first, last] = [first, last].map(read_number::<u8>);
            let (first, last) = (first.ok_or(NO_SQUARE)?, last.ok_or(NO_SQUARE)?);
            if first > last {
                return Err(ParsePositionError("a run of squares goes up, as in 21-32"));
            }
            for number in first..=last {
                let square = place_of(number).map(bit).ok_or(NO_SQUARE)?;
                if self.free() & square == 0 {
                    return Err(ParsePositionError("a square is named twice"));
                }
                self.sides[seat.index()] |= square;
                if is_king {
                    self.kings |= square;
                }
            }
        }
        Ok(())
    }

    /// Refuses what no play can reach, as far as a glance shows it.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        let pieces = |seat: Seat| self.sides[seat.index()];
        let reason = if Seat::ALL
            .into_iter()
            .any(|seat| pieces(seat).count_ones() > u32::from(PIECES))
        {
            "a side has more than twelve pieces"
        } else if pieces(self.turn.other()) == 0 {
            "the side that has moved last has no pieces"
        } else if Seat::ALL
            .into_iter()
            .any(|seat| self.men(seat) & last_row(seat) != 0)
        {
            "a man on the last row would be a king"
        } else if self.number == 0 {
            "no game has a move of this number"
        } else if u32::from(self.quiet) > self.plies() {
            "the game cannot have been quiet for so long"
        } else {
            return Ok(());
        };
        Err(ParsePositionError(reason))
    }
}
