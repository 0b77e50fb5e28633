//! The board and its stones. Like the Piskvork protocol, the module distinguishes between the
//! engine's stones and the opponent's stones.

use std::fmt;

use plyhouse_engine::game::Square;

/// A point, given by its distances from the left edge and the top edge of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The stones on the board, at most one on each point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Board(Vec<(Point, Owner)>);

impl Board {
    pub(super) fn place(&mut self, point: Point, owner: Owner) -> Result<(), &'static str> {
        if self.owner_at(point).is_some() {
            return Err("the point is occupied");
        }
        self.0.push((point, owner));
        Ok(())
    }

    pub(super) fn remove(&mut self, point: Point) -> Result<(), &'static str> {
        let before = self.0.len();
        self.0.retain(|(other, _)| *other != point);
        if self.0.len() == before {
            return Err("the point is empty");
        }
        Ok(())
    }

    fn owner_at(&self, point: Point) -> Option<Owner> {
        let found = self.0.iter().find(|(other, _)| *other == point);
        found.map(|(_, owner)| *owner)
    }

    /// Returns the position in wire notation, with the engine to move. The side that moved first is
    /// derived from the stone counts of both sides.
    pub(super) fn to_position(&self, size: u8) -> Result<String, &'static str> {
        let own = self.0.iter().filter(|(_, owner)| *owner == Owner::Engine);
        let own = own.count();
        let others = self.0.len() - own;
        let first_mover = match others.checked_sub(own) {
            Some(0) => Owner::Engine,
            Some(1) => Owner::Opponent,
            Some(_) | None => return Err("it is not the engine's turn"),
        };
        let rows = (0..size).map(|y| {
            let points = (0..size).map(|x| self.owner_at(Point { x, y }));
            fen_row(
                points.map(|owner| owner.map(|owner| if owner == first_mover { 'b' } else { 'w' })),
            )
        });
        Ok(rows.collect::<Vec<_>>().join("/"))
    }
}

/// Formats a row as in FEN. A letter is a stone, and a number is a run of empty points.
fn fen_row(points: impl Iterator<Item = Option<char>>) -> String {
    let (mut text, mut empty) = (String::new(), 0_u8);
    for point in points {
        match point {
            None => empty += 1,
            Some(stone) => {
                push_empty_count(&mut text, empty);
                text.push(stone);
                empty = 0;
            }
        }
    }
    push_empty_count(&mut text, empty);
    text
}

fn push_empty_count(text: &mut String, empty: u8) {
    if empty > 0 {
        text.push_str(&empty.to_string());
    }
}
