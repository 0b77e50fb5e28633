//! Limits, memory and chance of the tree search, in Go. What it makes of that game stands with it.

use std::time::Duration;

use super::*;
use crate::game::conformance::random_game;
use crate::game::go::Go;
use crate::search::Level;
use crate::search::choice::choose;

fn report(
    limits: &Limits,
    seed: u64,
    stop: &Stop,
    table: &mut Table,
) -> Report<<Go<9> as Position>::Move> {
    let course = GameHistory::<Go<9>>::initial();
    let choice = choose(&course, Level::Max, seed, limits, stop, table);
    choice.expect("the game goes on").1
}

#[test]
fn a_search_ends_where_its_limits_say() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 20));
    for nodes in [0, 1, 2, 100] {
        let report = report(&Limits::nodes(nodes), 0, &stop, &mut table);
        assert_eq!(report.nodes, nodes);
        assert_eq!(report.playouts.expect("there are").count, nodes);
        let tried: u64 = (report.moves.iter())
            .filter_map(|value| value.playouts)
            .map(|played| played.count)
            .sum();
        assert_eq!(tried, nodes, "every playout went through a move");
    }
    let flat = Limits {
        depth: Some(1),
        ..Limits::nodes(300)
    };
    assert_eq!(report(&flat, 0, &stop, &mut table).selective_depth, 1);
    let deep = report(&Limits::nodes(300), 0, &stop, &mut table);
    assert!(deep.selective_depth > 1);
    let none = Limits::time(Duration::ZERO);
    assert_eq!(report(&none, 0, &stop, &mut table).nodes, 0);
    stop.stop();
    assert_eq!(report(&Limits::default(), 0, &stop, &mut table).nodes, 0);
}

/// Every level, from anywhere, and whatever was in the table before.
#[test]
fn the_seed_alone_decides() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 20));
    let limits = Limits::nodes(60);
    let mut others = 0;
    let positions = random_game::<Go<9>>(1).0;
    for pos in positions
        .into_iter()
        .filter(|pos| pos.outcome().is_none())
        .step_by(9)
        .take(12)
    {
        let course = GameHistory::from(pos);
        for level in Level::ALL {
            let mut chosen = |seed| {
                let choice = choose(&course, level, seed, &limits, &stop, &mut table);
                let (m, report) = choice.expect("the game goes on");
                (m, report.moves)
            };
            let first = chosen(1);
            others += u32::from(chosen(2) != first);
            assert_eq!(chosen(1), first, "{level} in {pos}");
        }
    }
    assert!(others > 40, "{others}");
}

/// A tree in a table that is full is no worse than none, and nothing of it stays.
#[test]
fn the_tree_keeps_to_the_memory_that_it_is_lent() {
    let (stop, limits) = (Stop::new(), Limits::nodes(400));
    let mut depths = Vec::new();
    for bytes in [0, 1 << 12, 1 << 14, 1 << 20] {
        let mut table = Table::new(bytes);
        let report = report(&limits, 0, &stop, &mut table);
        assert_eq!(report.nodes, 400);
        depths.push(report.selective_depth);
        let is_empty = table
            .lend()
            .iter()
            .all(|word| word.load(std::sync::atomic::Ordering::Relaxed) == 0);
        assert!(is_empty, "{bytes}");
    }
    assert!(
        depths.is_sorted() && depths[0] == 1 && depths[3] > 2,
        "{depths:?}"
    );
}

/// What is told of a move is what was counted for it, and the line begins with the best.
#[test]
fn the_move_that_was_tried_most_is_the_best() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 20));
    let report = report(&Limits::nodes(500), 0, &stop, &mut table);
    let counts: Vec<_> = report
        .moves
        .iter()
        .filter_map(|value| Some(value.playouts?.count))
        .collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    assert_eq!(report.pv[0], report.moves[0].m);
    let mut line = GameHistory::<Go<9>>::initial();
    for m in &report.pv {
        line.play(*m).expect("a line can be played");
    }
}

/// A pass that wins leaves nothing to try, and is told as the one move that is known.
#[test]
fn a_move_that_wins_at_once_is_listed() {
    let mut course = GameHistory::<Go<9>>::initial();
    let pass = "pass".parse().expect("a move");
    course.play(pass).expect("legal");
    let (stop, mut table) = (Stop::new(), Table::new(1 << 20));
    let limits = Limits::nodes(100);
    let choice = choose(&course, Level::Max, 0, &limits, &stop, &mut table);
    let report = choice.expect("the game goes on").1;
    let listed: Vec<_> = report.moves.iter().map(|value| value.m).collect();
    assert_eq!((listed, report.pv), (vec![pass], vec![pass]));
}
