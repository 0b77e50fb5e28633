//! Has matches that bots alone play thought about where fewer searches wait: bots think where their match is
//! decided, and servers tell each other how many wait with every answer to a ping.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef};
use plyhouse_store::NodeId;

use crate::cluster::{Answered, Cluster, Packet};
use crate::context::server_context::ServerContext;
use crate::matchmaking::match_loading;

/// From how many waiting searches on this server hands new matches of bots to others: with fewer, a bot waits
/// no longer than it thinks.
const LONG: u32 = 8;

/// How many times as many must wait here as there, so that matches do not go to and fro.
const TIMES: u32 = 2;

/// How many searches wait here.
pub(super) fn waiting(server: &ServerContext) -> u32 {
    u32::try_from(server.metrics.searches_waiting.get()).unwrap_or(0)
}

/// Hands a new match, which bots alone play, to another server, if far fewer searches wait there.
pub(crate) fn hand_over(server: &Arc<ServerContext>, match_id: MatchId) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let here = waiting(server);
    if here < LONG {
        return;
    }
    let Some((node, there)) = cluster.nodes.least_busy() else {
        return;
    };
    if there.saturating_mul(TIMES) > here {
        return;
    }
    let from = cluster.node;
    let asked = cluster.ask(node, &Packet::Take { match_id, from });
    let server = Arc::clone(server);
    server.clone().spawn(async move {
        // Whatever comes of it, the match is somebody's: this server's, unless it was taken.
        if let Ok(Answered::Here) = asked.await {
            tracing::debug!(%match_id, node = %node.0, "a match of bots is handed over");
            server.metrics.cluster.handed_over.inc();
        }
    });
}

/// Takes a match that its owner hands over. False if that did not come to pass.
pub(super) async fn take(server: &Arc<ServerContext>, match_id: MatchId, from: NodeId) -> bool {
    let Some(cluster) = server.cluster.as_ref().filter(|_| !server.is_stopping()) else {
        return false;
    };
    may_take(server, cluster)
        && matches!(cluster.take(match_id, Some(from)).await, Ok(true))
        && match_loading::find(server, MatchRef::Id(match_id))
            .await
            .is_ok()
}

fn may_take(server: &ServerContext, cluster: &Cluster) -> bool {
    cluster.may_act() && waiting(server) < LONG
}
