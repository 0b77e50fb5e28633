//! Areas as pixels. Each pixel is looked at in four lines, in each of which what is covered of it is reckoned
//! exactly; so edges are smooth. Whole numbers alone: the same picture has the same bytes everywhere.

use std::ops::Range;

use super::scene::{Area, Color, Painted, Point, UNITS};
use super::{HEIGHT, WIDTH};

/// In how many lines a row of pixels is looked at.
const LINES: i32 = 4;

/// How much a pixel is covered that is covered all over.
const WHOLE: u32 = 32; // LINES * UNITS

/// The directions in which an edge is drawn.
const AROUND: [Point; 8] = [
    (10, 0),
    (7, 7),
    (0, 10),
    (-7, 7),
    (-10, 0),
    (-7, -7),
    (0, -10),
    (7, -7),
];

/// What has been painted.
pub(super) struct Canvas {
    pixels: Vec<u8>,
    /// How much of each pixel of a row is covered by the area that is being painted.
    covered: Vec<u32>,
}

impl Canvas {
    pub(super) fn new() -> Self {
        let (width, height) = (usize::from(WIDTH), usize::from(HEIGHT));
        Self {
            pixels: vec![0; 3 * width * height],
            covered: vec![0; width],
        }
    }

    pub(super) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// Paints areas, their edges below all of them.
    pub(super) fn paint(&mut self, Painted { areas, color, edge }: &Painted) {
        if let Some((edge, width)) = edge {
            for area in areas {
                self.paint_edge(area, *edge, *width);
            }
        }
        for area in areas {
            self.fill(area, *color);
        }
    }

    fn paint_edge(&mut self, area: &Area, color: Color, width: i32) {
        match area {
            Area::Disc { middle, radius } => {
                let area = Area::Disc {
                    middle: *middle,
                    radius: radius + width,
                };
                self.fill(&area, color);
            }
            Area::Corners(corners) => {
                for (right, down) in AROUND.map(|(x, y)| (x * width / 10, y * width / 10)) {
                    let corners = corners.iter().map(|(x, y)| (x + right, y + down));
                    self.fill(&Area::Corners(corners.collect()), color);
                }
            }
        }
    }

    fn fill(&mut self, area: &Area, color: Color) {
        let [across, down] = extent(area);
        let (columns, rows) = (pixels_of(across, WIDTH), pixels_of(down, HEIGHT));
        let mut crossings = Vec::new();
        for row in rows {
            self.covered[columns.clone()].fill(0);
            let row = i32::try_from(row).unwrap_or(0);
            for line in 0..LINES {
                let y = row * UNITS + (2 * line + 1) * UNITS / (2 * LINES);
                cross(area, y, &mut crossings);
                for pair in crossings.chunks_exact(2) {
                    self.cover(pair[0], pair[1]);
                }
            }
            self.blend(row, columns.clone(), color);
        }
    }

    /// Notes that a line from here to there is covered.
    fn cover(&mut self, from: i32, to: i32) {
        let from = from.max(0);
        let to = to.min(i32::from(WIDTH) * UNITS);
        let mut at = from;
        while at < to {
            let end = to.min((at.div_euclid(UNITS) + 1) * UNITS);
            let pixel = usize::try_from(at.div_euclid(UNITS)).unwrap_or(0);
            self.covered[pixel] += end.abs_diff(at);
            at = end;
        }
    }

    /// Paints these pixels of a row as far as they are covered.
    fn blend(&mut self, row: i32, columns: Range<usize>, color: Color) {
        let begin = usize::try_from(row).unwrap_or(0) * usize::from(WIDTH) + columns.start;
        let pixels = self.pixels[3 * begin..].chunks_exact_mut(3);
        let covered = self.covered[columns].iter();
        for (pixel, covered) in pixels.zip(covered).filter(|(_, covered)| **covered > 0) {
            for (old, new) in pixel.iter_mut().zip(color) {
                let mixed = u32::from(*old) * (WHOLE - covered) + u32::from(new) * covered;
                *old = u8::try_from(mixed / WHOLE).unwrap_or(u8::MAX);
            }
        }
    }
}

/// Where an area begins and ends, from the left and from the top.
fn extent(area: &Area) -> [(i32, i32); 2] {
    match area {
        Area::Disc { middle, radius } => [middle.0, middle.1].map(|at| (at - radius, at + radius)),
        Area::Corners(corners) => {
            let reach = |of: fn(&Point) -> i32| {
                let all = corners.iter().map(of);
                (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
            };
            [reach(|(x, _)| *x), reach(|(_, y)| *y)]
        }
    }
}

/// The pixels that these units lie in, of so many that there are.
fn pixels_of((from, to): (i32, i32), size: u16) -> Range<usize> {
    let within = |pixel: i32| usize::try_from(pixel.clamp(0, size.into())).unwrap_or(0);
    within(from.div_euclid(UNITS))..within(to.div_euclid(UNITS) + 1)
}

/// Where a line at this height enters an area and leaves it, in order.
fn cross(area: &Area, at: i32, crossings: &mut Vec<i32>) {
    crossings.clear();
    match area {
        Area::Disc {
            middle: (x, y),
            radius,
        } => {
            let square = radius * radius - (at - y) * (at - y);
            if square > 0 {
                let half = square.isqrt();
                crossings.extend([x - half, x + half]);
            }
        }
        Area::Corners(corners) => {
            let next = corners.iter().cycle().skip(1);
            for ((x0, y0), (x1, y1)) in corners.iter().zip(next) {
                if (*y0 <= at) != (*y1 <= at) {
                    crossings.push(x0 + (x1 - x0) * (at - y0) / (y1 - y0));
                }
            }
            crossings.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(area: Area) -> Vec<u8> {
        let mut canvas = Canvas::new();
        canvas.fill(&area, [255, 255, 255]);
        canvas.into_pixels()
    }

    #[test]
    fn a_pixel_is_painted_as_far_as_it_is_covered() {
        // From the middle of the second pixel of the first row to the end of the third.
        let half = (UNITS + UNITS / 2, 3 * UNITS);
        let corners = vec![(half.0, 0), (half.1, 0), (half.1, UNITS), (half.0, UNITS)];
        let pixels = filled(Area::Corners(corners));
        let reds: Vec<u8> = pixels.iter().step_by(3).copied().take(4).collect();
        assert_eq!(reds, [0, 127, 255, 0]);
        let below = 3 * usize::from(WIDTH);
        assert!(pixels[below..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_disc_covers_what_a_disc_does() {
        let middle = (100 * UNITS, 100 * UNITS);
        let pixels = filled(Area::Disc {
            middle,
            radius: 50 * UNITS,
        });
        let painted: u64 = pixels.iter().step_by(3).map(|byte| u64::from(*byte)).sum();
        let pixels = painted / 255;
        assert!(
            (7_800..7_900).contains(&pixels),
            "{pixels}, and pi * 2500 are 7854"
        );
    }

    #[test]
    fn what_reaches_over_the_edge_is_cut_off() {
        let far = 1 << 14;
        let corners = vec![(-far, -far), (far, -far), (far, far), (-far, far)];
        assert!(
            filled(Area::Corners(corners))
                .iter()
                .all(|byte| *byte == 255)
        );
    }
}
