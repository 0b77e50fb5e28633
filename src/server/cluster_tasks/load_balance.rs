//! Distributes matches between bots over the cluster. A bot searches on the server that owns its
//! match. Servers report the length of their search queues with every ping response.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef};
use plyhouse_store::NodeId;

use crate::cluster::{Cluster, Packet, PacketResponse};
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::matchmaking::match_loading;

/// This server hands over new matches between bots only if at least this many searches wait in its
/// queue. With a shorter queue, handing over a match gains little, because a bot waits no longer
/// than one search takes.
const BUSY_QUEUE_LENGTH: u32 = 8;

/// This server hands over a match only if its search queue is at least `QUEUE_RATIO_MIN` times as
/// long as the receiving server's search queue. The ratio prevents two servers from handing matches
/// back and forth.
const QUEUE_RATIO_MIN: u32 = 2;

/// Returns the number of searches that wait on this server.
pub(super) fn queued_searches(infra: &Infrastructure) -> u32 {
    u32::try_from(infra.metrics.searches_waiting.get()).unwrap_or(0)
}

/// Offers a new match between bots to another server if that server's search queue is much shorter.
pub(crate) fn hand_over_match(server: &Arc<ServerContext>, match_id: MatchId) {
    let Some(cluster) = &server.infra.cluster else {
        return;
    };
    let local_queue = queued_searches(&server.infra);
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
    server.spawn(|server| async move {
        // If the request fails, this server remains the owner until another server takes over the
        // match.
        if let Ok(PacketResponse::Accepted) = response.await {
            tracing::debug!(%match_id, node = %node.0, "match between bots handed over");
            server.infra.metrics.cluster.handovers.inc();
        }
    });
}

/// Takes over a match that its owner hands over. Returns `false` if this server does not take over
/// the match.
pub(super) async fn accept_match(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    match_id: MatchId,
    from: NodeId,
) -> bool {
    !server.infra.tasks.is_stopping()
        && cluster.has_valid_lease()
        && queued_searches(&server.infra) < BUSY_QUEUE_LENGTH
        && matches!(cluster.take_over(match_id, Some(from)).await, Ok(true))
        && match_loading::find_match(server, MatchRef::Id(match_id))
            .await
            .is_ok()
}
