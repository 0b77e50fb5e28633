//! Draws a board as SVG or PNG. The image contains no text written by players. The module
//! does not depend on any game: the engine provides the diagram to draw.

mod layers;
mod rasterizer;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use plyhouse_engine::game::Diagram;

pub(super) use self::rasterizer::render_png;

use self::layers::{Area, Color, Layer, UNITS_PER_PIXEL, layers};

/// Width of an image in pixels. The width is about twice the height, as in most link previews.
pub(super) const WIDTH: u16 = 800;
/// Height of an image in pixels.
pub(super) const HEIGHT: u16 = 420;

/// Renders a diagram as SVG.
pub(super) fn render_svg(diagram: &Diagram) -> String {
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">"#
    );
    for Layer { areas, color, edge } in layers(diagram) {
        if let Some((edge, width)) = edge {
            // All edges are drawn before the areas, so that no edge is visible between adjoining
            // areas.
            let (color, width) = (to_hex(edge), to_pixels(2 * width));
            let stroke =
                format!(r#" stroke="{color}" stroke-width="{width}" stroke-linejoin="round""#);
            for area in &areas {
                write_svg_shape(&mut text, area, edge, &stroke);
            }
        }
        for area in &areas {
            write_svg_shape(&mut text, area, color, "");
        }
    }
    text.push_str("</svg>\n");
    text
}

fn write_svg_shape(text: &mut String, area: &Area, color: Color, stroke: &str) {
    let color = to_hex(color);
    let result = match area {
        Area::Disc {
            center: (x, y),
            radius,
        } => write!(
            text,
            r#"<circle cx="{}" cy="{}" r="{}" fill="{color}"{stroke}/>"#,
            to_pixels(*x),
            to_pixels(*y),
            to_pixels(*radius)
        ),
        Area::Polygon(corners) => {
            text.push_str(r#"<path d=""#);
            for (index, (x, y)) in corners.iter().enumerate() {
                let letter = if index == 0 { 'M' } else { 'L' };
                let _ = write!(text, "{letter}{} {}", to_pixels(*x), to_pixels(*y));
            }
            write!(text, r#"z" fill="{color}"{stroke}/>"#)
        }
    };
    result.expect("writing to a string cannot fail");
}

/// Converts a length in drawing units to pixels.
fn to_pixels(units: i32) -> f64 {
    f64::from(units) / f64::from(UNITS_PER_PIXEL)
}

/// Returns a colour in CSS notation, such as `#3c3a36`.
fn to_hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
