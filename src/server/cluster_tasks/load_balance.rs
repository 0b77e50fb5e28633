//! Has matches that bots alone play thought about where fewer searches wait: bots think where their match is
//! decided, and servers tell each other how many wait with every answer to a ping.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef};
use plyhouse_store::NodeId;

use crate::cluster::{Cluster, Packet, PacketResponse};
use crate::context::server_context::ServerContext;
use crate::matchmaking::match_loading;

/// From how many waiting searches on this server hands new matches of bots to others: with fewer, a bot waits
/// no longer than it thinks.
const BUSY_QUEUE_LENGTH: u32 = 8;

/// How many times as many must wait here as there, so that matches do not go to and fro.
const QUEUE_RATIO_MIN: u32 = 2;

/// How many searches wait here.
pub(super) fn queued_searches(server: &ServerContext) -> u32 {
    u32::try_from(server.metrics.searches_waiting.get()).unwrap_or(0)
}

/// Hands a new match, which bots alone play, to another server, if far fewer searches wait there.
pub(crate) fn hand_over_match(server: &Arc<ServerContext>, match_id: MatchId) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let local_queue = queued_searches(server);
    if local_queue < BUSY_QUEUE_LENGTH {
        return;
    }
    let Some((node, remote_queue)) = cluster.nodes.least_busy() else {
        return;
    };
    if remote_queue.saturating_mul(QUEUE_RATIO_MIN) > local_queue {
        return;
    }
    let from = cluster.node;
    let response = cluster.request(node, &Packet::HandOver { match_id, from });
    let server = Arc::clone(server);
    server.clone().spawn(async move {
        // Whatever comes of it, the match is somebody's: this server's, unless it was taken.
        if let Ok(PacketResponse::Accepted) = response.await {
            tracing::debug!(%match_id, node = %node.0, "handed over a match of bots");
            server.metrics.cluster.handovers.inc();
        }
    });
}

/// Takes a match that its owner hands over. False if that did not come to pass.
pub(super) async fn accept_match(
    server: &Arc<ServerContext>,
    match_id: MatchId,
    from: NodeId,
) -> bool {
    let Some(cluster) = server.cluster.as_ref().filter(|_| !server.is_stopping()) else {
        return false;
    };
    can_accept_match(server, cluster)
        && matches!(cluster.take_over(match_id, Some(from)).await, Ok(true))
        && match_loading::find_match(server, MatchRef::Id(match_id))
            .await
            .is_ok()
}

fn can_accept_match(server: &ServerContext, cluster: &Cluster) -> bool {
    cluster.has_valid_lease() && queued_searches(server) < BUSY_QUEUE_LENGTH
}
