//! The other servers: which there are, and whether they answer.
//!
//! A server whose lease holds and that does not answer may be alive and cut off. What it owns is taken
//! from it all the same, since nobody else can ask it; what it has followed is not believed to be gone.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_bus::RequestError;
use plyhouse_store::NodeId;

use crate::context::clock::now;
use crate::context::locks::{Mutex, NODES};

/// After how long without an answer a server counts as silent.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(1);

/// How often in a row nobody has answered to a server's name before it counts as gone: the bus may have
/// just come back.
const MISSED_PINGS_MAX: u32 = 2;

/// The other servers.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Mutex<BTreeMap<NodeId, Node>, NODES>);

/// What is known of another server.
#[derive(Clone, Copy, Debug)]
struct Node {
    last_response_at: Instant,
    rtt: Option<Duration>,
    /// How often in a row nobody has answered to its name.
    missed_pings: u32,
    is_responding: bool,
    /// How many searches of bots wait there.
    queued_searches: u32,
}

/// What is new about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeChange {
    /// Nothing.
    None,
    /// It does not answer. It may come back.
    Unresponsive,
    /// There is nobody of that name.
    NoResponders,
    /// It answers again.
    Responsive,
}

impl Nodes {
    pub(crate) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.0.lock().get(&node)?.rtt
    }

    pub(crate) fn is_responding(&self, node: NodeId) -> bool {
        self.0
            .lock()
            .get(&node)
            .is_some_and(|node| node.is_responding)
    }

    pub(crate) fn last_response_at(&self, node: NodeId) -> Instant {
        self.0
            .lock()
            .get(&node)
            .map_or_else(now, |node| node.last_response_at)
    }

    /// Whether that server may be heard. One that is not known yet has asked this server for something.
    pub(crate) fn may_respond(&self, node: NodeId) -> bool {
        self.0
            .lock()
            .get(&node)
            .is_none_or(|node| node.is_responding)
    }

    /// Whether some server does not answer, whose clients may be there.
    pub(crate) fn has_unresponsive(&self) -> bool {
        self.0.lock().values().any(|node| !node.is_responding)
    }

    /// Whether there are several others, and none of them answers or is known to be gone: then it is most likely
    /// this server that is cut off.
    pub(crate) fn are_all_unresponsive(&self) -> bool {
        let nodes = self.0.lock();
        let is_unresponsive = |node: &Node| !node.is_responding && node.missed_pings == 0;
        // One that is silent may be the one that hangs.
        nodes.len() > 1 && nodes.values().all(is_unresponsive)
    }

    /// Takes note of which servers there are, and gives those that are not there any more. Where this
    /// server's own lease is young, whoever answers is about to renew theirs.
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

    /// A server stops.
    pub(crate) fn remove(&self, node: NodeId) {
        if self.0.lock().remove(&node).is_some() {
            tracing::info!(node = %node.0, "another server is stopping");
        }
    }

    /// The servers that there are.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        self.0.lock().keys().copied().collect()
    }

    /// The server on which the fewest searches of bots wait, and how many those are.
    pub(crate) fn least_busy(&self) -> Option<(NodeId, u32)> {
        let nodes = self.0.lock();
        let answering = nodes.iter().filter(|(_, node)| node.is_responding);
        let searches = answering.map(|(id, node)| (*id, node.queued_searches));
        searches.min_by_key(|(_, searches)| *searches)
    }

    /// A server has answered after so long that so many searches wait there. Gives what is new about it.
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
        // The least of late is nearest to what the wire takes.
        node.rtt = Some(node.rtt.map_or(rtt, |known| rtt.min(known + known / 8)));
        match std::mem::replace(&mut node.is_responding, true) {
            true => NodeChange::None,
            false => NodeChange::Responsive,
        }
    }

    /// A server has not answered. Gives what is new about it.
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
