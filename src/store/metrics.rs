//! Metrics of a store.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Metrics of the writes to a store. All clones of this value update the same metrics.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// Number of write batches that the store has made durable. Each batch takes one sync.
    pub batches: Counter,
    /// Number of writes in the durable batches.
    pub writes: Counter,
    /// Number of batches that failed or whose outcome is unknown.
    pub failures: Counter,
    /// Time to make a batch durable, in seconds.
    pub sync_duration: Histogram,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            batches: Counter::default(),
            writes: Counter::default(),
            failures: Counter::default(),
            sync_duration: duration_histogram(),
        }
    }
}

impl StoreMetrics {
    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "store_batches",
            "Write batches made durable, one sync each",
            self.batches.clone(),
        );
        registry.register(
            "store_writes",
            "Writes in durable batches",
            self.writes.clone(),
        );
        registry.register(
            "store_failures",
            "Write batches that failed or whose outcome is unknown",
            self.failures.clone(),
        );
        registry.register_with_unit(
            "store_sync",
            "Time to make a write batch durable",
            Unit::Seconds,
            self.sync_duration.clone(),
        );
    }
}

/// Creates a histogram of durations in seconds. The upper bounds of its buckets are powers of two,
/// from 1 µs to about 33 s.
#[must_use]
pub fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-6, 2.0, 26))
}
