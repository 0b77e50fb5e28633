//! Notifies players of their turns in correspondence matches, and limits the number of a player's
//! correspondence matches. The server finds a player's matches through reminders in the store, even
//! if the matches are not in memory.

use crate::cluster::Notification;
use crate::connection::handle::ConnectionHandle;
use crate::context::infrastructure::Infrastructure;
use crate::context::limit_reached::LimitReached;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;
use crate::wire::error_replies::store_read_error;
use crate::wire::to_protocol;
use plyhouse_matches::{CorrespondenceTurn, Match, Participation, TurnClock};
use plyhouse_protocol::{
    CorrespondenceState, FollowedMatch, MatchId, PlayerId, ServerMessage, WireError,
};

/// Checks that the player may sit in or host another correspondence match.
pub(crate) async fn check_limit(infra: &Infrastructure, player: PlayerId) -> Result<(), WireError> {
    let participations = participations_of(infra, player).await?;
    let is_correspondence =
        |(_, part): &&(MatchId, Participation)| part.correspondence_turn.is_some();
    let count = participations.iter().filter(is_correspondence).count();
    if count < infra.settings.correspondence_matches_per_player {
        return Ok(());
    }
    Err(LimitReached::CorrespondenceMatches.into())
}

/// Returns the player's live matches that have a reminder.
pub(crate) async fn participations_of(
    infra: &Infrastructure,
    player: PlayerId,
) -> Result<Vec<(MatchId, Participation)>, WireError> {
    infra.store.participations(player).await.map_err(|error| {
        tracing::error!(%player, %error, "cannot read a player's correspondence matches");
        store_read_error(error)
    })
}

/// Converts a participation in a correspondence match to the protocol type. Returns `None` for a
/// participation in another match.
pub(crate) fn to_followed_match(
    server: &ServerContext,
    (match_id, participation): (MatchId, Participation),
) -> Option<FollowedMatch> {
    let CorrespondenceTurn { turn, deadline_ms } = participation.correspondence_turn?;
    Some(FollowedMatch {
        match_id,
        you: participation.seat.map(to_protocol::seat),
        correspondence: Some(CorrespondenceState {
            is_correspondence: true,
            turn: turn.map(to_protocol::seat),
            deadline_ms: deadline_ms.map(|due_ms| {
                due_ms.max(server.matches.grace_until_ms(server.infra.clock.now_ms()))
            }),
        }),
        stand_in_seat: participation.substituted_seat.map(to_protocol::seat),
    })
}

/// Notifies the player whose turn it is, on each connection that does not follow the match.
pub(crate) fn notify_turn(
    server: &ServerContext,
    state: &Match,
    is_following: impl Fn(&ConnectionHandle) -> bool,
) {
    let due_ms = TurnClock::correspondence_deadline_ms(state);
    let Some((player, due_ms)) = state.player_to_move().zip(due_ms) else {
        return;
    };
    let message = encode(&ServerMessage::YourTurn {
        match_id: state.id(),
        game: state.creation().game.info.id.to_owned(),
        ply: state.ply(),
        deadline_ms: due_ms,
    });
    let players = &server.identity.players;
    players.send(player, &message, |peer| !is_following(peer));
    if let Some(cluster) = &server.infra.cluster {
        let (match_id, text) = (state.id(), message.to_string());
        cluster.notify_player(player, Notification::YourTurn { match_id, text });
    }
}
