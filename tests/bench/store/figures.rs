//! What was measured.

use std::fmt;
use std::time::Duration;

/// One measurement.
#[derive(Debug)]
pub(crate) struct Figures {
    /// How long it took.
    pub(crate) time: Duration,
    /// How many moves were kept.
    pub(crate) moves: usize,
    /// In so many transactions.
    pub(crate) transactions: usize,
    /// How long each was waited for.
    latencies: Vec<Duration>,
}

impl Figures {
    pub(crate) fn new(
        time: Duration,
        moves: usize,
        transactions: usize,
        mut latencies: Vec<Duration>,
    ) -> Self {
        latencies.sort_unstable();
        Self {
            time,
            moves,
            transactions,
            latencies,
        }
    }

    /// Moves a second.
    pub(crate) fn per_second(&self) -> f64 {
        self.moves as f64 / self.time.as_secs_f64()
    }

    /// How many moves a transaction had, on average.
    pub(crate) fn batch(&self) -> usize {
        (self.moves + self.transactions / 2) / self.transactions.max(1)
    }

    /// The median of the latency, in milliseconds.
    pub(crate) fn median_ms(&self) -> f64 {
        self.latency_ms(0.5)
    }

    fn latency_ms(&self, part: f64) -> f64 {
        let index = (part * (self.latencies.len().saturating_sub(1)) as f64).round();
        #[expect(clippy::cast_possible_truncation, reason = "it is an index")]
        let latency = self.latencies.get(index as usize).copied();
        latency.unwrap_or_default().as_secs_f64() * 1e3
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:7.0} moves/s  {:7.2} ms median  {:7.2} ms p99  {:6.1} moves a transaction",
            self.per_second(),
            self.median_ms(),
            self.latency_ms(0.99),
            self.moves as f64 / self.transactions.max(1) as f64,
        )
    }
}

/// The middle of sorted numbers.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}
