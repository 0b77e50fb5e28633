//! Compares the rules of the games with published node counts in `tests/data/<game>.perft`. The
//! rules of Connect Four and Gomoku are also compared with a naive second implementation of each
//! game.

mod naive_connect_four;
mod naive_gomoku;
mod node_counts;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::{env, fs};

use plyhouse_engine::game::chess::Chess;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::go::Go;
use plyhouse_engine::game::othello::Othello;
use plyhouse_engine::game::perft::{PlyCount, perft};
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::game::{GameHistory, Position};

use naive_connect_four::NaiveConnectFour;

/// Maximum number of nodes per ply in an ordinary run. A debug build visits this number of nodes in
/// a few seconds.
const NODES_MAX_DEFAULT: u64 = 1_000_000;

#[test]
fn tic_tac_toe_matches_published_counts() {
    check_perft_tables::<TicTacToe>(nodes_max(), &square_symmetries(3));
}

#[test]
fn connect_four_matches_published_counts() {
    check_perft_tables::<ConnectFour>(nodes_max(), &mirror_symmetries(7, 6));
}

#[test]
fn othello_matches_published_counts() {
    check_perft_tables::<Othello>(nodes_max(), &square_symmetries(8));
}

/// Rotating a draughts board by 180 degrees swaps the sides. A rotated position therefore does not
/// count as the same position in this test.
#[test]
fn draughts_matches_published_counts() {
    check_perft_tables::<Draughts>(nodes_max(), &[]);
}

#[test]
fn chess_matches_published_counts() {
    node_counts::check_node_counts::<Chess>(nodes_max());
}

/// The rules of Go do not depend on the board size. The test uses small boards, because they fill
/// up within a few plies.
#[test]
fn go_on_small_boards_matches_published_node_counts() {
    check_go_nodes::<Go<2>>("2");
    check_go_nodes::<Go<3>>("3");
    check_go_nodes::<Go<4>>("4");
}

/// Compares the node counts of Go with the row of `go.perft` that begins with the board size.
fn check_go_nodes<P: Position>(size: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/go.perft");
    let file = fs::read_to_string(path).expect(path);
    let row = file
        .lines()
        .map(split_columns)
        .find(|row| row.first() == Some(&size));
    let row = row.expect(size);
    let expected: Vec<u64> = row[1..]
        .iter()
        .map(|n| n.parse().expect("a number"))
        .collect();
    let counted = perft(&GameHistory::<P>::initial(), expected.len());
    let nodes: Vec<u64> = counted.iter().skip(1).map(|ply| ply.nodes).collect();
    assert_eq!(nodes, expected, "{size} by {size}");
}

/// For Connect Four, only the position counts from the start of the game are published. The naive
/// implementation confirms the other counts.
#[test]
fn naive_connect_four_matches_published_counts() {
    check_perft_tables::<NaiveConnectFour>(12_000, &mirror_symmetries(7, 6));
}

/// Returns the maximum number of nodes per ply. `PERFT_NODES` overrides the default.
fn nodes_max() -> u64 {
    env::var("PERFT_NODES").map_or(NODES_MAX_DEFAULT, |text| text.parse().expect("a number"))
}

/// Compares the counts of a game with the tables in the game's `.perft` file. The first table
/// contains the counts from the start of the game. Each further table begins with a `position` line
/// and contains the counts from this position. The comparison of a table stops before the first ply
/// with more than `nodes_max` nodes.
fn check_perft_tables<P: Position>(nodes_max: u64, symmetries: &[Vec<usize>]) {
    let path = format!(
        "{}/tests/data/{}.perft",
        env!("CARGO_MANIFEST_DIR"),
        P::INFO.id
    );
    let file = fs::read_to_string(&path).expect(&path);
    let mut tables = vec![(P::initial(), Vec::new())];
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        if let Some(position) = line.strip_prefix("position ") {
            tables.push((position.parse().expect(line), Vec::new()));
        } else if let Some((_, rows)) = tables.last_mut() {
            rows.push(split_columns(line));
        }
    }
    for (pos, mut expected) in tables {
        let nodes = |row: &[&str]| row[1].parse::<u64>().expect("a number");
        let is_ply = |row: &[&str]| row[0].parse::<usize>().is_ok();
        if let Some(costly) =
            (expected.iter()).position(|row| is_ply(row) && nodes(row) > nodes_max)
        {
            expected.truncate(costly);
        }
        let rows = expected.iter().filter(|row| is_ply(row)).count();
        let table = format_table(&pos, rows - 1, symmetries);
        let counted: Vec<_> = table.lines().map(split_columns).collect();
        assert_eq!(counted, expected, "{path}; counted from {pos}:\n{table}");
    }
}

fn split_columns(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Formats a table of counts: the nodes, the results and the distinct positions at each ply up to
/// `plies`. If all games end within `plies` plies, two further rows follow. The row `all` contains
/// the sums over all plies. The row `ended` contains the sums over finished games.
fn format_table<P: Position>(pos: &P, plies: usize, symmetries: &[Vec<usize>]) -> String {
    let tree = perft(&GameHistory::from(pos.clone()), plies);
    let mut layer = HashSet::from([pos.clone()]);
    let mut rows = Vec::new();
    let (mut all, mut ended) = ([0; 6], [0; 6]);
    for PlyCount {
        nodes,
        wins: [first, second],
        draws: drawn,
    } in tree
    {
        let ended_positions: HashSet<P> = layer
            .iter()
            .filter(|p| p.outcome().is_some())
            .cloned()
            .collect();
        let row = [
            nodes,
            first,
            second,
            drawn,
            count_positions(&layer),
            count_symmetry_classes(&layer, symmetries),
        ];
        let ended_row = [
            first + second + drawn,
            first,
            second,
            drawn,
            count_positions(&ended_positions),
            count_symmetry_classes(&ended_positions, symmetries),
        ];
        for column in 0..6 {
            all[column] += row[column];
            ended[column] += ended_row[column];
        }
        rows.push((rows.len().to_string(), row));
        layer = next_layer(&layer);
    }
    if layer.is_empty() {
        rows.push(("all".to_owned(), all));
        rows.push(("ended".to_owned(), ended));
    }

    let mut table = String::new();
    for (name, row) in rows {
        let row: Vec<_> = row.iter().map(|count| format!("{count:>9}")).collect();
        writeln!(table, "{name:<5}{}", row.concat()).expect("writing to a string");
    }
    table
}

fn count_positions<P>(positions: &HashSet<P>) -> u64 {
    positions.len() as u64
}

/// Counts positions up to symmetry: all images of a position under `symmetries` count as one
/// position. If `symmetries` is empty, each position counts separately.
fn count_symmetry_classes<P: Position>(positions: &HashSet<P>, symmetries: &[Vec<usize>]) -> u64 {
    if symmetries.is_empty() {
        return count_positions(positions);
    }
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

/// Returns the eight symmetries of a square board. Each symmetry is a list of square indices. Entry
/// `i` of a symmetry is the index of the square that the symmetry maps to square `i`.
fn square_symmetries(size: usize) -> Vec<Vec<usize>> {
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

/// Returns the identity and the left-right reflection of a board. Each symmetry is a list of square
/// indices. Entry `i` of a symmetry is the index of the square that the symmetry maps to square
/// `i`.
fn mirror_symmetries(files: usize, ranks: usize) -> Vec<Vec<usize>> {
    let mirrored = |i: usize| i / files * files + (files - 1 - i % files);
    vec![
        (0..files * ranks).collect(),
        (0..files * ranks).map(mirrored).collect(),
    ]
}
