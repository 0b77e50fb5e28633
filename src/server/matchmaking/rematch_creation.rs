//! How a rematch comes into the world, on which the players of a match have agreed.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_engine::catalog::Entry;
use plyhouse_matches::Occupant;
use plyhouse_protocol::Successor;

use super::create_params::seated;
use super::match_creation::create;
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::match_actor::rematch::Birth;
use crate::match_handle::command::{Command, MatchRequest};
use crate::players::ratings;

/// Creates the rematch, has everybody told who follows the match before, shows it to the two who play,
/// and answers whoever has agreed.
pub(crate) fn give(
    server: Arc<ServerContext>,
    birth: Birth,
    reply: Reply,
) -> BoxFuture<'static, ()> {
    async move {
        let mut wanted = birth.wanted;
        for seat in &mut wanted.seats {
            let (game, is_of_days) = (wanted.game, wanted.terms.is_of_days());
            *seat = as_called(&server, seat.clone(), game, is_of_days).await;
        }
        let created = create(&server, wanted, give).await;
        let next = created.as_ref().ok().map(|next| {
            let card = next.card();
            Successor {
                match_id: card.id,
                code: card.code.to_string(),
            }
        });
        let (connection, player) = birth.asks;
        let told = Command::unasked(connection, player, MatchRequest::RematchBegins { next });
        let unasked = Reply::unasked(reply.outbox().clone());
        birth.ended.ask(told, unasked).await;
        let Some((next, reply)) = reply.check(created) else {
            return;
        };
        server.metrics.rematches.inc();
        for player in &birth.holders {
            server.tell_involved(*player, next.id(), Some(birth.ended.id()));
        }
        for (player, outbox) in birth.players {
            // By now it may be the player's no more.
            if let Some(peer) = server.players.peer(player, outbox.connection())
                && peer.subscriptions.follow_again(&next)
            {
                next.show(player, &outbox).await;
            }
        }
        reply.ok(None);
    }
    .boxed()
}

/// Who sits there, as they are called and rated by now.
async fn as_called(
    server: &ServerContext,
    occupant: Occupant,
    game: &Entry,
    is_of_days: bool,
) -> Occupant {
    let Some(player) = occupant.player() else {
        return occupant;
    };
    let record = match server.players.record(player) {
        Some(record) => Some(record),
        // A name of before is better than no rematch.
        None => server.store.player_by_id(player).await.unwrap_or_default(),
    };
    let Some(record) = record else {
        return occupant;
    };
    let rating = ratings::shown(server, &record, game, is_of_days).await;
    seated(record, rating)
}
