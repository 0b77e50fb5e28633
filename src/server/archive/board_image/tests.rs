use plyhouse_engine::catalog::{CATALOG, find_game};
use tiny_skia::Pixmap;

use super::*;

fn diagram_after(game: &str, moves: &str) -> Diagram {
    let mut position = find_game(game).expect("known game").initial_position();
    for m in moves.split_whitespace() {
        position.play(m).expect("legal move");
    }
    position.diagram()
}

/// Returns the colour in the middle of a square. Files count from the left and rows from the top.
fn color_at(diagram: &Diagram, file: u32, from_top: u32) -> [u8; 3] {
    let image = Pixmap::decode_png(&render_png(diagram)).expect("valid PNG");
    let (files, ranks) = (u32::from(diagram.files), u32::from(diagram.ranks));
    let square_size = layers::square_size(diagram).unsigned_abs();
    let x = (image.width() - square_size * files) / 2 + square_size * file + square_size / 2;
    let y = (image.height() - square_size * ranks) / 2 + square_size * from_top + square_size / 2;
    let pixel = image.pixel(x, y).expect("within the image");
    [pixel.red(), pixel.green(), pixel.blue()]
}

#[test]
fn initial_position_of_every_game_is_rendered() {
    for entry in &CATALOG {
        let diagram = entry.initial_position().diagram();
        let text = render_svg(&diagram);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert_eq!(text.matches('<').count(), text.matches('>').count());
        let image = Pixmap::decode_png(&render_png(&diagram)).expect("valid PNG");
        let size = (image.width(), image.height());
        assert_eq!(size, (WIDTH.into(), HEIGHT.into()), "{}", entry.info.id);
    }
}

#[test]
fn pieces_have_their_colour_at_their_squares() {
    let diagram = diagram_after("connect-four", "4 4");
    let [red, yellow, hole] = [(3, 5), (3, 4), (0, 0)].map(|(x, y)| color_at(&diagram, x, y));
    assert!(red[0] > 150 && red[1] < 100, "{red:?}");
    assert!(
        yellow[0] > 200 && yellow[1] > 150 && yellow[2] < 100,
        "{yellow:?}"
    );
    assert!(![red, yellow].contains(&hole));
    let othello = diagram_after("othello", "d3");
    let [black, white, board] = [(3, 2), (4, 4), (0, 0)].map(|(x, y)| color_at(&othello, x, y));
    assert!(black[1] < 60 && white[1] > 200, "{black:?} {white:?}");
    assert!(board[1] > board[0] && board[1] > board[2], "{board:?}");
    let chess = diagram_after("chess", "");
    let [black, white] = [(4, 0), (4, 7)].map(|(x, y)| color_at(&chess, x, y));
    assert!(black[0] < 80 && white[0] > 220, "{black:?} {white:?}");
}

#[test]
fn svg_contains_a_shape_for_each_piece() {
    let empty = render_svg(&diagram_after("connect-four", ""));
    let one = render_svg(&diagram_after("connect-four", "4"));
    let discs = |svg: &str| svg.matches("<circle").count();
    assert!(discs(&empty) >= 42 && discs(&one) > discs(&empty));
    let paths = |svg: &str| svg.matches("<path").count();
    let (start, cross) = (
        diagram_after("tic-tac-toe", ""),
        diagram_after("tic-tac-toe", "b2"),
    );
    assert_eq!(paths(&render_svg(&cross)), paths(&render_svg(&start)) + 2);
}
