//! Rasterizer with smooth edges. It samples each row of pixels at four scanlines and computes the
//! exact horizontal coverage on each scanline. All arithmetic uses integers, so an image has
//! identical bytes on every machine.

use std::ops::Range;

use super::layers::{Area, Color, Layer, Point, UNITS_PER_PIXEL};
use super::{HEIGHT, WIDTH};

/// Number of scanlines per row of pixels.
const SCANLINES_PER_ROW: i32 = 4;

/// Coverage of a fully covered pixel. The value is `SCANLINES_PER_ROW * UNITS_PER_PIXEL`.
const FULL_COVERAGE: u32 = 32;

/// Offsets for painting the edge of a polygon. The edge consists of eight copies of the polygon,
/// each shifted in a different direction. The offsets have a length of about 10 and are multiplied
/// by a tenth of the edge width.
const EDGE_OFFSETS: [Point; 8] = [
    (10, 0),
    (7, 7),
    (0, 10),
    (-7, 7),
    (-10, 0),
    (-7, -7),
    (0, -10),
    (7, -7),
];

/// Image that is being painted.
pub(super) struct Canvas {
    pixels: Vec<u8>,
    /// Coverage of each pixel in the current row by the area that is being painted.
    coverage: Vec<u32>,
}

impl Canvas {
    pub(super) fn new() -> Self {
        let (width, height) = (usize::from(WIDTH), usize::from(HEIGHT));
        Self {
            pixels: vec![0; 3 * width * height],
            coverage: vec![0; width],
        }
    }

    pub(super) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// Paints the areas of a layer. The edges of all areas are painted first.
    pub(super) fn paint(&mut self, Layer { areas, color, edge }: &Layer) {
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
            Area::Disc { center, radius } => {
                let area = Area::Disc {
                    center: *center,
                    radius: radius + width,
                };
                self.fill(&area, color);
            }
            Area::Polygon(corners) => {
                for (right, down) in EDGE_OFFSETS.map(|(x, y)| (x * width / 10, y * width / 10)) {
                    let corners = corners.iter().map(|(x, y)| (x + right, y + down));
                    self.fill(&Area::Polygon(corners.collect()), color);
                }
            }
        }
    }

    fn fill(&mut self, area: &Area, color: Color) {
        let [across, down] = bounds(area);
        let (columns, rows) = (pixel_range(across, WIDTH), pixel_range(down, HEIGHT));
        let mut crossings = Vec::new();
        for row in rows {
            self.coverage[columns.clone()].fill(0);
            let row = i32::try_from(row).unwrap_or(0);
            for scanline in 0..SCANLINES_PER_ROW {
                let y = row * UNITS_PER_PIXEL
                    + (2 * scanline + 1) * UNITS_PER_PIXEL / (2 * SCANLINES_PER_ROW);
                find_crossings(area, y, &mut crossings);
                for pair in crossings.chunks_exact(2) {
                    self.add_coverage(pair[0], pair[1]);
                }
            }
            self.blend(row, columns.clone(), color);
        }
    }

    /// Adds a covered segment of one scanline to the coverage of the pixels in the current row. The
    /// ends of the segment are in drawing units.
    fn add_coverage(&mut self, from: i32, to: i32) {
        let from = from.max(0);
        let to = to.min(i32::from(WIDTH) * UNITS_PER_PIXEL);
        let mut at = from;
        while at < to {
            let end = to.min((at.div_euclid(UNITS_PER_PIXEL) + 1) * UNITS_PER_PIXEL);
            let pixel = usize::try_from(at.div_euclid(UNITS_PER_PIXEL)).unwrap_or(0);
            self.coverage[pixel] += end.abs_diff(at);
            at = end;
        }
    }

    /// Blends the colour into pixels of a row in proportion to their coverage.
    fn blend(&mut self, row: i32, columns: Range<usize>, color: Color) {
        let begin = usize::try_from(row).unwrap_or(0) * usize::from(WIDTH) + columns.start;
        let pixels = self.pixels[3 * begin..].chunks_exact_mut(3);
        let coverage = self.coverage[columns].iter();
        for (pixel, covered) in pixels.zip(coverage).filter(|(_, covered)| **covered > 0) {
            for (old, new) in pixel.iter_mut().zip(color) {
                let mixed = u32::from(*old) * (FULL_COVERAGE - covered) + u32::from(new) * covered;
                *old = u8::try_from(mixed / FULL_COVERAGE).unwrap_or(u8::MAX);
            }
        }
    }
}

/// Returns the horizontal and the vertical range that an area occupies, in drawing units.
fn bounds(area: &Area) -> [(i32, i32); 2] {
    match area {
        Area::Disc { center, radius } => [center.0, center.1].map(|at| (at - radius, at + radius)),
        Area::Polygon(corners) => {
            let range_of = |of: fn(&Point) -> i32| {
                let all = corners.iter().map(of);
                (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
            };
            [range_of(|(x, _)| *x), range_of(|(_, y)| *y)]
        }
    }
}

/// Converts a range in drawing units to the range of pixels that it touches. The result is clamped
/// to an image that is `size` pixels wide or high.
fn pixel_range((from, to): (i32, i32), size: u16) -> Range<usize> {
    let within = |pixel: i32| usize::try_from(pixel.clamp(0, size.into())).unwrap_or(0);
    within(from.div_euclid(UNITS_PER_PIXEL))..within(to.div_euclid(UNITS_PER_PIXEL) + 1)
}

/// Finds the x coordinates where a horizontal line enters and leaves an area, in ascending order.
fn find_crossings(area: &Area, y_line: i32, crossings: &mut Vec<i32>) {
    crossings.clear();
    match area {
        Area::Disc {
            center: (x, y),
            radius,
        } => {
            let square = radius * radius - (y_line - y) * (y_line - y);
            if square > 0 {
                let half = square.isqrt();
                crossings.extend([x - half, x + half]);
            }
        }
        Area::Polygon(corners) => {
            let next = corners.iter().cycle().skip(1);
            for ((x0, y0), (x1, y1)) in corners.iter().zip(next) {
                if (*y0 <= y_line) != (*y1 <= y_line) {
                    crossings.push(x0 + (x1 - x0) * (y_line - y0) / (y1 - y0));
                }
            }
            crossings.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_white(area: Area) -> Vec<u8> {
        let mut canvas = Canvas::new();
        canvas.fill(&area, [255, 255, 255]);
        canvas.into_pixels()
    }

    #[test]
    fn partly_covered_pixel_is_blended() {
        // The rectangle covers the right half of the second pixel and all of the third.
        let half = (UNITS_PER_PIXEL + UNITS_PER_PIXEL / 2, 3 * UNITS_PER_PIXEL);
        let corners = vec![
            (half.0, 0),
            (half.1, 0),
            (half.1, UNITS_PER_PIXEL),
            (half.0, UNITS_PER_PIXEL),
        ];
        let pixels = fill_white(Area::Polygon(corners));
        let reds: Vec<u8> = pixels.iter().step_by(3).copied().take(4).collect();
        assert_eq!(reds, [0, 127, 255, 0]);
        let below = 3 * usize::from(WIDTH);
        assert!(pixels[below..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn disc_area_is_close_to_pi_r_squared() {
        let middle = (100 * UNITS_PER_PIXEL, 100 * UNITS_PER_PIXEL);
        let pixels = fill_white(Area::Disc {
            center: middle,
            radius: 50 * UNITS_PER_PIXEL,
        });
        let painted: u64 = pixels.iter().step_by(3).map(|byte| u64::from(*byte)).sum();
        let pixels = painted / 255;
        assert!(
            (7_800..7_900).contains(&pixels),
            "{pixels}, and pi * 2500 are 7854"
        );
    }

    #[test]
    fn shape_beyond_the_canvas_is_clipped() {
        let far = 1 << 14;
        let corners = vec![(-far, -far), (far, -far), (far, far), (-far, far)];
        assert!(
            fill_white(Area::Polygon(corners))
                .iter()
                .all(|byte| *byte == 255)
        );
    }
}
