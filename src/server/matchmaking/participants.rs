//! Follows for players the matches in which they take part.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef, MatchStatus, PlayerId, WireError};

use super::match_loading::find_match;
use super::ownership::read_error;
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
    let Ok(handle) = find_match(server, MatchRef::Id(id)).await else {
        return;
    };
    record_participation(server, player, &handle);
    if !handle.summary().involves(player) {
        return;
    }
    for connection in server.players.connections(player) {
        let is_target =
            before.is_none_or(|before| connection.subscriptions.find_followed(before).is_some());
        if is_target && connection.subscriptions.follow_as_participant(&handle) {
            handle.push_snapshot(player, &connection.outbox).await;
        }
    }
}

/// Shows a match that was made of two seeks to the connection from which one of them came.
pub(crate) async fn show_paired_match(
    server: &Arc<ServerContext>,
    player: PlayerId,
    seek_connection: Option<&ConnectionHandle>,
    id: MatchId,
) {
    let heir = seek_connection.and_then(|peer| server.players.successor_connection(player, peer));
    let Some(connection) = heir else {
        return notify_participants(server, player, id, None).await;
    };
    let Ok(handle) = find_match(server, MatchRef::Id(id)).await else {
        return;
    };
    record_participation(server, player, &handle);
    if connection.subscriptions.follow_as_participant(&handle) {
        handle.push_snapshot(player, &connection.outbox).await;
    }
}

/// The live matches in which a player has a part, but for those of days, all of them served here by now.
pub(crate) async fn load_matches_of_player(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let match_ids = cluster.directory.involved_matches(player).await;
    let mut handles = Vec::new();
    for id in match_ids.map_err(read_error)? {
        // One that cannot be read now keeps nobody from the others.
        if let Ok(handle) = find_match(server, MatchRef::Id(id)).await {
            handles.push(handle);
        }
    }
    Ok(handles)
}

/// Notes which part a player has in a match that is served here.
pub(crate) fn record_participation(server: &ServerContext, player: PlayerId, handle: &MatchHandle) {
    let summary = handle.summary();
    if summary.is_correspondence() {
        return;
    }
    if summary.host == player {
        // Whatever the bound: the match is there.
        let _ = server
            .players
            .add_hosted_match(player, summary.id, usize::MAX);
    }
    if summary.seat_of(player).is_some() || summary.substituted_seat(player).is_some() {
        server.players.add_seated_match(player, summary.id);
    }
    if summary.status() == MatchStatus::Ended {
        server.players.remove_hosted_match(player, summary.id);
        server.players.remove_seated_match(player, summary.id);
    }
}

/// Has the other connections of a player follow what one that has gone leaves behind, if it is the player's:
/// so the player is there in it while there is any.
pub(crate) async fn transfer_followed_matches(
    server: &ServerContext,
    player: PlayerId,
    followed: &[MatchHandle],
) {
    let is_theirs = |handle: &&MatchHandle| {
        let summary = handle.summary();
        summary.status() != MatchStatus::Ended
            && !summary.is_correspondence()
            && summary.involves(player)
    };
    let connections = server.players.connections(player);
    for handle in followed.iter().filter(is_theirs) {
        for connection in connections
            .iter()
            .filter(|peer| peer.subscriptions.follow_as_participant(handle))
        {
            handle.push_snapshot(player, &connection.outbox).await;
        }
        if connections.is_empty() {
            server.broadcast_participation(player, handle.id(), None);
        }
    }
}
