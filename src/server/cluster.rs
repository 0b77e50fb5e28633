//! State of this server as a member of a cluster of servers that share a store.
//!
//! Any server accepts any client. Each match is owned by one server, which decides on all actions
//! in the match. Every other server with followers of the match holds a replica, which the owner
//! updates. The replica forwards requests to the owner (`match_actor/replica.rs`).
//!
//! If two servers both consider themselves the owner of a match, the journal in the store accepts
//! writes from only one of them. Messages between servers may be lost, so the consistency of a
//! match must not depend on them.

mod changed_listings;
mod match_routing;
mod metrics;
mod node_lease;
mod nodes;
mod packet;

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use plyhouse_bus::{Bus, Listener, RequestError};
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use plyhouse_store::NodeId;
use plyhouse_store::cluster_directory::ClusterDirectory;
use tokio::sync::Notify;
use tokio::time::timeout;

pub(super) use self::match_routing::{MatchLocation, PacketResponse};
pub(super) use self::metrics::ClusterMetrics;
pub(super) use self::nodes::NodeChange;
pub(super) use self::packet::{Notification, Packet};

use self::changed_listings::ChangedListings;
use self::node_lease::Lease;
use self::nodes::Nodes;
use super::match_handle::replication_messages::ReplicaUpdate;

/// Timeout of a request to another server.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections of this server to the cluster.
#[derive(Debug)]
pub struct ClusterLinks {
    /// Id of this server, which is also its address on the bus.
    pub node: NodeId,
    /// Access to the state that all servers of the cluster share through the store.
    pub directory: Arc<dyn ClusterDirectory>,
    /// Sends messages and requests to the other servers.
    pub bus: Arc<dyn Bus>,
    /// Receives messages and requests from the other servers.
    pub inbox: Listener,
}

/// State of this server as a member of the cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) node: NodeId,
    pub(super) directory: Arc<dyn ClusterDirectory>,
    bus: Arc<dyn Bus>,
    pub(super) lease: Lease,
    pub(super) nodes: Nodes,
    /// Matches of this server whose list entries have changed but are not yet published.
    pub(super) changed_listings: ChangedListings,
    /// Signal that messages from other servers were lost.
    pub(super) messages_lost: Notify,
}

impl Cluster {
    pub(super) fn new(links: ClusterLinks) -> (Self, Listener) {
        let cluster = Self {
            node: links.node,
            directory: links.directory,
            bus: links.bus,
            lease: Lease::default(),
            nodes: Nodes::default(),
            changed_listings: ChangedListings::default(),
            messages_lost: Notify::new(),
        };
        (cluster, links.inbox)
    }

    /// Returns whether this server holds a valid lease and may therefore act as an owner.
    pub(super) fn has_valid_lease(&self) -> bool {
        self.lease.is_valid()
    }

    /// Returns whether this server can reach the cluster.
    pub(super) fn is_connected(&self) -> bool {
        self.bus.is_up() && !self.nodes.are_all_unresponsive()
    }

    /// Returns whether the server `node` is currently reachable.
    pub(super) fn is_node_reachable(&self, node: NodeId) -> bool {
        self.bus.is_up() && self.nodes.may_respond(node)
    }

    /// Returns whether any other server is unreachable. Players may still be connected to such a
    /// server.
    pub(super) fn has_unreachable_node(&self) -> bool {
        !self.bus.is_up() || self.nodes.has_unresponsive()
    }

    /// Sends a packet to all other servers.
    pub(super) fn broadcast(&self, packet: &Packet) {
        self.bus.send_all(packet.to_bytes());
    }

    /// Sends an update to the replica of a match on another server.
    pub(super) fn send_update(&self, to: NodeId, match_id: MatchId, update: ReplicaUpdate) {
        let update = Box::new(update);
        let packet = Packet::ReplicaUpdate { match_id, update };
        self.bus.send(to.0, packet.to_bytes());
    }

    /// Notifies the player on every server where the player is connected.
    pub(super) fn notify_player(&self, player: PlayerId, notification: Notification) {
        self.broadcast(&Packet::NotifyPlayer {
            player,
            notification,
        });
    }

    /// Leaves the cluster. Other servers may take over the matches of this server from now on.
    pub(super) async fn leave(&self) {
        self.lease.withdraw();
        let withdrawal = self.directory.withdraw_lease(self.node);
        if !matches!(timeout(REQUEST_TIMEOUT, withdrawal).await, Ok(Ok(()))) {
            tracing::error!("cannot withdraw this server's lease; it will expire");
        }
        self.broadcast(&Packet::NodeStopping { node: self.node });
        self.bus.close();
    }

    /// Returns the sessions of a player that are connected to other reachable servers.
    pub(super) async fn connected_sessions(&self, player: PlayerId) -> Vec<SessionId> {
        let ask = |node| self.request(node, &Packet::GetConnectedSessions { player });
        let nodes = self.nodes.all().into_iter();
        let answers = join_all(nodes.filter(|node| self.is_node_reachable(*node)).map(ask)).await;
        let connected = answers.into_iter().map(|answer| match answer {
            Ok(PacketResponse::ConnectedSessions(sessions)) => sessions,
            Ok(_) | Err(_) => Vec::new(),
        });
        connected.flatten().collect()
    }

    /// Sends a request to another server and waits for its response.
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
