//! The other servers: which there are, and whether they answer.
//!
//! A server whose lease holds and that does not answer may be alive and cut off. What it owns is taken
//! from it all the same, since nobody else can ask it; what it has followed is not believed to be gone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use futures::{StreamExt, stream};
use plyhouse_bus::Unanswered;
use plyhouse_store::NodeId;
use tokio::time::{sleep, timeout};

use super::packet::Packet;
use crate::births;
use crate::clock::now;
use crate::command::MatchRequest;
use crate::locks::{Mutex, NODES};
use crate::shared::Shared;

/// How often each server is asked whether it is there.
const PING_EVERY: Duration = Duration::from_millis(250);

/// After how long without an answer a server counts as silent.
const SILENT_AFTER: Duration = Duration::from_secs(1);

/// How often in a row nobody has answered to a server's name before it counts as gone: the bus may have
/// just come back.
const GONE_AFTER: u32 = 2;

/// How many matches are told something at the same time.
const TOLD_AT_ONCE: usize = 256;

/// The other servers.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<BTreeMap<NodeId, Node>, NODES>);

/// What is known of another server.
#[derive(Clone, Copy, Debug)]
struct Node {
    heard_at: Instant,
    rtt: Option<Duration>,
    /// How often in a row nobody has answered to its name.
    missed: u32,
    answers: bool,
}

/// What is new about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    None,
    /// It does not answer. It may come back.
    Silent,
    /// There is nobody of that name.
    Gone,
    /// It answers again.
    Heard,
}

impl Nodes {
    pub(super) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.0.lock().get(&node)?.rtt
    }

    pub(super) fn answers(&self, node: NodeId) -> bool {
        self.0.lock().get(&node).is_some_and(|node| node.answers)
    }

    /// Whether there are others, and none of them answers or is known to be gone: then it is most likely
    /// this server that is cut off.
    pub(super) fn are_silent(&self) -> bool {
        let nodes = self.0.lock();
        let is_silent = |node: &Node| !node.answers && node.missed == 0;
        !nodes.is_empty() && nodes.values().all(is_silent)
    }

    /// Takes note of which servers there are. What a server has whose lease does not hold any more is
    /// looked after.
    pub(super) fn renewed(&self, server: &Arc<Shared>, alive: &[NodeId]) {
        let is_young = (server.cluster.as_ref()).is_some_and(|cluster| cluster.lease.is_young());
        let mut gone = Vec::new();
        {
            let mut nodes = self.0.lock();
            nodes.retain(|node, known| {
                let stays = alive.contains(node) || (is_young && known.answers);
                if !stays {
                    gone.push(*node);
                }
                stays
            });
            for node in alive.iter().filter(|node| **node != server.node) {
                nodes.entry(*node).or_insert(Node {
                    heard_at: now(),
                    rtt: None,
                    missed: 0,
                    answers: true,
                });
            }
        }
        for node in gone {
            tracing::warn!(node = %node.0, "a server is gone");
            after_gone(server, node);
        }
    }

    /// A server stops.
    pub(super) fn left(&self, server: &Arc<Shared>, node: NodeId) {
        if self.0.lock().remove(&node).is_some() {
            tracing::info!(node = %node.0, "a server stops");
        }
        after_gone(server, node);
    }

    fn all(&self) -> Vec<NodeId> {
        self.0.lock().keys().copied().collect()
    }

    fn answered(&self, id: NodeId, rtt: Duration) -> News {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return News::None;
        };
        node.heard_at = now();
        node.missed = 0;
        // The least of late is nearest to what the wire takes.
        node.rtt = Some(node.rtt.map_or(rtt, |known| rtt.min(known + known / 8)));
        match std::mem::replace(&mut node.answers, true) {
            true => News::None,
            false => News::Heard,
        }
    }

    fn unanswered(&self, id: NodeId, why: Unanswered) -> News {
        let mut nodes = self.0.lock();
        let Some(node) = nodes.get_mut(&id) else {
            return News::None;
        };
        if why == Unanswered::Nobody {
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

/// Asks every other server again and again whether it is there, until this one stops.
pub(crate) async fn watch(server: Arc<Shared>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        loop {
            let nodes = match &server.cluster {
                Some(cluster) => cluster.nodes.all(),
                None => return,
            };
            let pings = join_all(nodes.into_iter().map(|node| ping(&server, node)));
            tokio::join!(pings, sleep(PING_EVERY));
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

async fn ping(server: &Arc<Shared>, node: NodeId) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let asked_at = now();
    let answer = timeout(PING_EVERY, cluster.ask(node, &Packet::Ping)).await;
    let news = match answer.unwrap_or(Err(Unanswered::InTime)) {
        Ok(_) => cluster.nodes.answered(node, now() - asked_at),
        Err(why) => cluster.nodes.unanswered(node, why),
    };
    match news {
        News::None => {}
        News::Gone => {
            tracing::warn!(node = %node.0, "nobody answers to the name of a server");
            let is_dead = false;
            tell_all(server, MatchRequest::NodeGone { node, is_dead });
        }
        News::Silent => {
            tracing::warn!(node = %node.0, "a server does not answer");
            tell_all(server, MatchRequest::NodesChanged);
        }
        News::Heard => {
            tracing::info!(node = %node.0, "a server answers again");
            tell_all(server, MatchRequest::NodesChanged);
        }
    }
}

/// Has every match here know that something has come to pass with a server.
pub(super) fn tell_all(server: &Arc<Shared>, request: MatchRequest) {
    let told = Arc::clone(server);
    server.spawn(async move {
        let handles = stream::iter(told.lobby.all());
        handles
            .for_each_concurrent(TOLD_AT_ONCE, |handle| {
                let request = request.clone();
                let metrics = &told.metrics;
                async move { handle.tell(request, metrics).await }
            })
            .await;
    });
}

/// A server is gone for good: what it had is looked after.
fn after_gone(server: &Arc<Shared>, node: NodeId) {
    let is_dead = true;
    tell_all(server, MatchRequest::NodeGone { node, is_dead });
    let sweeping = Arc::clone(server);
    server.spawn(async move { births::adopt_abandoned(&sweeping).await });
}
