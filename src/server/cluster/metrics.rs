//! Metrics of a server in a cluster.

use plyhouse_store::duration_histogram;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Metrics of a server in a cluster.
#[derive(Debug)]
pub(crate) struct ClusterMetrics {
    /// Number of other servers that hold a valid lease.
    pub(crate) nodes: Gauge,
    /// Failed renewals of this server's lease.
    pub(crate) failed_renewals: Counter,
    /// Requests that were forwarded to the owner of a match.
    pub(crate) relayed_requests: Counter,
    /// Time between forwarding a request and receiving its response.
    pub(crate) relay_duration: Histogram,
    /// Matches that this server took over.
    pub(crate) takeovers: Counter,
    /// Matches between bots that this server handed over to a less busy server.
    pub(crate) handovers: Counter,
    /// Number of matches that another server took over while this server still served them as the
    /// owner.
    pub(crate) ownership_losses: Counter,
    /// Writes that the store rejected because another server had written to the match.
    pub(crate) write_conflicts: Counter,
    /// Time between the owner's response to a forwarded request and the broadcast of the resulting
    /// events on this server.
    pub(crate) replica_lag: Histogram,
    /// Number of times that a replica missed events and read them from the store.
    pub(crate) missed_events: Counter,
}

impl ClusterMetrics {
    /// Creates the metrics and registers them.
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            nodes: Gauge::default(),
            failed_renewals: Counter::default(),
            relayed_requests: Counter::default(),
            relay_duration: duration_histogram(),
            takeovers: Counter::default(),
            handovers: Counter::default(),
            ownership_losses: Counter::default(),
            write_conflicts: Counter::default(),
            replica_lag: duration_histogram(),
            missed_events: Counter::default(),
        };
        let mut register_counter = |name, help, counter: &Counter| {
            registry.register(name, help, counter.clone());
        };
        register_counter(
            "lease_unrenewed",
            "Failed renewals of this server's lease",
            &metrics.failed_renewals,
        );
        register_counter(
            "relays",
            "Requests forwarded to the server that owns the match",
            &metrics.relayed_requests,
        );
        register_counter(
            "matches_taken",
            "Matches that this server took over",
            &metrics.takeovers,
        );
        register_counter(
            "matches_handed_over",
            "Matches between bots handed over to a server with fewer waiting searches",
            &metrics.handovers,
        );
        register_counter(
            "matches_lost",
            "Matches that another server took over while this server still served them",
            &metrics.ownership_losses,
        );
        register_counter(
            "match_conflicts",
            "Writes rejected because another server had written to the match",
            &metrics.write_conflicts,
        );
        register_counter(
            "events_missed",
            "Times that a replica missed events and read them from the store",
            &metrics.missed_events,
        );
        registry.register(
            "nodes",
            "Other servers of the cluster with a valid lease",
            metrics.nodes.clone(),
        );
        registry.register_with_unit(
            "copy_lag",
            "Time from the owner's response until its events are broadcast on this server",
            Unit::Seconds,
            metrics.replica_lag.clone(),
        );
        registry.register_with_unit(
            "relayed",
            "Time from forwarding a request to its response",
            Unit::Seconds,
            metrics.relay_duration.clone(),
        );
        metrics
    }
}
