use plyhouse_engine::catalog::{CATALOG, find_game};

use super::*;

fn after(game: &str, moves: &str) -> Diagram {
    let mut position = find_game(game).expect("it is hosted").initial_position();
    for m in moves.split_whitespace() {
        position.play(m).expect("it is legal");
    }
    position.diagram()
}

/// The colour of the picture in the middle of a square, counted from the left and from the top.
fn at(picture: &Diagram, file: u32, from_top: u32) -> [u8; 3] {
    let pixels = pixels(picture);
    let (files, ranks) = (u32::from(picture.files), u32::from(picture.ranks));
    let (width, height) = (u32::from(WIDTH), u32::from(HEIGHT));
    let side = scene::side_of(picture).unsigned_abs();
    let x = (width - side * files) / 2 + side * file + side / 2;
    let y = (height - side * ranks) / 2 + side * from_top + side / 2;
    let pixel = usize::try_from(3 * (y * width + x)).expect("small");
    pixels[pixel..pixel + 3].try_into().expect("three bytes")
}

#[test]
fn every_game_can_be_drawn() {
    for entry in &CATALOG {
        let picture = entry.initial_position().diagram();
        let svg = svg(&picture);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        let bytes = 3 * usize::from(WIDTH) * usize::from(HEIGHT);
        assert_eq!(pixels(&picture).len(), bytes, "{}", entry.info.id);
    }
}

#[test]
fn what_stands_on_a_square_is_seen_there() {
    let picture = after("connect-four", "4 4");
    let [red, yellow, hole] = [(3, 5), (3, 4), (0, 0)].map(|(x, y)| at(&picture, x, y));
    assert!(red[0] > 150 && red[1] < 100, "{red:?}");
    assert!(
        yellow[0] > 200 && yellow[1] > 150 && yellow[2] < 100,
        "{yellow:?}"
    );
    assert!(![red, yellow].contains(&hole));
    let othello = after("othello", "d3");
    let [black, white, cloth] = [(3, 2), (4, 4), (0, 0)].map(|(x, y)| at(&othello, x, y));
    assert!(black[1] < 60 && white[1] > 200, "{black:?} {white:?}");
    assert!(cloth[1] > cloth[0] && cloth[1] > cloth[2], "{cloth:?}");
    let chess = after("chess", "");
    let [black, white] = [(4, 0), (4, 7)].map(|(x, y)| at(&chess, x, y));
    assert!(black[0] < 80 && white[0] > 220, "{black:?} {white:?}");
}

#[test]
fn the_svg_shows_the_same() {
    let empty = svg(&after("connect-four", ""));
    let one = svg(&after("connect-four", "4"));
    let discs = |svg: &str| svg.matches("<circle").count();
    assert!(discs(&empty) >= 42 && discs(&one) > discs(&empty));
    let paths = |svg: &str| svg.matches("<path").count();
    let (start, cross) = (after("tic-tac-toe", ""), after("tic-tac-toe", "b2"));
    assert_eq!(paths(&svg(&cross)), paths(&svg(&start)) + 2);
}
