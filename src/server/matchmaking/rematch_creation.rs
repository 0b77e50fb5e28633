//! Creates the rematch that the players of a match have agreed on.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::Occupant;
use plyhouse_protocol::NextMatch;

use super::create_params::player_occupant;
use super::match_creation::create_match;
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::match_actor::rematch::PendingRematch;
use crate::match_handle::command::{Command, Control, MatchRequest};
use crate::players::ratings;

/// Creates the rematch, notifies the followers of the previous match, and sends the players a
/// snapshot of the rematch. Finally, replies to the request that completed the players' agreement.
pub(crate) fn create_rematch(
    server: Arc<ServerContext>,
    rematch: PendingRematch,
    reply: Reply,
) -> BoxFuture<'static, ()> {
    async move {
        let mut params = rematch.params;
        for seat in &mut params.seats {
            let (game, is_correspondence) = (params.game, params.terms.is_correspondence());
            *seat = refresh_occupant(&server, seat.clone(), game, is_correspondence).await;
        }
        let created = create_match(&server, params).await;
        let next = created.as_ref().ok().map(|next| {
            let summary = next.summary();
            NextMatch {
                match_id: summary.id,
                code: summary.code.to_string(),
            }
        });
        let (connection, player) = rematch.requester;
        let created_control = MatchRequest::Control(Control::RematchCreated { next });
        let notification = Command::unsolicited(connection, player, created_control);
        let no_reply = Reply::unsolicited(reply.outbox().clone());
        rematch.previous.send_and_wait(notification, no_reply).await;
        let Some((next, reply)) = reply.require(created) else {
            return;
        };
        server.infra.metrics.rematches.inc();
        let previous_id = Some(rematch.previous.id());
        for player in rematch.seat_holders {
            let infra = &server.infra;
            infra.broadcast_participation(player, next.id(), previous_id);
        }
        for (player, outbox) in rematch.connections {
            // While the rematch was being created, the player's connection may have closed, or its
            // client may have logged in as another player.
            let players = &server.identity.players;
            if let Some(connection) = players.connection(player, outbox.connection()) {
                next.show_to_participant(player, &connection).await;
            }
        }
        reply.ok(None);
    }
    .boxed()
}

/// Returns the seat occupant with the player's current name and rating.
async fn refresh_occupant(
    server: &ServerContext,
    occupant: Occupant,
    game: &GameEntry,
    is_correspondence: bool,
) -> Occupant {
    let Some(player) = occupant.player() else {
        return occupant;
    };
    let record = match server.identity.players.record(player) {
        Some(record) => Some(record),
        // If the store cannot return the player, the rematch uses the name from the previous match.
        None => {
            let stored = server.infra.store.player_by_id(player).await;
            stored.unwrap_or_default()
        }
    };
    let Some(record) = record else {
        return occupant;
    };
    let rating = ratings::shown_rating(&server.infra, &record, game, is_correspondence).await;
    player_occupant(record, rating)
}
