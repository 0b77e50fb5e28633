//! Tests for the code of the search benchmarks. The tests check that each generated position
//! belongs to the requested set of test positions. The tests also check that the specialised solver
//! and the generic search give the same results.

#[path = "search/connect_four_solver.rs"]
mod connect_four_solver;
#[path = "search/test_positions.rs"]
mod test_positions;

use std::ops::RangeInclusive;

use plyhouse_engine::game::GameHistory;
use plyhouse_engine::search::{Evaluate, Limits, Stop, TranspositionTable, solve};

use connect_four_solver::{Board, Solver};
use test_positions::{Sample, SampleSet};

/// Size of each solver's table in bytes. The tables are deliberately small, so that new entries
/// soon replace old ones.
const TABLE_BYTES: usize = 1 << 12;

fn samples(set: &str, count: usize) -> Vec<Sample> {
    let set: SampleSet = set.parse().expect("set name is valid");
    set.samples(count, 1)
}

fn check_set(set: &str, plies: RangeInclusive<usize>, plies_to_end: RangeInclusive<u32>) {
    for sample in samples(set, 20) {
        assert!(plies.contains(&sample.moves.len()), "{sample}");
        let report = solve(
            &GameHistory::from(sample.pos),
            &Limits::default(),
            &Stop::new(),
            &TranspositionTable::new(TABLE_BYTES),
        )
        .expect("game is not over");
        assert_eq!(
            sample.pos.conventional_score(report.score),
            sample.score,
            "{sample}"
        );
        let to_end = report
            .score
            .plies_to_end()
            .unwrap_or(sample.pos.remaining_plies_max());
        assert!(plies_to_end.contains(&to_end), "{sample}");
    }
}

#[test]
fn samples_match_stage_and_distance_of_their_set() {
    check_set("end-easy", 29..=41, 1..=14);
    check_set("middle-easy", 15..=28, 3..=14);
    assert!("end-hard".parse::<SampleSet>().is_err());
}

#[test]
fn same_seed_yields_same_samples() {
    let texts = |count| {
        samples("end-easy", count)
            .iter()
            .map(Sample::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(5), texts(10)[..5]);
}

/// Each solver has its own table, which it keeps from one position to the next.
#[test]
fn specialized_solver_matches_scores_and_nodes_of_generic_solver() {
    let (table, mut solver) = (
        TranspositionTable::new(TABLE_BYTES),
        Solver::new(TABLE_BYTES),
    );
    for sample in [samples("end-easy", 100), samples("middle-easy", 30)].concat() {
        let report = solve(
            &GameHistory::from(sample.pos),
            &Limits::default(),
            &Stop::new(),
            &table,
        )
        .expect("game is not over");
        let generic_result = (sample.pos.conventional_score(report.score), report.nodes);
        let specialized_result = solver
            .solve(&Board::from_moves(&sample.moves))
            .expect("search has no limits");
        assert_eq!(specialized_result, generic_result, "{sample}");
    }
}
