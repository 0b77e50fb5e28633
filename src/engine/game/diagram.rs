//! How a position looks: of what its board is made, and what stands on it. Whoever draws it need know no game.

use super::{Position, Square};

/// How a position looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// Of what the board is made.
    pub style: BoardStyle,
    /// Its width in squares.
    pub files: u8,
    /// Its height in squares.
    pub ranks: u8,
    /// What stands on it: how far from the left and how far from the top, both from 0.
    pub pieces: Vec<(u8, u8, DiagramPiece)>,
}

/// Of what a board is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardStyle {
    /// Empty squares with lines between them.
    Grid,
    /// Green squares with lines between them.
    GreenGrid,
    /// Squares that are dark and light by turns.
    Chequered,
    /// Lines, on the crossings of which stones are put.
    Intersections,
    /// A wall with holes.
    Holes,
}

/// What stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagramPiece {
    /// Its outline.
    pub shape: PieceShape,
    /// Its colour.
    pub color: PieceColor,
}

/// The outline of what stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceShape {
    /// A disc or a stone.
    Disc,
    /// A disc on a disc.
    CrownedDisc,
    /// A ring.
    Ring,
    /// These areas.
    Paths(PiecePaths),
}

/// Areas, each by its corners around the middle of the square: to the right and down, where 50 is the square's
/// edge.
pub type PiecePaths = &'static [&'static [(i8, i8)]];

/// The colour of what stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceColor {
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
pub(crate) fn diagram<P: Position>(position: &P) -> Diagram {
    let (files, ranks) = (P::INFO.files, P::INFO.ranks);
    let squares = (0..ranks).flat_map(|rank| (0..files).map(move |file| Square { file, rank }));
    let pieces = squares.filter_map(|square| {
        let from_top = match P::FIRST_RANK_AT_TOP {
            true => square.rank,
            false => ranks - 1 - square.rank,
        };
        Some((square.file, from_top, position.diagram_piece(square)?))
    });
    Diagram {
        style: P::BOARD_STYLE,
        files,
        ranks,
        pieces: pieces.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find_game;

    /// What stands where after these moves, rank by rank from the top: a letter for each figure.
    fn diagram_text(game: &str, moves: &str) -> String {
        let mut position = find_game(game)
            .expect("the game is in the catalog")
            .initial_position();
        for m in moves.split_whitespace() {
            position.play(m).expect("the move is legal");
        }
        let diagram = position.diagram();
        let row = |rank| {
            let letter = |file| {
                let is_on_square =
                    |figure: &&(u8, u8, DiagramPiece)| (figure.0, figure.1) == (file, rank);
                let DiagramPiece {
                    shape,
                    color: paint,
                } = diagram.pieces.iter().find(is_on_square)?.2;
                let letter = match shape {
                    PieceShape::Disc => 'd',
                    PieceShape::CrownedDisc => 'c',
                    PieceShape::Ring => 'r',
                    PieceShape::Paths(_) => 'f',
                };
                let is_dark = matches!(
                    paint,
                    PieceColor::Black | PieceColor::Blue | PieceColor::Red
                );
                Some(if is_dark {
                    letter.to_ascii_uppercase()
                } else {
                    letter
                })
            };
            let row = (0..diagram.files).map(|file| letter(file).unwrap_or('.'));
            row.collect::<String>()
        };
        let rows: Vec<String> = (0..diagram.ranks).map(row).collect();
        rows.join("/")
    }

    #[test]
    fn diagrams_show_every_piece_in_its_shape_and_color() {
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
            assert_eq!(diagram_text(game, moves), rows, "{game}");
        }
        let gomoku = diagram_text("gomoku", "a15 o1");
        assert!(
            gomoku.starts_with("D..") && gomoku.ends_with("..d"),
            "{gomoku}"
        );
    }
}
