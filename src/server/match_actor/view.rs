//! A match as its followers see it. The view applies published events to the match state and sends
//! them to the followers. It makes no decisions of its own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{AbsenceTimers, Event, EventKind, Match, ReplayError, Stage, TurnTime};
use plyhouse_protocol::{
    ChatEntry, ErrorCode, PlayerId, RatingChange, RematchState, RequestId, Seq, ServerMessage,
    SpectatorAccess, Thinking,
};
use plyhouse_store::MatchRecord;

use super::chat::CHAT_HISTORY_MAX;
use super::subscribers::Subscribers;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::connection::reply::Reply;
use crate::context::metrics::observe_since;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Command;
use crate::match_handle::replication_messages::{
    ChatMessage, Presence, PublishedEvents, TransientState,
};
use crate::match_handle::summary::SeatPresence;
use crate::players::rating_update_message::RatingUpdate;
use crate::settings::Settings;
use crate::wire::encode;
use crate::wire::encode::encode;

/// Maximum number of recent events that a resync can return. A client that has missed more events
/// receives a snapshot.
pub(crate) const HISTORY_EVENTS_MAX: usize = 256;

/// Initial capacity of the event history, which avoids repeated growth in short matches.
const HISTORY_INITIAL_CAPACITY: usize = 16;

/// State of a match as one group of followers sees it. The view sends the messages of the match to
/// these followers.
#[derive(Debug)]
pub(super) struct View {
    server: Arc<ServerContext>,
    /// Match state after the last event that was applied.
    pub(super) state: Match,
    subscribers: Subscribers,
    /// The most recent events, encoded for the followers.
    history: VecDeque<Frame>,
    /// Time at which the store durably saved the most recent move, used to measure the latency of
    /// the move. `None` if that move was already flushed to the followers.
    unflushed_move_at: Option<Instant>,
    /// Rematch offers, if the match has ended.
    rematch: Option<RematchState>,
    /// Rating changes of a rated match. The flag is `false` while the changes must still be sent to
    /// the followers.
    rating_update: Option<(RatingUpdate, bool)>,
    /// Most recent chat messages.
    chat_history: VecDeque<ChatMessage>,
    /// Last `thinking` message of a bot for the current position, which is also sent to new
    /// followers.
    last_thinking: Option<Frame>,
    /// Current epoch of the match. The epoch increases by 1 each time a server takes over the
    /// match.
    pub(super) epoch: u64,
    /// Presence of players and spectators on other servers.
    remote_presence: Option<Box<RemotePresence>>,
    /// Followers of the delayed view, which sends them their messages.
    pub(super) delayed_followers: DelayedFollowers,
    /// Whether this view treats all followers as spectators, even players who have taken a seat.
    is_for_spectators: bool,
}

/// Clock and absence state that cannot be derived from events. This state is needed to build a
/// snapshot and the `presence` message that follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotExtras {
    pub(super) turn_time: Option<TurnTime>,
    /// For each seat, whether the absence timer of the seat's player is running.
    pub(super) absent: [bool; 2],
}

/// Followers of the delayed view of a match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayedFollowers {
    /// Number of connections that follow the delayed view.
    pub(super) count: u64,
    /// The host of the match if the host follows the delayed view; otherwise `None`.
    pub(super) host: Option<PlayerId>,
}

/// Which players and how many spectators are present on other servers.
#[derive(Debug)]
pub(super) enum RemotePresence {
    /// Counts only players and spectators on other servers. The view adds those on this server.
    Added {
        /// Seat holders and the host, if they follow the match on another server.
        following_players: Vec<PlayerId>,
        /// For each seat, whether its player is connected to another server.
        seats: [bool; 2],
        spectators: u64,
    },
    /// Counts the players and spectators on all servers. A replica receives this value from the
    /// server that owns the match. The delayed view receives it from the queued updates.
    Total(SeatPresence),
}

impl View {
    /// Creates a view of the match in `record`. The most recent events become available to resyncs.
    /// If `is_for_spectators` is set, the view treats all followers as spectators, even players who
    /// have taken a seat.
    pub(super) fn from_record(
        server: &Arc<ServerContext>,
        record: MatchRecord,
        is_for_spectators: bool,
    ) -> Result<Self, ReplayError> {
        let (state, history) = replay(&server.infra.settings, record)?;
        Ok(Self {
            server: Arc::clone(server),
            state,
            subscribers: Subscribers::default(),
            history,
            unflushed_move_at: None,
            rematch: None,
            rating_update: None,
            chat_history: VecDeque::new(),
            last_thinking: None,
            epoch: 0,
            remote_presence: None,
            delayed_followers: DelayedFollowers::default(),
            is_for_spectators,
        })
    }

    /// Rebuilds the match state from `record` and returns the previous state. The followers receive
    /// none of the events.
    pub(super) fn reload(&mut self, record: MatchRecord) -> Result<Match, ReplayError> {
        let (state, history) = replay(&self.server.infra.settings, record)?;
        self.history = history;
        self.subscribers.on_seats_changed(&state);
        Ok(std::mem::replace(&mut self.state, state))
    }

    /// Returns the number of connections that follow this view.
    pub(super) fn follower_count(&self) -> u64 {
        self.subscribers.len() as u64
    }

    /// Removes and returns the connections of each player for whom `predicate` is true. The removed
    /// connections receive no message.
    pub(super) fn take_followers(
        &mut self,
        predicate: impl Fn(PlayerId) -> bool,
    ) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.remove_players(predicate, false)
    }

    /// Moves a connection from the delayed view to the current state, and sends the connection a
    /// snapshot.
    pub(super) fn admit_delayed_follower(
        &mut self,
        player: PlayerId,
        outbox: &Outbox,
        extras: SnapshotExtras,
    ) {
        if self.subscribers.has_received_snapshot(outbox.connection()) {
            return;
        }
        self.subscribers.admit(&self.state, player, outbox);
        let presence = self.seat_presence();
        outbox.send(self.snapshot_frame(None, player, presence, extras.turn_time));
        self.subscribers
            .mark_snapshot_sent(outbox.connection(), presence);
        self.schedule_presence(extras.absent);
        self.send_last_thinking(outbox);
    }

    /// Suppresses all broadcasts until [`broadcast_snapshots`](Self::broadcast_snapshots) is
    /// called.
    pub(super) const fn pause(&mut self) {
        self.subscribers.is_paused = true;
    }

    /// Applies an event that became durable at `durable_at`. The latency of a move is measured from
    /// `durable_at` to the next call of [`flush`](Self::flush).
    pub(super) fn apply_event(&mut self, event: &Event, durable_at: Instant) {
        self.apply_delayed_event(event);
        if matches!(event.kind, EventKind::Moved { .. }) {
            self.unflushed_move_at = Some(durable_at);
        }
    }

    /// Applies an event without measuring the latency of moves. The delayed view uses this method,
    /// because its events were sent to the players earlier.
    pub(super) fn apply_delayed_event(&mut self, event: &Event) {
        let folded = self.state.fold(event);
        folded.expect("a stored event applies to its match");
        if self.history.len() == HISTORY_EVENTS_MAX {
            self.history.pop_front();
        }
        self.history
            .push_back(encode::event(&self.state, &event.kind));
        self.last_thinking = None;
        if matches!(event.kind, EventKind::Seated { .. }) {
            self.subscribers.on_seats_changed(&self.state);
        }
    }

    /// Enqueues the most recently applied events for all followers. The next [`flush`](Self::flush)
    /// sends them.
    pub(super) fn broadcast(&mut self, published: &PublishedEvents) {
        let count = published.events.len().min(HISTORY_EVENTS_MAX);
        for frame in self.history.range(self.history.len() - count..) {
            self.subscribers.broadcast(frame);
        }
    }

    /// Enqueues a `thinking` message of a bot for the followers whose outbox is at least half
    /// empty.
    pub(super) fn broadcast_thinking(&mut self, thinking: &Thinking) {
        let frame = encode(&ServerMessage::Thinking(Box::new(thinking.clone())));
        self.subscribers.broadcast_droppable(&frame);
        self.last_thinking = Some(frame);
    }

    /// Sends the last `thinking` message to a new follower, because the bot might not send another
    /// message for this position.
    fn send_last_thinking(&self, outbox: &Outbox) {
        if let Some(thinking) = &self.last_thinking {
            outbox.send(thinking.clone());
        }
    }

    /// Sets the rating changes of a rated match. Followers receive them only once, and only after
    /// the end of the match.
    pub(super) fn set_rating_update(&mut self, rating_update: &RatingUpdate) {
        self.rating_update
            .get_or_insert_with(|| (rating_update.clone(), false));
        self.broadcast_rating_update();
    }

    /// Sets rating changes that were loaded from the store and need not be sent to followers.
    pub(super) fn set_sent_rating_changes(&mut self, changes: Option<Vec<RatingChange>>) {
        let sent_update = |changes| (RatingUpdate { changes, why: None }, true);
        self.rating_update = changes.map(sent_update);
    }

    /// Enqueues the rating changes if the match has ended. Does nothing if the changes are not
    /// known yet or were already sent. The next [`flush`](Self::flush) sends them.
    pub(super) fn broadcast_rating_update(&mut self) {
        let has_ended = matches!(self.state.stage(), Stage::Ended { .. });
        if let Some((rating_update, is_sent @ false)) = &mut self.rating_update
            && has_ended
        {
            *is_sent = true;
            let RatingUpdate { changes, why } = rating_update.clone();
            let match_id = self.state.id();
            self.subscribers.broadcast(&encode(&ServerMessage::Rating {
                match_id,
                changes,
                reason: why,
            }));
        }
    }

    /// Writes all enqueued messages to the sockets.
    pub(super) fn flush(&mut self) {
        self.subscribers.flush(&self.server.infra);
        if let Some(durable_at) = self.unflushed_move_at.take() {
            observe_since(&self.server.infra.metrics.move_written, durable_at);
        }
    }

    /// Admits a connection as a follower, but sends it nothing yet. Refuses the request if the
    /// match has too many followers.
    pub(super) fn admit(
        &mut self,
        command: &Command,
        is_player: bool,
        reply: Reply,
    ) -> Option<Reply> {
        if reply.outbox().is_closing() {
            // Do not admit a closing connection, because the server may already have removed it
            // from the matches that it followed. If it were admitted now, it would stay a follower
            // forever.
            reply.discard();
            return None;
        }
        let reply = self.check_capacity(command, is_player, reply)?;
        self.subscribers
            .admit(&self.state, command.player, reply.outbox());
        Some(reply)
    }

    /// Refuses the request if the match has too many followers. Players of the match and
    /// connections that already follow the match are always accepted.
    pub(super) fn check_capacity(
        &self,
        command: &Command,
        is_player: bool,
        reply: Reply,
    ) -> Option<Reply> {
        let has_capacity = self.subscribers.len() < self.server.infra.settings.followers_max;
        if has_capacity || is_player || self.follows(command.connection) {
            return Some(reply);
        }
        reply.refuse(ErrorCode::Overloaded, "this match has too many spectators");
        None
    }

    /// Returns whether this connection follows the match.
    pub(super) fn follows(&self, connection: ConnectionId) -> bool {
        self.subscribers.contains(connection)
    }

    /// Removes the connection that sent this command from the followers. Returns `false` if the
    /// connection did not follow the match.
    pub(super) fn remove_follower(&mut self, command: &Command) -> bool {
        self.subscribers.remove_connection(command.connection)
    }

    /// Returns the followers of the current state, without the followers of the delayed view.
    pub(super) fn followers(&self) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.followers()
    }

    /// Returns whether the match has followers on this server, including followers of the delayed
    /// view.
    pub(super) fn has_followers(&self) -> bool {
        self.subscribers.len() > 0 || self.delayed_followers.count > 0
    }

    /// Returns whether a connection of this participant, who holds a seat or hosts the match,
    /// follows the match on any server.
    pub(super) fn has_participant(&self, player: PlayerId) -> bool {
        let follows_remotely = || match self.remote_presence.as_deref() {
            Some(RemotePresence::Added {
                following_players, ..
            }) => following_players.contains(&player),
            Some(RemotePresence::Total(_)) | None => false,
        };
        self.has_local_participant(player) || follows_remotely()
    }

    /// Returns whether a connection of this participant follows the match on this server.
    fn has_local_participant(&self, player: PlayerId) -> bool {
        self.delayed_followers.host == Some(player) || self.subscribers.has_participant(player)
    }

    pub(super) fn set_remote_presence(&mut self, remote_presence: Option<RemotePresence>) {
        self.remote_presence = remote_presence.map(Box::new);
    }

    /// Returns the presence data of this server: which seated players are connected to it and how
    /// many spectators follow the match on it.
    fn local_seat_presence(&self) -> SeatPresence {
        let mut presence = self
            .subscribers
            .seat_presence(&self.state, &self.server.identity.players);
        presence.spectators += self.delayed_followers.count;
        presence
    }

    /// Returns the presence data for snapshots and lists: which players are present and how many
    /// spectators follow the match. A connected player counts as present.
    pub(super) fn seat_presence(&self) -> SeatPresence {
        let mut presence = self.local_seat_presence();
        match self.remote_presence.as_deref() {
            None => {}
            Some(RemotePresence::Total(total)) => {
                // For the server that owns the match, a player is present only while the player
                // follows the match. A player who has just connected to this server does not follow
                // the match yet.
                let may_add = AbsenceTimers::counts_absence(&self.state) && !self.is_for_spectators;
                let (here, mut seats) = (presence.seats, total.seats);
                for (seat, here) in seats.iter_mut().zip(here).filter(|_| may_add) {
                    *seat = seat.map(|there| there || here == Some(true));
                }
                presence = SeatPresence { seats, ..*total };
            }
            Some(RemotePresence::Added {
                seats, spectators, ..
            }) => {
                for (seat, there) in presence.seats.iter_mut().zip(seats) {
                    *seat = seat.map(|here| here || *there);
                }
                presence.spectators += spectators;
            }
        }
        presence
    }

    /// Returns the presence data for `presence` messages: which players are present and how many
    /// spectators follow the match.
    ///
    /// If the match has absence timers, a player counts as present only while following the match.
    /// The absence timers on the server that owns the match use the same rule. If connected players
    /// counted as present instead, the fields `seats` and `gone_ms` of the `presence` message could
    /// contradict each other. A player connects shortly before following the match, and may
    /// disconnect shortly before the server removes the player from the followers.
    fn announced_presence(&self) -> SeatPresence {
        match self.remote_presence.as_deref() {
            Some(RemotePresence::Total(total)) => *total,
            Some(RemotePresence::Added { .. }) | None => {
                self.to_announced_presence(self.seat_presence())
            }
        }
    }

    /// Converts the [seat presence](Self::seat_presence) to the
    /// [announced presence](Self::announced_presence). Must not be called for a replica or a
    /// delayed view.
    fn to_announced_presence(&self, mut presence: SeatPresence) -> SeatPresence {
        if AbsenceTimers::counts_absence(&self.state) {
            let player = |seat| self.state.occupant(seat).player();
            presence.seats =
                Seat::ALL.map(|seat| player(seat).map(|player| self.has_participant(player)));
        }
        presence
    }

    /// Returns the transient match state, with only the presence data and the rematch offers filled
    /// in. A replica cannot derive this state from events. The caller adds the clock and the
    /// absence times.
    pub(super) fn transient_state(&self) -> TransientState {
        TransientState {
            turn_time: None,
            seat_presence: self.announced_presence(),
            absence_left_ms: [None; 2],
            rematch: self.rematch.clone(),
        }
    }

    /// Applies transient state that another server or the queue of the delayed view reports, and
    /// broadcasts the changes except for the clock.
    pub(super) fn apply_transient_state(&mut self, reported: &TransientState) {
        self.set_remote_presence(Some(RemotePresence::Total(reported.seat_presence)));
        let absent = reported.absence_left_ms.map(|left_ms| left_ms.is_some());
        self.schedule_presence(absent);
        if let Some(rematch) = &reported.rematch
            && self.set_rematch(rematch.clone())
        {
            self.broadcast_rematch();
        }
    }

    /// Returns the players and spectators on this server. A replica reports them to the server that
    /// owns the match.
    pub(super) fn local_presence(&self) -> Presence {
        let players = self.state.participants();
        let follows_here = |player: &PlayerId| self.has_local_participant(*player);
        Presence {
            following_players: players.filter(follows_here).collect(),
            seat_presence: self.local_seat_presence(),
        }
    }

    /// Sets the rematch offers that snapshots contain. Returns whether the offers changed.
    pub(super) fn set_rematch(&mut self, rematch: RematchState) -> bool {
        let is_changed = self.rematch.as_ref() != Some(&rematch);
        self.rematch = Some(rematch);
        is_changed
    }

    fn rematch_frame(&self) -> Option<Frame> {
        let rematch = self.rematch.clone()?;
        let match_id = self.state.id();
        Some(encode(&ServerMessage::Rematch { match_id, rematch }))
    }

    /// Enqueues the rematch offers for all followers. The next [`flush`](Self::flush) sends them.
    pub(super) fn broadcast_rematch(&mut self) {
        if self.subscribers.len() > 0
            && let Some(frame) = self.rematch_frame()
        {
            self.subscribers.broadcast(&frame);
        }
    }

    /// Sends the rematch offers to one connection.
    pub(super) fn send_rematch(&self, outbox: &Outbox) {
        if let Some(frame) = self.rematch_frame() {
            outbox.send(frame);
        }
    }

    /// Creates the next chat message of the match. Chat messages are numbered within each epoch.
    pub(super) fn new_chat_message(
        &self,
        player: PlayerId,
        is_players_only: bool,
        chat: ChatEntry,
    ) -> ChatMessage {
        let last = self.chat_history.back();
        let last = last.filter(|last| last.number.0 == self.epoch);
        ChatMessage {
            number: (self.epoch, last.map_or(0, |last| last.number.1 + 1)),
            player,
            is_players_only,
            chat,
        }
    }

    /// Enqueues a chat message for its recipients, unless the history contains a message with the
    /// same or a higher number. The next [`flush`](Self::flush) sends the chat message. Returns
    /// whether the message was enqueued.
    pub(super) fn broadcast_chat_if_new(&mut self, message: &ChatMessage) -> bool {
        let last = self.chat_history.back();
        let is_new = last.is_none_or(|last| last.number < message.number);
        if is_new {
            self.broadcast_chat(message);
        }
        is_new
    }

    /// Adds a new chat message to the history and enqueues it for its recipients.
    pub(super) fn broadcast_chat(&mut self, message: &ChatMessage) {
        if self.chat_history.len() == CHAT_HISTORY_MAX {
            self.chat_history.pop_front();
        }
        self.chat_history.push_back(message.clone());
        let frame = encode(&ServerMessage::Chat {
            match_id: self.state.id(),
            entry: message.chat.clone(),
        });
        let blocks = &self.server.identity.block_cache;
        let is_recipient = |player| {
            (!message.is_players_only || self.state.seat_of(player).is_some())
                && !blocks.are_unpairable(player, message.player)
        };
        self.subscribers.broadcast_to(&frame, is_recipient);
    }

    /// Deletes a player's chat messages from the history. Also deletes the messages whose author
    /// has the given name.
    pub(super) fn delete_chat(&mut self, player: PlayerId, name: &str) {
        self.chat_history
            .retain(|message| message.player != player && message.chat.name != name);
    }

    /// Returns the recent chat messages. They are sent to new replicas.
    pub(super) fn chat_messages(&self) -> Vec<ChatMessage> {
        self.chat_history.iter().cloned().collect()
    }

    /// Returns the recent chat messages that this player may see.
    fn visible_chat(&self, player: PlayerId) -> Vec<ChatEntry> {
        let is_seated = self.state.seat_of(player).is_some();
        let blocks = &self.server.identity.block_cache;
        let is_visible = |message: &&ChatMessage| {
            (is_seated || !message.is_players_only)
                && !blocks.are_unpairable(player, message.player)
        };
        let visible = self.chat_history.iter().filter(is_visible);
        visible.map(|message| message.chat.clone()).collect()
    }

    /// If the match has started and its terms do not allow spectators, removes the spectators from
    /// the followers and notifies them. This method must be called before the start of the match is
    /// broadcast.
    pub(super) fn remove_spectator(&mut self) {
        if self.state.creation().terms.spectator_access() != SpectatorAccess::Nobody
            || !self.state.has_started()
        {
            return;
        }
        self.remove_followers_if(Match::is_hidden_from);
    }

    /// Removes the connections of each player for whom `predicate` is true, and notifies these
    /// connections. Connections that have not received a snapshot stay.
    pub(super) fn remove_followers_if(&mut self, predicate: impl Fn(&Match, PlayerId) -> bool) {
        let match_id = self.state.id();
        let is_removed = |player| predicate(&self.state, player);
        let removed = self.subscribers.remove_players(is_removed, true);
        if removed.is_empty() {
            return;
        }
        let frame = encode(&ServerMessage::WatchEnded { match_id });
        let ids = removed.iter().map(|(_, outbox)| outbox.connection());
        let registry = &self.server.identity.connection_registry;
        registry.unfollow_match(match_id, ids);
        for (_, outbox) in removed {
            outbox.send(frame.clone());
        }
    }

    /// Removes all followers because the match actor stops.
    pub(super) fn remove_all_followers(&mut self) {
        let followers = self.subscribers.remove_all();
        let registry = &self.server.identity.connection_registry;
        registry.unfollow_match(self.state.id(), followers);
    }

    /// Replies with a snapshot. The connection then receives all broadcasts. If an absence timer
    /// runs, a `presence` message follows, because a snapshot does not contain the timer's
    /// remaining time.
    pub(super) fn send_snapshot(
        &mut self,
        command: &Command,
        extras: SnapshotExtras,
        reply: Reply,
    ) {
        let outbox = reply.outbox().clone();
        let presence = self.seat_presence();
        reply.send_frame(|re| self.snapshot_frame(re, command.player, presence, extras.turn_time));
        self.send_last_thinking(&outbox);
        self.subscribers
            .mark_snapshot_sent(command.connection, presence);
        if extras.absent != [false; 2] {
            self.schedule_presence(extras.absent);
        }
    }

    /// Sends a snapshot to every follower, and then a `presence` message if an absence timer runs.
    pub(super) fn broadcast_snapshots(&mut self, extras: SnapshotExtras) {
        self.subscribers.is_paused = false;
        let presence = self.seat_presence();
        for (player, outbox) in self.subscribers.followers() {
            outbox.send(self.snapshot_frame(None, player, presence, extras.turn_time));
            self.subscribers
                .mark_snapshot_sent(outbox.connection(), presence);
        }
        if extras.absent != [false; 2] {
            self.schedule_presence(extras.absent);
        }
    }

    fn snapshot_frame(
        &self,
        re: Option<RequestId>,
        player: PlayerId,
        presence: SeatPresence,
        turn_time: Option<TurnTime>,
    ) -> Frame {
        let recipient = (!self.is_for_spectators).then_some(player);
        let has_ended = matches!(self.state.stage(), Stage::Ended { .. });
        let rating_update = self.rating_update.as_ref().filter(|_| has_ended);
        encode::snapshot(
            &self.state,
            recipient,
            &encode::SnapshotContext {
                re,
                presence,
                turn_time,
                rematch: self.rematch.as_ref(),
                rating_changes: rating_update.map(|(update, _)| update.changes.as_slice()),
                chat: self.visible_chat(player),
                epoch: self.epoch,
            },
        )
    }

    /// Enqueues the state of the clock for all followers. The next [`flush`](Self::flush) sends it.
    pub(super) fn broadcast_clock(&mut self, turn_time: TurnTime) {
        if let Some(frame) = encode::clock(&self.state, turn_time) {
            self.subscribers.broadcast(&frame);
        }
    }

    /// Requests a ping to the player whose turn it is, to measure the player's round-trip time. The
    /// ping is sent with the next message to that player.
    pub(super) fn measure_mover_rtt(&self) {
        if let Some(player) = self.state.player_to_move() {
            self.subscribers.measure_rtt(player);
        }
    }

    /// Replies with the events after `since`, or with a snapshot if the history no longer contains
    /// all of them.
    pub(super) fn resync(
        &self,
        command: &Command,
        since: Seq,
        turn_time: Option<TurnTime>,
        reply: Reply,
    ) {
        if !self.follows(command.connection) {
            reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            return;
        }
        let missed = self.state.seq().0.checked_sub(since.0);
        let missed = missed.and_then(|missed| usize::try_from(missed).ok());
        let first_missed = missed.and_then(|missed| self.history.len().checked_sub(missed));
        reply.send_frame(|re| match first_missed {
            Some(first_missed) => {
                encode::events(re, self.state.id(), self.history.range(first_missed..))
            }
            None => self.snapshot_frame(re, command.player, self.seat_presence(), turn_time),
        });
    }

    /// Schedules a `presence` message if any follower was last sent outdated presence data.
    pub(super) fn schedule_presence(&mut self, absent: [bool; 2]) {
        let presence = self.announced_presence();
        self.subscribers
            .schedule_presence(&self.state, (presence, absent));
    }

    /// Like [`schedule_presence`](Self::schedule_presence), but takes the current
    /// [seat presence](Self::seat_presence). Must not be called for a replica or a delayed view.
    pub(super) fn schedule_known_presence(&mut self, presence: SeatPresence, absent: [bool; 2]) {
        let presence = self.to_announced_presence(presence);
        self.subscribers
            .schedule_presence(&self.state, (presence, absent));
    }

    /// Returns the time of the next `presence` message.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.subscribers.presence_deadline
    }

    /// Enqueues the `presence` message if it is due, including the remaining absence times.
    pub(super) fn on_timer(&mut self, now: Instant, absence_left_ms: [Option<u64>; 2]) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            let presence = self.announced_presence();
            self.subscribers
                .broadcast_presence(self.state.id(), presence, absence_left_ms);
        }
    }
}

/// Replays the events of a match. Returns the match state and the most recent events, encoded for
/// the followers.
fn replay(
    settings: &Settings,
    record: MatchRecord,
) -> Result<(Match, VecDeque<Frame>), ReplayError> {
    let (mut creation, events) = (record.creation, record.events);
    settings.fill_absence_limits(&mut creation.terms);
    let mut state = Match::new(creation)?;
    let mut history = VecDeque::with_capacity(HISTORY_INITIAL_CAPACITY);
    let history_start = events.len().saturating_sub(HISTORY_EVENTS_MAX);
    for (index, event) in events.iter().enumerate() {
        state.fold(event)?;
        if index >= history_start {
            history.push_back(encode::event(&state, &event.kind));
        }
    }
    Ok((state, history))
}
