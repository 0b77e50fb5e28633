//! Speed of the search: time to solve positions, to choose a move, to search to a fixed depth, and
//! to count move sequences (perft).
//!
//! The positions to solve are generated in each run and are always identical (see
//! [`test_positions`]). All sets use the same transposition table. It is cleared before each pass
//! over a set and kept between the positions of the set. For each set, the benchmark reports nodes
//! per second. The benchmark's name contains the number of nodes in the set.
//!
//! ```text
//! cargo bench --bench search                                   everything
//! cargo bench --bench search -- solve/middle-easy              benchmarks with a matching name
//! cargo bench --bench search -- --test                         short trial run, some seconds
//! cargo bench --bench search -- --print-set middle-medium 50   prints positions with their scores
//! ```

#[path = "search/test_positions.rs"]
mod test_positions;

use std::hint::black_box;
use std::io::Write;

use anyhow::{Context, bail};
use cozy_chess::{Board, GameStatus};
use criterion::{BenchmarkId, Criterion, Throughput};
use plyhouse_engine::game::chess::Chess;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::go::Go;
use plyhouse_engine::game::gomoku::Gomoku;
use plyhouse_engine::game::othello::Othello;
use plyhouse_engine::game::perft::perft;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::game::{GameHistory, Position};
use plyhouse_engine::search::{
    Evaluate, Level, Limits, Score, Stop, TranspositionTable, choose_move, is_value_at_least,
    search, solve,
};

use test_positions::{Sample, SampleSet, TABLE_BYTES};

/// Random seed for generating the sets. All published figures were measured with this seed.
const SEED: u64 = 1;

/// Sets of positions to solve. Each entry has the name of a set and a number of positions. One pass
/// over a set takes a tenth of a second or less.
const SOLVE_SETS: [(&str, usize); 4] = [
    ("end-easy", 500),
    ("middle-easy", 200),
    ("beginning-easy", 50),
    ("middle-medium", 20),
];

/// Middle-game positions that are too complex to solve. Each entry consists of the moves that lead
/// to the position and the search depth in plies.
const GOMOKU_SEARCH: (&str, u32) = ("h8 g9 i7 i5 i6 j6 j7 h7 j5", 6);
const OTHELLO_SEARCH: (&str, u32) = ("d3 c5 e6 d2 c6 d6 c3 e3 c4 b3 c2 b4", 8);
const DRAUGHTS_SEARCH: (&str, u32) = ("11-15 23-19 8-11 22-17 4-8 25-22 9-13 24-20", 9);
const CHESS_SEARCH: (&str, u32) = (
    "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5 e1g1 d7d6 c2c3 a7a6",
    10,
);
const GO_SEARCH: (&str, u32) = ("E5 G6 C6 G4 E3 F7 C3 D7", 4);

/// Othello endgames with twenty free squares: positions 28 and 30 of the FFO endgame test suite.
const OTHELLO_ENDGAMES: [&str; 2] = [
    "--**-O----OOOO--OO*O**O-OOOO**OOOOO**O*-O*O*****--****----*-O-*- *",
    "-O****----O**O--**OO*OOO***OO*OO**OO*OOO****OO-**-**O----------- *",
];

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds the argument `--bench`, which is ignored here.
    let arguments: Vec<&str> = (args.iter().map(String::as_str))
        .filter(|arg| *arg != "--bench")
        .collect();
    match arguments[..] {
        ["--print-set", set, count] => return print_set(set, count),
        ["--print-set", ..] => {
            bail!("--print-set requires a set and a number, such as middle-easy 100")
        }
        _ => {}
    }
    // The longest benchmarks take half a second per run, so only twenty samples are taken.
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    let mut table = TranspositionTable::new(TABLE_BYTES);
    bench_solve(&mut criterion, &mut table)?;
    bench_tic_tac_toe(&mut criterion);
    bench_choose_move(&mut criterion, &mut table)?;
    bench_othello_win(&mut criterion, &mut table)?;
    bench_search::<Othello>(&mut criterion, OTHELLO_SEARCH, &mut table)?;
    bench_search::<Draughts>(&mut criterion, DRAUGHTS_SEARCH, &mut table)?;
    bench_search::<Chess>(&mut criterion, CHESS_SEARCH, &mut table)?;
    bench_search::<Gomoku>(&mut criterion, GOMOKU_SEARCH, &mut table)?;
    bench_search::<Go<9>>(&mut criterion, GO_SEARCH, &mut table)?;
    bench_playouts(&mut criterion, GO_SEARCH.0, &mut table)?;
    // Each depth is chosen so that one run takes some milliseconds.
    bench_perft::<ConnectFour>(&mut criterion, 7);
    bench_perft::<Othello>(&mut criterion, 7);
    bench_perft::<Draughts>(&mut criterion, 7);
    bench_perft::<Chess>(&mut criterion, 4);
    bench_cozy_chess_perft(&mut criterion, 4);
    bench_perft::<Gomoku>(&mut criterion, 2);
    bench_perft::<Go<9>>(&mut criterion, 3);
    criterion.final_summary();
    Ok(())
}

fn set_samples(set: &str, count: usize) -> anyhow::Result<Vec<Sample>> {
    let set: SampleSet = set
        .parse()
        .with_context(|| format!("invalid set '{set}'"))?;
    Ok(set.samples(count, SEED))
}

fn print_set(set: &str, count: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let count: usize = count
        .parse()
        .with_context(|| format!("invalid number '{count}'"))?;
    for sample in set_samples(set, count)? {
        writeln!(out, "{sample}").context("cannot write to stdout")?;
    }
    Ok(())
}

/// Solves all positions and returns the number of nodes.
fn solve_all(samples: &[Sample], table: &mut TranspositionTable) -> u64 {
    table.clear();
    let solve = |sample: &Sample| {
        solve(
            &GameHistory::from(sample.pos),
            &Limits::default(),
            &Stop::new(),
            table,
        )
    };
    let reports = samples.iter().filter_map(solve);
    reports.map(|report| report.nodes).sum()
}

fn bench_solve(criterion: &mut Criterion, table: &mut TranspositionTable) -> anyhow::Result<()> {
    let mut group = criterion.benchmark_group("solve");
    for (name, count) in SOLVE_SETS {
        let samples = set_samples(name, count)?;
        let nodes = solve_all(&samples, table);
        group.throughput(Throughput::Elements(nodes));
        let parameter = format!("{count} positions, {nodes} nodes");
        group.bench_function(BenchmarkId::new(name, parameter), |bencher| {
            bencher.iter(|| solve_all(&samples, table));
        });
    }
    Ok(())
}

/// Benchmarks `solve` and `search` on the initial position of tic-tac-toe, each time with an empty
/// table. `solve` proves the value of the position. A bot at full strength calls `search` to choose
/// its moves.
fn bench_tic_tac_toe(criterion: &mut Criterion) {
    let (start, limits, stop) = (
        GameHistory::<TicTacToe>::initial(),
        Limits::default(),
        Stop::new(),
    );
    let mut table = TranspositionTable::for_game::<TicTacToe>(TABLE_BYTES);
    criterion.bench_function("tic-tac-toe/solve", |bencher| {
        bencher.iter(|| {
            table.clear();
            solve(black_box(&start), &limits, &stop, &table)
        });
    });
    criterion.bench_function("tic-tac-toe/search", |bencher| {
        bencher.iter(|| {
            table.clear();
            search(black_box(&start), &limits, &stop, &table)
        });
    });
}

/// Decides for each Othello endgame whether the side to move wins, each time with an empty table.
fn bench_othello_win(
    criterion: &mut Criterion,
    table: &mut TranspositionTable,
) -> anyhow::Result<()> {
    let mut group = criterion.benchmark_group("who wins at othello");
    for text in OTHELLO_ENDGAMES {
        let pos: Othello = text.parse()?;
        group.bench_function(BenchmarkId::new("20 free squares", text), |bencher| {
            bencher.iter(|| {
                table.clear();
                let win = Score::win_by_points(1);
                is_value_at_least(&pos, win, &Limits::default(), &Stop::new(), table)
            });
        });
    }
    Ok(())
}

/// Benchmarks the choice of a move. One iteration chooses a move in every position of the set.
fn bench_choose_move(
    criterion: &mut Criterion,
    table: &mut TranspositionTable,
) -> anyhow::Result<()> {
    let samples = set_samples("middle-medium", 20)?;
    let mut group = criterion.benchmark_group("choose in 20 of middle-medium");
    group.throughput(Throughput::Elements(samples.len() as u64));
    for level in Level::ALL {
        group.bench_function(level.id(), |bencher| {
            bencher.iter(|| {
                for sample in &samples {
                    let (limits, stop) = (Limits::default(), Stop::new());
                    black_box(choose_move(
                        &GameHistory::from(sample.pos),
                        level,
                        SEED,
                        &limits,
                        &stop,
                        table,
                    ));
                }
            });
        });
    }
    Ok(())
}

/// Searches a position to a fixed depth, using static evaluation.
fn bench_search<P: Evaluate>(
    criterion: &mut Criterion,
    (moves, depth): (&str, u32),
    table: &mut TranspositionTable,
) -> anyhow::Result<()> {
    let mut game_history = GameHistory::<P>::initial();
    for text in moves.split(' ') {
        game_history.play(game_history.read_move(text)?)?;
    }
    let limits = Limits::depth(depth);
    let mut run_search = || {
        table.clear();
        search(black_box(&game_history), &limits, &Stop::new(), table)
    };
    let nodes = run_search().map_or(0, |report| report.nodes);
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Elements(nodes));
    let parameter = format!("{depth} plies, {nodes} nodes");
    group.bench_function(BenchmarkId::new(P::INFO.id, parameter), |bencher| {
        bencher.iter(&mut run_search);
    });
    Ok(())
}

/// Runs playouts from a middle-game position of Go, including the tree search.
fn bench_playouts(
    criterion: &mut Criterion,
    moves: &str,
    table: &mut TranspositionTable,
) -> anyhow::Result<()> {
    const PLAYOUTS: u64 = 2000;
    let mut game_history = GameHistory::<Go<9>>::initial();
    for text in moves.split(' ') {
        game_history.play(game_history.read_move(text)?)?;
    }
    let (limits, stop) = (Limits::nodes(PLAYOUTS), Stop::new());
    let mut group = criterion.benchmark_group("playouts");
    group.throughput(Throughput::Elements(PLAYOUTS));
    group.bench_function("go", |bencher| {
        bencher.iter(|| {
            choose_move(
                black_box(&game_history),
                Level::Max,
                SEED,
                &limits,
                &stop,
                table,
            )
        });
    });
    Ok(())
}

fn bench_perft<P: Position>(criterion: &mut Criterion, plies: usize) {
    let start = GameHistory::<P>::initial();
    let mut group = criterion.benchmark_group("perft");
    let nodes = perft(&start, plies).iter().map(|ply| ply.nodes).sum();
    group.throughput(Throughput::Elements(nodes));
    group.bench_function(BenchmarkId::new(P::INFO.id, plies), |bencher| {
        bencher.iter(|| perft(black_box(&start), plies));
    });
}

/// Runs perft with `cozy-chess` alone. The result is the baseline for the overhead of the engine's
/// game interface.
fn bench_cozy_chess_perft(criterion: &mut Criterion, plies: usize) {
    let start = Board::startpos();
    let mut group = criterion.benchmark_group("perft");
    let mut counts = vec![[0; 3]; plies + 1];
    count_cozy_chess_nodes(&start, &mut counts);
    let nodes: u64 = counts.iter().map(|[nodes, ..]| nodes).sum();
    group.throughput(Throughput::Elements(nodes));
    group.bench_function(BenchmarkId::new("cozy-chess", plies), |bencher| {
        bencher.iter(|| count_cozy_chess_nodes(black_box(&start), &mut counts));
    });
}

/// Counts the positions, mates and draws at each ply.
fn count_cozy_chess_nodes(board: &Board, counts: &mut [[u64; 3]]) {
    let Some(([nodes, mates, draws], deeper_counts)) = counts.split_first_mut() else {
        return;
    };
    *nodes += 1;
    match board.status() {
        GameStatus::Won => *mates += 1,
        GameStatus::Drawn => *draws += 1,
        GameStatus::Ongoing if deeper_counts.is_empty() => {}
        GameStatus::Ongoing => {
            board.generate_moves(|moves| {
                for m in moves {
                    let mut after = board.clone();
                    after.play_unchecked(m);
                    count_cozy_chess_nodes(&after, deeper_counts);
                }
                false
            });
        }
    }
}
