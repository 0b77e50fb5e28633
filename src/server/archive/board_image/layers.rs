//! Layers of a board image. A layer is a set of areas painted in the same colour.

use plyhouse_engine::game::{BoardStyle, Diagram, DiagramPiece, PieceColor, PieceShape};

use super::{HEIGHT, WIDTH};

/// Number of drawing units per pixel. Coordinates are whole numbers of drawing units.
pub(super) const UNITS_PER_PIXEL: i32 = 8;

/// Minimum total width in pixels of the left and right margins beside the board. The same minimum
/// applies to the top and bottom margins together.
const BOARD_MARGIN: i32 = 20;

/// Colour, given as its red, green and blue components.
pub(super) type Color = [u8; 3];

/// Point in drawing units from the upper left corner of the image.
pub(super) type Point = (i32, i32);

const BACKGROUND: Color = [0x26, 0x2b, 0x33];
const LINE: Color = [0x4a, 0x40, 0x30];

/// Areas of one colour. `edge` is `None` for areas without edges. Otherwise, it contains the edge
/// colour and the edge width in drawing units.
pub(super) struct Layer {
    pub(super) areas: Vec<Area>,
    pub(super) color: Color,
    pub(super) edge: Option<(Color, i32)>,
}

pub(super) enum Area {
    Disc { center: Point, radius: i32 },
    Polygon(Vec<Point>),
}

/// Returns the layers of a board image, from bottom to top.
pub(super) fn layers(diagram: &Diagram) -> Vec<Layer> {
    let board = BoardLayout::from_diagram(diagram);
    let canvas = rectangle((0, 0), (i32::from(WIDTH), i32::from(HEIGHT)));
    let mut layers = vec![layer_without_edge(vec![canvas], BACKGROUND)];
    board.add_background(diagram.style, &mut layers);
    for (file, from_top, piece) in &diagram.pieces {
        let center = board.square_center(i32::from(*file), i32::from(*from_top));
        board.add_piece(center, *piece, diagram.style, &mut layers);
    }
    layers
}

/// Returns the side length of a square, in pixels.
pub(super) fn square_size(diagram: &Diagram) -> i32 {
    let across = (i32::from(WIDTH) - BOARD_MARGIN) / i32::from(diagram.files);
    across.min((i32::from(HEIGHT) - BOARD_MARGIN) / i32::from(diagram.ranks))
}

/// Position and size of the board, in pixels.
struct BoardLayout {
    files: i32,
    ranks: i32,
    square_size: i32,
    left: i32,
    top: i32,
}

impl BoardLayout {
    fn from_diagram(diagram: &Diagram) -> Self {
        let (files, ranks) = (i32::from(diagram.files), i32::from(diagram.ranks));
        let square_size = square_size(diagram);
        Self {
            files,
            ranks,
            square_size,
            left: (i32::from(WIDTH) - square_size * files) / 2,
            top: (i32::from(HEIGHT) - square_size * ranks) / 2,
        }
    }

    /// Returns the middle of a square, in drawing units.
    const fn square_center(&self, file: i32, from_top: i32) -> Point {
        let half = self.square_size * UNITS_PER_PIXEL / 2;
        (
            (self.left + self.square_size * file) * UNITS_PER_PIXEL + half,
            (self.top + self.square_size * from_top) * UNITS_PER_PIXEL + half,
        )
    }

    /// Returns `percent` percent of the side length of a square, in drawing units.
    const fn percent_of_square(&self, percent: i32) -> i32 {
        self.square_size * UNITS_PER_PIXEL * percent / 100
    }

    /// Returns the file and the row of every square. Rows count from the top.
    fn squares(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let (files, ranks) = (self.files, self.ranks);
        (0..ranks).flat_map(move |from_top| (0..files).map(move |file| (file, from_top)))
    }

    fn add_background(&self, style: BoardStyle, layers: &mut Vec<Layer>) {
        let size = (self.square_size * self.files, self.square_size * self.ranks);
        let all = rectangle((self.left, self.top), size);
        layers.push(layer_without_edge(vec![all], board_color(style)));
        let areas: Vec<Area> = match style {
            BoardStyle::Grid | BoardStyle::GreenGrid => self.grid_lines().collect(),
            BoardStyle::Intersections => self.intersection_lines().collect(),
            BoardStyle::Chequered => {
                let is_dark =
                    |(file, from_top): &(i32, i32)| (file + self.ranks - 1 - from_top) % 2 == 0;
                let dark = self.squares().filter(is_dark).map(|(file, from_top)| {
                    let corner = (
                        self.left + self.square_size * file,
                        self.top + self.square_size * from_top,
                    );
                    rectangle(corner, (self.square_size, self.square_size))
                });
                dark.collect()
            }
            BoardStyle::Holes => {
                let hole = |(file, from_top)| Area::Disc {
                    center: self.square_center(file, from_top),
                    radius: self.percent_of_square(41),
                };
                self.squares().map(hole).collect()
            }
        };
        let color = match style {
            BoardStyle::Grid | BoardStyle::Intersections => LINE,
            BoardStyle::GreenGrid => [0x1d, 0x54, 0x34],
            BoardStyle::Chequered => [0xb2, 0x8a, 0x5e],
            BoardStyle::Holes => BACKGROUND,
        };
        layers.push(layer_without_edge(areas, color));
    }

    /// Returns the lines between the squares.
    fn grid_lines(&self) -> impl Iterator<Item = Area> {
        let vertical = (1..self.files).map(|file| {
            let corner = (self.left + self.square_size * file - 1, self.top);
            rectangle(corner, (2, self.square_size * self.ranks))
        });
        let horizontal = (1..self.ranks).map(|rank| {
            let corner = (self.left, self.top + self.square_size * rank - 1);
            rectangle(corner, (self.square_size * self.files, 2))
        });
        vertical.chain(horizontal)
    }

    /// Returns the lines of a board whose pieces are on intersections. The lines run through the
    /// middle of the squares.
    fn intersection_lines(&self) -> impl Iterator<Item = Area> {
        let half = self.square_size / 2;
        let vertical = (0..self.files).map(move |file| {
            let corner = (self.left + self.square_size * file + half, self.top + half);
            rectangle(corner, (1, self.square_size * (self.ranks - 1) + 1))
        });
        let horizontal = (0..self.ranks).map(move |rank| {
            let corner = (self.left + half, self.top + self.square_size * rank + half);
            rectangle(corner, (self.square_size * (self.files - 1) + 1, 1))
        });
        vertical.chain(horizontal)
    }

    fn add_piece(
        &self,
        center: Point,
        DiagramPiece {
            shape,
            color: paint,
        }: DiagramPiece,
        ground: BoardStyle,
        scene: &mut Vec<Layer>,
    ) {
        let (color, edge) = piece_colors(paint);
        let disc = |hundredths| Area::Disc {
            center,
            radius: self.percent_of_square(hundredths),
        };
        let edged = |areas| Layer {
            areas,
            color,
            edge: Some((edge, self.percent_of_square(3))),
        };
        match shape {
            PieceShape::Disc => scene.push(edged(vec![disc(39)])),
            PieceShape::CrownedDisc => {
                scene.push(edged(vec![disc(39)]));
                scene.push(edged(vec![disc(22)]));
            }
            PieceShape::Ring => {
                scene.push(layer_without_edge(vec![disc(34)], color));
                scene.push(layer_without_edge(vec![disc(23)], board_color(ground)));
            }
            PieceShape::Paths(outline) => {
                let corner = |offset: &[i8; 2]| {
                    let [right, down] = offset.map(|at| self.percent_of_square(at.into()));
                    (center.0 + right, center.1 + down)
                };
                let area =
                    |corners: &&[[i8; 2]]| Area::Polygon(corners.iter().map(corner).collect());
                let areas = outline.iter().map(area).collect();
                // Black and white pieces that are drawn as paths have an edge. Pieces of other
                // colours, such as the cross of tic-tac-toe, have no edge.
                scene.push(match paint {
                    PieceColor::Black | PieceColor::White => edged(areas),
                    PieceColor::Red | PieceColor::Yellow | PieceColor::Blue => {
                        layer_without_edge(areas, color)
                    }
                });
            }
        }
    }
}

const fn layer_without_edge(areas: Vec<Area>, color: Color) -> Layer {
    Layer {
        areas,
        color,
        edge: None,
    }
}

/// Returns the rectangle that has the given upper left corner and the given size, both in pixels.
fn rectangle((x, y): (i32, i32), (width, height): (i32, i32)) -> Area {
    let corners = [
        (x, y),
        (x + width, y),
        (x + width, y + height),
        (x, y + height),
    ];
    Area::Polygon(
        corners
            .map(|(x, y)| (x * UNITS_PER_PIXEL, y * UNITS_PER_PIXEL))
            .to_vec(),
    )
}

/// Returns the colour of the empty board.
const fn board_color(ground: BoardStyle) -> Color {
    match ground {
        BoardStyle::Grid => [0xf3, 0xef, 0xe6],
        BoardStyle::GreenGrid => [0x2f, 0x7d, 0x4f],
        BoardStyle::Chequered => [0xe9, 0xd8, 0xb4],
        BoardStyle::Intersections => [0xdc, 0xb5, 0x6c],
        BoardStyle::Holes => [0x2b, 0x5f, 0xb3],
    }
}

/// Returns the colour of a piece and the colour of its edge.
const fn piece_colors(paint: PieceColor) -> (Color, Color) {
    match paint {
        PieceColor::Black => ([0x1e, 0x1e, 0x20], [0x70, 0x70, 0x74]),
        PieceColor::White => ([0xf8, 0xf6, 0xf0], [0x3c, 0x3a, 0x36]),
        PieceColor::Red => ([0xd1, 0x3b, 0x36], [0x8a, 0x1f, 0x1c]),
        PieceColor::Yellow => ([0xf2, 0xc1, 0x2e], [0xa8, 0x7f, 0x10]),
        PieceColor::Blue => ([0x2b, 0x5f, 0xb3], [0x1a, 0x3c, 0x75]),
    }
}
