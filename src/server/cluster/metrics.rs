//! What a server of a cluster counts.

use plyhouse_store::durations;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// What a server of a cluster counts.
#[derive(Debug)]
pub(crate) struct ClusterMetrics {
    /// Other servers whose lease holds.
    pub(crate) nodes: Gauge,
    /// Renewals of this server's lease that were not made.
    pub(crate) unrenewed: Counter,
    /// Requests that were handed on to the owner of their match.
    pub(crate) relays: Counter,
    /// How long those took.
    pub(crate) relayed: Histogram,
    /// Matches that this server took over.
    pub(crate) taken: Counter,
    /// Matches of bots that this server gave to one with less to think about.
    pub(crate) handed_over: Counter,
    /// Matches in which this server found that it is not their owner any more.
    pub(crate) lost: Counter,
    /// Writes that were refused since somebody else had written to the match.
    pub(crate) conflicts: Counter,
    /// For how long answers have waited here for their events to be told.
    pub(crate) lag: Histogram,
    /// How often a copy of a match read in the store what it had not been told.
    pub(crate) missed: Counter,
}

impl ClusterMetrics {
    /// Everything at zero, shown by this registry.
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let all = Self {
            nodes: Gauge::default(),
            unrenewed: Counter::default(),
            relays: Counter::default(),
            relayed: durations(),
            taken: Counter::default(),
            handed_over: Counter::default(),
            lost: Counter::default(),
            conflicts: Counter::default(),
            lag: durations(),
            missed: Counter::default(),
        };
        let mut show = |name, help, counter: &Counter| {
            registry.register(name, help, counter.clone());
        };
        show(
            "lease_unrenewed",
            "Renewals of this server's lease that were not made",
            &all.unrenewed,
        );
        show(
            "relays",
            "Requests handed on to the server that owns the match",
            &all.relays,
        );
        show(
            "matches_taken",
            "Matches taken over from a server that was gone, or that nobody owned",
            &all.taken,
        );
        show(
            "matches_handed_over",
            "Matches of bots given to a server on which fewer searches wait",
            &all.handed_over,
        );
        show(
            "matches_lost",
            "Matches of which another server has become the owner",
            &all.lost,
        );
        show(
            "match_conflicts",
            "Writes refused by the store since another server had written to the match",
            &all.conflicts,
        );
        show(
            "events_missed",
            "Times that a copy of a match read in the store what it had not been told",
            &all.missed,
        );
        registry.register(
            "nodes",
            "Other servers of the cluster whose lease holds",
            all.nodes.clone(),
        );
        registry.register_with_unit(
            "copy_lag",
            "From an answer of a match's owner until its events have been told here",
            Unit::Seconds,
            all.lag.clone(),
        );
        registry.register_with_unit(
            "relayed",
            "From a request being handed on to its answer",
            Unit::Seconds,
            all.relayed.clone(),
        );
        all
    }
}
