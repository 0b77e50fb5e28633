//! Connections that follow a match, and their presence messages.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{MatchId, PlayerId, ServerMessage};

use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::context::clock_and_rng::now;
use crate::context::infrastructure::Infrastructure;
use crate::match_handle::summary::SeatPresence;
use crate::players::registry::PlayerRegistry;
use crate::wire::encode::encode;

/// Time during which presence changes are collected before a `presence` message is sent. The delay
/// is well below the second that the protocol allows, but long enough to hide the reload of a page.
const PRESENCE_DELAY: Duration = Duration::from_millis(250);

/// Number of followers whose outboxes one task flushes. The match's own task flushes the first
/// batch. Other tasks flush the remaining batches, so that the work is spread over all threads.
/// Waking one task per connection would cost twice as much.
const FLUSH_BATCH_SIZE: usize = 32;

/// Connections that follow a match.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    /// Followers in the order in which messages are sent: participants of the match first, then the
    /// others. Within both groups, earlier connections come first.
    members: Vec<Member>,
    /// Time of the next `presence` message, if any member's presence information is outdated.
    pub(super) presence_deadline: Option<Instant>,
    /// Whether messages for members have been enqueued since the last flush.
    has_unflushed: bool,
    /// Whether broadcasts are suppressed until the next snapshot. That snapshot contains the
    /// changes that were not broadcast.
    pub(super) is_paused: bool,
}

/// Presence data in the last message to a member. The remaining absence times are not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownPresence {
    presence: SeatPresence,
    /// For each seat, whether the absence timer of its player runs.
    absent: [bool; 2],
}

/// A connection that follows the match, and its player.
#[derive(Debug)]
struct Member {
    id: ConnectionId,
    player: PlayerId,
    /// Whether the player holds a seat or hosts the match.
    is_participant: bool,
    outbox: Outbox,
    /// Whether a snapshot was sent to the member. A member receives no broadcasts before its
    /// snapshot.
    has_snapshot: bool,
    /// Last presence information sent to the member; `None` if it is outdated.
    known_presence: Option<KnownPresence>,
}

impl Member {
    /// Returns the key by which members are ordered.
    const fn order(&self) -> (bool, ConnectionId) {
        (!self.is_participant, self.id)
    }
}

impl Subscribers {
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the index of this connection among the members.
    fn index_of(&self, id: ConnectionId) -> Option<usize> {
        let search = |order| {
            self.members
                .binary_search_by_key(&order, Member::order)
                .ok()
        };
        search((false, id)).or_else(|| search((true, id)))
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.index_of(id).is_some()
    }

    /// Returns the members whose player holds a seat or hosts the match. A match can have thousands
    /// of other members.
    fn participants(&self) -> &[Member] {
        let count = self.members.partition_point(|member| member.is_participant);
        &self.members[..count]
    }

    /// Returns whether a connection of this participant follows the match.
    pub(super) fn has_participant(&self, player: PlayerId) -> bool {
        let mut participants = self.participants().iter();
        participants.any(|member| member.player == player)
    }

    pub(super) fn followers(&self) -> Vec<(PlayerId, Outbox)> {
        let follower = |member: &Member| (member.player, member.outbox.clone());
        self.members.iter().map(follower).collect()
    }

    /// Adds a connection to the followers. The connection receives no broadcasts before its
    /// snapshot.
    pub(super) fn admit(&mut self, state: &Match, player: PlayerId, outbox: &Outbox) {
        let id = outbox.connection();
        if self.contains(id) {
            return;
        }
        let member = Member {
            id,
            player,
            is_participant: state.is_participant(player),
            outbox: outbox.clone(),
            has_snapshot: false,
            known_presence: None,
        };
        let is_before = |other: &Member| other.order() < member.order();
        let index = self.members.partition_point(is_before);
        self.members.insert(index, member);
    }

    /// Records that the connection has received a snapshot with this presence. The connection then
    /// receives all broadcasts. All absence timers are recorded as stopped, because a snapshot does
    /// not show which of them run.
    pub(super) fn mark_snapshot_sent(&mut self, id: ConnectionId, presence: SeatPresence) {
        if let Some(index) = self.index_of(id) {
            let member = &mut self.members[index];
            member.has_snapshot = true;
            let absent = [false; 2];
            member.known_presence = Some(KnownPresence { presence, absent });
        }
    }

    /// Returns whether the connection follows the match and has received a snapshot.
    pub(super) fn has_received_snapshot(&self, id: ConnectionId) -> bool {
        self.index_of(id)
            .is_some_and(|index| self.members[index].has_snapshot)
    }

    /// Requests a measurement of the round-trip time of this participant's connections.
    pub(super) fn measure_rtt(&self, player: PlayerId) {
        let participants = self.participants().iter();
        for member in participants.filter(|member| member.player == player) {
            member.outbox.request_ping();
        }
    }

    /// Must be called after a seat gets a new occupant or the match is rebuilt. The presence data
    /// of all members is then outdated.
    pub(super) fn on_seats_changed(&mut self, state: &Match) {
        for member in &mut self.members {
            member.known_presence = None;
            member.is_participant = state.is_participant(member.player);
        }
        self.members.sort_unstable_by_key(Member::order);
    }

    pub(super) fn remove_connection(&mut self, id: ConnectionId) -> bool {
        let index = self.index_of(id);
        if let Some(index) = index {
            self.members.remove(index);
        }
        index.is_some()
    }

    /// Removes the connections of players that match the predicate and returns them. With
    /// `only_with_snapshot`, connections that have not received a snapshot stay.
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

    /// Removes all members and returns their connection IDs.
    pub(super) fn remove_all(&mut self) -> impl Iterator<Item = ConnectionId> {
        std::mem::take(&mut self.members)
            .into_iter()
            .map(|member| member.id)
    }

    /// Enqueues a message for all members. The next [`flush`](Self::flush) sends it, so that
    /// related messages are written together.
    pub(super) fn broadcast(&mut self, frame: &Frame) {
        self.broadcast_to(frame, |_| true);
    }

    /// Enqueues a message for the connections of some players.
    pub(super) fn broadcast_to(&mut self, frame: &Frame, is_recipient: impl Fn(PlayerId) -> bool) {
        self.enqueue(frame, |member| is_recipient(member.player));
    }

    /// Enqueues a message only for the members whose outbox is at least half empty. Other members
    /// never receive the message.
    pub(super) fn broadcast_droppable(&mut self, frame: &Frame) {
        self.enqueue(frame, |member| member.outbox.is_half_free());
    }

    fn enqueue(&mut self, frame: &Frame, is_recipient: impl Fn(&Member) -> bool) {
        if self.is_paused {
            return;
        }
        let is_target = |member: &&Member| member.has_snapshot && is_recipient(member);
        for member in self.members.iter().filter(is_target) {
            member.outbox.enqueue(frame.clone());
        }
        self.has_unflushed = true;
    }

    /// Writes all enqueued messages.
    pub(super) fn flush(&mut self, infra: &Infrastructure) {
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
            infra.spawn(async move { batch.iter().for_each(Outbox::flush) });
        }
    }

    /// Returns the presence on this server. A player counts as connected even if none of the
    /// player's connections follows the match.
    pub(super) fn seat_presence(&self, state: &Match, players: &PlayerRegistry) -> SeatPresence {
        let connected = |seat| Some(players.is_connected(state.occupant(seat).player()?));
        let is_seated = |member: &&Member| state.seat_of(member.player).is_some();
        let seated = self.participants().iter().filter(is_seated).count();
        SeatPresence {
            seats: Seat::ALL.map(connected),
            spectators: (self.members.len() - seated) as u64,
        }
    }

    /// Schedules a `presence` message if the last presence sent to any member is outdated. No
    /// message is sent after the end of the match.
    pub(super) fn schedule_presence(
        &mut self,
        state: &Match,
        (presence, absent): (SeatPresence, [bool; 2]),
    ) {
        let has_ended = matches!(state.stage(), Stage::Ended { .. });
        let current = Some(KnownPresence { presence, absent });
        let is_up_to_date =
            |member: &Member| !member.has_snapshot || member.known_presence == current;
        if has_ended || self.members.iter().all(is_up_to_date) {
            self.presence_deadline = None;
        } else {
            self.presence_deadline
                .get_or_insert_with(|| now() + PRESENCE_DELAY);
        }
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

#[cfg(test)]
mod tests {
    use plyhouse_engine::catalog::CATALOG;
    use plyhouse_matches::{Creation, EventKind, Occupant, Terms};
    use plyhouse_protocol::{MatchCode, PlayerKind};
    use uuid::Uuid;

    use super::*;

    const HOST: PlayerId = PlayerId(Uuid::from_u128(1));
    const JOINING: PlayerId = PlayerId(Uuid::from_u128(2));
    const SPECTATOR: PlayerId = PlayerId(Uuid::from_u128(3));

    fn take_seat(state: &mut Match, seat: Seat, occupant: Occupant) {
        let seated = EventKind::Seated { seat, occupant };
        state.fold(&seated.at(0)).unwrap();
    }

    fn player(id: PlayerId) -> Occupant {
        Occupant::Player {
            id,
            name: "Ann".to_owned(),
            kind: PlayerKind::Guest,
            rating: None,
        }
    }

    fn connections(subscribers: &Subscribers) -> Vec<u64> {
        subscribers
            .members
            .iter()
            .map(|member| member.id.0)
            .collect()
    }

    #[test]
    fn participants_come_before_spectators() {
        let mut state = Match::new(Creation {
            id: MatchId(Uuid::nil()),
            code: MatchCode::from_number(1),
            game: &CATALOG[0],
            host: HOST,
            terms: Terms::with_defaults(true, 0, 1),
        })
        .unwrap();
        let players = PlayerRegistry::default();
        let mut subscribers = Subscribers::default();
        for (connection, player) in [(5, SPECTATOR), (9, JOINING), (7, HOST), (1, SPECTATOR)] {
            let outbox = Outbox::new(ConnectionId(connection), 9, 1000, &Default::default());
            subscribers.admit(&state, player, &outbox);
            subscribers.admit(&state, player, &outbox);
        }
        let spectators = |subscribers: &Subscribers, state: &Match| {
            subscribers.seat_presence(state, &players).spectators
        };
        assert_eq!(connections(&subscribers), [7, 1, 5, 9]);
        assert_eq!(spectators(&subscribers, &state), 4);
        assert!(!subscribers.has_participant(JOINING));

        take_seat(&mut state, Seat::Second, player(JOINING));
        subscribers.on_seats_changed(&state);
        assert_eq!(connections(&subscribers), [7, 9, 1, 5]);
        assert_eq!(spectators(&subscribers, &state), 3);
        assert!(subscribers.has_participant(JOINING));

        assert!(subscribers.remove_connection(ConnectionId(9)));
        assert!(subscribers.remove_connection(ConnectionId(1)));
        assert!(!subscribers.remove_connection(ConnectionId(1)));
        assert_eq!(connections(&subscribers), [7, 5]);
        assert!(!subscribers.has_participant(JOINING));

        take_seat(&mut state, Seat::Second, Occupant::Open);
        take_seat(&mut state, Seat::First, player(SPECTATOR));
        subscribers.on_seats_changed(&state);
        assert_eq!(connections(&subscribers), [5, 7]);
        assert_eq!(spectators(&subscribers, &state), 1);
    }
}
