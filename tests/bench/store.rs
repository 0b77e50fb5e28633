//! Measures the cost of storing a move. For comparison, the same run measures the disk limit, which
//! is the maximum rate at which the disk allows moves to be stored.
//!
//! Each busy match is a task that appends moves through the store port. The task appends the next
//! move as soon as the previous move is durable. To measure the disk limit, one thread only commits
//! transactions (see [`disk_limit`]). This thread writes the same rows to the same tables, in
//! batches as large as the store's average batch. The store and the disk limit are measured in
//! turn, so that a change in the speed of the disk affects both alike.
//!
//! The number of moves per **transaction** is computed from the transaction counter in the header
//! of the database's WAL-index (<https://sqlite.org/walformat.html>, section 2.1). **Latency** is
//! the time until the store reports a move as durable, or the duration of a transaction for the
//! disk limit. **CPU** is the CPU time of all threads, including the load generator. CPU time is
//! more reliable than elapsed time on a busy machine.
//!
//! After the measurements of storing moves, the benchmark measures how long a server takes to open
//! a store with many live matches and to load all of them. `--days` measures a server with many
//! correspondence matches instead. The server does not load correspondence matches at startup.
//!
//! ```text
//! cargo bench --bench store                              three rounds, well under a minute
//! cargo bench --bench store -- --busy 1000 --rounds 9    1000 busy matches only
//! cargo bench --bench store -- --directory /mnt/disk     another disk than that of `target`
//! cargo bench --bench store -- --days 100000             many correspondence matches
//! cargo bench --bench store -- --past 1000000            queries over ended matches
//! cargo bench --bench store -- --test                    short trial run, a second
//! ```

#[path = "store/correspondence.rs"]
mod correspondence;
#[path = "store/disk_limit.rs"]
mod disk_limit;
#[path = "store/history_queries.rs"]
mod history_queries;
#[path = "store/load.rs"]
mod load;
#[path = "store/measurement.rs"]
mod measurement;
#[path = "store/recovery.rs"]
mod recovery;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use tempfile::TempDir;

use self::measurement::median;

/// Measure the cost of storing a move
#[derive(Debug, Parser)]
struct Args {
    /// Numbers of concurrent busy matches, each measured separately
    #[arg(long = "busy", value_delimiter = ',', default_value = "1,10,100,1000")]
    busy_matches: Vec<usize>,

    /// Duration of a measurement in seconds
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,

    /// Number of measurements of the store and of the disk limit
    #[arg(long, default_value_t = 3)]
    rounds: usize,

    /// Number of live matches to load at startup; 0 skips this measurement
    #[arg(long = "live", default_value_t = 10_000)]
    live_matches: usize,

    /// Measure only the startup with this number of correspondence matches
    #[arg(long = "days")]
    correspondence_matches: Option<usize>,

    /// Measure only queries over this number of ended matches
    #[arg(long = "past")]
    ended_matches: Option<usize>,

    /// Fill a store with this number of correspondence matches
    #[arg(long = "fill-days", hide = true)]
    fill_correspondence: Option<usize>,

    /// Directory for the temporary stores
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    directory: PathBuf,

    /// Run a short trial, as `cargo test` does
    #[arg(long)]
    test: bool,

    /// Set by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,

    /// Run the benchmark only if its name contains this text
    #[arg(hide = true)]
    filter: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = Args::parse();
    let matches_filter = |filter: &String| "store".contains(filter.as_str());
    if !args.filter.as_ref().is_none_or(matches_filter) {
        return Ok(());
    }
    if let Some(matches) = args.fill_correspondence {
        return correspondence::fill(&args.directory, matches).await;
    }
    if let Some(matches) = args.correspondence_matches {
        return correspondence::measure_startup(create_temp_dir(&args.directory)?.path(), matches)
            .await;
    }
    if let Some(matches) = args.ended_matches {
        return history_queries::measure_queries(create_temp_dir(&args.directory)?.path(), matches)
            .await;
    }
    let is_trial = args.test || !args.bench;
    if is_trial {
        args.busy_matches = vec![1, 20];
        args.rounds = 1;
        args.seconds = 0.05;
        args.live_matches = 50;
    }
    for &busy in &args.busy_matches {
        compare_appends(&args, busy).await?;
    }
    if args.live_matches > 0 {
        recovery::measure_recovery(
            create_temp_dir(&args.directory)?.path(),
            args.live_matches,
            args.rounds,
        )
        .await?;
    }
    if is_trial {
        correspondence::measure_startup(create_temp_dir(&args.directory)?.path(), 200).await?;
        history_queries::measure_queries(create_temp_dir(&args.directory)?.path(), 200).await?;
        print_line("trial run passed; too short for meaningful figures")?;
    }
    Ok(())
}

/// Measures the store and the disk limit in turn, with `busy_matches` matches that append moves
/// without a pause.
async fn compare_appends(args: &Args, busy_matches: usize) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(args.seconds);
    let (mut ratios, mut extra_latency_ms, mut cpu_ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        let directory = create_temp_dir(&args.directory)?;
        let store = load::measure_store(directory.path(), busy_matches, time).await?;
        print_line(&format!(
            "{busy_matches:4} busy  round {round}  store  {store}"
        ))?;
        let directory = create_temp_dir(&args.directory)?;
        let limit = disk_limit::measure_disk_limit(
            directory.path(),
            busy_matches,
            store.mean_batch_size(),
            time,
        )
        .await?;
        let ratio = store.moves_per_second() / limit.moves_per_second();
        print_line(&format!(
            "{busy_matches:4} busy  round {round}  limit  {limit}  ratio {ratio:.2}"
        ))?;
        ratios.push(ratio);
        extra_latency_ms.push(store.median_ms() - limit.median_ms());
        cpu_ratios.push(store.cpu_us_per_move() / limit.cpu_us_per_move());
    }
    cpu_ratios.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    extra_latency_ms.sort_by(f64::total_cmp);
    print_line(&format!(
        "{busy_matches:4} busy: {:.2} of the disk limit's moves per second ({:.2} to {:.2}), \
         {:+.2} ms latency, {:.2} times its CPU",
        median(&ratios),
        ratios[0],
        ratios[ratios.len() - 1],
        median(&extra_latency_ms),
        median(&cpu_ratios),
    ))
}

fn create_temp_dir(directory: &Path) -> anyhow::Result<TempDir> {
    tempfile::tempdir_in(directory).with_context(|| {
        format!(
            "cannot create a temporary directory in {}",
            directory.display()
        )
    })
}

fn print_line(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("cannot write to stdout")
}
