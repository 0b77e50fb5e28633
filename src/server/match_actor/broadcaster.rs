//! The teller of a match: it makes what has happened part of the match, and tells everybody who follows.
//! It decides nothing, and is fed with what the match's owner tells.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{AbsenceTimers, Event, EventKind, Match, ReplayError, Stage, TurnTime};
use plyhouse_protocol::{
    ChatEntry, ErrorCode, MatchId, PlayerId, RatingChange, RematchState, RequestId, Seq,
    ServerMessage, SpectatorAccess, Thinking,
};
use plyhouse_store::MatchRecord;

use super::chat::CHAT_HISTORY_MAX;
use super::subscribers::Subscribers;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Command;
use crate::match_handle::replication::{ChatMessage, Presence, PublishedEvents, TransientState};
use crate::match_handle::summary::SeatPresence;
use crate::players::rating_update::RatingUpdate;
use crate::wire::encode;
use crate::wire::encode::encode;

/// How many events can be asked for again; who has missed more gets a snapshot.
pub(crate) const HISTORY_EVENTS_MAX: usize = 256;

/// For how many events there is room from the start, which saves short matches from growing it step by
/// step.
const HISTORY_INITIAL_CAPACITY: usize = 16;

/// Tells of one match.
#[derive(Debug)]
pub(super) struct Broadcaster {
    server: Arc<ServerContext>,
    subscribers: Subscribers,
    /// The last events, as they were told.
    history: VecDeque<Frame>,
    /// A move that was durable at this instant has been told and not been written yet.
    unflushed_move_at: Option<Instant>,
    /// Who wants a rematch, once the match has ended.
    rematch: Option<RematchState>,
    /// What a rated match has changed, and whether that has been told.
    rating_update: Option<(RatingUpdate, bool)>,
    /// What was said last.
    chat_history: VecDeque<ChatMessage>,
    /// What a bot has told last of what it thinks of the position, for whoever comes meanwhile.
    last_thinking: Option<Frame>,
    /// How often the match was taken over.
    epoch: u64,
    /// Who is there on other servers.
    remote_presence: Option<Box<RemotePresence>>,
    /// Who else is there, and is told with a delay.
    delayed_followers: DelayedFollowers,
    /// Whether those who follow have no seat, whatever the match says that is told of.
    is_for_spectators: bool,
}

/// What the owner of a match knows beside its events, as a snapshot and the `presence` after it need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotExtras {
    pub(super) turn_time: Option<TurnTime>,
    /// Whose time to be gone runs.
    pub(super) absent: [bool; 2],
}

/// Those who follow a match and are told with a delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayedFollowers {
    /// How many they are.
    pub(super) count: u64,
    /// The host, if among them.
    pub(super) host: Option<PlayerId>,
}

/// Who is there on other servers.
#[derive(Debug)]
pub(super) enum RemotePresence {
    /// These, beside those who are here.
    Added {
        /// Those of the match's players who follow it.
        following_players: Vec<PlayerId>,
        /// Whether a seat's player is connected.
        seats: [bool; 2],
        spectators: u64,
    },
    /// All in all these, as the match's owner has told.
    Total(SeatPresence),
}

impl Broadcaster {
    pub(super) fn new(server: Arc<ServerContext>) -> Self {
        Self {
            server,
            subscribers: Subscribers::default(),
            history: VecDeque::with_capacity(HISTORY_INITIAL_CAPACITY),
            unflushed_move_at: None,
            rematch: None,
            rating_update: None,
            chat_history: VecDeque::new(),
            last_thinking: None,
            epoch: 0,
            remote_presence: None,
            delayed_followers: DelayedFollowers::default(),
            is_for_spectators: false,
        }
    }

    /// For those who have no seat, whatever the match says that is told of.
    pub(super) const fn for_spectators(mut self) -> Self {
        self.is_for_spectators = true;
        self
    }

    /// From now on these are there beside.
    pub(super) const fn set_delayed_followers(&mut self, delayed_followers: DelayedFollowers) {
        self.delayed_followers = delayed_followers;
    }

    /// How many connections follow.
    pub(super) fn follower_count(&self) -> u64 {
        self.subscribers.len() as u64
    }

    /// Lets go of the connections of some players, silently, and gives them.
    pub(super) fn take_followers(
        &mut self,
        predicate: impl Fn(PlayerId) -> bool,
    ) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.remove_players(predicate, false)
    }

    /// Lets a connection in that has followed with a delay until now, and shows it the match as it is.
    pub(super) fn admit_delayed_follower(
        &mut self,
        state: &Match,
        player: PlayerId,
        outbox: &Outbox,
        extras: SnapshotExtras,
    ) {
        if self.subscribers.has_received_snapshot(outbox.connection()) {
            return;
        }
        self.subscribers.admit(player, outbox);
        outbox.send(self.snapshot_frame(state, None, player, extras.turn_time));
        let presence = self.seat_presence(state);
        self.subscribers
            .mark_snapshot_sent(outbox.connection(), presence);
        self.schedule_presence(state, extras.absent);
        self.send_last_thinking(outbox);
    }

    /// Holds back all messages to those who follow until [`broadcast_snapshots`](Self::broadcast_snapshots).
    pub(super) const fn pause(&mut self) {
        self.subscribers.pause();
    }

    /// The match that the events of this record made, all of which happened before anybody follows. Has
    /// the last of them ready for those who ask for them.
    pub(super) fn replay(&mut self, record: MatchRecord) -> Result<Match, ReplayError> {
        let MatchRecord {
            mut creation,
            events,
        } = record;
        self.server
            .settings
            .fill_absence_limits(&mut creation.terms);
        let mut state = Match::new(creation)?;
        let history_start = events.len().saturating_sub(HISTORY_EVENTS_MAX);
        self.history.clear();
        for (index, event) in events.iter().enumerate() {
            state.fold(event)?;
            if index >= history_start {
                self.history.push_back(encode::event(&state, &event.kind));
            }
        }
        self.subscribers.invalidate_presence();
        Ok(state)
    }

    /// Makes an event part of the match, which was durable at this instant.
    pub(super) fn apply_event(&mut self, state: &mut Match, event: &Event, durable_at: Instant) {
        self.apply_delayed_event(state, event);
        if matches!(event.kind, EventKind::Moved { .. }) {
            self.unflushed_move_at = Some(durable_at);
        }
    }

    /// Makes an event part of the match that others were told of before.
    pub(super) fn apply_delayed_event(&mut self, state: &mut Match, event: &Event) {
        state
            .fold(event)
            .expect("a stored event applies to its match");
        if self.history.len() == HISTORY_EVENTS_MAX {
            self.history.pop_front();
        }
        self.history.push_back(encode::event(state, &event.kind));
        self.last_thinking = None;
        if matches!(event.kind, EventKind::Seated { .. }) {
            self.subscribers.invalidate_presence();
        }
    }

    /// Tells what was taken in last. It goes out with the next [`flush`](Self::flush).
    pub(super) fn broadcast(&mut self, published: &PublishedEvents) {
        let count = published.events.len().min(HISTORY_EVENTS_MAX);
        for frame in self.history.range(self.history.len() - count..) {
            self.subscribers.broadcast(frame);
        }
    }

    /// Tells what a bot thinks, to those who have read most of what they were told.
    pub(super) fn broadcast_thinking(&mut self, thinking: &Thinking) {
        let frame = encode(&ServerMessage::Thinking(Box::new(thinking.clone())));
        self.subscribers.broadcast_droppable(&frame);
        self.last_thinking = Some(frame);
    }

    /// Tells a connection that has come just now what a bot thinks: it may think of this position no more.
    fn send_last_thinking(&self, outbox: &Outbox) {
        if let Some(thinking) = &self.last_thinking {
            outbox.send(thinking.clone());
        }
    }

    /// What a rated match has changed is known: to be told once, and not before its end was.
    pub(super) fn set_rating_update(&mut self, state: &Match, rating_update: &RatingUpdate) {
        self.rating_update
            .get_or_insert_with(|| (rating_update.clone(), false));
        self.broadcast_rating_update(state);
    }

    /// What a rated match has changed was told before it was read here.
    pub(super) fn set_sent_rating_changes(&mut self, changes: Option<Vec<RatingChange>>) {
        let sent_update = |changes| (RatingUpdate { changes, why: None }, true);
        self.rating_update = changes.map(sent_update);
    }

    /// Tells what a rated match has changed, if that is known and was not told. It goes out with the next
    /// [`flush`](Self::flush).
    pub(super) fn broadcast_rating_update(&mut self, state: &Match) {
        let has_ended = matches!(state.stage(), Stage::Ended { .. });
        if let Some((rating_update, is_sent @ false)) = &mut self.rating_update
            && has_ended
        {
            *is_sent = true;
            let RatingUpdate { changes, why } = rating_update.clone();
            let match_id = state.id();
            self.subscribers.broadcast(&encode(&ServerMessage::Rating {
                match_id,
                changes,
                reason: why,
            }));
        }
    }

    /// Has everything written that was told.
    pub(super) fn flush(&mut self) {
        self.subscribers.flush(&self.server);
        if let Some(durable_at) = self.unflushed_move_at.take() {
            let latency = now().saturating_duration_since(durable_at);
            self.server
                .metrics
                .move_written
                .observe(latency.as_secs_f64());
        }
    }

    /// Lets a connection in, silently, or answers that there is no room.
    pub(super) fn admit(
        &mut self,
        command: &Command,
        is_player: bool,
        reply: Reply,
    ) -> Option<Reply> {
        if reply.outbox().is_closing() {
            // If its end has been handled already, nothing would ever dismiss it again.
            reply.discard();
            return None;
        }
        let reply = self.check_capacity(command, is_player, reply)?;
        self.subscribers.admit(command.player, reply.outbox());
        Some(reply)
    }

    /// Answers that there is no room, if that is so. Players find room in their own match, however many watch.
    pub(super) fn check_capacity(
        &self,
        command: &Command,
        is_player: bool,
        reply: Reply,
    ) -> Option<Reply> {
        let has_capacity = self.subscribers.len() < self.server.settings.followers_max;
        if has_capacity || is_player || self.follows(command) {
            return Some(reply);
        }
        reply.refuse(ErrorCode::Overloaded, "too many follow this match");
        None
    }

    /// Whether the connection that asks follows.
    pub(super) fn follows(&self, command: &Command) -> bool {
        self.subscribers.contains(command.connection)
    }

    /// Lets go of the connection that asks. False if it did not follow.
    pub(super) fn remove_follower(&mut self, command: &Command) -> bool {
        self.subscribers.remove_connection(command.connection)
    }

    /// Everybody who follows.
    pub(super) fn followers(&self) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.followers()
    }

    /// Whether anybody follows.
    pub(super) fn has_followers(&self) -> bool {
        self.subscribers.len() > 0 || self.delayed_followers.count > 0
    }

    /// Whether this connection follows.
    pub(super) fn has_connection(&self, id: ConnectionId) -> bool {
        self.subscribers.contains(id)
    }

    /// Whether this player has a connection that follows, on whatever server.
    pub(super) fn has_player(&self, player: PlayerId) -> bool {
        let follows_remotely = || match self.remote_presence.as_deref() {
            Some(RemotePresence::Added {
                following_players, ..
            }) => following_players.contains(&player),
            Some(RemotePresence::Total(_)) | None => false,
        };
        self.has_local_player(player) || follows_remotely()
    }

    /// Whether this player has a connection that follows here.
    fn has_local_player(&self, player: PlayerId) -> bool {
        self.delayed_followers.host == Some(player) || self.subscribers.has_player(player)
    }

    /// From now on these are there on other servers.
    pub(super) fn set_remote_presence(&mut self, remote_presence: Option<RemotePresence>) {
        self.remote_presence = remote_presence.map(Box::new);
    }

    /// The match was taken over so often.
    pub(super) const fn set_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
    }

    /// Who is there on this server.
    fn local_seat_presence(&self, state: &Match) -> SeatPresence {
        let mut presence = self.subscribers.seat_presence(state, &self.server.players);
        presence.spectators += self.delayed_followers.count;
        presence
    }

    /// Who is connected, as snapshots and lists show it.
    pub(super) fn seat_presence(&self, state: &Match) -> SeatPresence {
        let mut presence = self.local_seat_presence(state);
        match self.remote_presence.as_deref() {
            None => {}
            Some(RemotePresence::Total(total)) => {
                // The owner counts those who follow: who has just come to this server does not yet.
                let may_add = AbsenceTimers::counts_absence(state) && !self.is_for_spectators;
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

    /// Who is there, as `presence` messages say it. Where absence counts these are the players who follow, by
    /// which the owner counts absence, too: so `seats` never contradicts `gone_ms`. A player is connected a moment
    /// before the connection follows, and may be gone a moment before it is dismissed.
    fn announced_presence(&self, state: &Match) -> SeatPresence {
        if let Some(RemotePresence::Total(total)) = self.remote_presence.as_deref() {
            return *total;
        }
        let mut presence = self.seat_presence(state);
        if AbsenceTimers::counts_absence(state) {
            let player = |seat| state.occupant(seat).player();
            presence.seats =
                Seat::ALL.map(|seat| player(seat).map(|player| self.has_player(player)));
        }
        presence
    }

    /// What a copy of the match is told beside its events, but for its time.
    pub(super) fn transient_state(&self, state: &Match) -> TransientState {
        TransientState {
            turn_time: None,
            seat_presence: self.announced_presence(state),
            absence_left_ms: [None; 2],
            rematch: self.rematch.clone(),
        }
    }

    /// Who is there on this server.
    pub(super) fn local_presence(&self, state: &Match) -> Presence {
        Presence {
            following_players: self.local_following_players(state),
            seat_presence: self.local_seat_presence(state),
        }
    }

    /// Those of the match's players, its host among them, who follow it here.
    fn local_following_players(&self, state: &Match) -> Vec<PlayerId> {
        let players = state.seat_holders().chain([state.creation().host]);
        let follows_here = |player: &PlayerId| self.has_local_player(*player);
        players.filter(follows_here).collect()
    }

    /// Has snapshots tell who wants a rematch.
    /// Gives whether that is news.
    pub(super) fn set_rematch(&mut self, rematch: RematchState) -> bool {
        let is_changed = self.rematch.as_ref() != Some(&rematch);
        self.rematch = Some(rematch);
        is_changed
    }

    fn rematch_frame(&self, state: &Match) -> Option<Frame> {
        let rematch = self.rematch.clone()?;
        let match_id = state.id();
        Some(encode(&ServerMessage::Rematch { match_id, rematch }))
    }

    /// Tells everybody who wants a rematch. It goes out with the next [`flush`](Self::flush).
    pub(super) fn broadcast_rematch(&mut self, state: &Match) {
        if let Some(frame) = self.rematch_frame(state) {
            self.subscribers.broadcast(&frame);
        }
    }

    /// Tells one connection who wants a rematch.
    pub(super) fn send_rematch(&self, state: &Match, outbox: &Outbox) {
        if let Some(frame) = self.rematch_frame(state) {
            outbox.send(frame);
        }
    }

    /// Something that is said now.
    pub(super) fn new_chat_message(
        &self,
        player: PlayerId,
        is_players_only: bool,
        chat: ChatEntry,
    ) -> ChatMessage {
        let last = self
            .chat_history
            .back()
            .filter(|last| last.number.0 == self.epoch);
        ChatMessage {
            number: (self.epoch, last.map_or(0, |last| last.number.1 + 1)),
            player,
            is_players_only,
            chat,
        }
    }

    /// Tells what was said to those who may hear it, unless it was told before. It goes out with the next
    /// [`flush`](Self::flush). Gives whether it is new.
    pub(super) fn broadcast_chat_if_new(&mut self, state: &Match, message: &ChatMessage) -> bool {
        let last = self.chat_history.back();
        let is_new = last.is_none_or(|last| last.number < message.number);
        if is_new {
            self.broadcast_chat(state, message);
        }
        is_new
    }

    /// Takes in a line that was not told before.
    pub(super) fn broadcast_chat(&mut self, state: &Match, message: &ChatMessage) {
        if self.chat_history.len() == CHAT_HISTORY_MAX {
            self.chat_history.pop_front();
        }
        self.chat_history.push_back(message.clone());
        let frame = encode(&ServerMessage::Chat {
            match_id: state.id(),
            entry: message.chat.clone(),
        });
        let blocks = &self.server.block_cache;
        let is_recipient = |player| {
            (!message.is_players_only || state.seat_of(player).is_some())
                && !blocks.are_unpairable(player, message.player)
        };
        self.subscribers.broadcast_to(&frame, is_recipient);
    }

    /// Forgets what this player has said, who was called so.
    pub(super) fn delete_chat(&mut self, player: PlayerId, name: &str) {
        self.chat_history
            .retain(|message| message.player != player && message.chat.name != name);
    }

    /// What was said last, for a server that knows nothing of it.
    pub(super) fn chat_messages(&self) -> Vec<ChatMessage> {
        self.chat_history.iter().cloned().collect()
    }

    /// What was said last, as far as this player may see it.
    fn visible_chat(&self, state: &Match, player: PlayerId) -> Vec<ChatEntry> {
        let is_seated = state.seat_of(player).is_some();
        let messages = self.chat_history.iter();
        let messages = messages.filter(|message| {
            (is_seated || !message.is_players_only)
                && !self
                    .server
                    .block_cache
                    .are_unpairable(player, message.player)
        });
        messages.map(|message| message.chat.clone()).collect()
    }

    /// Dismisses those who follow a match that is none of their business, since it has started, and tells
    /// them. To be called before they are told of the start.
    pub(super) fn remove_spectator(&mut self, state: &Match) {
        if state.creation().terms.spectator_access() != SpectatorAccess::Nobody
            || !state.has_started()
        {
            return;
        }
        self.remove_followers_if(state, |player| state.is_hidden_from(player));
    }

    /// Dismisses the connections of some players that have been shown the match, and tells them.
    pub(super) fn remove_followers_if(
        &mut self,
        state: &Match,
        predicate: impl Fn(PlayerId) -> bool,
    ) {
        let match_id = state.id();
        let removed = self.subscribers.remove_players(predicate, true);
        if removed.is_empty() {
            return;
        }
        let frame = encode(&ServerMessage::WatchEnded { match_id });
        let ids = removed.iter().map(|(_, outbox)| outbox.connection());
        self.server
            .connection_registry
            .unfollow_unloaded_match(match_id, ids);
        for (_, outbox) in removed {
            outbox.send(frame.clone());
        }
    }

    /// Dismisses everybody, since the match is served no longer.
    pub(super) fn remove_all_followers(&mut self, id: MatchId) {
        let followers = self.subscribers.remove_all();
        self.server
            .connection_registry
            .unfollow_unloaded_match(id, followers);
    }

    /// Answers with the match as it stands. From then on the connection is told everything. If somebody
    /// is gone whose absence counts, that is told next, since a snapshot does not say for how long.
    pub(super) fn send_snapshot(
        &mut self,
        state: &Match,
        command: &Command,
        extras: SnapshotExtras,
        reply: Reply,
    ) {
        let outbox = reply.outbox().clone();
        reply.send_frame(|re| self.snapshot_frame(state, re, command.player, extras.turn_time));
        self.send_last_thinking(&outbox);
        let presence = self.seat_presence(state);
        self.subscribers
            .mark_snapshot_sent(command.connection, presence);
        if extras.absent != [false; 2] {
            self.schedule_presence(state, extras.absent);
        }
    }

    /// Shows everybody the match as it stands, and then who is gone.
    pub(super) fn broadcast_snapshots(&mut self, state: &Match, extras: SnapshotExtras) {
        self.subscribers.resume();
        let presence = self.seat_presence(state);
        for (player, outbox) in self.subscribers.followers() {
            outbox.send(self.snapshot_frame(state, None, player, extras.turn_time));
            self.subscribers
                .mark_snapshot_sent(outbox.connection(), presence);
        }
        if extras.absent != [false; 2] {
            self.schedule_presence(state, extras.absent);
        }
    }

    fn snapshot_frame(
        &self,
        state: &Match,
        re: Option<RequestId>,
        player: PlayerId,
        turn_time: Option<TurnTime>,
    ) -> Frame {
        let recipient = (!self.is_for_spectators).then_some(player);
        encode::snapshot(
            state,
            recipient,
            encode::SnapshotContext {
                re,
                presence: self.seat_presence(state),
                turn_time,
                rematch: self.rematch.clone(),
                rating_changes: self
                    .rating_update
                    .as_ref()
                    .filter(|_| matches!(state.stage(), Stage::Ended { .. }))
                    .map(|(rating_update, _)| rating_update.changes.clone()),
                chat: self.visible_chat(state, player),
                epoch: self.epoch,
            },
        )
    }

    /// Tells everybody how the clock stands. It goes out with the next [`flush`](Self::flush).
    pub(super) fn broadcast_clock(&mut self, state: &Match, turn_time: TurnTime) {
        if let Some(frame) = encode::clock(state, turn_time) {
            self.subscribers.broadcast(&frame);
        }
    }

    /// Measures the line of whoever is to move, with what is told next.
    pub(super) fn measure_mover_rtt(&self, state: &Match) {
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        if let Some(player) = player {
            self.subscribers.measure_rtt(player);
        }
    }

    /// Answers with what happened after `since`, or with a snapshot if that is too long ago.
    pub(super) fn resync(
        &self,
        state: &Match,
        command: &Command,
        (since, turn_time): (Seq, Option<TurnTime>),
        reply: Reply,
    ) {
        if !self.follows(command) {
            reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            return;
        }
        let missed = state.seq().0.checked_sub(since.0);
        let missed = missed.and_then(|missed| usize::try_from(missed).ok());
        let first_missed = missed.and_then(|missed| self.history.len().checked_sub(missed));
        reply.send_frame(|re| match first_missed {
            Some(first_missed) => {
                encode::events(re, state.id(), self.history.range(first_missed..))
            }
            None => self.snapshot_frame(state, re, command.player, turn_time),
        });
    }

    /// Plans to tell those who follow who is there and whose time to be gone runs, if they do not know.
    pub(super) fn schedule_presence(&mut self, state: &Match, absent: [bool; 2]) {
        let presence = self.announced_presence(state);
        self.subscribers
            .schedule_presence(state, (presence, absent), now());
    }

    /// Who is there now.
    pub(super) fn total_presence(&self, state: &Match) -> Presence {
        let presence = self.seat_presence(state);
        let players = state.players().chain([state.creation().host]);
        Presence {
            following_players: players.filter(|player| self.has_player(*player)).collect(),
            seat_presence: presence,
        }
    }

    /// When it is to be told who is there.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.subscribers.presence_deadline()
    }

    /// Tells who is there, if that is due, and for how long those who are gone may stay so.
    pub(super) fn on_timer(
        &mut self,
        state: &Match,
        now: Instant,
        absence_left_ms: impl FnOnce() -> [Option<u64>; 2],
    ) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            let presence = self.announced_presence(state);
            self.subscribers
                .broadcast_presence(state.id(), presence, absence_left_ms());
        }
    }
}
