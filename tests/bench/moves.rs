//! Measures the CPU time and the latency of a move on the complete server and, in the same run, on
//! a minimal server.
//!
//! The real server uses its in-memory store by default. The benchmark compares the real server with
//! the [`floor_server`], a minimal but realistic server on the same WebSocket library. A second
//! variant of the floor server, `direct`, has no writer tasks. Its match tasks write to the sockets
//! themselves, so a slow reader delays its opponent. A production server cannot accept such delays,
//! so `direct` needs less CPU time than any production server. Each server is a separate process
//! with tokio's default runtime and is restarted for each round. The servers are measured in turn,
//! so that a change in the speed of the machine affects all of them alike. On every server, pairs
//! of connections play one scripted game of tic-tac-toe after another and check every message (see
//! [`load_generator`]).
//!
//! A **move** counts when both players have received its event and the mover has received its `ok`.
//! The cost of a move includes all other work of the server in the measured time: creating, joining
//! and ending matches. For this reason, each output line shows the number of moves per match.
//! `--plies 5` plays a game of 5 plies instead of 9. In the shorter game, the cost of creating,
//! joining and ending a match is divided among fewer moves. Comparing the two results therefore
//! separates the cost of a move from the cost of a match.
//!
//! **CPU** is the user and system time of all threads of the server process. The CPU time is read
//! from `/proc/PID/task/*/schedstat` at the beginning and the end of the measured time, so this
//! benchmark needs Linux. The ratio of a round is the real server's CPU time per move divided by
//! that of the floor server. The benchmark prints the median ratio over all rounds.
//!
//! The **wait** is the latency of a move. The clients measure the time from the mover's request
//! until the opponent receives the event. Without `--rate`, the clients play as fast as possible
//! and saturate the server. The latency then depends only on the server's throughput. With
//! `--rate`, all servers get the same number of moves per second.
//!
//! `--tail` compares the 99.9th percentile of the latency on fresh servers with spare capacity (see
//! [`TAIL_LOADS`]). With `--tail`, all matches end and restart within the same half second, twice
//! per round.
//!
//! `--spectators` plays one match at a time with many spectators and compares the cost of a message
//! to a spectator (see [`spectators`]).
//!
//! `--timed` compares the real server's matches with a clock to its matches without a clock.
//! `--flags N` measures a burst of `N` clocks that run out within one second (see [`flag_falls`]).
//!
//! ```text
//! cargo bench --bench moves                                  five rounds, well under a minute
//! cargo bench --bench moves -- --rounds 9 --seconds 5        more and longer rounds
//! cargo bench --bench moves -- --rate 5000                   5000 moves per second on every server
//! cargo bench --bench moves -- --tail                        99.9th percentile, five minutes
//! cargo bench --bench moves -- --spectators 1000             CPU per message to 1000 spectators
//! cargo bench --bench moves -- --timed                       cost of a clock
//! cargo bench --bench moves -- --flags 10000                 10000 flag falls within one second
//! cargo bench --bench moves -- --data /tmp/store             store on disk instead of in memory
//! cargo bench --bench moves -- --against OLD                 compares with another server binary
//! cargo bench --bench moves -- --database URL --nats URL     PostgreSQL, relayed moves
//! cargo bench --bench moves -- --test                        short trial run, half a second
//! ```

#[path = "moves/cluster.rs"]
mod cluster;
#[path = "moves/flag_falls.rs"]
mod flag_falls;
#[path = "moves/floor_server.rs"]
mod floor_server;
#[path = "moves/game_script.rs"]
mod game_script;
#[path = "moves/load_generator.rs"]
mod load_generator;
#[path = "moves/server_process.rs"]
mod server_process;
#[path = "moves/spectators.rs"]
mod spectators;
#[path = "moves/tic_tac_toe.rs"]
mod tic_tac_toe;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{Instant, sleep};

use self::floor_server::WriteMode;
use self::game_script::GameScript;
use self::load_generator::{Load, LoadCounts};
use self::server_process::ServerProcess;

/// Loads that `--tail` puts on the servers. Each entry has the number of concurrent matches and the
/// total number of moves per second.
const TAIL_LOADS: [(usize, f64); 2] = [(500, 1000.0), (2000, 4000.0)];

/// Duration of each `--tail` measurement, in seconds. Each pair of players plays two matches of
/// nine plies in this time, at half a second per ply.
const TAIL_SECONDS: f64 = 9.0;

/// Percentiles of the move latency to report, in thousandths. For example, 500 is the median.
const LATENCY_PERMILLES: [usize; 3] = [500, 990, 999];

/// Measure the CPU time and the latency of a move
#[derive(Clone, Debug, Parser)]
struct Args {
    /// Number of concurrent matches, with two connections each
    #[arg(long, default_value_t = 100)]
    matches: usize,

    /// Duration of a measurement in seconds
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,

    /// Duration of the warm-up in seconds
    #[arg(long, default_value_t = 0.7)]
    warm_up: f64,

    /// Number of measurements of each server
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// Length of a game: 9 plies (draw) or 5 plies (win)
    #[arg(long, default_value_t = 9)]
    plies: usize,

    /// Number of moves per second; unlimited without this option
    #[arg(long)]
    rate: Option<f64>,

    /// Compare the 99.9th percentile of the latency at two loads
    #[arg(long)]
    tail: bool,

    /// Measure the CPU time per message to this number of spectators of one match
    #[arg(long)]
    spectators: Option<usize>,

    /// Compare matches with a clock to matches without a clock
    #[arg(long = "timed")]
    with_clock: bool,

    /// Measure this number of clocks that run out within one second
    #[arg(long = "flags")]
    flag_falls: Option<usize>,

    /// Log filter of the real server
    #[arg(long, default_value = "info")]
    log: String,

    /// Data directory of the real server
    #[arg(long = "data", default_value = ":memory:")]
    data_path: String,

    /// Compare the server with another server binary
    #[arg(long = "against")]
    baseline_binary: Option<String>,

    /// Compare a cluster on this PostgreSQL database with a single server
    ///
    /// The benchmark compares PostgreSQL with SQLite, and relayed moves with direct moves. With
    /// `--spectators`, it also compares spectators on three servers with spectators on one server.
    #[arg(long, requires = "nats")]
    database: Option<String>,

    /// NATS server that connects the servers of the cluster
    #[arg(long)]
    nats: Option<String>,

    /// Run a short trial, as `cargo test` does
    #[arg(long)]
    test: bool,

    /// Set by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,

    /// Run the benchmark only if its name contains this text
    #[arg(hide = true)]
    filter: Option<String>,

    /// Run as the floor server with this write mode
    #[arg(long, hide = true, value_enum)]
    floor: Option<WriteMode>,
}

/// Kind of server to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerKind {
    Real,
    /// Server binary given by `--against`.
    Baseline,
    /// Real server, playing matches with a clock.
    WithClock,
    Floor(WriteMode),
}

/// Variants of the floor server and their names in the output.
const FLOORS: [(WriteMode, &str); 2] = [(WriteMode::Task, "floor"), (WriteMode::Match, "direct")];

/// Result of one measurement.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    seconds: f64,
    cpu: Duration,
    tally: LoadCounts,
    /// Move latency at each percentile of [`LATENCY_PERMILLES`].
    latencies: [Duration; LATENCY_PERMILLES.len()],
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = Args::parse();
    if let Some(write_mode) = args.floor {
        return floor_server::run(write_mode).await;
    }
    let matches_filter = |filter: &String| "moves".contains(filter.as_str());
    if !args.filter.as_ref().is_none_or(matches_filter) {
        return Ok(());
    }
    if !cfg!(target_os = "linux") {
        return print_line("moves: skipped; measuring a process requires Linux");
    }
    let is_trial = args.test || !args.bench;
    if is_trial {
        args.matches = 4;
        args.rounds = 1;
        args.seconds = 0.2;
        args.warm_up = 0.05;
    }
    raise_fd_limit()?;
    let script = Arc::new(GameScript::new(args.plies)?);
    if is_trial {
        compare_broadcasts(&args, &script, 3).await?;
        compare_moves(&args, &script).await?;
        args.rate = Some(200.0);
        compare_moves(&args, &script).await?;
        compare_clocks(&args, &script).await?;
        report_flag_falls(&args, &script, 10).await?;
        return print_line("trial run passed; too short for meaningful figures");
    }
    if args.tail {
        for (matches, rate) in TAIL_LOADS {
            args.matches = matches;
            args.rate = Some(rate);
            args.seconds = TAIL_SECONDS;
            args.warm_up = 0.0;
            compare_moves(&args, &script).await?;
        }
        return Ok(());
    }
    if args.database.is_some() {
        return cluster::compare(&args, &script).await;
    }
    if args.baseline_binary.is_some() {
        return compare_binaries(&args, &script).await;
    }
    match (args.spectators, args.flag_falls) {
        (Some(spectators), _) => compare_broadcasts(&args, &script, spectators).await,
        (None, Some(flags)) => report_flag_falls(&args, &script, flags).await,
        (None, None) if args.with_clock => compare_clocks(&args, &script).await,
        (None, None) => compare_moves(&args, &script).await,
    }
}

/// Measures the real server alternately without and with clocks, and prints the ratio of the CPU
/// times per move.
async fn compare_clocks(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    let mut costs = Vec::new();
    for round in 1..=args.rounds {
        let without_clock = measure_server(ServerKind::Real, args, script).await?;
        let with_clock = measure_server(ServerKind::WithClock, args, script).await?;
        let cost = with_clock.cpu_us() / without_clock.cpu_us();
        print_line(&format!("round {round}  untimed {without_clock}"))?;
        print_line(&format!(
            "round {round}  timed   {with_clock}  ratio {cost:.2}"
        ))?;
        costs.push(cost);
    }
    print_ratio("CPU per move, timed / untimed", costs)
}

/// Compares the real server with the server binary given by `--against`. The measure is the CPU
/// time per move or, with `--spectators`, per message.
async fn compare_binaries(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(args.seconds);
    let mut costs = Vec::new();
    for round in 1..=args.rounds {
        let mut cpu = Vec::new();
        for (server, name) in [
            (ServerKind::Baseline, "other"),
            (ServerKind::Real, "server"),
        ] {
            let (cost, line) = match args.spectators {
                Some(spectators) => {
                    let process = [start_server(server, args)?];
                    let broadcast =
                        spectators::measure_broadcasts(&process, server, script, spectators, time)
                            .await?;
                    let cost = broadcast.cpu_us();
                    (
                        cost,
                        format!("{} messages, {cost:.3} us CPU each", broadcast.messages),
                    )
                }
                None => {
                    let figures = measure_server(server, args, script).await?;
                    (figures.cpu_us(), figures.to_string())
                }
            };
            print_line(&format!("round {round}  {name:6}  {line}"))?;
            cpu.push(cost);
        }
        costs.push(cpu[1] / cpu[0]);
    }
    print_ratio("CPU, server / other", costs)
}

/// Measures a burst of clocks that run out. Prints how late the players receive the match ends, and
/// the move latency in other matches.
async fn report_flag_falls(
    args: &Args,
    script: &Arc<GameScript>,
    flag_falls: usize,
) -> anyhow::Result<()> {
    for round in 1..=args.rounds {
        let process = start_server(ServerKind::WithClock, args)?;
        let report = flag_falls::measure_flag_falls(process.address(), script, flag_falls).await?;
        print_line(&format!("round {round}  {report}"))?;
    }
    Ok(())
}

/// Measures the real server and the floor servers in turn, and prints the ratios of their CPU times
/// and latencies.
async fn compare_moves(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    print_line(&format!(
        "{} concurrent matches of {} plies, {} s per round",
        args.matches, args.plies, args.seconds
    ))?;
    let mut costs = FLOORS.map(|_| Vec::new());
    let (mut p99_ratios, mut p999_ratios) = (costs.clone(), costs.clone());
    for round in 1..=args.rounds {
        let real = measure_server(ServerKind::Real, args, script).await?;
        print_line(&format!("round {round}  server  {real}"))?;
        for (index, (write_mode, name)) in FLOORS.into_iter().enumerate() {
            let floor = measure_server(ServerKind::Floor(write_mode), args, script).await?;
            let cost = real.cpu_us() / floor.cpu_us();
            print_line(&format!(
                "round {round}  {name:6}  {floor}  ratio {cost:.2}"
            ))?;
            costs[index].push(cost);
            let ratio = |latency_index: usize| {
                real.latencies[latency_index].as_secs_f64()
                    / floor.latencies[latency_index].as_secs_f64()
            };
            p99_ratios[index].push(ratio(1));
            p999_ratios[index].push(ratio(2));
        }
    }
    print_ratios("CPU per move", costs)?;
    print_ratios("p99 latency", p99_ratios)?;
    print_ratios("p99.9 latency", p999_ratios)
}

/// Broadcasts moves to spectators on each server in turn, and prints the ratios of the CPU times
/// per message.
async fn compare_broadcasts(
    args: &Args,
    script: &Arc<GameScript>,
    spectators: usize,
) -> anyhow::Result<()> {
    print_line(&format!(
        "spectators: {spectators}, {} s per round",
        args.seconds
    ))?;
    let time = Duration::from_secs_f64(args.seconds);
    let mut costs = FLOORS.map(|_| Vec::new());
    for round in 1..=args.rounds {
        let process = start_server(ServerKind::Real, args)?;
        let process = [process];
        let real =
            spectators::measure_broadcasts(&process, ServerKind::Real, script, spectators, time)
                .await?;
        drop(process);
        let (messages, cpu) = (real.messages, real.cpu_us());
        print_line(&format!(
            "round {round}  server  {messages} messages, {cpu:.2} us CPU each"
        ))?;
        for (index, (write_mode, name)) in FLOORS.into_iter().enumerate() {
            let server = ServerKind::Floor(write_mode);
            let process = [start_server(server, args)?];
            let floor =
                spectators::measure_broadcasts(&process, server, script, spectators, time).await?;
            let (messages, cost) = (floor.messages, cpu / floor.cpu_us());
            let cpu = floor.cpu_us();
            print_line(&format!(
                "round {round}  {name:6}  {messages} messages, {cpu:.2} us CPU each  ratio {cost:.2}"
            ))?;
            costs[index].push(cost);
        }
    }
    print_ratios("CPU per message", costs)
}

/// For each floor server, prints the median ratio over all rounds.
fn print_ratios(what: &str, ratios: [Vec<f64>; 2]) -> anyhow::Result<()> {
    for (ratios, (_, name)) in ratios.into_iter().zip(FLOORS) {
        print_ratio(&format!("{what}, server / {name}"), ratios)?;
    }
    Ok(())
}

fn print_ratio(what: &str, mut ratios: Vec<f64>) -> anyhow::Result<()> {
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    let median = median(&ratios);
    print_line(&format!(
        "{what}: median {median:.2} ({least:.2} to {most:.2})"
    ))
}

fn start_server(server: ServerKind, args: &Args) -> anyhow::Result<ServerProcess> {
    match server {
        ServerKind::Baseline => {
            let program = args
                .baseline_binary
                .as_deref()
                .context("--against is required")?;
            ServerProcess::start(program, &server_args(args))
        }
        ServerKind::Real | ServerKind::WithClock => {
            ServerProcess::start(env!("CARGO_BIN_EXE_plyhouse"), &server_args(args))
        }
        ServerKind::Floor(write_mode) => {
            let program =
                std::env::current_exe().context("cannot find the executable of the benchmark")?;
            let writing = write_mode
                .to_possible_value()
                .expect("no variant is skipped");
            ServerProcess::start(program, &["--floor", writing.get_name()])
        }
    }
}

/// Starts a server and measures it while `args.matches` matches are played.
async fn measure_server(
    server: ServerKind,
    args: &Args,
    script: &Arc<GameScript>,
) -> anyhow::Result<Measurement> {
    let process = start_server(server, args)?;
    let load = Load::start(process.address(), args.matches, server, script, args.rate).await?;
    measure_load(load, &process, args).await
}

/// Warms the server up, then measures the load for `args.seconds`.
async fn measure_load(
    mut load: Load,
    process: &ServerProcess,
    args: &Args,
) -> anyhow::Result<Measurement> {
    load.run_until(sleep(Duration::from_secs_f64(args.warm_up)))
        .await?;
    load.take_latencies();
    let (begin, cpu, tally) = (Instant::now(), process.cpu_time()?, load.counts());
    load.run_until(sleep(Duration::from_secs_f64(args.seconds)))
        .await?;
    let (seconds, waits) = (begin.elapsed().as_secs_f64(), load.take_latencies());
    if waits.is_empty() {
        bail!("no move was played");
    }
    let figures = Measurement {
        seconds,
        cpu: process.cpu_time()?.saturating_sub(cpu),
        tally: load.counts() - tally,
        latencies: LATENCY_PERMILLES.map(|permille| waits[(waits.len() - 1) * permille / 1000]),
    };
    load.finish().await?;
    Ok(figures)
}

/// Returns the arguments for the real server. The arguments raise the limits that the load of the
/// benchmark would exceed. All other limits keep their defaults.
fn server_args(args: &Args) -> Vec<&str> {
    vec![
        "--data",
        &args.data_path,
        "--listen",
        "127.0.0.1:0",
        "--log",
        &args.log,
        "--requests-per-second",
        "1000000",
        "--burst",
        "1000000",
        "--matches-max",
        "10000000",
        "--live-matches",
        "1000",
        "--following-max",
        "1000",
        "--open-matches-per-address",
        "10000000",
    ]
}

impl Measurement {
    fn moves_per_second(&self) -> f64 {
        self.tally.moves as f64 / self.seconds
    }

    /// Returns the CPU time per move, in microseconds.
    fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tally.moves as f64
    }
}

impl std::fmt::Display for Measurement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LoadCounts {
            moves,
            matches,
            frames,
            bytes,
        } = self.tally;
        let [middle, slow, slowest] = self.latencies.map(|wait| wait.as_secs_f64() * 1e3);
        let per_move = |n: u64| n as f64 / moves as f64;
        write!(
            f,
            "{:6.0} moves/s  {:5.2} us CPU per move  {:4.2} moves per match  \
             {:4.2} frames and {:3.0} bytes received per move  \
             latency p50 {middle:.2} ms, p99 {slow:.2} ms, p99.9 {slowest:.2} ms",
            self.moves_per_second(),
            self.cpu_us(),
            moves as f64 / matches as f64,
            per_move(frames),
            per_move(bytes),
        )
    }
}

/// Raises the limit of open files to the hard limit, for this process and the servers that it
/// starts.
fn raise_fd_limit() -> anyhow::Result<()> {
    let granted = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: granted,
        maximum: granted,
    };
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit on open files")
}

/// Returns the median of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}

fn print_line(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("cannot write to stdout")
}
