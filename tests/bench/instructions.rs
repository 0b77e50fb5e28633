//! Counts the instructions of searches, of matches and of watching, and compares each count with a
//! committed one.
//!
//! Counts hardly vary between runs (by 0.02%), so that even small changes are visible. They exclude
//! the kernel, TLS and the store on disk; the benchmark `moves` measures the CPU time of the
//! complete server. Each benchmark runs in a process of its own under valgrind, which counts from
//! the call to the end of [`measured`].
//!
//! The command fails if a count differs from the committed count by more than
//! [`DIFFERENCE_MAX_PERCENT`], so that small losses cannot add up unnoticed. A change that lowers a
//! count commits the lower count. A change that raises one gives the reason in its commit. The
//! committed counts are those of the profile `release` and of [`COMPILER`]; counts of another
//! compiler are printed, but not compared. Whoever raises the version of the compiler commits the
//! new counts.
//!
//! ```text
//! cargo bench --profile release --bench instructions             all benchmarks
//! cargo bench --profile release --bench instructions -- match    those whose name contains `match`
//! ```
//!
//! `callgrind_annotate --inclusive=yes target/tmp/matches.callgrind` shows the profile of a
//! benchmark.

#[path = "search/connect_four_solver.rs"]
mod connect_four_solver;
#[path = "instructions/raw_client.rs"]
mod raw_client;
#[path = "instructions/searches.rs"]
mod searches;
#[path = "instructions/server.rs"]
mod server;
#[path = "search/test_positions.rs"]
mod test_positions;
#[path = "instructions/world.rs"]
mod world;

use std::any::Any;
use std::env;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compiler of the committed counts, as `rustc -V` prints it.
const COMPILER: &str = "rustc 1.95.0 (59807616e 2026-04-14)";

/// Maximum difference between a count and the committed count, in percent.
const DIFFERENCE_MAX_PERCENT: f64 = 3.0;

/// What a benchmark counts. The function returns everything that must not be dropped before the
/// count ends.
type Work = Box<dyn FnOnce() -> Box<dyn Any>>;

struct Benchmark {
    name: &'static str,
    /// Committed number of instructions.
    committed: u64,
    /// Prepares the work; the count does not include the preparation.
    prepare: fn() -> Work,
}

/// Runs the work of a benchmark. Callgrind finds this function by its name.
#[inline(never)]
fn measured(work: Work) -> Box<dyn Any> {
    work()
}

/// Runs the benchmark in a process under valgrind and returns the number of instructions.
fn count(benchmark: &Benchmark) -> u64 {
    let this_program = env::current_exe().expect("program has a path");
    let profile = format!(
        "{}/{}.callgrind",
        env!("CARGO_TARGET_TMPDIR"),
        benchmark.name.replace(", ", "-").replace(' ', "-")
    );
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=instructions::measured",
        ])
        .arg(format!("--callgrind-out-file={profile}"))
        .arg(this_program)
        .args(["--run", benchmark.name])
        .output()
        .expect("valgrind is installed");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {log}", benchmark.name);
    let collected = log.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.expect("valgrind prints the count");
    count.trim().parse().expect("count is a number")
}

/// Runs the benchmark, prints its count and returns whether the count is as committed.
fn is_as_committed(benchmark: &Benchmark) -> bool {
    let (name, committed) = (benchmark.name, benchmark.committed);
    let count = count(benchmark);
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^52")]
    let difference = (count as f64 / committed as f64 - 1.0) * 100.0;
    let is_accepted = difference.abs() <= DIFFERENCE_MAX_PERCENT;
    let verdict = match (is_accepted, difference > 0.0) {
        (true, _) => "",
        (false, true) => "  TOO MANY",
        (false, false) => "  FEWER: commit this count",
    };
    print_line(&format!(
        "{name:40} {count:>12} ({difference:+.2}% of {committed}){verdict}"
    ));
    is_accepted
}

fn print_line(line: &str) {
    writeln!(io::stdout(), "{line}").expect("stdout is open");
}

/// Returns whether the installed compiler is that of the committed counts.
fn is_compiler_as_committed() -> bool {
    let output = Command::new("rustc").arg("-V").output();
    let version = output.expect("rustc is installed").stdout;
    let version = String::from_utf8_lossy(&version);
    let is_committed = version.trim() == COMPILER;
    if !is_committed {
        print_line(&format!(
            "NOT COMPARED: the committed counts are those of {COMPILER}, not of {version}"
        ));
    }
    is_committed
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut all = searches::BENCHMARKS.iter().chain(&server::BENCHMARKS);
    if let [run, name] = &arguments[..]
        && run == "--run"
    {
        let benchmark = all.find(|benchmark| benchmark.name == name);
        let work = (benchmark.expect("name is known").prepare)();
        measured(work);
        return ExitCode::SUCCESS;
    }
    // Cargo adds the option `--bench`.
    let is_pattern = |argument: &&String| !argument.starts_with('-');
    let pattern = arguments.iter().find(is_pattern).map_or("", String::as_str);
    let selected: Vec<&Benchmark> = all.filter(|it| it.name.contains(pattern)).collect();
    assert!(!selected.is_empty(), "no benchmark matches {pattern}");
    let different = selected.into_iter().filter(|it| !is_as_committed(it));
    match different.count() {
        0 => ExitCode::SUCCESS,
        _ if !is_compiler_as_committed() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
