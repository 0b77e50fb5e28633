//! Replicas of a match on other servers, as seen by the server that owns the match. This module
//! tracks the replicas' followers and sends updates to the replicas.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{PlayerId, Seq, Thinking};
use plyhouse_store::NodeId;

use super::MatchActor;
use super::view::RemotePresence;
use crate::cluster::Cluster;
use crate::match_handle::command::Command;
use crate::match_handle::replication_messages::{
    Changes, Presence, PublishedEvents, ReplicaUpdate, TransientState,
};

/// Replicas of a match on other servers.
#[derive(Debug)]
pub(super) struct Replicas {
    nodes: BTreeMap<NodeId, ReplicaNode>,
    /// Number of the last event before those in `changes`.
    after_seq: Seq,
    /// Changes since the last update.
    pub(super) changes: Changes,
    /// A bot's `thinking` message that was not sent to the replicas yet.
    pub(super) thinking: Option<Thinking>,
    /// Transient state that was sent with the last update.
    sent_state: Option<TransientState>,
    /// Whether the clock is paused because the server of the player to move is unreachable.
    is_mover_unreachable: bool,
}

#[derive(Debug)]
struct ReplicaNode {
    presence: Presence,
    /// Whether the replica needs a complete update, because it is new or may have missed updates.
    needs_full_update: bool,
}

impl Replicas {
    fn new(seq: Seq) -> Self {
        Self {
            nodes: BTreeMap::new(),
            after_seq: seq,
            changes: Changes::default(),
            thinking: None,
            sent_state: None,
            is_mover_unreachable: false,
        }
    }

    /// Returns the combined presence on all replicas.
    fn remote_presence(&self) -> RemotePresence {
        let presences = || self.nodes.values().map(|node| &node.presence);
        RemotePresence::Added {
            following_players: presences()
                .flat_map(|presence| presence.following_players.iter().copied())
                .collect(),
            seats: Seat::ALL.map(|seat| {
                presences().any(|presence| presence.seat_presence.seats[seat.index()] == Some(true))
            }),
            spectators: presences()
                .map(|presence| presence.seat_presence.spectators)
                .sum(),
        }
    }

    /// Prepares a complete update to all replicas after the match was reloaded up to this event.
    pub(super) fn reset(&mut self, seq: Seq) {
        self.after_seq = seq;
        self.changes.events.clear();
        self.changes.is_clock_changed = true;
        for node in self.nodes.values_mut() {
            node.needs_full_update = true;
        }
    }

    /// Returns when the other servers on which this player follows the match last responded. If
    /// there are several such servers, the most recent response counts. Also returns whether at
    /// least one of these servers is reachable. Returns `None` if the player does not follow the
    /// match on another server.
    fn last_response(&self, player: PlayerId, cluster: &Cluster) -> Option<(Instant, bool)> {
        let nodes = self.nodes.iter();
        let player_nodes =
            nodes.filter(|(_, remote)| remote.presence.following_players.contains(&player));
        let responses = player_nodes.map(|(node, _)| {
            (
                cluster.nodes.last_response_at(*node),
                cluster.is_node_reachable(*node),
            )
        });
        responses.reduce(|first, second| (first.0.max(second.0), first.1 || second.1))
    }
}

impl MatchActor {
    /// Sets the followers on another server; `None` if that server has no followers left.
    pub(super) fn set_replica_presence(&mut self, node: NodeId, presence: Option<Presence>) {
        let seq = self.view.state.seq();
        let replicas = self
            .replicas
            .get_or_insert_with(|| Box::new(Replicas::new(seq)));
        match presence {
            Some(presence) => {
                let replica = ReplicaNode {
                    presence,
                    needs_full_update: true,
                };
                replicas.nodes.insert(node, replica);
            }
            None => {
                replicas.nodes.remove(&node);
            }
        }
        let removed = self.replicas.take_if(|replicas| replicas.nodes.is_empty());
        let replicas = self.replicas.as_ref();
        let remote_presence = replicas.map(|replicas| replicas.remote_presence());
        self.view.set_remote_presence(remote_presence);
        self.on_presence_changed();
        if removed.is_some() {
            self.leader.match_clock.mover_last_response_at = None;
            self.leader.match_clock.on_mover_reachable(&self.view.state);
        }
    }

    /// Pauses the clock while the player to move follows the match only on unreachable servers.
    /// Resumes the clock when the player to move is no longer unreachable.
    pub(super) fn update_reachability(&mut self) {
        let (Some(cluster), Some(replicas)) = (&self.server.infra.cluster, &mut self.replicas)
        else {
            return;
        };
        let mover = self.view.state.player_to_move();
        let is_not_connected =
            |player: &PlayerId| !self.server.identity.players.is_connected(*player);
        let mover = mover.filter(is_not_connected);
        let last_response = mover.and_then(|player| replicas.last_response(player, cluster));
        let time = &mut self.leader.match_clock;
        time.mover_last_response_at = last_response.map(|(response_at, _)| response_at);
        match last_response {
            Some((last_response_at, false)) => {
                replicas.is_mover_unreachable = true;
                time.on_mover_unreachable(&self.view.state, last_response_at);
            }
            Some(_) | None => {
                if std::mem::take(&mut replicas.is_mover_unreachable) {
                    time.on_mover_reachable(&self.view.state);
                }
            }
        }
    }

    /// Moves the receive time of a forwarded command back by the estimated transit time between the
    /// servers.
    ///
    /// The clocks of two servers are not comparable. A server that relays a command therefore
    /// reports how long the turn had lasted when that server read the command. The transit time is
    /// the turn's duration on this server minus the reported duration. The transit time is deducted
    /// from the time of arrival, up to the round-trip time between the two servers.
    pub(super) fn adjust_received_at(&self, command: &mut Command) {
        let (Some(relay), Some(cluster)) = (&mut command.relay, &self.server.infra.cluster) else {
            return;
        };
        let Some(reported_us) = relay.turn_elapsed_us.take() else {
            return;
        };
        let received_at = command.received_at;
        let turn_elapsed = received_at.saturating_duration_since(self.turn_sent_at);
        let transit = turn_elapsed.saturating_sub(Duration::from_micros(reported_us));
        let trusted = transit.min(cluster.nodes.rtt(relay.node).unwrap_or_default());
        command.received_at = received_at.checked_sub(trusted).unwrap_or(received_at);
    }

    /// Sends new events, chat messages and state to the replicas.
    pub(super) fn send_replica_updates(&mut self) {
        if self.replicas.is_none() {
            return;
        }
        let transient_state = self.transient_state();
        let (Some(cluster), Some(replicas)) = (&self.server.infra.cluster, &mut self.replicas)
        else {
            return;
        };
        let is_unchanged =
            |sent_state: &TransientState| sent_state.equals_except_time(&transient_state);
        let changes = std::mem::take(&mut replicas.changes);
        let is_up_to_date = changes.events.is_empty()
            && !changes.is_clock_changed
            && changes.chat_messages.is_empty()
            && replicas.thinking.is_none()
            && replicas.sent_state.as_ref().is_some_and(is_unchanged);
        let update = ReplicaUpdate {
            epoch: self.leader.journal_position.epoch(),
            published: PublishedEvents {
                after: std::mem::replace(&mut replicas.after_seq, self.view.state.seq()),
                events: changes.events,
            },
            is_clock_changed: changes.is_clock_changed,
            transient_state: transient_state.clone(),
            chat_messages: changes.chat_messages,
            thinking: replicas.thinking.take().map(Box::new),
        };
        replicas.sent_state = Some(transient_state);
        for (node, replica) in &mut replicas.nodes {
            let needs_full_update = std::mem::take(&mut replica.needs_full_update);
            if is_up_to_date && !needs_full_update {
                continue;
            }
            let mut update = update.clone();
            if needs_full_update {
                update.chat_messages = self.view.chat_messages();
            }
            cluster.send_update(*node, self.view.state.id(), update);
        }
    }
}
