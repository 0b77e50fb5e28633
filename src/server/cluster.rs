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
use plyhouse_store::cluster_directory::ClusterDirectory;
use tokio::sync::Notify;

pub(super) use self::metrics::ClusterMetrics;
pub(super) use self::nodes::NodeChange;
pub(super) use self::packet::{Notification, Packet};
pub(super) use self::relay::{MatchLocation, PacketResponse};

use self::lease::Lease;
use self::lists::ChangedListings;
use self::nodes::Nodes;
use super::match_handle::replication::ReplicaUpdate;

/// How long a request to another server may take before it is asked again.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// How this server reaches the others.
#[derive(Debug)]
pub struct ClusterLinks {
    /// This server, under the name by which the bus knows it.
    pub node: NodeId,
    /// What all agree on.
    pub directory: Arc<dyn ClusterDirectory>,
    /// The way to the others.
    pub bus: Arc<dyn Bus>,
    /// What comes from them.
    pub inbox: Listener,
}

/// This server as one of several.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) node: NodeId,
    pub(super) directory: Arc<dyn ClusterDirectory>,
    bus: Arc<dyn Bus>,
    pub(super) lease: Lease,
    pub(super) nodes: Nodes,
    /// The matches of which lists show something else now.
    pub(super) changed_listings: ChangedListings,
    /// Told when messages from other servers were lost.
    pub(super) messages_lost: Notify,
}

impl Cluster {
    pub(super) fn new(links: ClusterLinks) -> (Self, Listener) {
        let ClusterLinks {
            node,
            directory,
            bus,
            inbox,
        } = links;
        let cluster = Self {
            node,
            directory,
            bus,
            lease: Lease::default(),
            nodes: Nodes::default(),
            changed_listings: ChangedListings::default(),
            messages_lost: Notify::new(),
        };
        (cluster, inbox)
    }

    /// Whether this server may do anything: its lease holds.
    pub(super) fn has_valid_lease(&self) -> bool {
        self.lease.is_valid()
    }

    /// Whether the others can be reached.
    pub(super) fn is_connected(&self) -> bool {
        self.bus.is_up() && !self.nodes.are_all_unresponsive()
    }

    /// How long a message takes to that server and back, if that is known.
    pub(super) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.nodes.rtt(node)
    }

    /// Whether that server answers at the moment.
    pub(super) fn is_node_reachable(&self, node: NodeId) -> bool {
        self.bus.is_up() && self.nodes.may_respond(node)
    }

    /// Whether players may be connected to a server of whom this one cannot know.
    pub(super) fn has_unreachable_node(&self) -> bool {
        !self.bus.is_up() || self.nodes.has_unresponsive()
    }

    /// When that server was heard last. One that is not known yet has just asked for something.
    pub(super) fn last_response_at(&self, node: NodeId) -> Instant {
        self.nodes.last_response_at(node)
    }

    fn send(&self, to: NodeId, packet: &Packet) {
        self.bus.send(to.0, packet.to_bytes());
    }

    /// Tells every other server something.
    pub(super) fn broadcast(&self, packet: &Packet) {
        self.bus.send_all(packet.to_bytes());
    }

    /// Sends a copy of a match what is new.
    pub(super) fn send_update(&self, to: NodeId, match_id: MatchId, update: ReplicaUpdate) {
        let bulletin = Box::new(update);
        self.send(
            to,
            &Packet::ReplicaUpdate {
                match_id,
                update: bulletin,
            },
        );
    }

    /// Has whichever server a player is connected to do something.
    pub(super) fn notify_player(&self, player: PlayerId, notification: Notification) {
        self.broadcast(&Packet::NotifyPlayer {
            player,
            notification,
        });
    }

    /// Ends this server's part in the cluster: its matches are anybody's from now on.
    pub(super) async fn leave(&self) {
        self.lease.withdraw();
        let withdrawn =
            tokio::time::timeout(REQUEST_TIMEOUT, self.directory.withdraw_lease(self.node)).await;
        if !matches!(withdrawn, Ok(Ok(()))) {
            tracing::error!("cannot withdraw this server's lease; it will expire");
        }
        self.broadcast(&Packet::NodeStopping { node: self.node });
        self.bus.close();
    }

    /// The sessions of a player that have connections to servers which answer.
    pub(super) async fn connected_sessions(&self, player: PlayerId) -> Vec<SessionId> {
        let ask = |node| self.request(node, &Packet::GetConnectedSessions { player });
        let nodes = self.nodes.all().into_iter();
        let answers = join_all(nodes.filter(|node| self.is_node_reachable(*node)).map(ask)).await;
        let connected = answers.into_iter().filter_map(|answer| match answer {
            Ok(PacketResponse::ConnectedSessions(sessions)) => Some(sessions),
            Ok(_) | Err(_) => None,
        });
        connected.flatten().collect()
    }

    /// Asks another server something.
    pub(super) fn request(
        &self,
        to: NodeId,
        packet: &Packet,
    ) -> impl Future<Output = Result<PacketResponse, RequestError>> + Send + use<> {
        let reply = self.bus.request(to.0, packet.to_bytes(), REQUEST_TIMEOUT);
        async move {
            let answer = reply.await?;
            serde_json::from_slice(&answer).map_err(|error| {
                tracing::error!(%error, "cannot parse another server's response");
                RequestError::Timeout
            })
        }
    }
}
