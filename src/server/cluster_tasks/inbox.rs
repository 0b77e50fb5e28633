//! Handles packets from other servers.

use std::sync::Arc;

use plyhouse_bus::{Incoming, Listener, Responder};
use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use tokio::sync::Semaphore;

use super::heartbeat::{on_node_gone, spawn_broadcast};
use super::{list_sync, load_balance, matchmaking, ownership_check};
use crate::cluster::{Cluster, Notification, Packet, PacketResponse};
use crate::connection::outbox::Frame;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Command, Control, MatchRequest};
use crate::matchmaking::participant_subscriptions;
use crate::players::account_deletion;
use crate::players::block_loading;
use crate::players::ratings;
use crate::wire::from_protocol;

/// Maximum number of requests from other servers that are served at a time.
const CONCURRENT_REQUESTS_MAX: usize = 4096;

/// Receives and handles packets until this server stops.
pub(super) async fn run(server: Arc<ServerContext>, cluster: Arc<Cluster>, mut inbox: Listener) {
    let permits = Arc::new(Semaphore::new(CONCURRENT_REQUESTS_MAX));
    let shutdown = server.infra.tasks.shutdown.clone();
    loop {
        let next = tokio::select! {
            biased; // The fixed poll order keeps simulated runs reproducible.
            () = shutdown.cancelled() => return,
            next = inbox.recv() => next,
        };
        match next {
            None => return,
            Some(Incoming::Gap) => {
                spawn_broadcast(&server, Control::CatchUp);
                cluster.messages_lost.notify_one();
                let cluster = Arc::clone(&cluster);
                server.spawn(|server| async move {
                    ownership_check::check_ownership(&server, &cluster).await;
                    block_loading::refresh_all(&server).await;
                    account_deletion::find_missed_deletions(&server).await;
                });
            }
            Some(Incoming::Message(message)) => on_message(&server, &cluster, &message),
            Some(Incoming::Request(request, responder)) => {
                let request = match parse_packet(&request) {
                    None => continue,
                    Some(Packet::Ping) => {
                        let searches = load_balance::queued_searches(&server.infra);
                        send_response(responder, &PacketResponse::Pong { searches });
                        continue;
                    }
                    Some(Packet::GetConnectedSessions { player }) => {
                        let connected = server.identity.players.connected_sessions(player);
                        send_response(responder, &PacketResponse::ConnectedSessions(connected));
                        continue;
                    }
                    Some(request) => request,
                };
                let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
                    continue; // Drops the request: too many are running. The sender may retry.
                };
                if let Packet::HandOver { match_id, from } = request {
                    let cluster = Arc::clone(&cluster);
                    server.spawn(|server| async move {
                        let is_accepted =
                            load_balance::accept_match(&server, &cluster, match_id, from).await;
                        let response = match is_accepted {
                            true => PacketResponse::Accepted,
                            false => PacketResponse::NotOwner,
                        };
                        send_response(responder, &response);
                        drop(permit);
                    });
                } else if let Some(pending_response) = on_request(&server, request, responder) {
                    server.infra.spawn(async move {
                        pending_response.await;
                        drop(permit);
                    });
                }
            }
        }
    }
}

fn parse_packet(bytes: &[u8]) -> Option<Packet> {
    serde_json::from_slice(bytes)
        .inspect_err(|error| tracing::error!(%error, "cannot parse a packet from another server"))
        .ok()
}

fn send_response(responder: Responder, response: &PacketResponse) {
    responder.respond(serde_json::to_vec(response).expect("a response serializes to JSON"));
}

/// Handles a request. Returns a future that sends the response, unless it was sent immediately.
fn on_request(
    server: &Arc<ServerContext>,
    request: Packet,
    responder: Responder,
) -> Option<impl Future<Output = ()> + Send + 'static> {
    let (match_id, request) = match request {
        Packet::Request { match_id, command } => (match_id, *command),
        Packet::Follow {
            match_id,
            from,
            presence,
        } => {
            let follow = Control::Follow { from, presence };
            (match_id, Command::from_server(follow))
        }
        _ => return None, // All other packets are messages, which need no response.
    };
    let Some(handle) = server.matches.lobby.find(MatchRef::Id(match_id)) else {
        send_response(responder, &PacketResponse::NotOwner);
        return None;
    };
    let is_follow = matches!(
        request.request,
        MatchRequest::Control(Control::Follow { .. })
    );
    let pending_answer = handle.request_answer(request, &server.infra.metrics);
    Some(async move {
        let response = match pending_answer.await {
            Some(Ok(_)) if is_follow => PacketResponse::Accepted,
            Some(answer) => PacketResponse::MatchAnswer {
                answer,
                seq: handle.summary().seq(),
            },
            // The match has another owner or has failed. The requesting server therefore looks up
            // the owner again.
            None => PacketResponse::NotOwner,
        };
        send_response(responder, &response);
    })
}

fn on_message(server: &Arc<ServerContext>, cluster: &Arc<Cluster>, message: &[u8]) {
    let identity = &server.identity;
    match parse_packet(message) {
        Some(Packet::ReplicaUpdate { match_id, update }) => {
            send_control(server, match_id, Control::ReplicaUpdate(update));
        }
        Some(Packet::OwnerChanged { match_id, by }) => {
            send_control(server, match_id, Control::OwnerChanged { by: Some(by) });
        }
        Some(Packet::NodeStopping { node }) => {
            cluster.nodes.remove(node);
            on_node_gone(server, cluster, node);
        }
        Some(Packet::PlayerConnected { player, precedence }) => {
            // If the new connection must close, `on_remote_connection` returns this server's
            // connections of the player. Announcing these connections makes the other server close
            // the new connection.
            for precedence in identity.players.on_remote_connection(player, precedence) {
                cluster.broadcast(&Packet::PlayerConnected { player, precedence });
            }
        }
        Some(Packet::SessionsEnded { player, which }) => {
            identity.players.close_sessions(player, which, None);
        }
        Some(Packet::PlayerRenamed { player }) => {
            let record = from_protocol::player_record(player);
            identity.players.update_record(&record);
        }
        Some(Packet::BlockChanged {
            player,
            other,
            is_blocked,
        }) => {
            identity
                .block_cache
                .set_unpairable(player, other, is_blocked);
            server.spawn(|server| async move {
                block_loading::refresh_linked(&server, player, other).await;
            });
        }
        Some(Packet::MatchRated {
            match_id,
            rating_update,
        }) => {
            server.spawn(|server| async move {
                ratings::apply_rating_update(&server, match_id, rating_update).await;
            });
        }
        Some(Packet::PlayerDeleted { player }) => {
            account_deletion::mark_deleted(server, player, None);
        }
        Some(Packet::NameErased { player, name }) => {
            server.spawn(|server| async move {
                account_deletion::erase_name_in_memory(&server, player, name).await;
            });
        }
        Some(Packet::ListingsChanged(listings)) => {
            list_sync::apply_listings(&server.matches, listings)
        }
        Some(Packet::NotifyPlayer {
            player,
            notification,
        }) => on_notification(server, player, notification),
        Some(_) | None => {} // All other packets are requests, which expect a response.
    }
}

/// Sends a control message from another server to a match, if this server serves the match.
fn send_control(server: &Arc<ServerContext>, match_id: MatchId, control: Control) {
    let handle = server.matches.lobby.find(MatchRef::Id(match_id));
    let pending = handle.and_then(|handle| handle.send_control(control, &server.infra.metrics));
    if let Some(pending) = pending {
        server.infra.spawn(pending);
    }
}

fn on_notification(server: &Arc<ServerContext>, player: PlayerId, notification: Notification) {
    let players = &server.identity.players;
    if players.all_connections(player).is_empty() {
        return;
    }
    match notification {
        Notification::ParticipationAdded { match_id, before } => {
            server.spawn(|server| async move {
                participant_subscriptions::notify_participants(&server, player, match_id, before)
                    .await;
            });
        }
        Notification::SessionAdded { text } => players.send(player, &Frame::from(text), |_| true),
        Notification::SeekMoved => {
            server.matchmaking.seeks.end_by_player(player);
        }
        Notification::SeekPaired { match_id } => {
            server.spawn(|server| async move {
                matchmaking::on_seek_paired(&server, player, match_id).await;
            });
        }
        Notification::YourTurn { match_id, text } => {
            players.send(player, &Frame::from(text), |peer| {
                peer.subscriptions.find_followed(match_id).is_none()
            });
        }
    }
}
