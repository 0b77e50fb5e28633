//! The stones, as the protocol tells of them: one's own and the opponent's.

use std::fmt;

use plyhouse_engine::game::Square;

/// A point: how far from the left, and how far from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    x: u8,
    y: u8,
}

/// Whose a stone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The engine's.
    Own,
    /// The opponent's.
    Other,
}

impl Point {
    /// Reads `x,y` on a board of this size.
    pub(crate) fn read(text: &str, size: u8) -> Option<Self> {
        let (x, y) = text.split_once(',')?;
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number < size);
        Some(Self {
            x: number(x)?,
            y: number(y)?,
        })
    }

    /// The point of a move as the wire writes it, on a board of this size.
    pub(crate) fn of_move(m: &str, size: u8) -> Self {
        let square = Square::parse(m, size, size).expect("a move is a square");
        Self {
            x: square.file,
            y: size - 1 - square.rank,
        }
    }

    /// The move to this point as the wire writes it, on a board of this size.
    pub(crate) fn to_move(self, size: u8) -> String {
        let square = Square {
            file: self.x,
            rank: size - 1 - self.y,
        };
        square.to_string()
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.x, self.y)
    }
}

/// The stones on the board, each on a point of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Board(Vec<(Point, Owner)>);

impl Board {
    pub(super) fn put(&mut self, point: Point, owner: Owner) -> Result<(), &'static str> {
        if self.at(point).is_some() {
            return Err("there is a stone already");
        }
        self.0.push((point, owner));
        Ok(())
    }

    pub(super) fn remove(&mut self, point: Point) -> Result<(), &'static str> {
        let before = self.0.len();
        self.0.retain(|(other, _)| *other != point);
        if self.0.len() == before {
            return Err("there is no stone");
        }
        Ok(())
    }

    fn at(&self, point: Point) -> Option<Owner> {
        let found = self.0.iter().find(|(other, _)| *other == point);
        found.map(|(_, owner)| *owner)
    }

    /// The position in wire notation, with the engine to move: who has moved first can be counted.
    pub(super) fn position(&self, size: u8) -> Result<String, &'static str> {
        let own = self.0.iter().filter(|(_, owner)| *owner == Owner::Own);
        let own = own.count();
        let others = self.0.len() - own;
        let begins = match others.checked_sub(own) {
            Some(0) => Owner::Own,
            Some(1) => Owner::Other,
            Some(_) | None => return Err("it is not the engine's turn"),
        };
        let rows = (0..size).map(|y| {
            let points = (0..size).map(|x| self.at(Point { x, y }));
            row(points.map(|owner| owner.map(|owner| if owner == begins { 'b' } else { 'w' })))
        });
        Ok(rows.collect::<Vec<_>>().join("/"))
    }
}

/// A row as FEN writes it: stones, and how many points are empty between.
fn row(points: impl Iterator<Item = Option<char>>) -> String {
    let (mut text, mut empty) = (String::new(), 0_u8);
    for point in points {
        match point {
            None => empty += 1,
            Some(stone) => {
                add_empty(&mut text, empty);
                text.push(stone);
                empty = 0;
            }
        }
    }
    add_empty(&mut text, empty);
    text
}

fn add_empty(text: &mut String, empty: u8) {
    if empty > 0 {
        text.push_str(&empty.to_string());
    }
}
