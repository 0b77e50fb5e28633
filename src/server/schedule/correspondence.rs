//! What players are told of their matches of days, and how many they may have. The store knows them by
//! their reminders, whether anybody has them in memory or not.

use crate::cluster::Notification;
use crate::connection::handle::ConnectionHandle;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;
use crate::wire::error_replies::unread;
use crate::wire::to_protocol;
use plyhouse_matches::{DaysTurn, Match, Part, Timekeeper};
use plyhouse_protocol::{
    DaysMatch, ErrorCode, FollowedMatch, MatchId, PlayerId, ServerMessage, WireError,
};

/// Whether the player may sit in or host one more match of days.
pub(crate) async fn check_room(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    let parts = parts(server, player).await?;
    let count = parts.iter().filter(|(_, part)| part.days.is_some()).count();
    if count < server.correspondence_matches_max(player) {
        return Ok(());
    }
    let message = "you play as many matches of days as is allowed";
    Err(WireError::new(ErrorCode::TooManyMatches, message))
}

/// The matches in which a player has a part and which have a reminder.
pub(crate) async fn parts(
    server: &ServerContext,
    player: PlayerId,
) -> Result<Vec<(MatchId, Part)>, WireError> {
    server.store.participations(player).await.map_err(|error| {
        tracing::error!(%player, %error, "a player's matches are not read");
        unread(&error)
    })
}

/// Those of them that are played over days, as they are told.
pub(crate) fn rows(server: &ServerContext, parts: &[(MatchId, Part)]) -> Vec<FollowedMatch> {
    let rows = parts.iter().filter_map(|part| row(server, *part));
    rows.collect()
}

fn row(server: &ServerContext, (match_id, part): (MatchId, Part)) -> Option<FollowedMatch> {
    let DaysTurn { turn, due_ms } = part.days?;
    Some(FollowedMatch {
        match_id,
        you: part.seat.map(to_protocol::seat),
        days: Some(DaysMatch {
            days: true,
            turn: turn.map(to_protocol::seat),
            due_ms: due_ms.map(|due_ms| due_ms.max(server.grace_until_ms())),
        }),
        stood_in: part.stood_in.map(to_protocol::seat),
    })
}

/// Tells the player to whom a turn has been given, on each connection that does not follow the match.
pub(crate) fn tell_whose_turn(
    server: &ServerContext,
    state: &Match,
    follows: impl Fn(&ConnectionHandle) -> bool,
) {
    // First this, so that whoever is being welcomed looks again.
    server.players.gave_turn();
    let player = state.turn().and_then(|seat| state.occupant(seat).player());
    let (Some(player), Some(due_ms)) = (player, Timekeeper::days_due_ms(state)) else {
        return;
    };
    let told = encode(&ServerMessage::YourTurn {
        match_id: state.id(),
        game: state.creation().game.info.id.to_owned(),
        ply: state.ply(),
        due_ms,
    });
    let peers = server.players.peers(player);
    for peer in peers.iter().filter(|peer| !follows(peer)) {
        peer.outbox.send(told.clone());
    }
    if let Some(cluster) = &server.cluster {
        let (match_id, text) = (state.id(), told.to_string());
        cluster.notify(player, Notification::Turn { match_id, text });
    }
}
