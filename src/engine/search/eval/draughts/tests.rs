use super::*;
use crate::game::laws::random_game;
use crate::game::{Course, Outcome};
use crate::search::{Limits, Stop, Table, search};

fn read(text: &str) -> Draughts {
    text.parse().expect(text)
}

fn value(text: &str) -> i32 {
    read(text).evaluate().value()
}

/// The same position with the sides exchanged and the board turned round.
fn turned(pos: &Draughts) -> Draughts {
    let text = pos.to_string();
    let mut fields = text.split(':');
    let mut next = || fields.next().expect("four fields and more");
    let (turn, white, black) = (next(), next(), next());
    let list = |side: &str| {
        let squares = side[1..].split(',').filter(|square| !square.is_empty());
        let opposite = squares.map(|square| {
            let number = square.trim_start_matches('K');
            let king = if number == square { "" } else { "K" };
            format!("{king}{}", 33 - number.parse::<u8>().expect("a number"))
        });
        opposite.collect::<Vec<_>>().join(",")
    };
    let turn = if turn == "B" { "W" } else { "B" };
    read(&format!("{turn}:W{}:B{}", list(black), list(white)))
}

#[test]
fn both_sides_are_valued_alike() {
    for pos in (0..50).flat_map(|seed| random_game::<Draughts>(seed).0) {
        if pos.outcome().is_none() {
            assert_eq!(pos.evaluate(), turned(&pos).evaluate(), "{pos}");
        }
    }
}

/// An exchange that is under way is looked at to its end.
#[test]
fn captures_are_made_before_anything_is_valued() {
    // White takes, and black takes back.
    let exchange = value("W:W22,28,31,32:B18,11,8,5:H0:F20");
    assert!(exchange.abs() < MAN, "{exchange}");
    // White takes two, and nothing is taken back.
    let win = value("W:W22,28:B18,10,5:H0:F20");
    assert!(win > MAN / 2, "{win}");
    // The last piece is taken.
    assert_eq!(value("W:W22:B18:H0:F20"), LOST);
    // What is left cannot move.
    assert_eq!(value("W:W22,9,14:B18,5:H0:F20"), LOST);
}

#[test]
fn what_stands_better_is_worth_more() {
    let better = [
        // A king, a man nearer to the crown, and one that nothing stops.
        ("B:WK30:BK15", "B:WK30:B15"),
        ("B:W30:B24", "B:W30:B16"),
        ("W:W5,13:B20", "W:W28,13:B20"),
        // One ahead with few pieces, and with many.
        ("B:WK30:BK15,K11", "B:WK30,K31,K32,K28:BK15,K11,K10,K9,K5"),
    ];
    for (better, worse) in better {
        assert!(value(better) > value(worse), "{better} over {worse}");
    }
}

/// Two kings against one in a corner of one square: the books' first exercise.
#[test]
fn two_kings_catch_one() {
    let mut game = Course::from(read("B:WK4:BK14,K15:H0:F1"));
    let (stop, mut table) = (Stop::new(), Table::new(1 << 22));
    let limits = Limits::nodes(10_000);
    for _ in 0..40 {
        table.next_search();
        let Some(report) = search(&game, &limits, &stop, &table) else {
            break;
        };
        game.play(report.pv[0]).expect("it is legal");
    }
    let winner = Seat::First;
    assert_eq!(game.outcome(), Some(Outcome::Decisive { winner }));
}
