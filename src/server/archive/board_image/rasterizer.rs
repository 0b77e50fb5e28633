//! Paints the layers of a board image and encodes the result as PNG.

use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

use plyhouse_engine::game::Diagram;

use super::layers::{Area, Color, Layer, UNITS_PER_PIXEL, layers};
use super::{HEIGHT, WIDTH};

/// Renders a diagram as PNG.
pub(in crate::archive) fn render_png(diagram: &Diagram) -> Vec<u8> {
    let mut canvas = Pixmap::new(WIDTH.into(), HEIGHT.into()).expect("the size is not zero");
    let pixels_per_unit = (UNITS_PER_PIXEL as f32).recip();
    let scale = Transform::from_scale(pixels_per_unit, pixels_per_unit);
    for Layer { areas, color, edge } in layers(diagram) {
        let paths: Vec<Path> = areas.iter().filter_map(to_path).collect();
        if let Some((edge, width)) = edge {
            let stroke = Stroke {
                width: (2 * width) as f32,
                line_join: LineJoin::Round,
                ..Stroke::default()
            };
            for path in &paths {
                canvas.stroke_path(path, &to_paint(edge), &stroke, scale, None);
            }
        }
        for path in &paths {
            canvas.fill_path(path, &to_paint(color), FillRule::EvenOdd, scale, None);
        }
    }
    canvas.encode_png().expect("encoding to memory cannot fail")
}

fn to_paint([red, green, blue]: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, u8::MAX);
    paint
}

/// Converts an area to a path in drawing units. Returns `None` for an empty area.
fn to_path(area: &Area) -> Option<Path> {
    match area {
        Area::Disc {
            center: (x, y),
            radius,
        } => PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32),
        Area::Polygon(corners) => {
            let mut path = PathBuilder::new();
            for (index, (x, y)) in corners.iter().enumerate() {
                match index {
                    0 => path.move_to(*x as f32, *y as f32),
                    _ => path.line_to(*x as f32, *y as f32),
                }
            }
            path.close();
            path.finish()
        }
    }
}
