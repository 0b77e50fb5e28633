//! What a picture consists of: painted areas, one over the other.

use plyhouse_engine::game::{BoardStyle, Diagram, DiagramPiece, PieceColor, PieceShape};

use super::{HEIGHT, WIDTH};

/// So many units are a pixel: all is reckoned in whole numbers.
pub(super) const UNITS: i32 = 8;

/// The least that is left free beside a board, on both sides together, in pixels.
const MARGIN: i32 = 20;

/// Red, green and blue.
pub(super) type Color = [u8; 3];

/// A point, in units from the upper left corner.
pub(super) type Point = (i32, i32);

const BACKGROUND: Color = [0x26, 0x2b, 0x33];
const LINE: Color = [0x4a, 0x40, 0x30];

/// Areas of one colour, with an edge of another one, so many units wide.
pub(super) struct Painted {
    pub(super) areas: Vec<Area>,
    pub(super) color: Color,
    pub(super) edge: Option<(Color, i32)>,
}

/// An area.
pub(super) enum Area {
    Disc { middle: Point, radius: i32 },
    Corners(Vec<Point>),
}

/// All that a picture consists of, from below.
pub(super) fn scene(picture: &Diagram) -> Vec<Painted> {
    let board = Board::of(picture);
    let canvas = rectangle((0, 0), (i32::from(WIDTH), i32::from(HEIGHT)));
    let mut scene = vec![plain(vec![canvas], BACKGROUND)];
    board.add_ground(picture.style, &mut scene);
    for (file, from_top, figure) in &picture.pieces {
        let middle = board.middle(i32::from(*file), i32::from(*from_top));
        board.add_figure(middle, *figure, picture.style, &mut scene);
    }
    scene
}

/// How wide and high a square is, in pixels.
pub(super) fn side_of(picture: &Diagram) -> i32 {
    let across = (i32::from(WIDTH) - MARGIN) / i32::from(picture.files);
    across.min((i32::from(HEIGHT) - MARGIN) / i32::from(picture.ranks))
}

/// Where the board lies, in pixels.
struct Board {
    files: i32,
    ranks: i32,
    side: i32,
    left: i32,
    top: i32,
}

impl Board {
    fn of(picture: &Diagram) -> Self {
        let (files, ranks) = (i32::from(picture.files), i32::from(picture.ranks));
        let side = side_of(picture);
        Self {
            files,
            ranks,
            side,
            left: (i32::from(WIDTH) - side * files) / 2,
            top: (i32::from(HEIGHT) - side * ranks) / 2,
        }
    }

    /// The middle of a square, in units.
    const fn middle(&self, file: i32, from_top: i32) -> Point {
        let half = self.side * UNITS / 2;
        (
            (self.left + self.side * file) * UNITS + half,
            (self.top + self.side * from_top) * UNITS + half,
        )
    }

    /// So many hundredths of a square, in units.
    const fn part(&self, hundredths: i32) -> i32 {
        self.side * UNITS * hundredths / 100
    }

    /// Every square, by file and from the top.
    fn squares(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let (files, ranks) = (self.files, self.ranks);
        (0..ranks).flat_map(move |from_top| (0..files).map(move |file| (file, from_top)))
    }

    fn add_ground(&self, ground: BoardStyle, scene: &mut Vec<Painted>) {
        let size = (self.side * self.files, self.side * self.ranks);
        let all = rectangle((self.left, self.top), size);
        scene.push(plain(vec![all], color_of(ground)));
        let areas: Vec<Area> = match ground {
            BoardStyle::Grid | BoardStyle::GreenGrid => self.lines_between().collect(),
            BoardStyle::Intersections => self.lines_through().collect(),
            BoardStyle::Chequered => {
                let is_dark =
                    |(file, from_top): &(i32, i32)| (file + self.ranks - 1 - from_top) % 2 == 0;
                let dark = self.squares().filter(is_dark).map(|(file, from_top)| {
                    let corner = (
                        self.left + self.side * file,
                        self.top + self.side * from_top,
                    );
                    rectangle(corner, (self.side, self.side))
                });
                dark.collect()
            }
            BoardStyle::Holes => {
                let hole = |(file, from_top)| Area::Disc {
                    middle: self.middle(file, from_top),
                    radius: self.part(41),
                };
                self.squares().map(hole).collect()
            }
        };
        let color = match ground {
            BoardStyle::Grid | BoardStyle::Intersections => LINE,
            BoardStyle::GreenGrid => [0x1d, 0x54, 0x34],
            BoardStyle::Chequered => [0xb2, 0x8a, 0x5e],
            BoardStyle::Holes => BACKGROUND,
        };
        scene.push(plain(areas, color));
    }

    /// The lines between squares.
    fn lines_between(&self) -> impl Iterator<Item = Area> {
        let upright = (1..self.files).map(|file| {
            let corner = (self.left + self.side * file - 1, self.top);
            rectangle(corner, (2, self.side * self.ranks))
        });
        let level = (1..self.ranks).map(|rank| {
            let corner = (self.left, self.top + self.side * rank - 1);
            rectangle(corner, (self.side * self.files, 2))
        });
        upright.chain(level)
    }

    /// The lines through the middles of squares.
    fn lines_through(&self) -> impl Iterator<Item = Area> {
        let half = self.side / 2;
        let upright = (0..self.files).map(move |file| {
            let corner = (self.left + self.side * file + half, self.top + half);
            rectangle(corner, (1, self.side * (self.ranks - 1) + 1))
        });
        let level = (0..self.ranks).map(move |rank| {
            let corner = (self.left + half, self.top + self.side * rank + half);
            rectangle(corner, (self.side * (self.files - 1) + 1, 1))
        });
        upright.chain(level)
    }

    fn add_figure(
        &self,
        middle: Point,
        DiagramPiece {
            shape,
            color: paint,
        }: DiagramPiece,
        ground: BoardStyle,
        scene: &mut Vec<Painted>,
    ) {
        let (color, edge) = colors_of(paint);
        let disc = |hundredths| Area::Disc {
            middle,
            radius: self.part(hundredths),
        };
        let edged = |areas| Painted {
            areas,
            color,
            edge: Some((edge, self.part(3))),
        };
        match shape {
            PieceShape::Disc => scene.push(edged(vec![disc(39)])),
            PieceShape::CrownedDisc => {
                scene.push(edged(vec![disc(39)]));
                scene.push(edged(vec![disc(22)]));
            }
            PieceShape::Ring => {
                scene.push(plain(vec![disc(34)], color));
                scene.push(plain(vec![disc(23)], color_of(ground)));
            }
            PieceShape::Paths(outline) => {
                let corner = |(right, down): &(i8, i8)| {
                    let (right, down) = (i32::from(*right), i32::from(*down));
                    (middle.0 + self.part(right), middle.1 + self.part(down))
                };
                let area =
                    |corners: &&[(i8, i8)]| Area::Corners(corners.iter().map(corner).collect());
                let areas = outline.iter().map(area).collect();
                // Of a piece that is nobody's colour there is no edge to be seen.
                scene.push(match paint {
                    PieceColor::Black | PieceColor::White => edged(areas),
                    PieceColor::Red | PieceColor::Yellow | PieceColor::Blue => plain(areas, color),
                });
            }
        }
    }
}

const fn plain(areas: Vec<Area>, color: Color) -> Painted {
    Painted {
        areas,
        color,
        edge: None,
    }
}

/// An area by its upper left corner and its size, in pixels.
fn rectangle((x, y): (i32, i32), (width, height): (i32, i32)) -> Area {
    let corners = [
        (x, y),
        (x + width, y),
        (x + width, y + height),
        (x, y + height),
    ];
    Area::Corners(corners.map(|(x, y)| (x * UNITS, y * UNITS)).to_vec())
}

/// The colour of a board below all that is on it.
const fn color_of(ground: BoardStyle) -> Color {
    match ground {
        BoardStyle::Grid => [0xf3, 0xef, 0xe6],
        BoardStyle::GreenGrid => [0x2f, 0x7d, 0x4f],
        BoardStyle::Chequered => [0xe9, 0xd8, 0xb4],
        BoardStyle::Intersections => [0xdc, 0xb5, 0x6c],
        BoardStyle::Holes => [0x2b, 0x5f, 0xb3],
    }
}

/// The colour of a figure, and that of its edge.
const fn colors_of(paint: PieceColor) -> (Color, Color) {
    match paint {
        PieceColor::Black => ([0x1e, 0x1e, 0x20], [0x70, 0x70, 0x74]),
        PieceColor::White => ([0xf8, 0xf6, 0xf0], [0x3c, 0x3a, 0x36]),
        PieceColor::Red => ([0xd1, 0x3b, 0x36], [0x8a, 0x1f, 0x1c]),
        PieceColor::Yellow => ([0xf2, 0xc1, 0x2e], [0xa8, 0x7f, 0x10]),
        PieceColor::Blue => ([0x2b, 0x5f, 0xb3], [0x1a, 0x3c, 0x75]),
    }
}
