//! This server's lease: while it holds, the server may do what an owner of matches does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_store::directory::LEASE;
use tokio::time::sleep;

use super::owning;
use crate::clock::now;
use crate::locks::{LEASES, Mutex};
use crate::shared::Shared;

/// How often the lease is renewed.
const RENEW_EVERY: Duration = Duration::from_millis(1250);

/// Until when the lease holds, as this server reckons.
#[derive(Debug, Default)]
pub(super) struct Lease(Mutex<State, LEASES>);

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    /// Since when it has held without a break.
    since: Option<Instant>,
    has_ended: bool,
}

impl Lease {
    pub(super) fn holds(&self) -> bool {
        self.0.lock().until.is_some_and(|until| now() < until)
    }

    /// Whether it has held for so short a time that others, whose leases ran out for the same reason, may
    /// not have renewed theirs yet.
    pub(super) fn is_young(&self) -> bool {
        let since = self.0.lock().since;
        since.is_none_or(|since| now() < since + LEASE)
    }

    /// It is renewed by something that was asked for at this instant, which counts: how long the answer
    /// took is not known to the store.
    fn renewed(&self, asked_at: Instant) {
        let mut state = self.0.lock();
        if !state.has_ended {
            if state.until.is_none_or(|until| until <= now()) {
                state.since = Some(now());
            }
            state.until = Some(asked_at + LEASE);
        }
    }

    /// It holds no longer, and is not renewed.
    pub(super) fn end(&self) {
        *self.0.lock() = State {
            has_ended: true,
            ..State::default()
        };
    }
}

/// Renews the lease once. Gives whether that was done.
pub(super) async fn renew(server: &Arc<Shared>) -> bool {
    let Some(cluster) = &server.cluster else {
        return true;
    };
    let asked_at = now();
    match cluster.directory.renew(cluster.node).await {
        Ok(nodes) => {
            if !cluster.lease.holds() {
                // What was this server's may be another's by now: first that is looked up.
                owning::look(server).await;
            }
            cluster.lease.renewed(asked_at);
            cluster.nodes.renewed(server, &nodes);
            let others = nodes.len().saturating_sub(1);
            let others = i64::try_from(others).unwrap_or(i64::MAX);
            server.metrics.cluster.nodes.set(others);
            true
        }
        Err(error) => {
            server.metrics.cluster.unrenewed.inc();
            tracing::warn!(%error, "the lease is not renewed");
            false
        }
    }
}

/// Keeps the lease until the server stops.
pub(crate) async fn keep(server: Arc<Shared>) {
    let shutdown = server.shutdown.clone();
    let keeping = async {
        loop {
            renew(&server).await;
            sleep(RENEW_EVERY).await;
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = keeping => {}
    }
}
