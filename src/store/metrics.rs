//! What a store counts, for its operator.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// What a store has written. Clones count together.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// Batches that were made durable, each by one sync.
    pub batches: Counter,
    /// Writes that were in them.
    pub writes: Counter,
    /// Batches that could not be written, or may not have been.
    pub failures: Counter,
    /// How long it took to make a batch durable, in seconds.
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
    /// Has a registry show them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "store_batches",
            "Batches that were made durable, each by one sync",
            self.batches.clone(),
        );
        registry.register(
            "store_writes",
            "Writes that were in them",
            self.writes.clone(),
        );
        registry.register(
            "store_failures",
            "Batches that could not be written, or may not have been",
            self.failures.clone(),
        );
        registry.register_with_unit(
            "store_sync",
            "How long it took to make a batch durable",
            Unit::Seconds,
            self.sync_duration.clone(),
        );
    }
}

/// A histogram of durations in seconds, by powers of two from a microsecond to 33 seconds.
#[must_use]
pub fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-6, 2.0, 26))
}
