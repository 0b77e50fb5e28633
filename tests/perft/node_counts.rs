//! Perft tests of games whose trees are too large to count distinct positions. The tests compare
//! only node counts and game results.

use std::fs;

use plyhouse_engine::game::perft::{PlyCount, perft};
use plyhouse_engine::game::{GameHistory, Position};

/// Compares the counts of a game with the rows of the game's `.perft` file. The rows above the
/// first `position` line contain the counts from the start of the game. The rows below a `position`
/// line contain the counts from this position. Rows with more than `nodes_max` nodes are skipped.
pub(super) fn check_node_counts<P: Position>(nodes_max: u64) {
    let name = format!("{}.perft", P::INFO.id);
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = fs::read_to_string(&path).expect(&path);
    let mut tables = vec![(P::initial(), Vec::new())];
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        if let Some(position) = line.strip_prefix("position ") {
            tables.push((position.parse().expect(line), Vec::new()));
        } else if let Some((_, rows)) = tables.last_mut() {
            rows.push(parse_row(line));
        }
    }
    for (pos, mut expected) in tables {
        expected.retain(|count| count.nodes <= nodes_max);
        let counted = perft(&GameHistory::from(pos.clone()), expected.len() - 1);
        assert_eq!(counted, expected, "{name}; counted from {pos}");
    }
}

/// Parses a row with five numbers: the ply, the nodes, the wins of each seat, and the draws.
fn parse_row(line: &str) -> PlyCount {
    let numbers: Vec<u64> = line
        .split_whitespace()
        .map(|word| word.parse().expect(line))
        .collect();
    let [_, nodes, first, second, drawn] = numbers[..] else {
        panic!("not a row: {line}");
    };
    PlyCount {
        nodes,
        wins: [first, second],
        draws: drawn,
    }
}
