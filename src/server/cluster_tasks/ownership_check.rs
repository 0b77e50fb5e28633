//! Checks whether this server still owns its matches. A server that takes over a match notifies the
//! previous owner, but this notification may be lost.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef, MatchStatus};
use plyhouse_store::cluster_directory::LEASE_DURATION;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;

/// Number of matches in one ownership query to the store.
const LOOKUP_BATCH_SIZE: usize = 1000;

/// Checks the ownership of all matches regularly until the server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>) {
    loop {
        sleep(LEASE_DURATION).await;
        check_ownership(&server, &cluster).await;
    }
}

/// Finds the matches in this server's memory that the server does not own according to the store.
/// Sends each of these matches a [`Control::OwnerChanged`] message. Replicas ignore the message.
pub(super) async fn check_ownership(server: &ServerContext, cluster: &Cluster) {
    let live = server.matches.lobby.all().into_iter();
    let live = live.filter(|handle| handle.summary().status() != MatchStatus::Ended);
    let ids: Vec<MatchId> = live.map(|handle| handle.id()).collect();
    for batch in ids.chunks(LOOKUP_BATCH_SIZE) {
        let directory = &cluster.directory;
        let foreign = directory.foreign_matches(cluster.node, batch.to_vec());
        let foreign = foreign.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot check which matches this server owns");
            Vec::new()
        });
        for id in foreign {
            if let Some(handle) = server.matches.lobby.find(MatchRef::Id(id)) {
                let owner_changed = Control::OwnerChanged { by: None };
                handle.notify(owner_changed, &server.infra.metrics).await;
            }
        }
    }
}
