//! A picture of a board, as text (SVG) or as pixels. Nothing that a player has written stands in it, and no
//! game is known here: what there is to be drawn is told by the engine.

mod raster;
mod scene;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use plyhouse_engine::game::Diagram;

use self::scene::{Area, Color, Painted, UNITS, scene};

/// How wide a picture is, in pixels; about twice its height, as those who show links like it.
pub const WIDTH: u16 = 800;
/// How high it is.
pub const HEIGHT: u16 = 420;

/// The picture as SVG.
#[must_use]
pub fn svg(picture: &Diagram) -> String {
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">"#
    );
    for Painted { areas, color, edge } in scene(picture) {
        if let Some((edge, width)) = edge {
            // Below all of it, so that areas which meet show no edge in between.
            let width = Length(2 * width);
            let stroke = format!(
                r#" stroke="{}" stroke-width="{width}" stroke-linejoin="round""#,
                Hex(edge)
            );
            areas
                .iter()
                .for_each(|area| draw(&mut text, area, edge, &stroke));
        }
        areas
            .iter()
            .for_each(|area| draw(&mut text, area, color, ""));
    }
    text.push_str("</svg>\n");
    text
}

/// The picture as pixels, three bytes each (red, green, blue), row by row from the top.
#[must_use]
pub fn pixels(picture: &Diagram) -> Vec<u8> {
    let mut canvas = raster::Canvas::new();
    for painted in scene(picture) {
        canvas.paint(&painted);
    }
    canvas.into_pixels()
}

fn draw(text: &mut String, area: &Area, color: Color, stroke: &str) {
    let color = Hex(color);
    let written = match area {
        Area::Disc {
            middle: (x, y),
            radius,
        } => write!(
            text,
            r#"<circle cx="{}" cy="{}" r="{}" fill="{color}"{stroke}/>"#,
            Length(*x),
            Length(*y),
            Length(*radius)
        ),
        Area::Corners(corners) => {
            text.push_str(r#"<path d=""#);
            for (index, (x, y)) in corners.iter().enumerate() {
                let letter = if index == 0 { 'M' } else { 'L' };
                let _ = write!(text, "{letter}{} {}", Length(*x), Length(*y));
            }
            write!(text, r#"z" fill="{color}"{stroke}/>"#)
        }
    };
    written.expect("a string takes everything");
}

/// A length as pixels.
struct Length(i32);

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", f64::from(self.0) / f64::from(UNITS))
    }
}

/// A colour as CSS writes it.
struct Hex(Color);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}
