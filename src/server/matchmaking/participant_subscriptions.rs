//! Subscribes each player's connections to that player's matches.

use std::sync::Arc;

use plyhouse_protocol::{MatchId, MatchRef, MatchStatus, PlayerId, WireError};

use super::cluster_match_loading::read_error;
use super::match_loading::find_match;
use crate::connection::handle::ConnectionHandle;
use crate::context::identity::Identity;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::players::registry::joining::PlayerEvent;

/// Subscribes a participant's connections on this server to a match and sends them a snapshot. If
/// `before` is set, subscribes only the connections that follow the earlier match with the id
/// `before`.
pub(crate) async fn notify_participants(
    server: &Arc<ServerContext>,
    player: PlayerId,
    id: MatchId,
    before: Option<MatchId>,
) {
    let is_target = |connection: &ConnectionHandle| {
        before.is_none_or(|before| connection.subscriptions.follows(before))
    };
    show_match(server, player, id, is_target).await;
}

/// Sends a match that results from a seek to the connection that made the seek. If that connection
/// is closed, another connection of the player receives the match. If `seek_connection` is `None`,
/// all connections of the player on this server receive the match.
pub(crate) async fn show_paired_match(
    server: &Arc<ServerContext>,
    player: PlayerId,
    seek_connection: Option<&ConnectionHandle>,
    id: MatchId,
) {
    let heir =
        seek_connection.and_then(|peer| server.identity.players.successor_connection(player, peer));
    let is_target =
        |connection: &ConnectionHandle| heir.as_ref().is_none_or(|heir| heir.id == connection.id);
    show_match(server, player, id, is_target).await;
}

/// Subscribes the player's connections that `is_target` selects to a match and sends them a
/// snapshot. A connection whose client is logging in follows the match after `welcome`.
async fn show_match(
    server: &Arc<ServerContext>,
    player: PlayerId,
    id: MatchId,
    is_target: impl Fn(&ConnectionHandle) -> bool,
) {
    // If `find_match` loads a match that is an open challenge, it also sends the challenge to the
    // invited player.
    let Ok(handle) = find_match(server, MatchRef::Id(id)).await else {
        return;
    };
    record_participation(&server.identity, player, &handle);
    if !handle.summary().involves(player) {
        return;
    }
    let event = PlayerEvent::Match(handle.clone());
    for connection in server.identity.players.buffer_event(player, &event) {
        if is_target(&connection) {
            handle.show_to_participant(player, &connection).await;
        }
    }
}

/// Loads the live matches of a player from the cluster directory, except correspondence matches, and
/// records the player's participation. Returns no match if the server belongs to no cluster.
pub(crate) async fn load_matches_of_player(
    server: &Arc<ServerContext>,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let Some(cluster) = &server.infra.cluster else {
        return Ok(Vec::new());
    };
    let match_ids = cluster.directory.involved_matches(player).await;
    let mut handles = Vec::new();
    for id in match_ids.map_err(read_error)? {
        // A match that cannot be read is skipped, so that the other matches are still loaded.
        if let Ok(handle) = find_match(server, MatchRef::Id(id)).await {
            record_participation(&server.identity, player, &handle);
            handles.push(handle);
        }
    }
    Ok(handles)
}

/// Records in the player registry whether the player hosts or plays in a match on this server.
/// Correspondence matches are not recorded.
pub(crate) fn record_participation(identity: &Identity, player: PlayerId, handle: &MatchHandle) {
    let (players, summary) = (&identity.players, handle.summary());
    if summary.is_correspondence() {
        return;
    }
    if summary.host == player {
        // `usize::MAX` disables the limit on hosted matches, because the match already exists.
        let _ = players.add_hosted_match(player, summary.id, usize::MAX);
    }
    if summary.holds_seat(player) {
        players.add_seated_match(player, summary.id);
    }
    if summary.status() == MatchStatus::Ended {
        players.remove_hosted_match(player, summary.id);
        players.remove_seated_match(player, summary.id);
    }
}

/// After a connection has closed, subscribes the player's other connections to the live matches
/// that the closed connection followed. The player then still counts as present in these matches.
///
/// If the player has no connection left on this server, notifies the player's connections on other
/// servers.
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
    let connections = server.identity.players.connections(player);
    for handle in followed.iter().filter(is_theirs) {
        for connection in &connections {
            handle.show_to_participant(player, connection).await;
        }
        if connections.is_empty() {
            let infra = &server.infra;
            infra.broadcast_participation(player, handle.id(), None);
        }
    }
}
