//! Everybody who follows a match, and what they are told of each other.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{MatchId, PlayerId, ServerMessage};

use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::context::server_context::ServerContext;
use crate::match_handle::summary::SeatPresence;
use crate::players::registry::Players;
use crate::wire::encode::encode;

/// How long coming and going may gather before it is told: well below the second that the protocol
/// allows, and long enough for a page that is reloaded not to flicker.
const PRESENCE_DELAY: Duration = Duration::from_millis(250);

/// To how many followers one task writes. A match writes to so few by itself; a crowd is shared among
/// tasks, so that all threads take part and nobody else waits for long. To wake each connection instead
/// would cost as much again as to write.
const WRITTEN_AT_ONCE: usize = 32;

/// Everybody who follows a match.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    /// In the order in which they connected, which is the order in which they are told.
    members: Vec<Member>,
    /// When `presence` is to be told, if somebody's last is out of date.
    presence_due: Option<Instant>,
    /// Something was added to outboxes and has not been flushed.
    has_told: bool,
    /// The members get nothing before their next snapshot, which replaces all that they know.
    is_paused: bool,
}

/// What a member knows of who is there: the last `presence`, except how much time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    presence: SeatPresence,
    /// Whose time to be gone runs.
    gone: [bool; 2],
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
    knows: Option<Known>,
}

impl Subscribers {
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Where this connection is among the members, or would be.
    fn place(&self, id: ConnectionId) -> Result<usize, usize> {
        self.members.binary_search_by_key(&id, |member| member.id)
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.place(id).is_ok()
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
    pub(super) fn spectators(&self, state: &Match) -> u64 {
        let without_seat = |m: &&Member| state.seat_of(m.player).is_none();
        self.members.iter().filter(without_seat).count() as u64
    }

    /// Lets a connection in. It is told nothing before its snapshot.
    pub(super) fn admit(&mut self, player: PlayerId, outbox: &Outbox) {
        let id = outbox.connection();
        if let Err(place) = self.place(id) {
            let member = Member {
                id,
                player,
                outbox: outbox.clone(),
                has_snapshot: false,
                knows: None,
            };
            self.members.insert(place, member);
        }
    }

    /// From now on the connection, which has a snapshot with this presence, is told everything. A snapshot does
    /// not say whose time to be gone runs.
    pub(super) fn has_snapshot(&mut self, id: ConnectionId, presence: SeatPresence) {
        if let Ok(place) = self.place(id) {
            let member = &mut self.members[place];
            member.has_snapshot = true;
            let gone = [false; 2];
            member.knows = Some(Known { presence, gone });
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
    pub(super) fn has_been_shown(&self, id: ConnectionId) -> bool {
        self.place(id)
            .is_ok_and(|place| self.members[place].has_snapshot)
    }

    /// Measures the lines of this player's connections that follow.
    pub(super) fn ask_rtt(&self, player: PlayerId) {
        let members = self.members.iter();
        for member in members.filter(|member| member.player == player) {
            member.outbox.ask_rtt();
        }
    }

    /// Marks everybody's presence out of date: a seat has a new occupant, or the match was rebuilt.
    pub(super) fn nothing_is_known(&mut self) {
        for member in &mut self.members {
            member.knows = None;
        }
    }

    pub(super) fn dismiss(&mut self, id: ConnectionId) -> bool {
        let place = self.place(id);
        if let Ok(place) = place {
            self.members.remove(place);
        }
        place.is_ok()
    }

    /// Lets go of the connections of some players, and gives them; only of those that have been shown the
    /// match, if so.
    pub(super) fn remove(
        &mut self,
        is_meant: impl Fn(PlayerId) -> bool,
        only_shown: bool,
    ) -> Vec<(PlayerId, Outbox)> {
        let goes =
            |member: &mut Member| (member.has_snapshot || !only_shown) && is_meant(member.player);
        let gone = self.members.extract_if(.., goes);
        gone.map(|member| (member.player, member.outbox)).collect()
    }

    /// Lets everybody go, and tells who that was.
    pub(super) fn dismiss_all(&mut self) -> impl Iterator<Item = ConnectionId> {
        std::mem::take(&mut self.members)
            .into_iter()
            .map(|member| member.id)
    }

    /// Tells everybody something. It goes out with the next [`flush`](Self::flush), so that what
    /// belongs together is written together.
    pub(super) fn tell(&mut self, frame: &Frame) {
        self.tell_some(frame, |_| true);
    }

    /// Tells something to the connections of some players.
    pub(super) fn tell_some(&mut self, frame: &Frame, hears: impl Fn(PlayerId) -> bool) {
        if self.is_paused {
            return;
        }
        let told = |member: &&Member| member.has_snapshot && hears(member.player);
        for member in self.members.iter().filter(told) {
            member.outbox.post(frame.clone());
        }
        self.has_told = true;
    }

    /// Tells something that can be done without to everybody whose outbox is not filling.
    pub(super) fn tell_lightly(&mut self, frame: &Frame) {
        if self.is_paused {
            return;
        }
        let told = |member: &&Member| member.has_snapshot && member.outbox.is_half_free();
        for member in self.members.iter().filter(told) {
            member.outbox.post(frame.clone());
        }
        self.has_told = true;
    }

    /// Has everything written that was told.
    pub(super) fn flush(&mut self, server: &ServerContext) {
        if !std::mem::take(&mut self.has_told) {
            return;
        }
        let told = self.members.iter().filter(|member| member.has_snapshot);
        let mut outboxes = told.map(|member| &member.outbox);
        let first = outboxes.by_ref().take(WRITTEN_AT_ONCE);
        first.for_each(Outbox::flush);
        loop {
            let some: Vec<Outbox> = outboxes.by_ref().take(WRITTEN_AT_ONCE).cloned().collect();
            if some.is_empty() {
                return;
            }
            server.spawn(async move { some.iter().for_each(Outbox::flush) });
        }
    }

    /// Who is there. A player is connected with any connection, whether it follows or not.
    pub(super) fn presence(&self, state: &Match, players: &Players) -> SeatPresence {
        let connected = |seat| {
            state
                .occupant(seat)
                .player()
                .map(|id| players.is_connected(id))
        };
        SeatPresence {
            seats: Seat::ALL.map(connected),
            spectators: self.spectators(state),
        }
    }

    /// Plans a `presence` message if a member does not know who is there and whose time to be gone runs. After
    /// the end of the match none is sent.
    pub(super) fn plan_presence(
        &mut self,
        state: &Match,
        (presence, gone): (SeatPresence, [bool; 2]),
        now: Instant,
    ) {
        let has_ended = matches!(state.stage(), Stage::Ended { .. });
        let current = Some(Known { presence, gone });
        let knows = |member: &Member| !member.has_snapshot || member.knows == current;
        if has_ended || self.members.iter().all(knows) {
            self.presence_due = None;
        } else {
            self.presence_due.get_or_insert(now + PRESENCE_DELAY);
        }
    }

    pub(super) const fn presence_due(&self) -> Option<Instant> {
        self.presence_due
    }

    pub(super) fn tell_presence(
        &mut self,
        id: MatchId,
        presence: SeatPresence,
        gone_ms: [Option<u64>; 2],
    ) {
        self.presence_due = None;
        let gone = gone_ms.map(|gone_ms| gone_ms.is_some());
        let told = |member: &&mut Member| member.has_snapshot;
        for member in self.members.iter_mut().filter(told) {
            member.knows = Some(Known { presence, gone });
        }
        let SeatPresence { seats, spectators } = presence;
        self.tell(&encode(&ServerMessage::Presence {
            match_id: id,
            seats,
            gone_ms,
            spectators,
        }));
    }
}
