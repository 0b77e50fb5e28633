//! Result of a measurement and its statistics.

use std::fmt;
use std::time::Duration;

/// Result of one measurement.
#[derive(Debug)]
pub(crate) struct Measurement {
    /// Elapsed time.
    time: Duration,
    /// CPU time of the process.
    cpu: Duration,
    /// Number of moves stored.
    moves: usize,
    /// Number of transactions that stored these moves.
    transactions: usize,
    /// Latencies in ascending order: one per move for the store, or one per transaction for the
    /// disk limit.
    latencies: Vec<Duration>,
}

impl Measurement {
    pub(crate) fn new(
        time: Duration,
        cpu: Duration,
        moves: usize,
        transactions: usize,
        mut latencies: Vec<Duration>,
    ) -> Self {
        latencies.sort_unstable();
        Self {
            time,
            cpu,
            moves,
            transactions,
            latencies,
        }
    }

    /// Returns the moves per second.
    pub(crate) fn moves_per_second(&self) -> f64 {
        self.moves as f64 / self.time.as_secs_f64()
    }

    /// Returns the average number of moves per transaction, rounded.
    pub(crate) fn mean_batch_size(&self) -> usize {
        (self.moves + self.transactions / 2) / self.transactions.max(1)
    }

    /// Returns the user and system CPU time per move, in microseconds.
    pub(crate) fn cpu_us_per_move(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.moves.max(1) as f64
    }

    /// Returns the median latency in milliseconds.
    pub(crate) fn median_ms(&self) -> f64 {
        self.latency_ms(0.5)
    }

    fn latency_ms(&self, quantile: f64) -> f64 {
        let index = (quantile * (self.latencies.len().saturating_sub(1)) as f64).round();
        #[expect(clippy::cast_possible_truncation, reason = "it is an index")]
        let latency = self.latencies.get(index as usize).copied();
        latency.unwrap_or_default().as_secs_f64() * 1e3
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:7.0} moves/s  {:7.2} ms median  {:7.2} ms p99  {:5.1} moves per transaction  \
             {:5.1} us CPU per move",
            self.moves_per_second(),
            self.median_ms(),
            self.latency_ms(0.99),
            self.moves as f64 / self.transactions.max(1) as f64,
            self.cpu_us_per_move(),
        )
    }
}

/// Returns the user and system time of this process so far, or zero on systems other than Linux.
pub(crate) fn process_cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field of `/proc/self/stat` is the name of the program in parentheses. Fields 14
    // and 15 are utime and stime, in hundredths of a second (proc(5)).
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields = fields.split_whitespace().skip(14 - 3).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Returns the median of sorted numbers.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}
