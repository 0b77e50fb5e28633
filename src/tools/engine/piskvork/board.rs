//! The board and its stones. Like the Piskvork protocol, the module distinguishes between the
//! engine's stones and the opponent's stones.

use std::collections::BTreeMap;
use std::fmt;

use plyhouse_engine::game::Square;

/// A point, given by its distances from the left edge and the top edge of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    x: u8,
    y: u8,
}

/// Owner of a stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Engine,
    Opponent,
}

impl Point {
    /// Parses `x,y` on a board with `size` rows and columns.
    pub(super) fn parse(text: &str, size: u8) -> Option<Self> {
        let (x, y) = text.split_once(',')?;
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number < size);
        Some(Self {
            x: number(x)?,
            y: number(y)?,
        })
    }

    /// Converts a move in wire notation to a point. The board has `size` rows and columns.
    pub(super) fn from_move(m: &str, size: u8) -> Self {
        let square = Square::parse(m, size, size).expect("a move is a square");
        Self {
            x: square.file,
            y: size - 1 - square.rank,
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.x, self.y)
    }
}

/// The stones on the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Board(BTreeMap<Point, Owner>);

impl Board {
    pub(super) fn place(&mut self, point: Point, owner: Owner) -> Result<(), &'static str> {
        if self.0.contains_key(&point) {
            return Err("the point is occupied");
        }
        self.0.insert(point, owner);
        Ok(())
    }

    pub(super) fn remove(&mut self, point: Point) -> Result<(), &'static str> {
        self.0.remove(&point).ok_or("the point is empty")?;
        Ok(())
    }

    /// Returns the position in wire notation, with the engine to move. The side that moved first is
    /// derived from the stone counts of both sides.
    pub(super) fn to_position(&self, size: u8) -> Result<String, &'static str> {
        let own = self.0.values().filter(|owner| **owner == Owner::Engine);
        let own = own.count();
        let others = self.0.len() - own;
        let first_mover = match others.checked_sub(own) {
            Some(0) => Owner::Engine,
            Some(1) => Owner::Opponent,
            Some(_) | None => return Err("it is not the engine's turn"),
        };
        let to_letter = |point| match self.0.get(&point) {
            None => '.',
            Some(owner) if *owner == first_mover => 'b',
            Some(_) => 'w',
        };
        let rows = (0..size).map(|y| (0..size).map(|x| to_letter(Point { x, y })).collect());
        Ok(rows.map(count_empty_points).collect::<Vec<_>>().join("/"))
    }
}

/// Replaces each run of empty points, which are dots, with its length, as in FEN.
fn count_empty_points(row: String) -> String {
    let longest_first = (1..=row.len()).rev();
    longest_first.fold(row, |row, length| {
        row.replace(&".".repeat(length), &length.to_string())
    })
}
