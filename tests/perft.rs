//! The rules of every game against published counts, kept in `tests/data/<game>.perft`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;

use plyhouse::game::Position;
use plyhouse::game::perft::{PlyCount, perft};
use plyhouse::game::tic_tac_toe::TicTacToe;

#[test]
fn tic_tac_toe() {
    check::<TicTacToe>(9, symmetries_of_a_square(3));
}

/// Compares the counts of `plies` plies with the game's file, of which all but comments is a table.
fn check<P: Position>(plies: usize, symmetries: Vec<Vec<usize>>) {
    let path = format!(
        "{}/tests/data/{}.perft",
        env!("CARGO_MANIFEST_DIR"),
        P::INFO.id
    );
    let file = fs::read_to_string(&path).expect(&path);
    let expected: Vec<Vec<&str>> = file
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();

    let table = table::<P>(plies, &symmetries);
    let counted: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(counted, expected, "{path}; counted:\n{table}");
}

/// One row a ply, then the sums, then the sums over ended games alone.
fn table<P: Position>(plies: usize, symmetries: &[Vec<usize>]) -> String {
    let tree = perft(&P::start(), plies);
    let mut layer = HashSet::from([P::start()]);
    let mut rows = Vec::new();
    let (mut all, mut ended) = ([0; 6], [0; 6]);
    for PlyCount {
        nodes,
        won: [first, second],
        drawn,
    } in tree
    {
        let over: HashSet<P> = layer
            .iter()
            .filter(|p| p.outcome().is_some())
            .cloned()
            .collect();
        let row = [
            nodes,
            first,
            second,
            drawn,
            size(&layer),
            classes(&layer, symmetries),
        ];
        let end = [
            first + second + drawn,
            first,
            second,
            drawn,
            size(&over),
            classes(&over, symmetries),
        ];
        for column in 0..6 {
            all[column] += row[column];
            ended[column] += end[column];
        }
        rows.push((rows.len().to_string(), row));
        layer = next_layer(&layer);
    }
    rows.push(("all".to_owned(), all));
    rows.push(("ended".to_owned(), ended));

    let mut table = String::new();
    for (name, row) in rows {
        let row: Vec<_> = row.iter().map(|count| format!("{count:>9}")).collect();
        writeln!(table, "{name:<5}{}", row.concat()).expect("writing to a string");
    }
    table
}

fn size<P>(positions: &HashSet<P>) -> u64 {
    positions.len() as u64
}

/// How many positions there are when those that are turned or mirrored count as one.
fn classes<P: Position>(positions: &HashSet<P>, symmetries: &[Vec<usize>]) -> u64 {
    let canonical = |pos: &P| {
        let squares: Vec<char> = pos.to_string().chars().filter(|c| *c != '/').collect();
        symmetries
            .iter()
            .map(|image| image.iter().map(|i| squares[*i]).collect::<String>())
            .min()
    };
    positions
        .iter()
        .map(canonical)
        .collect::<HashSet<_>>()
        .len() as u64
}

fn next_layer<P: Position>(layer: &HashSet<P>) -> HashSet<P> {
    let mut next = HashSet::new();
    for pos in layer {
        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        next.extend(moves.into_iter().map(|m| pos.after(m)));
    }
    next
}

/// The eight ways to lay a square board onto itself, each as the square that comes to each place.
fn symmetries_of_a_square(size: usize) -> Vec<Vec<usize>> {
    let places = || (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    let image = |turned: bool, flip_x: bool, flip_y: bool| {
        places()
            .map(|(x, y)| if turned { (y, x) } else { (x, y) })
            .map(|(x, y)| (if flip_x { size - 1 - x } else { x }, y))
            .map(|(x, y)| (x, if flip_y { size - 1 - y } else { y }))
            .map(|(x, y)| y * size + x)
            .collect()
    };
    (0..8)
        .map(|bits| image(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0))
        .collect()
}
