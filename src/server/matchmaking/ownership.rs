//! How matches of a cluster come to be served here: as their owner, or as a copy for those who follow them
//! here.

use std::sync::Arc;

use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, WireError};
use plyhouse_store::ReadError;

use super::lobby::TooManyMatches;
use super::pending_match::PendingMatch;
use super::rematch_creation;
use crate::cluster::{Cluster, Found};
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::MatchRequest;
use crate::wire::error_replies::unknown_match;

/// How many matches without an owner are looked after at a time.
const ABANDONED_AT_ONCE: usize = 200;

/// How often a match is looked for that changes hands meanwhile.
const TRIES_MAX: u32 = 4;

/// The match that is meant, which is not known here.
pub(crate) async fn find(
    server: &Arc<ServerContext>,
    target: MatchRef,
) -> Result<MatchHandle, WireError> {
    let (Some(cluster), Some(id)) = (&server.cluster, id_of(server, target).await?) else {
        return Err(unknown_match());
    };
    if let Some(handle) = server.lobby.find(MatchRef::Id(id)) {
        return Ok(handle);
    }
    for _ in 0..TRIES_MAX {
        if let Some(handle) = bring(server, cluster, id).await? {
            return Ok(handle);
        }
    }
    Err(unreadable("it changes hands"))
}

pub(super) fn unreadable(why: impl std::fmt::Display) -> WireError {
    tracing::error!(%why, "match not read");
    WireError::new(ErrorCode::Overloaded, "the match cannot be read now")
}

async fn id_of(server: &ServerContext, target: MatchRef) -> Result<Option<MatchId>, WireError> {
    match target {
        MatchRef::Id(id) => Ok(Some(id)),
        MatchRef::Code(code) => server.store.by_code(code).await.map_err(unreadable),
        MatchRef::Nothing => Ok(None),
    }
}

/// Has a match served here. `None` if it has changed hands meanwhile.
async fn bring(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    id: MatchId,
) -> Result<Option<MatchHandle>, WireError> {
    let found = cluster.locate(id, None, false).await;
    let found = found.map_err(|_| unreadable("nobody knows whose it is"))?;
    let owner = match found {
        Found::Unknown => return Err(unknown_match()),
        Found::Here => Some(cluster.node),
        Found::At(owner) => Some(owner),
        Found::Over => None,
    };
    let is_own = owner == Some(cluster.node);
    let loaded = server.store.load(id).await.inspect_err(|error| {
        if is_own && matches!(error, ReadError::Unavailable) {
            server.store.release(id);
        }
    });
    let loaded = loaded.map_err(unreadable)?.ok_or_else(unknown_match)?;
    let mark = loaded.mark;
    if is_own {
        let owns = cluster.owns(id, mark.epoch()).await;
        if !owns.map_err(|_| unreadable("nobody knows whose it is"))? {
            return Ok(None);
        }
    }
    let mut unborn =
        PendingMatch::replay(server, loaded, rematch_creation::give).map_err(unreadable)?;
    if !is_own {
        unborn.table.is_afar(owner, mark);
    }
    let adopted = unborn.adopt(server).inspect_err(|TooManyMatches| {
        if is_own {
            server.store.release(id); // Another server may have room.
        }
    });
    Ok(Some(adopted?.handle))
}

/// Serves the matches whose owner is gone.
pub(crate) async fn adopt_abandoned(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    while cluster.may_act() && !server.is_stopping() {
        let abandoned = match cluster.directory.abandoned(ABANDONED_AT_ONCE).await {
            Ok(abandoned) => abandoned,
            Err(error) => {
                tracing::warn!(%error, "nobody knows which matches have lost their owner");
                return;
            }
        };
        let is_last = abandoned.len() < ABANDONED_AT_ONCE;
        let mut taken = 0;
        for id in abandoned {
            match cluster.locate(id, None, false).await {
                Ok(Found::Here) => {}
                // Somebody else was faster, or its owner is about to renew its lease.
                Ok(Found::At(_) | Found::Over | Found::Unknown) => continue,
                Err(_) => return,
            }
            taken += 1;
            if let Some(handle) = server.lobby.find(MatchRef::Id(id)) {
                // It was this server's before, and somebody else's since: what is known of it here is old.
                let taken = MatchRequest::OwnerChanged { by: None };
                handle.tell(taken, &server.metrics).await;
            }
            if let Err(error) = find(server, MatchRef::Id(id)).await {
                tracing::warn!(match_id = %id, why = error.message, "a match is not taken over");
            }
        }
        if is_last || taken == 0 {
            return;
        }
    }
}
