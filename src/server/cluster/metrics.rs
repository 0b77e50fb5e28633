//! Metrics of a server in a cluster.

use crate::context::metrics::MetricsPage;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

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
    /// Creates the metrics and adds them to the page.
    pub(crate) fn new(page: &mut MetricsPage) -> Self {
        Self {
            failed_renewals: page.add("lease_unrenewed", "Failed renewals of this server's lease"),
            relayed_requests: page.add(
                "relays",
                "Requests forwarded to the server that owns the match",
            ),
            takeovers: page.add("matches_taken", "Matches that this server took over"),
            handovers: page.add(
                "matches_handed_over",
                "Matches between bots handed over to a server with fewer waiting searches",
            ),
            ownership_losses: page.add(
                "matches_lost",
                "Matches that another server took over while this server still served them",
            ),
            write_conflicts: page.add(
                "match_conflicts",
                "Writes rejected because another server had written to the match",
            ),
            missed_events: page.add(
                "events_missed",
                "Times that a replica missed events and read them from the store",
            ),
            nodes: page.add("nodes", "Other servers of the cluster with a valid lease"),
            replica_lag: page.add_histogram(
                "copy_lag",
                "Time from the owner's response until its events are broadcast on this server",
            ),
            relay_duration: page
                .add_histogram("relayed", "Time from forwarding a request to its response"),
        }
    }
}
