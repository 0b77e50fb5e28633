//! Follows for players the matches in which they take part.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId, Status, WireError};

use super::match_loading::find;
use super::ownership::unreadable;
use crate::cluster::Cluster;
use crate::connection::handle::ConnectionHandle;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;

/// Shows a player who is connected here a match in which the player has a part now, or is invited to: on
/// the connections that follow the match `before` it, if there is one.
pub(crate) async fn notify_participants(
    server: &Arc<ServerContext>,
    player: PlayerId,
    id: MatchId,
    before: Option<MatchId>,
) {
    // To find it tells whoever is invited.
    let Ok(handle) = find(server, MatchRef::Id(id)).await else {
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
    let Ok(handle) = find(server, MatchRef::Id(id)).await else {
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
        if let Ok(handle) = find(server, MatchRef::Id(id)).await {
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

/// Has the other connections of a player follow what one that has gone leaves behind, if it is the player's:
/// so the player is there in it while there is any.
pub(crate) async fn hand_on(server: &ServerContext, player: PlayerId, followed: &[MatchHandle]) {
    let is_theirs = |handle: &&MatchHandle| {
        let card = handle.card();
        card.status() != Status::Ended && !card.is_of_days() && card.is_of(player)
    };
    let peers = server.players.peers(player);
    for handle in followed.iter().filter(is_theirs) {
        for peer in peers
            .iter()
            .filter(|peer| peer.subscriptions.follow_again(handle))
        {
            handle.show(player, &peer.outbox).await;
        }
        if peers.is_empty() {
            server.tell_involved(player, handle.id(), None);
        }
    }
}
