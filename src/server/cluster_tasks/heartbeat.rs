//! Asks the other servers whether they are there, and sees to what they had when they are not.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use plyhouse_bus::RequestError;
use plyhouse_store::NodeId;
use tokio::time::{sleep, timeout};

use crate::cluster::{Answered, News, Packet};
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::MatchRequest;
use crate::matchmaking::ownership;
use crate::schedule::clock_pause;

/// How often each server is asked whether it is there.
const PING_EVERY: Duration = Duration::from_millis(250);

/// Asks every other server again and again whether it is there, until this one stops.
pub(crate) async fn watch(server: Arc<ServerContext>) {
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

async fn ping(server: &Arc<ServerContext>, node: NodeId) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let asked_at = now();
    let answer = timeout(PING_EVERY, cluster.ask(node, &Packet::Ping)).await;
    let news = match answer.unwrap_or(Err(RequestError::InTime)) {
        Ok(Answered::Alive { searches }) => {
            let rtt = now().saturating_duration_since(asked_at);
            cluster.nodes.answered(node, rtt, searches)
        }
        Ok(_) => cluster.nodes.unanswered(node, RequestError::InTime),
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
pub(super) fn tell_all(server: &Arc<ServerContext>, request: MatchRequest) {
    let told = Arc::clone(server);
    server.spawn(async move { clock_pause::tell_all(&told, &request).await });
}

/// A server is gone for good: what it had is looked after.
pub(super) fn after_gone(server: &Arc<ServerContext>, node: NodeId) {
    let is_dead = true;
    tell_all(server, MatchRequest::NodeGone { node, is_dead });
    let sweeping = Arc::clone(server);
    server.spawn(async move { ownership::adopt_abandoned(&sweeping).await });
}
