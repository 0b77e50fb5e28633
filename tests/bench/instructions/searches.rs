//! Searches: the generic search for Connect Four, the search for Connect Four alone, which visits
//! the same nodes (see [`connect_four_solver`](crate::connect_four_solver)), and tic-tac-toe. The
//! ratio of the counts of `generic` and `specialized` is the overhead of the generic code.

use std::hint::black_box;

use plyhouse_engine::game::GameHistory;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::search::{Limits, Stop, TranspositionTable, solve};

use crate::connect_four_solver::{Board, Solver};
use crate::test_positions::{Sample, SampleSet, TABLE_BYTES};
use crate::{Benchmark, Work};

/// Number of positions of Connect Four, which are solved in turn with a shared table. Solving them
/// takes a few seconds under valgrind.
const POSITION_COUNT: usize = 100;

pub(crate) const BENCHMARKS: [Benchmark; 5] = [
    Benchmark {
        name: "generic search, end of the game",
        committed: 4_704_929,
        prepare: || prepare_generic("end-easy"),
    },
    Benchmark {
        name: "specialized search, end of the game",
        committed: 3_246_781,
        prepare: || prepare_specialized("end-easy"),
    },
    Benchmark {
        name: "generic search, middle of the game",
        committed: 9_657_040,
        prepare: || prepare_generic("middle-easy"),
    },
    Benchmark {
        name: "specialized search, middle of the game",
        committed: 7_175_842,
        prepare: || prepare_specialized("middle-easy"),
    },
    Benchmark {
        name: "tic-tac-toe from the empty board",
        committed: 309_889,
        prepare: prepare_tic_tac_toe,
    },
];

fn samples(set: &str) -> Vec<Sample> {
    let set: SampleSet = set.parse().expect("set name is valid");
    set.samples(POSITION_COUNT, 1)
}

fn prepare_generic(set: &str) -> Work {
    let positions: Vec<ConnectFour> = samples(set).iter().map(|sample| sample.pos).collect();
    let table = TranspositionTable::new(TABLE_BYTES);
    Box::new(move || {
        for position in &positions {
            let history = GameHistory::from(*position);
            black_box(solve(&history, &Limits::default(), &Stop::new(), &table));
        }
        Box::new(table)
    })
}

fn prepare_specialized(set: &str) -> Work {
    let samples = samples(set);
    let boards: Vec<Board> = (samples.iter())
        .map(|sample| Board::from_moves(&sample.moves))
        .collect();
    let mut solver = Solver::new(TABLE_BYTES);
    Box::new(move || {
        for board in &boards {
            black_box(solver.solve(board)).expect("search has no limits");
        }
        Box::new(solver)
    })
}

fn prepare_tic_tac_toe() -> Work {
    let table = TranspositionTable::for_game::<TicTacToe>(TABLE_BYTES);
    Box::new(move || {
        let start = black_box(GameHistory::<TicTacToe>::initial());
        black_box(solve(&start, &Limits::default(), &Stop::new(), &table));
        Box::new(table)
    })
}
