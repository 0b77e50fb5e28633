use super::*;
use crate::game::conformance::{pick_index, random_game};
use crate::game::{GameHistory, Outcome};
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
    // What is left cannot move.
    assert_eq!(value("W:W22,9,14,31:B18,5:H0:F20"), LOST);
    // The last piece is taken.
    assert!(value("W:W22:B18:H0:F20") > WON);
}

#[test]
fn what_stands_better_is_worth_more() {
    let better = [
        // A king, a man nearer to the crown, and one that nothing stops.
        ("B:WK30,31,32:BK15,1,2", "B:WK30,31,32:B15,1,2"),
        ("B:W29,30,21:B24,1,2", "B:W29,30,21:B16,1,2"),
        ("W:W5,13,32:B20,3", "W:W28,13,32:B20,3"),
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
    let mut game = GameHistory::from(read("B:WK4:BK14,K15:H0:F1"));
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

/// Who wins an ending, as the table says.
fn ending(pos: &Draughts) -> Ordering {
    endings::outcome(pos).expect("it has few pieces")
}

/// So many endings drawn by a seed, in which the game goes on.
fn random_endings(seed: u64, count: usize) -> impl Iterator<Item = Draughts> {
    let numbers = (0_u64..).map(move |n| pick_index((seed, n), Draughts::ENDGAME_COUNT as usize));
    let number = |number| u32::try_from(number).expect("there are fewer endings");
    let all = numbers.filter_map(move |n| Draughts::from_endgame_number(number(n)));
    all.filter(|pos| pos.outcome().is_none()).take(count)
}

fn after_each(pos: &Draughts) -> Vec<Draughts> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves.into_iter().map(|m| pos.after(m)).collect()
}

/// Whether the side to move wins within so many plies: the solver, which knows the rules alone.
fn wins(pos: &Draughts, plies: u32) -> bool {
    plies > 0 && after_each(pos).iter().any(|after| loses(after, plies - 1))
}

fn loses(pos: &Draughts, plies: u32) -> bool {
    let after = after_each(pos);
    after.is_empty() || plies > 0 && after.iter().all(|after| wins(after, plies - 1))
}

/// Whatever the solver finds, the table knows; and each ending is worth what those after it are, so that
/// no win or loss that the solver would find farther on is taken for anything else.
#[test]
fn the_table_agrees_with_a_solver() {
    let mut decided = 0;
    for pos in random_endings(1, 10_000) {
        let after = after_each(&pos);
        let best = after.iter().map(|after| match after.outcome() {
            Some(_) => Ordering::Greater,
            None => ending(after).reverse(),
        });
        assert_eq!(best.max(), Some(ending(&pos)), "{pos}");
        let (win, loss) = (wins(&pos, 5), loses(&pos, 4));
        decided += usize::from(win || loss);
        assert!(!win || ending(&pos) == Ordering::Greater, "{pos}");
        assert!(!loss || ending(&pos) == Ordering::Less, "{pos}");
    }
    assert!(decided > 1_000, "{decided}");
}

/// Plays an ending with little thought, against a side that holds out as long as it can, or one that moves
/// by chance. Returns who wins.
fn played_out(pos: Draughts, seed: u64, table: &mut Table) -> Option<Seat> {
    let mut game = GameHistory::from(pos);
    let winner = match ending(&pos) {
        Ordering::Less => pos.turn().other(),
        _ => pos.turn(),
    };
    table.forget();
    while game.outcome().is_none() {
        let turn = game.position().turn();
        let m = if seed % 2 == 1 && turn != winner {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            moves[pick_index((seed, game.position()), moves.len())]
        } else {
            table.next_search();
            let report = search(&game, &Limits::nodes(NODES), &Stop::new(), table);
            report.expect("the game goes on").pv[0]
        };
        game.play(m).expect("it is legal");
    }
    match game.outcome() {
        Some(Outcome::Decisive { winner }) => Some(winner),
        _ => None,
    }
}

/// What a move may take where endings are played out.
const NODES: u64 = 3_000;

/// A won ending is not let go.
#[test]
fn won_endings_are_won() {
    let mut table = Table::new(1 << 20);
    let won = random_endings(2, 400).filter(|pos| ending(pos) == Ordering::Greater);
    let mut played = 0;
    for (seed, pos) in (0..).zip(won) {
        assert_eq!(played_out(pos, seed, &mut table), Some(pos.turn()), "{pos}");
        played += 1;
    }
    assert!(played > 100, "{played}");
}

/// Nor are those that take longest, of two kings against a king and a man: 73 plies until anything is
/// captured or crowned (the books call such a one the first position).
#[test]
fn the_longest_endings_are_won() {
    let [_, numbers] = Draughts::LONG_ENDGAMES;
    let endings = numbers.filter_map(Draughts::from_endgame_number);
    let longest: Vec<_> = endings
        .filter(|pos| endings::resistance(pos) >= 13)
        .collect();
    assert!(longest.len() > 8, "{}", longest.len());
    let mut table = Table::new(1 << 20);
    for pos in longest.iter().step_by(longest.len() / 8) {
        let winner = Some(pos.turn().other());
        assert_eq!(played_out(*pos, 0, &mut table), winner, "{pos}");
    }
}
