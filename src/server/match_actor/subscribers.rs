//! Everybody who follows a match, and what they are told of each other.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{MatchId, PlayerId, ServerMessage};

use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::context::server_context::ServerContext;
use crate::match_handle::summary::SeatPresence;
use crate::players::registry::PlayerRegistry;
use crate::wire::encode::encode;

/// How long coming and going may gather before it is told: well below the second that the protocol
/// allows, and long enough for a page that is reloaded not to flicker.
const PRESENCE_DELAY: Duration = Duration::from_millis(250);

/// To how many followers one task writes. A match writes to so few by itself; a crowd is shared among
/// tasks, so that all threads take part and nobody else waits for long. To wake each connection instead
/// would cost as much again as to write.
const FLUSH_BATCH_SIZE: usize = 32;

/// Everybody who follows a match.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    /// In the order in which they connected, which is the order in which they are told.
    members: Vec<Member>,
    /// When `presence` is to be told, if somebody's last is out of date.
    presence_deadline: Option<Instant>,
    /// Something was added to outboxes and has not been flushed.
    has_unflushed: bool,
    /// The members get nothing before their next snapshot, which replaces all that they know.
    is_paused: bool,
}

/// What a member knows of who is there: the last `presence`, except how much time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownPresence {
    presence: SeatPresence,
    /// Whose time to be gone runs.
    absent: [bool; 2],
}

/// A connection that follows, and the player whose it is.
#[derive(Debug)]
struct Member {
    id: ConnectionId,
    player: PlayerId,
    outbox: Outbox,
    /// Has its snapshot, before which it is told nothing.
    has_snapshot: bool,
    /// What it knows of who is there; `None` once that is out of date.
    known_presence: Option<KnownPresence>,
}

impl Subscribers {
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Where this connection is among the members, or would be.
    fn index_of(&self, id: ConnectionId) -> Result<usize, usize> {
        self.members.binary_search_by_key(&id, |member| member.id)
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.index_of(id).is_ok()
    }

    /// Whether this player has a connection that follows.
    pub(super) fn has_player(&self, player: PlayerId) -> bool {
        self.members.iter().any(|member| member.player == player)
    }

    /// Everybody who follows.
    pub(super) fn followers(&self) -> Vec<(PlayerId, Outbox)> {
        let members = self.members.iter();
        members
            .map(|member| (member.player, member.outbox.clone()))
            .collect()
    }

    /// Counts the connections that follow without a seat.
    pub(super) fn spectator_count(&self, state: &Match) -> u64 {
        let without_seat = |m: &&Member| state.seat_of(m.player).is_none();
        self.members.iter().filter(without_seat).count() as u64
    }

    /// Lets a connection in. It is told nothing before its snapshot.
    pub(super) fn admit(&mut self, player: PlayerId, outbox: &Outbox) {
        let id = outbox.connection();
        if let Err(index) = self.index_of(id) {
            let member = Member {
                id,
                player,
                outbox: outbox.clone(),
                has_snapshot: false,
                known_presence: None,
            };
            self.members.insert(index, member);
        }
    }

    /// From now on the connection, which has a snapshot with this presence, is told everything. A snapshot does
    /// not say whose time to be gone runs.
    pub(super) fn mark_snapshot_sent(&mut self, id: ConnectionId, presence: SeatPresence) {
        if let Ok(index) = self.index_of(id) {
            let member = &mut self.members[index];
            member.has_snapshot = true;
            let absent = [false; 2];
            member.known_presence = Some(KnownPresence { presence, absent });
        }
    }

    /// Sends the members nothing until [`resume`](Self::resume).
    pub(super) const fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Sends the members everything again: each gets a snapshot now.
    pub(super) const fn resume(&mut self) {
        self.is_paused = false;
    }

    /// Whether the connection follows and has its snapshot.
    pub(super) fn has_received_snapshot(&self, id: ConnectionId) -> bool {
        self.index_of(id)
            .is_ok_and(|index| self.members[index].has_snapshot)
    }

    /// Measures the lines of this player's connections that follow.
    pub(super) fn measure_rtt(&self, player: PlayerId) {
        let members = self.members.iter();
        for member in members.filter(|member| member.player == player) {
            member.outbox.request_ping();
        }
    }

    /// Marks everybody's presence out of date: a seat has a new occupant, or the match was rebuilt.
    pub(super) fn invalidate_presence(&mut self) {
        for member in &mut self.members {
            member.known_presence = None;
        }
    }

    pub(super) fn remove_connection(&mut self, id: ConnectionId) -> bool {
        let index = self.index_of(id);
        if let Ok(index) = index {
            self.members.remove(index);
        }
        index.is_ok()
    }

    /// Lets go of the connections of some players, and gives them; only of those that have been shown the
    /// match, if so.
    pub(super) fn remove_players(
        &mut self,
        predicate: impl Fn(PlayerId) -> bool,
        only_with_snapshot: bool,
    ) -> Vec<(PlayerId, Outbox)> {
        let is_removed = |member: &mut Member| {
            (member.has_snapshot || !only_with_snapshot) && predicate(member.player)
        };
        let removed = self.members.extract_if(.., is_removed);
        removed
            .map(|member| (member.player, member.outbox))
            .collect()
    }

    /// Lets everybody go, and tells who that was.
    pub(super) fn remove_all(&mut self) -> impl Iterator<Item = ConnectionId> {
        std::mem::take(&mut self.members)
            .into_iter()
            .map(|member| member.id)
    }

    /// Tells everybody something. It goes out with the next [`flush`](Self::flush), so that what
    /// belongs together is written together.
    pub(super) fn broadcast(&mut self, frame: &Frame) {
        self.broadcast_to(frame, |_| true);
    }

    /// Tells something to the connections of some players.
    pub(super) fn broadcast_to(&mut self, frame: &Frame, is_recipient: impl Fn(PlayerId) -> bool) {
        if self.is_paused {
            return;
        }
        let is_target = |member: &&Member| member.has_snapshot && is_recipient(member.player);
        for member in self.members.iter().filter(is_target) {
            member.outbox.enqueue(frame.clone());
        }
        self.has_unflushed = true;
    }

    /// Tells something that can be done without to everybody whose outbox is not filling.
    pub(super) fn broadcast_droppable(&mut self, frame: &Frame) {
        if self.is_paused {
            return;
        }
        let is_target = |member: &&Member| member.has_snapshot && member.outbox.is_half_free();
        for member in self.members.iter().filter(is_target) {
            member.outbox.enqueue(frame.clone());
        }
        self.has_unflushed = true;
    }

    /// Has everything written that was told.
    pub(super) fn flush(&mut self, server: &ServerContext) {
        if !std::mem::take(&mut self.has_unflushed) {
            return;
        }
        let members = self.members.iter().filter(|member| member.has_snapshot);
        let mut outboxes = members.map(|member| &member.outbox);
        let first = outboxes.by_ref().take(FLUSH_BATCH_SIZE);
        first.for_each(Outbox::flush);
        loop {
            let batch: Vec<Outbox> = outboxes.by_ref().take(FLUSH_BATCH_SIZE).cloned().collect();
            if batch.is_empty() {
                return;
            }
            server.spawn(async move { batch.iter().for_each(Outbox::flush) });
        }
    }

    /// Who is there. A player is connected with any connection, whether it follows or not.
    pub(super) fn seat_presence(&self, state: &Match, players: &PlayerRegistry) -> SeatPresence {
        let connected = |seat| {
            state
                .occupant(seat)
                .player()
                .map(|id| players.is_connected(id))
        };
        SeatPresence {
            seats: Seat::ALL.map(connected),
            spectators: self.spectator_count(state),
        }
    }

    /// Plans a `presence` message if a member does not know who is there and whose time to be gone runs. After
    /// the end of the match none is sent.
    pub(super) fn schedule_presence(
        &mut self,
        state: &Match,
        (presence, absent): (SeatPresence, [bool; 2]),
        now: Instant,
    ) {
        let has_ended = matches!(state.stage(), Stage::Ended { .. });
        let current = Some(KnownPresence { presence, absent });
        let is_up_to_date =
            |member: &Member| !member.has_snapshot || member.known_presence == current;
        if has_ended || self.members.iter().all(is_up_to_date) {
            self.presence_deadline = None;
        } else {
            self.presence_deadline.get_or_insert(now + PRESENCE_DELAY);
        }
    }

    pub(super) const fn presence_deadline(&self) -> Option<Instant> {
        self.presence_deadline
    }

    pub(super) fn broadcast_presence(
        &mut self,
        id: MatchId,
        presence: SeatPresence,
        absence_left_ms: [Option<u64>; 2],
    ) {
        self.presence_deadline = None;
        let absent = absence_left_ms.map(|gone_ms| gone_ms.is_some());
        let has_snapshot = |member: &&mut Member| member.has_snapshot;
        for member in self.members.iter_mut().filter(has_snapshot) {
            member.known_presence = Some(KnownPresence { presence, absent });
        }
        let SeatPresence { seats, spectators } = presence;
        self.broadcast(&encode(&ServerMessage::Presence {
            match_id: id,
            seats,
            absence_remaining_ms: absence_left_ms,
            spectators,
        }));
    }
}
