//! Tests of the limits, memory use and randomness of the tree search. The tests use Go as the
//! example. The evaluation of Go has its own tests.

use std::time::Duration;

use super::*;
use crate::game::conformance::random_game;
use crate::game::go::Go;
use crate::search::Level;
use crate::search::move_selection::choose_move;

fn search_report(
    limits: &Limits,
    seed: u64,
    stop: &Stop,
    table: &mut TranspositionTable,
) -> Report<<Go<9> as Position>::Move> {
    let history = GameHistory::<Go<9>>::initial();
    let choice = choose_move(&history, Level::Max, seed, limits, stop, table);
    choice.expect("the game is not over").1
}

#[test]
fn search_stops_at_its_limits() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 20));
    for nodes in [0, 1, 2, 100] {
        let report = search_report(&Limits::nodes(nodes), 0, &stop, &mut table);
        assert_eq!(report.nodes, nodes);
        assert_eq!(report.playouts.expect("playouts are reported").count, nodes);
        let visits: u64 = (report.moves.iter())
            .filter_map(|value| value.playouts)
            .map(|playouts| playouts.count)
            .sum();
        assert_eq!(visits, nodes, "every playout went through a move");
    }
    let flat = Limits {
        depth: Some(1),
        ..Limits::nodes(300)
    };
    assert_eq!(
        search_report(&flat, 0, &stop, &mut table).selective_depth,
        1
    );
    let deep = search_report(&Limits::nodes(300), 0, &stop, &mut table);
    assert!(deep.selective_depth > 1);
    let no_time = Limits::time(Duration::ZERO);
    assert_eq!(search_report(&no_time, 0, &stop, &mut table).nodes, 0);
    stop.stop();
    assert_eq!(
        search_report(&Limits::default(), 0, &stop, &mut table).nodes,
        0
    );
}

/// Checks all levels in positions from a complete game. Earlier contents of the table must not
/// influence a search.
#[test]
fn seed_determines_the_search() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 20));
    let limits = Limits::nodes(60);
    let mut different = 0;
    let positions = random_game::<Go<9>>(1).0;
    for pos in positions
        .into_iter()
        .filter(|pos| pos.outcome().is_none())
        .step_by(9)
        .take(12)
    {
        let history = GameHistory::from(pos);
        for level in Level::ALL {
            let mut choose_with_seed = |seed| {
                let choice = choose_move(&history, level, seed, &limits, &stop, &mut table);
                let (m, report) = choice.expect("the game is not over");
                (m, report.moves)
            };
            let first = choose_with_seed(1);
            different += u32::from(choose_with_seed(2) != first);
            assert_eq!(choose_with_seed(1), first, "{level} in {pos}");
        }
    }
    assert!(different > 40, "{different}");
}

/// The search must continue when the table is full, and must clear the table at the end.
#[test]
fn tree_stays_within_the_table_memory_and_clears_it() {
    let (stop, limits) = (Stop::new(), Limits::nodes(400));
    let mut depths = Vec::new();
    for bytes in [0, 1 << 12, 1 << 14, 1 << 20] {
        let mut table = TranspositionTable::new(bytes);
        let report = search_report(&limits, 0, &stop, &mut table);
        assert_eq!(report.nodes, 400);
        depths.push(report.selective_depth);
        let is_empty = table
            .raw_memory()
            .iter()
            .all(|word| word.load(std::sync::atomic::Ordering::Relaxed) == 0);
        assert!(is_empty, "{bytes}");
    }
    assert!(
        depths.is_sorted() && depths[0] == 1 && depths[3] > 2,
        "{depths:?}"
    );
}

#[test]
fn moves_are_sorted_by_visits_and_pv_starts_with_the_first() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 20));
    let report = search_report(&Limits::nodes(500), 0, &stop, &mut table);
    let counts: Vec<_> = report
        .moves
        .iter()
        .filter_map(|value| Some(value.playouts?.count))
        .collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    assert_eq!(report.pv[0], report.moves[0].m);
    let mut replayed = GameHistory::<Go<9>>::initial();
    for m in &report.pv {
        replayed.play(*m).expect("the line is legal");
    }
}

/// A pass wins immediately, so the report must list the pass as the only move.
#[test]
fn winning_move_is_the_only_move_listed() {
    let mut history = GameHistory::<Go<9>>::initial();
    let pass = "pass".parse().expect("the text is a move");
    history.play(pass).expect("legal");
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 20));
    let limits = Limits::nodes(100);
    let choice = choose_move(&history, Level::Max, 0, &limits, &stop, &mut table);
    let report = choice.expect("the game is not over").1;
    let listed: Vec<_> = report.moves.iter().map(|value| value.m).collect();
    assert_eq!((listed, report.pv), (vec![pass], vec![pass]));
}
