//! Serves matches of a cluster, either as their owner or as a replica for local followers.

use std::sync::Arc;

use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, WireError};
use plyhouse_store::ReadError;

use super::match_loading::resolve_match_id;
use super::pending_match::PendingMatch;
use crate::cluster::{Cluster, MatchLocation};
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::Control;
use crate::wire::error_replies::unknown_match_error;

/// Maximum number of abandoned matches per query of the cluster directory. An abandoned match is
/// live and has no owner with a valid lease.
const TAKEOVER_BATCH_SIZE: usize = 200;

/// Maximum number of attempts to serve a match whose owner keeps changing.
const LOCATE_ATTEMPTS_MAX: u32 = 4;

/// Finds a cluster match that is not in the lobby, and makes this server serve the match. This
/// server serves the match as its owner or as a replica.
pub(crate) async fn find_in_cluster(
    server: &Arc<ServerContext>,
    target: MatchRef,
) -> Result<MatchHandle, WireError> {
    let id = resolve_match_id(&server.infra, target).await;
    let (Some(cluster), Some(id)) = (&server.infra.cluster, id.map_err(read_error)?) else {
        return Err(unknown_match_error());
    };
    if let Some(handle) = server.matches.lobby.find(MatchRef::Id(id)) {
        return Ok(handle);
    }
    for _ in 0..LOCATE_ATTEMPTS_MAX {
        if let Some(handle) = serve_match(server, cluster, id).await? {
            return Ok(handle);
        }
    }
    Err(read_error("the match moved between servers too often"))
}

pub(super) fn read_error(why: impl std::fmt::Display) -> WireError {
    tracing::error!(error = %why, "cannot read a match");
    let message = "cannot load the match; try again shortly";
    WireError::new(ErrorCode::Overloaded, message)
}

/// Loads a match and serves it as its owner or as a replica. Returns `None` if the owner changed
/// during the load.
async fn serve_match(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    id: MatchId,
) -> Result<Option<MatchHandle>, WireError> {
    let location = cluster.locate(id, None, false).await;
    let location = location.map_err(|_| read_error("cannot determine the owner"))?;
    let owner = match location {
        MatchLocation::Unknown => return Err(unknown_match_error()),
        MatchLocation::Local => Some(cluster.node),
        MatchLocation::Remote(owner) => Some(owner),
        MatchLocation::Ended => None,
    };
    let is_own = owner == Some(cluster.node);
    let loaded = server.infra.store.load(id).await.inspect_err(|error| {
        if is_own && matches!(error, ReadError::Unavailable) {
            server.infra.store.release(id);
        }
    });
    let loaded = loaded
        .map_err(read_error)?
        .ok_or_else(unknown_match_error)?;
    let position = loaded.position;
    if is_own {
        let owns = cluster.is_owner(id, position.epoch()).await;
        if !owns.map_err(|_| read_error("cannot determine the owner"))? {
            return Ok(None);
        }
    }
    let mut pending = PendingMatch::replay(server, loaded).map_err(read_error)?;
    if !is_own {
        pending.actor.become_replica(owner, position);
    }
    let adopted = pending.register(server).inspect_err(|_| {
        if is_own {
            server.infra.store.release(id); // Lets another server become the owner of the match.
        }
    });
    Ok(Some(adopted?.handle))
}

/// Takes over live matches that have no owner, or whose owner's lease has expired.
pub(crate) async fn take_over_abandoned(server: &Arc<ServerContext>, cluster: &Cluster) {
    while cluster.has_valid_lease() && !server.infra.tasks.is_stopping() {
        let directory = &cluster.directory;
        let abandoned = match directory.abandoned_matches(TAKEOVER_BATCH_SIZE).await {
            Ok(abandoned) => abandoned,
            Err(error) => {
                tracing::warn!(%error, "cannot read the list of matches without an owner");
                return;
            }
        };
        let is_last = abandoned.len() < TAKEOVER_BATCH_SIZE;
        let mut takeovers = 0;
        for id in abandoned {
            match cluster.locate(id, None, false).await {
                Ok(MatchLocation::Local) => {}
                // This server does not own the match, so it skips the match. Either the match has
                // ended or was deleted, or another server owns it. Another server may have taken
                // over the match first, or the previous owner may be about to renew its lease.
                Ok(MatchLocation::Remote(_) | MatchLocation::Ended | MatchLocation::Unknown) => {
                    continue;
                }
                Err(_) => return,
            }
            takeovers += 1;
            if let Some(handle) = server.matches.lobby.find(MatchRef::Id(id)) {
                // The actor on this server may hold an outdated match state, so the actor is
                // notified that the owner has changed. The actor is a replica, or it was started
                // when this server owned the match earlier.
                let owner_changed = Control::OwnerChanged { by: None };
                handle.notify(owner_changed, &server.infra.metrics).await;
            }
            if let Err(error) = find_in_cluster(server, MatchRef::Id(id)).await {
                tracing::warn!(match_id = %id, error = error.message, "cannot take over a match");
            }
        }
        if is_last || takeovers == 0 {
            return;
        }
    }
}
