//! How matches of a cluster come to be served here: as their owner, or as a copy for those who follow them
//! here.

use std::sync::Arc;

use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, Status, WireError};
use plyhouse_store::ReadError;

use super::{PendingMatch, TooManyMatches};
use crate::cluster::{Cluster, Found, Notification};
use crate::command::MatchRequest;
use crate::match_handle::MatchHandle;
use crate::peer::ConnectionHandle;
use crate::shared::ServerContext;
use crate::unread::unknown_match;

/// How many matches without an owner are looked after at a time.
const ABANDONED_AT_ONCE: usize = 200;

/// How often a match is looked for that changes hands meanwhile.
const TRIES_MAX: u32 = 4;

/// The match that is meant, which is not known here.
pub(super) async fn find(
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

fn unreadable(why: impl std::fmt::Display) -> WireError {
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
    let mut unborn = PendingMatch::replay(server, loaded).map_err(unreadable)?;
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

/// Shows a player who is connected here a match in which the player has a part now, or is invited to: on
/// the connections that follow the match `before` it, if there is one.
pub(crate) async fn notify_participants(
    server: &Arc<ServerContext>,
    player: PlayerId,
    id: MatchId,
    before: Option<MatchId>,
) {
    // To find it tells whoever is invited.
    let Ok(handle) = super::find(server, MatchRef::Id(id)).await else {
        return;
    };
    note_part(server, player, &handle);
    if !handle.card().is_of(player) {
        return;
    }
    for peer in server.players.peers(player) {
        let is_meant = before.is_none_or(|before| peer.subscriptions.followed(before).is_some());
        if is_meant && peer.subscriptions.follow_again(&handle) {
            handle.show(player, &peer.outbox).await;
        }
    }
}

/// Shows a match that was made of two seeks to the connection from which one of them came.
pub(crate) async fn show_paired(
    server: &Arc<ServerContext>,
    player: PlayerId,
    asked: Option<&ConnectionHandle>,
    id: MatchId,
) {
    let heir = asked.and_then(|peer| server.players.heir(player, peer));
    let Some(peer) = heir else {
        return notify_participants(server, player, id, None).await;
    };
    let Ok(handle) = super::find(server, MatchRef::Id(id)).await else {
        return;
    };
    note_part(server, player, &handle);
    if peer.subscriptions.follow_again(&handle) {
        handle.show(player, &peer.outbox).await;
    }
}

/// The live matches in which a player has a part, but for those of days, all of them served here by now.
pub(crate) async fn involving(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let involved = cluster.directory.involved(player).await;
    let mut handles = Vec::new();
    for id in involved.map_err(unreadable)? {
        // One that cannot be read now keeps nobody from the others.
        if let Ok(handle) = super::find(server, MatchRef::Id(id)).await {
            handles.push(handle);
        }
    }
    Ok(handles)
}

/// Notes which part a player has in a match that is served here.
pub(crate) fn note_part(server: &ServerContext, player: PlayerId, handle: &MatchHandle) {
    let card = handle.card();
    if card.is_of_days() {
        return;
    }
    if card.host == player {
        // Whatever the bound: the match is there.
        let _ = server.players.host(player, card.id, usize::MAX);
    }
    if card.seat_of(player).is_some() || card.stood_in(player).is_some() {
        server.players.sat_down(player, card.id);
    }
    if card.status() == Status::Ended {
        server.players.unhost(player, card.id);
        server.players.stood_up(player, card.id);
    }
}

/// Has a player know of a match, who may have connections to other servers: all of them, or those that
/// follow the match `before` it.
pub(crate) fn tell_involved(
    server: &ServerContext,
    player: PlayerId,
    match_id: MatchId,
    before: Option<MatchId>,
) {
    if let Some(cluster) = &server.cluster {
        cluster.notify(player, Notification::Involved { match_id, before });
    }
}
