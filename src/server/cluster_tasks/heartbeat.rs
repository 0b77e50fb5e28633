//! Pings the other servers and informs the matches when a server stops or resumes responding.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use plyhouse_bus::RequestError;
use plyhouse_store::NodeId;
use tokio::time::{sleep, timeout};

use crate::cluster::{Cluster, NodeChange, Packet, PacketResponse};
use crate::context::clock_and_rng::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;
use crate::matchmaking::cluster_match_loading;
use crate::schedule::clock_pause;

/// Interval between pings to each server.
const PING_INTERVAL: Duration = Duration::from_millis(250);

/// Pings all other servers until this server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        let nodes = cluster.nodes.all().into_iter();
        let pings = join_all(nodes.map(|node| ping(&server, &cluster, node)));
        tokio::join!(pings, sleep(PING_INTERVAL));
    }
}

async fn ping(server: &Arc<ServerContext>, cluster: &Cluster, node: NodeId) {
    let sent_at = now();
    let answer = timeout(PING_INTERVAL, cluster.request(node, &Packet::Ping)).await;
    let change = match answer.unwrap_or(Err(RequestError::Timeout)) {
        Ok(PacketResponse::Pong { searches }) => {
            let rtt = now().saturating_duration_since(sent_at);
            cluster.nodes.record_response(node, rtt, searches)
        }
        Ok(_) => cluster.nodes.record_failure(node, RequestError::Timeout),
        Err(why) => cluster.nodes.record_failure(node, why),
    };
    match change {
        NodeChange::None => {}
        NodeChange::NoResponders => {
            tracing::warn!(node = %node.0, "another server is not subscribed on the bus");
            let is_dead = false;
            spawn_broadcast(server, Control::NodeUnreachable { node, is_dead });
        }
        NodeChange::Unresponsive => {
            tracing::warn!(node = %node.0, "another server does not respond");
            spawn_broadcast(server, Control::NodesChanged);
        }
        NodeChange::Responsive => {
            tracing::info!(node = %node.0, "another server responds again");
            spawn_broadcast(server, Control::NodesChanged);
        }
    }
}

/// Sends a control message to all matches on this server.
pub(super) fn spawn_broadcast(server: &Arc<ServerContext>, control: Control) {
    server.spawn(|server| async move {
        clock_pause::broadcast_to_matches(&server, &control).await;
    });
}

/// Handles the loss of another server. Each match that this server owns stops sending updates to
/// the lost server. This server also takes over matches that no longer have a live owner.
pub(super) fn on_node_gone(server: &Arc<ServerContext>, cluster: &Arc<Cluster>, node: NodeId) {
    let is_dead = true;
    spawn_broadcast(server, Control::NodeUnreachable { node, is_dead });
    let cluster = Arc::clone(cluster);
    server.spawn(|server| async move {
        cluster_match_loading::take_over_abandoned(&server, &cluster).await;
    });
}
