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
const SILENT_AFTER: Duration = Duration::from_secs(1);

/// How often in a row nobody has answered to a server's name before it counts as gone: the bus may have
/// just come back.
const GONE_AFTER: u32 = 2;

/// The other servers.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Mutex<BTreeMap<NodeId, Node>, NODES>);

/// What is known of another server.
#[derive(Clone, Copy, Debug)]
struct Node {
    heard_at: Instant,
    rtt: Option<Duration>,
    /// How often in a row nobody has answered to its name.
    missed: u32,
    answers: bool,
    /// How many searches of bots wait there.
    searches: u32,
}

/// What is new about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Nothing.
    None,
    /// It does not answer. It may come back.
    Silent,
    /// There is nobody of that name.
    Gone,
    /// It answers again.
    Heard,
}

impl Nodes {
    pub(crate) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.0.lock().get(&node)?.rtt
    }

    pub(crate) fn answers(&self, node: NodeId) -> bool {
        self.0.lock().get(&node).is_some_and(|node| node.answers)
    }

    pub(crate) fn heard_at(&self, node: NodeId) -> Instant {
        self.0
            .lock()
            .get(&node)
            .map_or_else(now, |node| node.heard_at)
    }

    /// Whether that server may be heard. One that is not known yet has asked this server for something.
    pub(crate) fn may_be_heard(&self, node: NodeId) -> bool {
        self.0.lock().get(&node).is_none_or(|node| node.answers)
    }

    /// Whether some server does not answer, whose clients may be there.
    pub(crate) fn is_one_silent(&self) -> bool {
        self.0.lock().values().any(|node| !node.answers)
    }

    /// Whether there are several others, and none of them answers or is known to be gone: then it is most likely
    /// this server that is cut off.
    pub(crate) fn are_silent(&self) -> bool {
        let nodes = self.0.lock();
        let is_silent = |node: &Node| !node.answers && node.missed == 0;
        // One that is silent may be the one that hangs.
        nodes.len() > 1 && nodes.values().all(is_silent)
    }

    /// Takes note of which servers there are, and gives those that are not there any more. Where this
    /// server's own lease is young, whoever answers is about to renew theirs.
    pub(crate) fn renewed(&self, own: NodeId, alive: &[NodeId], is_young: bool) -> Vec<NodeId> {
        let mut gone = Vec::new();
        let mut nodes = self.0.lock();
        nodes.retain(|node, known| {
            let stays = alive.contains(node) || (is_young && known.answers);
            if !stays {
                gone.push(*node);
            }
            stays
        });
        for node in alive.iter().filter(|node| **node != own) {
            nodes.entry(*node).or_insert(Node {
                heard_at: now(),
                rtt: None,
                missed: 0,
                answers: true,
                searches: u32::MAX,
            });
        }
        gone
    }

    /// A server stops.
    pub(crate) fn left(&self, node: NodeId) {
        if self.0.lock().remove(&node).is_some() {
            tracing::info!(node = %node.0, "a server stops");
        }
    }

    /// The servers that there are.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        self.0.lock().keys().copied().collect()
    }

    /// The server on which the fewest searches of bots wait, and how many those are.
    pub(crate) fn least_busy(&self) -> Option<(NodeId, u32)> {
        let nodes = self.0.lock();
        let answering = nodes.iter().filter(|(_, node)| node.answers);
        let searches = answering.map(|(id, node)| (*id, node.searches));
        searches.min_by_key(|(_, searches)| *searches)
    }

    /// A server has answered after so long that so many searches wait there. Gives what is new about it.
    pub(crate) fn answered(&self, id: NodeId, rtt: Duration, searches: u32) -> News {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return News::None;
        };
        node.heard_at = now();
        node.missed = 0;
        node.searches = searches;
        // The least of late is nearest to what the wire takes.
        node.rtt = Some(node.rtt.map_or(rtt, |known| rtt.min(known + known / 8)));
        match std::mem::replace(&mut node.answers, true) {
            true => News::None,
            false => News::Heard,
        }
    }

    /// A server has not answered. Gives what is new about it.
    pub(crate) fn unanswered(&self, id: NodeId, why: RequestError) -> News {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return News::None;
        };
        if why == RequestError::Nobody {
            node.missed += 1;
            if node.missed == GONE_AFTER {
                node.answers = false;
                return News::Gone;
            }
        }
        let is_silent = now().duration_since(node.heard_at) >= SILENT_AFTER;
        if node.answers && is_silent {
            node.answers = false;
            return News::Silent;
        }
        News::None
    }
}
