//! The other servers that follow a match which is decided here: who is there, and what they are fed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::Event;
use plyhouse_protocol::{PlayerId, Seq, Thinking};
use plyhouse_store::NodeId;

use super::MatchActor;
use super::broadcaster::Elsewhere;
use crate::cluster::Cluster;
use crate::context::clock::now;
use crate::match_handle::command::{Command, Relayed};
use crate::match_handle::replication::{ChatMessage, Presence, Published, ReplicaUpdate, Standing};

/// The other servers that follow a match.
#[derive(Debug)]
pub(super) struct Replicas {
    nodes: BTreeMap<NodeId, Remote>,
    /// What has happened since they were fed last, and after which event.
    after: Seq,
    events: Vec<Event>,
    /// What was said since.
    said: Vec<ChatMessage>,
    /// What a bot thinks, if that is news.
    thinking: Option<Thinking>,
    /// What they know beside the events.
    told: Option<Standing>,
    /// The clock is to be told anew.
    is_clock_untold: bool,
    /// When the present turn was told, and handed to the other servers.
    turn_told_at: Instant,
    /// The player who is to move cannot be heard.
    mover_is_unheard: bool,
}

#[derive(Debug)]
struct Remote {
    roster: Presence,
    /// It knows nothing yet, or may have missed something.
    is_new: bool,
}

impl Replicas {
    fn new(seq: Seq) -> Self {
        Self {
            nodes: BTreeMap::new(),
            after: seq,
            events: Vec::new(),
            said: Vec::new(),
            thinking: None,
            told: None,
            is_clock_untold: false,
            turn_told_at: now(),
            mover_is_unheard: false,
        }
    }

    /// Who is there, all in all.
    fn elsewhere(&self) -> Elsewhere {
        let rosters = || self.nodes.values().map(|remote| &remote.roster);
        Elsewhere::Added {
            present: rosters()
                .flat_map(|roster| roster.present.iter().copied())
                .collect(),
            seats: Seat::ALL.map(|seat| {
                rosters().any(|roster| roster.presence.seats[seat.index()] == Some(true))
            }),
            spectators: rosters().map(|roster| roster.presence.spectators).sum(),
        }
    }

    /// Takes note of what has happened.
    pub(super) fn happened(&mut self, published: &Published) {
        if published
            .events
            .iter()
            .any(|event| event.kind.begins_turn())
        {
            self.turn_told_at = now();
        }
        self.events.extend(published.events.iter().cloned());
    }

    /// Takes note of what was said.
    pub(super) fn said(&mut self, line: ChatMessage) {
        self.said.push(line);
    }

    /// Takes note of what a bot thinks.
    pub(super) fn thinks(&mut self, thought: Thinking) {
        self.thinking = Some(thought);
    }

    /// The match was read anew, and has come to this event: nobody knows anything of it.
    pub(super) fn begin_again(&mut self, seq: Seq) {
        self.after = seq;
        self.events.clear();
        self.turn_told_at = now();
        self.is_clock_untold = true;
        self.nodes
            .values_mut()
            .for_each(|remote| remote.is_new = true);
    }

    /// Takes note that the clock counts anew.
    pub(super) const fn clock_changed(&mut self) {
        self.is_clock_untold = true;
    }

    /// When the servers on which this player follows the match were heard last, and whether one of them can
    /// be heard; `None` if there are none.
    fn heard(&self, player: PlayerId, cluster: &Cluster) -> Option<(Instant, bool)> {
        let nodes = self.nodes.iter();
        let of_player = nodes.filter(|(_, remote)| remote.roster.present.contains(&player));
        let heard = of_player.map(|(node, _)| {
            (
                cluster.last_response_at(*node),
                cluster.is_node_reachable(*node),
            )
        });
        heard.reduce(|one, other| (one.0.max(other.0), one.1 || other.1))
    }

    /// When a command was read, as its match counts time. Two servers' clocks do not compare, so the one
    /// that asks tells how long the turn had lasted there; it is believed no more than has been waited for
    /// here, and at least that less what the way between the servers takes.
    pub(super) fn read_at(&self, command: &Command, cluster: &Cluster) -> Instant {
        let read_at = command.received_at;
        let Some(Relayed {
            by,
            turn_us: Some(turn_us),
        }) = command.relayed
        else {
            return read_at;
        };
        let waited = read_at.saturating_duration_since(self.turn_told_at);
        let on_the_way = waited.saturating_sub(Duration::from_micros(turn_us));
        let believed = on_the_way.min(cluster.rtt(by).unwrap_or_default());
        read_at.checked_sub(believed).unwrap_or(read_at)
    }
}

impl MatchActor {
    /// Another server has followers, who are these; `None` if it has none any more.
    pub(super) fn follow_from(&mut self, node: NodeId, roster: Option<Presence>) {
        let seq = self.state.seq();
        let remotes = self
            .replicas
            .get_or_insert_with(|| Box::new(Replicas::new(seq)));
        match roster {
            Some(roster) => {
                let is_new = true;
                remotes.nodes.insert(node, Remote { roster, is_new });
            }
            None => {
                remotes.nodes.remove(&node);
            }
        }
        self.remotes_changed();
    }

    /// A server is gone, and everybody who was there.
    pub(super) fn remote_is_gone(&mut self, node: NodeId) {
        let is_known =
            (self.replicas.as_mut()).is_some_and(|all| all.nodes.remove(&node).is_some());
        if is_known {
            self.remotes_changed();
        }
    }

    fn remotes_changed(&mut self) {
        let remotes = self.replicas.take_if(|remotes| remotes.nodes.is_empty());
        let was_last = remotes.is_some();
        let elsewhere = self.replicas.as_ref().map(|remotes| remotes.elsewhere());
        self.broadcaster.has_elsewhere(elsewhere);
        self.roster_changed();
        if was_last {
            self.leader.time.mover_is_elsewhere(None);
            self.leader.time.is_heard(&self.state);
        }
    }

    /// Has the clock stand of a player whom nobody here can hear.
    pub(super) fn update_reachability(&mut self) {
        let (Some(cluster), Some(remotes)) = (&self.server.cluster, &mut self.replicas) else {
            return;
        };
        let mover = self.state.turn();
        let mover = mover.and_then(|seat| self.state.occupant(seat).player());
        let is_elsewhere = |player: &PlayerId| !self.server.players.is_connected(*player);
        let mover = mover.filter(is_elsewhere);
        let heard = mover.and_then(|player| remotes.heard(player, cluster));
        let time = &mut self.leader.time;
        time.mover_is_elsewhere(heard.map(|(heard_at, _)| heard_at));
        match heard {
            Some((heard_at, false)) => {
                remotes.mover_is_unheard = true;
                time.is_unheard(&self.state, heard_at);
            }
            Some(_) | None => {
                if std::mem::take(&mut remotes.mover_is_unheard) {
                    time.is_heard(&self.state);
                }
            }
        }
    }

    /// Feeds the other servers what is new.
    pub(super) fn feed_remotes(&mut self) {
        let (Some(cluster), Some(remotes)) = (&self.server.cluster, &mut self.replicas) else {
            return;
        };
        let standing = Standing {
            time: self.leader.time.turn_time(&self.state),
            gone_ms: self.leader.gone_ms(&self.state),
            ..self.broadcaster.standing(&self.state)
        };
        let is_same = |told: &Standing| told.is_but_for_time(&standing);
        let is_known = remotes.events.is_empty()
            && !remotes.is_clock_untold
            && remotes.said.is_empty()
            && remotes.thinking.is_none()
            && remotes.told.as_ref().is_some_and(is_same);
        let bulletin = ReplicaUpdate {
            epoch: self.leader.mark.epoch(),
            published: Published {
                after: std::mem::replace(&mut remotes.after, self.state.seq()),
                events: std::mem::take(&mut remotes.events),
            },
            is_clock_news: std::mem::take(&mut remotes.is_clock_untold),
            standing: standing.clone(),
            said: std::mem::take(&mut remotes.said),
            thinking: remotes.thinking.take().map(Box::new),
        };
        remotes.told = Some(standing);
        for (node, remote) in &mut remotes.nodes {
            let is_new = std::mem::take(&mut remote.is_new);
            if is_known && !is_new {
                continue;
            }
            let mut bulletin = bulletin.clone();
            if is_new {
                bulletin.said = self.broadcaster.lines();
            }
            cluster.send_update(*node, self.state.id(), bulletin);
        }
    }
}
