//! Subscribes the connections of players to the players' matches.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef, MatchStatus, PlayerId, WireError};

use super::cluster_match_loading::read_error;
use super::match_loading::find_match;
use crate::cluster::Cluster;
use crate::connection::handle::ConnectionHandle;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;

/// Subscribes the local connections of a participant to a match and sends them a snapshot. With
/// `before`, only connections that follow that match are included.
pub(crate) async fn notify_participants(
    server: &Arc<ServerContext>,
    player: PlayerId,
    id: MatchId,
    before: Option<MatchId>,
) {
    // Loading the match sends the challenge to an invited player.
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

/// Sends a match made from two seeks to the connection that made one of them, or to its successor.
/// If there is none, all local connections of the player are notified.
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

/// Loads the live matches of a player from the cluster directory, except correspondence matches.
pub(crate) async fn load_matches_of_player(
    server: &Arc<ServerContext>,
    cluster: &Cluster,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let match_ids = cluster.directory.involved_matches(player).await;
    let mut handles = Vec::new();
    for id in match_ids.map_err(read_error)? {
        // A match that cannot be read does not prevent the others from loading.
        if let Ok(handle) = find_match(server, MatchRef::Id(id)).await {
            handles.push(handle);
        }
    }
    Ok(handles)
}

/// Records the player's role in a served match in the player registry. Correspondence matches are
/// not recorded.
pub(crate) fn record_participation(server: &ServerContext, player: PlayerId, handle: &MatchHandle) {
    let summary = handle.summary();
    if summary.is_correspondence() {
        return;
    }
    if summary.host == player {
        // The limit does not apply, because the match already exists.
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

/// Subscribes the player's other connections to the live matches of a closed connection. The player
/// thus remains present in these matches.
///
/// If the player has no other connection here, connections on other servers are notified.
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
