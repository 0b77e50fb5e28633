//! This server as one of several over one store.
//!
//! Any server takes any client. A match is decided by one of them, its owner; every other server that has
//! followers of it keeps a copy, which the owner feeds, and hands what is asked of the match on to the
//! owner (`table/afar.rs`). What keeps two owners of one match apart is the journal; all that is told here
//! is a hint.

mod lease;
mod lists;
mod metrics;
mod nodes;
mod packet;
mod relay;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use plyhouse_bus::{Bus, Listener, RequestError};
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use plyhouse_store::NodeId;
use plyhouse_store::directory::Directory;
use tokio::sync::Notify;

pub(super) use self::metrics::ClusterMetrics;
pub(super) use self::nodes::News;
pub(super) use self::packet::{Notification, Packet};
pub(super) use self::relay::{Answered, Found};

use self::lease::Lease;
use self::lists::Lists;
use self::nodes::Nodes;
use super::match_handle::replication::ReplicaUpdate;

/// How long a request to another server may take before it is asked again.
const ASK_MAX: Duration = Duration::from_secs(2);

/// How this server reaches the others.
#[derive(Debug)]
pub struct Links {
    /// This server, under the name by which the bus knows it.
    pub node: NodeId,
    /// What all agree on.
    pub directory: Arc<dyn Directory>,
    /// The way to the others.
    pub bus: Arc<dyn Bus>,
    /// What comes from them.
    pub heard: Listener,
}

/// This server as one of several.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) node: NodeId,
    pub(super) directory: Arc<dyn Directory>,
    bus: Arc<dyn Bus>,
    pub(super) lease: Lease,
    pub(super) nodes: Nodes,
    /// The matches of which lists show something else now.
    pub(super) lists: Lists,
    /// Told when messages from other servers were lost.
    pub(super) may_have_missed: Notify,
}

impl Cluster {
    pub(super) fn new(links: Links) -> (Self, Listener) {
        let Links {
            node,
            directory,
            bus,
            heard,
        } = links;
        let cluster = Self {
            node,
            directory,
            bus,
            lease: Lease::default(),
            nodes: Nodes::default(),
            lists: Lists::default(),
            may_have_missed: Notify::new(),
        };
        (cluster, heard)
    }

    /// Whether this server may do anything: its lease holds.
    pub(super) fn may_act(&self) -> bool {
        self.lease.holds()
    }

    /// Whether the others can be reached.
    pub(super) fn is_up(&self) -> bool {
        self.bus.is_up() && !self.nodes.are_silent()
    }

    /// How long a message takes to that server and back, if that is known.
    pub(super) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.nodes.rtt(node)
    }

    /// Whether that server answers at the moment.
    pub(super) fn hears(&self, node: NodeId) -> bool {
        self.bus.is_up() && self.nodes.may_be_heard(node)
    }

    /// Whether players may be connected to a server of whom this one cannot know.
    pub(super) fn may_miss_somebody(&self) -> bool {
        !self.bus.is_up() || self.nodes.is_one_silent()
    }

    /// When that server was heard last. One that is not known yet has just asked for something.
    pub(super) fn heard_at(&self, node: NodeId) -> Instant {
        self.nodes.heard_at(node)
    }

    fn send(&self, to: NodeId, packet: &Packet) {
        self.bus.send(to.0, packet.write());
    }

    /// Tells every other server something.
    pub(super) fn send_all(&self, packet: &Packet) {
        self.bus.send_all(packet.write());
    }

    /// Sends a copy of a match what is new.
    pub(super) fn feed(&self, to: NodeId, match_id: MatchId, bulletin: ReplicaUpdate) {
        let bulletin = Box::new(bulletin);
        self.send(to, &Packet::ReplicaUpdate { match_id, bulletin });
    }

    /// Has whichever server a player is connected to do something.
    pub(super) fn notify(&self, player: PlayerId, notice: Notification) {
        self.send_all(&Packet::Notice { player, notice });
    }

    /// Ends this server's part in the cluster: its matches are anybody's from now on.
    pub(super) async fn leave(&self) {
        self.lease.end();
        let withdrawn = tokio::time::timeout(ASK_MAX, self.directory.withdraw(self.node)).await;
        if !matches!(withdrawn, Ok(Ok(()))) {
            tracing::error!("this server's lease could not be withdrawn: it runs out by itself");
        }
        self.send_all(&Packet::Leaving { node: self.node });
        self.bus.close();
    }

    /// The sessions of a player that have connections to servers which answer.
    pub(super) async fn connected_sessions(&self, player: PlayerId) -> Vec<SessionId> {
        let ask = |node| self.ask(node, &Packet::WhoIs { player });
        let nodes = self.nodes.all().into_iter();
        let answers = join_all(nodes.filter(|node| self.hears(*node)).map(ask)).await;
        let connected = answers.into_iter().filter_map(|answer| match answer {
            Ok(Answered::Connected(sessions)) => Some(sessions),
            Ok(_) | Err(_) => None,
        });
        connected.flatten().collect()
    }

    /// Asks another server something.
    pub(super) fn ask(
        &self,
        to: NodeId,
        packet: &Packet,
    ) -> impl Future<Output = Result<Answered, RequestError>> + Send + use<> {
        let asked = self.bus.ask(to.0, packet.write(), ASK_MAX);
        async move {
            let answer = asked.await?;
            serde_json::from_slice(&answer).map_err(|error| {
                tracing::error!(%error, "another server's answer makes no sense");
                RequestError::InTime
            })
        }
    }
}
