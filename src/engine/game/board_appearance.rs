//! Appearance of a position: the style of the board, and the shapes and colours of the pieces. This
//! description lets a renderer draw a position without knowing the game.

use super::{Position, Square};

/// Diagram of a position: the board and its pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// Style of the board.
    pub style: BoardStyle,
    /// Width of the board in squares.
    pub files: u8,
    /// Height of the board in squares.
    pub ranks: u8,
    /// Pieces on the board. Each piece has a column, counted from 0 on the left, and a row, counted
    /// from 0 at the top.
    pub pieces: Vec<(u8, u8, DiagramPiece)>,
}

/// Style of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardStyle {
    /// Plain squares separated by lines.
    Grid,
    /// Green squares separated by lines.
    GreenGrid,
    /// Squares that are alternately dark and light.
    Chequered,
    /// Crossing lines, with stones on the intersections.
    Intersections,
    /// A vertical board with round holes, as in Connect Four.
    Holes,
}

/// A piece, disc, stone or mark on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagramPiece {
    /// Outline of the piece.
    pub shape: PieceShape,
    /// Colour of the piece.
    pub color: PieceColor,
}

/// Outline of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceShape {
    /// A disc or a stone.
    Disc,
    /// A disc with a smaller disc on top, such as a king in draughts.
    CrownedDisc,
    /// A ring.
    Ring,
    /// Filled polygons.
    Paths(PiecePaths),
}

/// Outline of a piece: a list of polygons, each given by its corners. Each corner is a pair of
/// offsets from the centre of the square: to the right, then down. Each edge of the square is 50
/// units from the centre.
pub type PiecePaths = &'static [&'static [[i8; 2]]];

/// Colour of a piece.
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

/// Returns the diagram of a position.
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

    /// Plays these moves from the initial position and returns the diagram as text, with the top
    /// rank first. Each piece is one letter, in upper case if the piece is dark.
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
