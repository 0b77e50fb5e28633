//! What the benchmarks of the search rest on: that the generated positions are what they are said
//! to be, and that the search written by hand is the generic one.

#[path = "search/by_hand.rs"]
mod by_hand;
#[path = "search/positions.rs"]
mod positions;

use std::ops::RangeInclusive;

use plyhouse_engine::game::GameHistory;
use plyhouse_engine::search::{Evaluate, Limits, Stop, TranspositionTable, solve};

use by_hand::{Board, Solver};
use positions::{Sample, Set};

/// Large enough to fill within a few positions, so that entries replace each other.
const TABLE_BYTES: usize = 1 << 12;

fn samples(set: &str, count: usize) -> Vec<Sample> {
    let set: Set = set.parse().expect("a set");
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
        .expect("there is no outcome yet");
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
fn sets_are_what_their_names_say() {
    check_set("end-easy", 29..=41, 1..=14);
    check_set("middle-easy", 15..=28, 3..=14);
    assert!("end-hard".parse::<Set>().is_err());
}

#[test]
fn a_seed_makes_a_set() {
    let texts = |count| {
        samples("end-easy", count)
            .iter()
            .map(Sample::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(5), texts(10)[..5]);
}

/// The solver by hand and the generic one, with tables of their own that both keep.
#[test]
fn the_search_by_hand_visits_what_the_generic_one_visits() {
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
        .expect("there is no outcome yet");
        let generic = (sample.pos.conventional_score(report.score), report.nodes);
        let by_hand = solver
            .solve(&Board::after(&sample.moves))
            .expect("no limit");
        assert_eq!(by_hand, generic, "{sample}");
    }
}
