//! What comes from other servers, and what is done then.

use std::sync::Arc;

use futures::FutureExt;
use plyhouse_bus::{Answer as Way, Incoming, Listener};
use plyhouse_protocol::{MatchRef, PlayerId};
use tokio::sync::Semaphore;

use super::heartbeat::{after_gone, tell_all};
use super::{list_sync, load_balance, matchmaking, ownership_check};
use crate::cluster::{Answered, Notification, Packet};
use crate::connection::outbox::Frame;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Command, MatchRequest};
use crate::matchmaking::participants;
use crate::players::account_deletion;
use crate::players::block_check;
use crate::players::ratings;
use crate::wire::from_protocol;

/// How many requests of other servers are served at a time.
const SERVED_MAX: usize = 4096;

/// Hears what comes from other servers, until this one stops.
pub(crate) async fn hear(server: Arc<ServerContext>, mut heard: Listener) {
    let serving = Arc::new(Semaphore::new(SERVED_MAX));
    let shutdown = server.shutdown.clone();
    loop {
        let next = tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            () = shutdown.cancelled() => return,
            next = heard.recv() => next,
        };
        match next {
            None => return,
            Some(Incoming::Gap) => {
                tell_all(&server, MatchRequest::Gap);
                if let Some(cluster) = &server.cluster {
                    cluster.may_have_missed.notify_one();
                }
                let looking = Arc::clone(&server);
                server.spawn(async move {
                    ownership_check::look(&looking).await;
                    block_check::read_all(&looking).await;
                    account_deletion::look(&looking).await;
                });
            }
            Some(Incoming::Message(message)) => on_message(&server, &message),
            Some(Incoming::Request(request, way)) => {
                let request = match read(&request) {
                    None => continue,
                    Some(Packet::Ping) => {
                        let searches = load_balance::waiting(&server);
                        give(way, &Answered::Alive { searches });
                        continue;
                    }
                    Some(Packet::WhoIs { player }) => {
                        let connected = server.players.connected_sessions(player);
                        give(way, &Answered::Connected(connected));
                        continue;
                    }
                    Some(request) => request,
                };
                let Ok(permit) = Arc::clone(&serving).try_acquire_owned() else {
                    continue; // Whoever asks will ask again.
                };
                if let Packet::Take { match_id, from } = request {
                    let taking = Arc::clone(&server);
                    server.spawn(async move {
                        let is_taken = load_balance::take(&taking, match_id, from).await;
                        let answered = if is_taken {
                            Answered::Here
                        } else {
                            Answered::NotHere
                        };
                        give(way, &answered);
                        drop(permit);
                    });
                } else if let Some(done) = on_request(&server, request, way) {
                    server.spawn(async move {
                        done.await;
                        drop(permit);
                    });
                }
            }
        }
    }
}

fn read(bytes: &[u8]) -> Option<Packet> {
    serde_json::from_slice(bytes)
        .inspect_err(|error| tracing::error!(%error, "what another server says makes no sense"))
        .ok()
}

fn give(way: Way, answered: &Answered) {
    way.give(serde_json::to_vec(answered).expect("an answer is plain data"));
}

/// Does what is asked, and gives what is still to be waited for.
fn on_request(
    server: &Arc<ServerContext>,
    request: Packet,
    way: Way,
) -> Option<impl Future<Output = ()> + Send + 'static> {
    let (match_id, request) = match request {
        Packet::Ask { match_id, command } => (match_id, *command),
        Packet::Follow {
            match_id,
            from,
            roster,
        } => {
            let follow = MatchRequest::Follow { from, roster };
            (match_id, Command::of_server(follow))
        }
        Packet::ReplicaUpdate { .. }
        | Packet::Ping
        | Packet::WhoIs { .. }
        | Packet::Take { .. }
        | Packet::OwnerChanged { .. }
        | Packet::Leaving { .. }
        | Packet::Connected { .. }
        | Packet::SessionsEnded { .. }
        | Packet::PlayerRenamed { .. }
        | Packet::Blocks { .. }
        | Packet::Rated { .. }
        | Packet::PlayerDeleted { .. }
        | Packet::Forgotten { .. }
        | Packet::Shown(_)
        | Packet::Notice { .. } => return None,
    };
    let Some(handle) = server.lobby.find(MatchRef::Id(match_id)) else {
        give(way, &Answered::NotHere);
        return None;
    };
    let is_follow = matches!(request.request, MatchRequest::Follow { .. });
    let asked = handle.ask_for(request, &server.metrics);
    Some(async move {
        let answered = match asked.await {
            Some(Ok(_)) if is_follow => Answered::Here,
            Some(answer) => Answered::Done {
                answer,
                seq: handle.card().seq(),
            },
            // It is decided elsewhere, or has failed: whoever asks looks for it anew.
            None => Answered::NotHere,
        };
        give(way, &answered);
    })
}

fn on_message(server: &Arc<ServerContext>, message: &[u8]) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    match read(message) {
        Some(Packet::ReplicaUpdate { match_id, bulletin }) => {
            let handle = server.lobby.find(MatchRef::Id(match_id));
            let pending = handle.and_then(|handle| handle.feed(bulletin, &server.metrics));
            if let Some(pending) = pending {
                server.spawn(pending);
            }
        }
        Some(Packet::OwnerChanged { match_id, by }) => {
            if let Some(handle) = server.lobby.find(MatchRef::Id(match_id)) {
                let taken = MatchRequest::OwnerChanged { by: Some(by) };
                server.spawn(
                    handle
                        .ask_for(Command::of_server(taken), &server.metrics)
                        .map(drop),
                );
            }
        }
        Some(Packet::Leaving { node }) => {
            cluster.nodes.left(node);
            after_gone(server, node);
        }
        Some(Packet::Connected { player, standing }) => {
            // That server has not known of the later ones.
            for standing in server.players.connected_elsewhere(player, standing) {
                cluster.send_all(&Packet::Connected { player, standing });
            }
        }
        Some(Packet::SessionsEnded { player, which }) => {
            server.players.end_sessions(player, which, None);
        }
        Some(Packet::PlayerRenamed { player }) => {
            server.players.call(&from_protocol::player_record(player));
        }
        Some(Packet::Blocks { player, other, on }) => {
            server.block_cache.change(player, other, on);
            let shared = Arc::clone(server);
            server.spawn(async move { block_check::read_around(&shared, player, other).await });
        }
        Some(Packet::Rated { match_id, verdict }) => {
            let shared = Arc::clone(server);
            server.spawn(async move { ratings::hear(&shared, match_id, verdict).await });
        }
        Some(Packet::PlayerDeleted { player }) => account_deletion::gone(server, player, None),
        Some(Packet::Forgotten { player, name }) => {
            let shared = Arc::clone(server);
            server.spawn(async move { account_deletion::forgotten(&shared, player, name).await });
        }
        Some(Packet::Shown(listings)) => list_sync::on_shown(server, listings),
        Some(Packet::Notice { player, notice }) => on_notice(server, player, notice),
        Some(
            Packet::Ask { .. }
            | Packet::Follow { .. }
            | Packet::Ping
            | Packet::WhoIs { .. }
            | Packet::Take { .. },
        )
        | None => {}
    }
}

fn on_notice(server: &Arc<ServerContext>, player: PlayerId, notice: Notification) {
    if !server.players.is_connected(player) {
        return;
    }
    match notice {
        Notification::Involved { match_id, before } => {
            let shared = Arc::clone(server);
            server.spawn(async move {
                participants::notify_participants(&shared, player, match_id, before).await
            });
        }
        Notification::SessionAdded { text } => {
            let text = Frame::from(text);
            for peer in server.players.peers(player) {
                peer.outbox.send(text.clone());
            }
        }
        Notification::SeeksElsewhere => {
            server.seeks.end(player);
        }
        Notification::Paired { match_id } => {
            let shared = Arc::clone(server);
            server.spawn(async move { matchmaking::on_paired(&shared, player, match_id).await });
        }
        Notification::Turn { match_id, text } => {
            server.players.gave_turn();
            let text = Frame::from(text);
            let peers = server.players.peers(player).into_iter();
            for peer in peers.filter(|peer| peer.subscriptions.followed(match_id).is_none()) {
                peer.outbox.send(text.clone());
            }
        }
    }
}
