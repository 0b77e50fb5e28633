//! How a position looks: of what its board is made, and what stands on it. Whoever draws it need know no game.

use super::{Position, Square};

/// How a position looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Of what the board is made.
    pub ground: Ground,
    /// Its width in squares.
    pub files: u8,
    /// Its height in squares.
    pub ranks: u8,
    /// What stands on it: how far from the left and how far from the top, both from 0.
    pub figures: Vec<(u8, u8, Figure)>,
}

/// Of what a board is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Empty squares with lines between them.
    Cells,
    /// Green squares with lines between them.
    Cloth,
    /// Squares that are dark and light by turns.
    Chequered,
    /// Lines, on the crossings of which stones are put.
    Lines,
    /// A wall with holes.
    Holes,
}

/// What stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its outline.
    pub shape: Shape,
    /// Its colour.
    pub paint: Paint,
}

/// The outline of what stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A disc or a stone.
    Disc,
    /// A disc on a disc.
    Crowned,
    /// A ring.
    Ring,
    /// These areas.
    Outline(Outline),
}

/// Areas, each by its corners around the middle of the square: to the right and down, where 50 is the square's
/// edge.
pub type Outline = &'static [&'static [(i8, i8)]];

/// The colour of what stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Nearly black.
    Black,
    /// Nearly white.
    White,
    /// Red.
    Red,
    /// Yellow.
    Yellow,
    /// Blue.
    Blue,
}

/// How this position looks.
pub(crate) fn picture<P: Position>(position: &P) -> Picture {
    let (files, ranks) = (P::INFO.files, P::INFO.ranks);
    let squares = (0..ranks).flat_map(|rank| (0..files).map(move |file| Square { file, rank }));
    let figures = squares.filter_map(|square| {
        let from_top = match P::FIRST_RANK_ON_TOP {
            true => square.rank,
            false => ranks - 1 - square.rank,
        };
        Some((square.file, from_top, position.figure(square)?))
    });
    Picture {
        ground: P::GROUND,
        files,
        ranks,
        figures: figures.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    /// What stands where after these moves, rank by rank from the top: a letter for each figure.
    fn drawn(game: &str, moves: &str) -> String {
        let mut position = find(game).expect("it is hosted").start();
        for m in moves.split_whitespace() {
            position.play(m).expect("it is legal");
        }
        let picture = position.picture();
        let row = |rank| {
            let letter = |file| {
                let is_here = |figure: &&(u8, u8, Figure)| (figure.0, figure.1) == (file, rank);
                let Figure { shape, paint } = picture.figures.iter().find(is_here)?.2;
                let letter = match shape {
                    Shape::Disc => 'd',
                    Shape::Crowned => 'c',
                    Shape::Ring => 'r',
                    Shape::Outline(_) => 'f',
                };
                let is_dark = matches!(paint, Paint::Black | Paint::Blue | Paint::Red);
                Some(if is_dark {
                    letter.to_ascii_uppercase()
                } else {
                    letter
                })
            };
            let row = (0..picture.files).map(|file| letter(file).unwrap_or('.'));
            row.collect::<String>()
        };
        let rows: Vec<String> = (0..picture.ranks).map(row).collect();
        rows.join("/")
    }

    #[test]
    fn boards_look_as_their_players_know_them() {
        for (game, moves, rows) in [
            ("tic-tac-toe", "a3 b2", "F../.R./..."),
            (
                "connect-four",
                "4 4 1",
                "......./......./......./......./...d.../D..D...",
            ),
            (
                "othello",
                "d3",
                "......../......../...D..../...DD.../...Dd.../......../......../........",
            ),
            (
                "draughts",
                "11-15",
                ".d.d.d.d/d.d.d.d./.d.d.d.d/......../...D..../D...D.D./.D.D.D.D/D.D.D.D.",
            ),
            (
                "chess",
                "e2e4",
                "FFFFFFFF/FFFFFFFF/......../......../....f.../......../ffff.fff/ffffffff",
            ),
            (
                "go",
                "A9 B8",
                "D......../.d......./........./........./........./........./........./........./.........",
            ),
        ] {
            assert_eq!(drawn(game, moves), rows, "{game}");
        }
        let gomoku = drawn("gomoku", "a15 o1");
        assert!(
            gomoku.starts_with("D..") && gomoku.ends_with("..d"),
            "{gomoku}"
        );
    }
}
