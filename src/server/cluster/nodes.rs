//! The other servers of the cluster, and whether they respond.
//!
//! A server with a valid lease that is disconnected from the bus may still be alive. Other servers
//! take over the matches of such a server, because they cannot reach it. They must assume that
//! clients are still connected to it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_bus::RequestError;
use plyhouse_store::NodeId;

use crate::context::clock_and_rng::now;
use crate::context::locks::{Mutex, NODES};

/// A server counts as unresponsive if its last response is older than this duration.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(1);

/// A server counts as gone if this number of consecutive pings to it failed because the bus had no
/// receiver for them. A single failed ping is not sufficient, because the bus may have just
/// reconnected.
const MISSED_PINGS_MAX: u32 = 2;

/// The other servers of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Mutex<BTreeMap<NodeId, Node>, NODES>);

/// Observed state of another server.
#[derive(Clone, Copy, Debug)]
struct Node {
    last_response_at: Instant,
    rtt: Option<Duration>,
    /// Number of consecutive pings to this server for which the bus had no receiver.
    missed_pings: u32,
    is_responding: bool,
    /// Number of bot searches that wait on this other server.
    queued_searches: u32,
}

/// Change in the state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeChange {
    None,
    /// The server stopped responding, but it may respond again later.
    Unresponsive,
    /// No server with this id is connected to the bus.
    NoResponders,
    /// The server responds again.
    Responsive,
}

impl Nodes {
    fn get(&self, node: NodeId) -> Option<Node> {
        self.0.lock().get(&node).copied()
    }

    /// Returns the round-trip time to the server `node`, if it has been measured.
    pub(crate) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.get(node)?.rtt
    }

    pub(crate) fn is_responding(&self, node: NodeId) -> bool {
        self.get(node).is_some_and(|node| node.is_responding)
    }

    /// Returns the time of the last response from the server `node`. For an unknown server, returns
    /// the current time, because that server has presumably just sent a request.
    pub(crate) fn last_response_at(&self, node: NodeId) -> Instant {
        let node = self.get(node);
        node.map_or_else(now, |node| node.last_response_at)
    }

    /// Returns `false` only for a known server that is not responding. An unknown server is assumed
    /// to be reachable, because it has presumably just sent a request.
    pub(crate) fn may_respond(&self, node: NodeId) -> bool {
        self.get(node).is_none_or(|node| node.is_responding)
    }

    /// Returns whether any known server is not responding. Clients may still be connected to such a
    /// server.
    pub(crate) fn has_unresponsive(&self) -> bool {
        self.0.lock().values().any(|node| !node.is_responding)
    }

    /// Returns whether this server itself is most likely cut off from the other servers. The result
    /// is `true` if several other servers are known, none of them responds, and none has left the
    /// bus.
    pub(crate) fn are_all_unresponsive(&self) -> bool {
        let nodes = self.0.lock();
        let is_unresponsive = |node: &Node| !node.is_responding && node.missed_pings == 0;
        // If only one other server is known, the result is `false`, because this server cannot tell
        // which of the two is cut off.
        nodes.len() > 1 && nodes.values().all(is_unresponsive)
    }

    /// Updates the set of known servers and returns the removed servers. If this server's lease
    /// began only recently (`is_young` is `true`), servers that respond are not removed, because
    /// they are about to renew their leases.
    pub(crate) fn update_alive(
        &self,
        own: NodeId,
        alive: &[NodeId],
        is_young: bool,
    ) -> Vec<NodeId> {
        let mut removed = Vec::new();
        let mut nodes = self.0.lock();
        nodes.retain(|node, known| {
            let is_alive = alive.contains(node) || (is_young && known.is_responding);
            if !is_alive {
                removed.push(*node);
            }
            is_alive
        });
        for node in alive.iter().filter(|node| **node != own) {
            nodes.entry(*node).or_insert(Node {
                last_response_at: now(),
                rtt: None,
                missed_pings: 0,
                is_responding: true,
                queued_searches: u32::MAX,
            });
        }
        removed
    }

    /// Removes a server that is stopping.
    pub(crate) fn remove(&self, node: NodeId) {
        if self.0.lock().remove(&node).is_some() {
            tracing::info!(node = %node.0, "another server is stopping");
        }
    }

    /// Returns the ids of all known servers.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        self.0.lock().keys().copied().collect()
    }

    /// Returns the responding server that has the fewest waiting bot searches. The second value is
    /// the number of bot searches that wait on that server.
    pub(crate) fn least_busy(&self) -> Option<(NodeId, u32)> {
        let nodes = self.0.lock();
        let answering = nodes.iter().filter(|(_, node)| node.is_responding);
        let searches = answering.map(|(id, node)| (*id, node.queued_searches));
        searches.min_by_key(|(_, searches)| *searches)
    }

    /// Records a response with its round-trip time and the number of searches that wait on the
    /// responding server.
    pub(crate) fn record_response(
        &self,
        id: NodeId,
        rtt: Duration,
        queued_searches: u32,
    ) -> NodeChange {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return NodeChange::None;
        };
        node.last_response_at = now();
        node.missed_pings = 0;
        node.queued_searches = queued_searches;
        // Stores the minimum of the recent round-trip times, because the minimum is the best
        // estimate of the network latency.
        node.rtt = Some(node.rtt.map_or(rtt, |known| rtt.min(known + known / 8)));
        match std::mem::replace(&mut node.is_responding, true) {
            true => NodeChange::None,
            false => NodeChange::Responsive,
        }
    }

    /// Records a failed request to a server.
    pub(crate) fn record_failure(&self, id: NodeId, error: RequestError) -> NodeChange {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return NodeChange::None;
        };
        if error == RequestError::NoReceiver {
            node.missed_pings += 1;
            if node.missed_pings == MISSED_PINGS_MAX {
                node.is_responding = false;
                return NodeChange::NoResponders;
            }
        }
        let is_timed_out = now().duration_since(node.last_response_at) >= UNRESPONSIVE_AFTER;
        if node.is_responding && is_timed_out {
            node.is_responding = false;
            return NodeChange::Unresponsive;
        }
        NodeChange::None
    }
}
