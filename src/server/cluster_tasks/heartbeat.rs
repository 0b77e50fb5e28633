//! Asks the other servers whether they are there, and sees to what they had when they are not.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use plyhouse_bus::RequestError;
use plyhouse_store::NodeId;
use tokio::time::{sleep, timeout};

use crate::cluster::{NodeChange, Packet, PacketResponse};
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;
use crate::matchmaking::ownership;
use crate::schedule::clock_pause;

/// How often each server is asked whether it is there.
const PING_INTERVAL: Duration = Duration::from_millis(250);

/// Asks every other server again and again whether it is there, until this one stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        loop {
            let nodes = match &server.cluster {
                Some(cluster) => cluster.nodes.all(),
                None => return,
            };
            let pings = join_all(nodes.into_iter().map(|node| ping(&server, node)));
            tokio::join!(pings, sleep(PING_INTERVAL));
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

async fn ping(server: &Arc<ServerContext>, node: NodeId) {
    let Some(cluster) = &server.cluster else {
        return;
    };
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

/// Has every match here know that something has come to pass with a server.
pub(super) fn spawn_broadcast(server: &Arc<ServerContext>, control: Control) {
    let context = Arc::clone(server);
    server.spawn(async move { clock_pause::broadcast_to_matches(&context, &control).await });
}

/// A server is gone for good: what it had is looked after.
pub(super) fn on_node_gone(server: &Arc<ServerContext>, node: NodeId) {
    let is_dead = true;
    spawn_broadcast(server, Control::NodeUnreachable { node, is_dead });
    let context = Arc::clone(server);
    server.spawn(async move { ownership::take_over_abandoned(&context).await });
}
