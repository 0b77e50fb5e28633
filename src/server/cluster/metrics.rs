//! Metrics of a server in a cluster.

use crate::context::metrics::{MetricsPage, metrics};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

metrics! {
    /// Metrics of a server in a cluster.
    ClusterMetrics {
        /// Failed renewals of this server's lease.
        failed_renewals: Counter = add("lease_unrenewed"),
        /// Requests forwarded to the server that owns the match.
        relayed_requests: Counter = add("relays"),
        /// Matches that this server took over.
        takeovers: Counter = add("matches_taken"),
        /// Matches between bots handed over to a server with fewer waiting searches.
        handovers: Counter = add("matches_handed_over"),
        /// Matches that another server took over while this server still served them.
        ownership_losses: Counter = add("matches_lost"),
        /// Writes rejected because another server had written to the match.
        write_conflicts: Counter = add("match_conflicts"),
        /// Times that a replica missed events and read them from the store.
        missed_events: Counter = add("events_missed"),
        /// Other servers of the cluster with a valid lease.
        nodes: Gauge = add("nodes"),
        /// Time from the owner's response until its events are broadcast on this server.
        replica_lag: Histogram = add_histogram("copy_lag"),
        /// Time from forwarding a request to its response.
        relay_duration: Histogram = add_histogram("relayed"),
    }
}
