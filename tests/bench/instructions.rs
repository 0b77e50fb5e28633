//! Counts the instructions that the search executes. The counts hardly vary between runs, so even
//! small changes are visible.
//!
//! The benchmark compares the generic search with a search for Connect Four alone that visits the
//! same nodes (see [`connect_four_solver`]). The output line `Comparison with solve_generic` ends
//! with a factor, which is the overhead of the generic code. The comparison line follows the
//! figures of `solve_specialized` in the output. Each instruction count for Connect Four is the
//! total for [`POSITION_COUNT`] positions, which are solved in turn with a shared table.
//!
//! The benchmark needs valgrind and `gungraun-runner`. The versions of `gungraun-runner` and the
//! `gungraun` library must be equal:
//!
//! ```text
//! cargo install gungraun-runner --version 0.20.0
//! cargo bench --bench instructions
//! ```

#![expect(unused_qualifications, reason = "the macros of gungraun generate them")]

#[path = "search/connect_four_solver.rs"]
mod connect_four_solver;
#[path = "search/test_positions.rs"]
mod test_positions;

use std::hint::black_box;

use gungraun::{
    Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use plyhouse_engine::game::GameHistory;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::search::{Limits, Stop, TranspositionTable, solve};

use connect_four_solver::{Board, Solver};
use test_positions::{SampleSet, TABLE_BYTES};

/// Number of positions to solve. Solving them takes a few seconds under valgrind.
const POSITION_COUNT: usize = 100;

fn setup_generic(set: &str) -> (Vec<ConnectFour>, TranspositionTable) {
    let set: SampleSet = set.parse().expect("set name is valid");
    let positions = set
        .samples(POSITION_COUNT, 1)
        .into_iter()
        .map(|sample| sample.pos);
    (positions.collect(), TranspositionTable::new(TABLE_BYTES))
}

fn setup_specialized(set: &str) -> (Vec<Board>, Solver) {
    let set: SampleSet = set.parse().expect("set name is valid");
    let samples = set.samples(POSITION_COUNT, 1).into_iter();
    let boards = samples.map(|sample| Board::from_moves(&sample.moves));
    (boards.collect(), Solver::new(TABLE_BYTES))
}

#[library_benchmark(setup = setup_generic)]
#[bench::end_easy("end-easy")]
#[bench::middle_easy("middle-easy")]
fn solve_generic((positions, table): (Vec<ConnectFour>, TranspositionTable)) -> TranspositionTable {
    for pos in &positions {
        black_box(solve(
            &GameHistory::from(*pos),
            &Limits::default(),
            &Stop::new(),
            &table,
        ));
    }
    table
}

#[library_benchmark(setup = setup_specialized)]
#[bench::end_easy("end-easy")]
#[bench::middle_easy("middle-easy")]
fn solve_specialized((boards, mut solver): (Vec<Board>, Solver)) -> Solver {
    for board in &boards {
        black_box(solver.solve(board)).expect("search has no limits");
    }
    solver
}

library_benchmark_group!(
    name = connect_four,
    compare_by_id = true,
    benchmarks = [solve_generic, solve_specialized]
);

#[library_benchmark]
#[bench::from_the_start(TranspositionTable::for_game::<TicTacToe>(TABLE_BYTES))]
fn solve_tic_tac_toe(table: TranspositionTable) -> TranspositionTable {
    let start = GameHistory::<TicTacToe>::initial();
    black_box(solve(
        black_box(&start),
        &Limits::default(),
        &Stop::new(),
        &table,
    ));
    table
}

library_benchmark_group!(name = tic_tac_toe, benchmarks = [solve_tic_tac_toe]);

main!(
    // The cache simulation of Callgrind is off, because it is slow and models no current processor.
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = [connect_four, tic_tac_toe]
);
