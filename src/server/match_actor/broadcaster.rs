//! The teller of a match: it makes what has happened part of the match, and tells everybody who follows.
//! It decides nothing, and is fed with what the match's owner tells.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Attendance, Event, EventKind, Match, ReplayError, Stage, TurnTime};
use plyhouse_protocol::{
    ErrorCode, MatchId, PlayerId, RatingChange, Rematch, RequestId, Said, Seq, ServerMessage,
    Thinking, WatchedBy,
};
use plyhouse_store::MatchRecord;

use super::chat::LINES;
use super::subscribers::Subscribers;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Command;
use crate::match_handle::replication::{ChatMessage, Presence, Published, Standing};
use crate::match_handle::summary::SeatPresence;
use crate::players::rating_update::RatingUpdate;
use crate::wire::encode;
use crate::wire::encode::encode;

/// How many events can be asked for again; who has missed more gets a snapshot.
pub(crate) const HISTORY: usize = 256;

/// For how many events there is room from the start, which saves short matches from growing it step by
/// step.
const HISTORY_ROOM: usize = 16;

/// Tells of one match.
#[derive(Debug)]
pub(super) struct Broadcaster {
    server: Arc<ServerContext>,
    subscribers: Subscribers,
    /// The last events, as they were told.
    history: VecDeque<Frame>,
    /// A move that was durable at this instant has been told and not been written yet.
    unwritten: Option<Instant>,
    /// Who wants a rematch, once the match has ended.
    rematch: Option<Rematch>,
    /// What a rated match has changed, and whether that has been told.
    verdict: Option<(RatingUpdate, bool)>,
    /// What was said last.
    said: VecDeque<ChatMessage>,
    /// What a bot has told last of what it thinks of the position, for whoever comes meanwhile.
    thought: Option<Frame>,
    /// How often the match was taken over.
    epoch: u64,
    /// Who is there on other servers.
    elsewhere: Option<Box<Elsewhere>>,
    /// Who else is there, and is told with a delay.
    crowd: Crowd,
    /// Whether those who follow have no seat, whatever the match says that is told of.
    is_for_strangers: bool,
}

/// What the owner of a match knows beside its events, as a snapshot and the `presence` after it need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) time: Option<TurnTime>,
    /// Whose time to be gone runs.
    pub(super) gone: [bool; 2],
}

/// Those who follow a match and are told with a delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crowd {
    /// How many they are.
    pub(super) count: u64,
    /// The host, if among them.
    pub(super) host: Option<PlayerId>,
}

/// Who is there on other servers.
#[derive(Debug)]
pub(super) enum Elsewhere {
    /// These, beside those who are here.
    Added {
        /// Those of the match's players who follow it.
        present: Vec<PlayerId>,
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
            history: VecDeque::with_capacity(HISTORY_ROOM),
            unwritten: None,
            rematch: None,
            verdict: None,
            said: VecDeque::new(),
            thought: None,
            epoch: 0,
            elsewhere: None,
            crowd: Crowd::default(),
            is_for_strangers: false,
        }
    }

    /// For those who have no seat, whatever the match says that is told of.
    pub(super) const fn for_strangers(mut self) -> Self {
        self.is_for_strangers = true;
        self
    }

    /// From now on these are there beside.
    pub(super) const fn has_crowd(&mut self, crowd: Crowd) {
        self.crowd = crowd;
    }

    /// How many connections follow.
    pub(super) fn count(&self) -> u64 {
        self.subscribers.len() as u64
    }

    /// Lets go of the connections of some players, silently, and gives them.
    pub(super) fn release(
        &mut self,
        is_meant: impl Fn(PlayerId) -> bool,
    ) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.remove(is_meant, false)
    }

    /// Lets a connection in that has followed with a delay until now, and shows it the match as it is.
    pub(super) fn let_in(
        &mut self,
        state: &Match,
        player: PlayerId,
        outbox: &Outbox,
        beside: Beside,
    ) {
        if self.subscribers.has_been_shown(outbox.connection()) {
            return;
        }
        self.subscribers.admit(player, outbox);
        outbox.send(self.snapshot(state, None, player, beside.time));
        let presence = self.presence(state);
        self.subscribers.has_snapshot(outbox.connection(), presence);
        self.plan_presence(state, beside.gone);
        self.tell_last_thought(outbox);
    }

    /// Holds back all messages to those who follow until [`tell_snapshots`](Self::tell_snapshots).
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
        let known_from = events.len().saturating_sub(HISTORY);
        self.history.clear();
        for (index, event) in events.iter().enumerate() {
            state.fold(event)?;
            if index >= known_from {
                self.history.push_back(encode::event(&state, &event.kind));
            }
        }
        self.subscribers.nothing_is_known();
        Ok(state)
    }

    /// Makes an event part of the match, which was durable at this instant.
    pub(super) fn take_in(&mut self, state: &mut Match, event: &Event, durable_at: Instant) {
        self.take_in_late(state, event);
        if matches!(event.kind, EventKind::Moved { .. }) {
            self.unwritten = Some(durable_at);
        }
    }

    /// Makes an event part of the match that others were told of before.
    pub(super) fn take_in_late(&mut self, state: &mut Match, event: &Event) {
        state
            .fold(event)
            .expect("the match allows what it has decided on");
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(encode::event(state, &event.kind));
        self.thought = None;
        if matches!(event.kind, EventKind::Seated { .. }) {
            self.subscribers.nothing_is_known();
        }
    }

    /// Tells what was taken in last. It goes out with the next [`flush`](Self::flush).
    pub(super) fn tell(&mut self, published: &Published) {
        let count = published.events.len().min(HISTORY);
        for told in self.history.range(self.history.len() - count..) {
            self.subscribers.tell(told);
        }
    }

    /// Tells what a bot thinks, to those who have read most of what they were told.
    pub(super) fn tell_thought(&mut self, thought: &Thinking) {
        let frame = encode(&ServerMessage::Thinking(Box::new(thought.clone())));
        self.subscribers.tell_lightly(&frame);
        self.thought = Some(frame);
    }

    /// Tells a connection that has come just now what a bot thinks: it may think of this position no more.
    fn tell_last_thought(&self, outbox: &Outbox) {
        if let Some(thought) = &self.thought {
            outbox.send(thought.clone());
        }
    }

    /// What a rated match has changed is known: to be told once, and not before its end was.
    pub(super) fn keep_verdict(&mut self, state: &Match, verdict: &RatingUpdate) {
        self.verdict.get_or_insert_with(|| (verdict.clone(), false));
        self.tell_verdict(state);
    }

    /// What a rated match has changed was told before it was read here.
    pub(super) fn knows_changes(&mut self, changes: Option<Vec<RatingChange>>) {
        let known = |changes| (RatingUpdate { changes, why: None }, true);
        self.verdict = changes.map(known);
    }

    /// Tells what a rated match has changed, if that is known and was not told. It goes out with the next
    /// [`flush`](Self::flush).
    pub(super) fn tell_verdict(&mut self, state: &Match) {
        let has_ended = matches!(state.stage(), Stage::Ended { .. });
        if let Some((verdict, is_told @ false)) = &mut self.verdict
            && has_ended
        {
            *is_told = true;
            let RatingUpdate { changes, why } = verdict.clone();
            let match_id = state.id();
            self.subscribers.tell(&encode(&ServerMessage::Rating {
                match_id,
                changes,
                why,
            }));
        }
    }

    /// Has everything written that was told.
    pub(super) fn flush(&mut self) {
        self.subscribers.flush(&self.server);
        if let Some(durable_at) = self.unwritten.take() {
            let took = now().saturating_duration_since(durable_at);
            self.server.metrics.move_written.observe(took.as_secs_f64());
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
            reply.withdraw();
            return None;
        }
        let reply = self.check_room(command, is_player, reply)?;
        self.subscribers.admit(command.player, reply.outbox());
        Some(reply)
    }

    /// Answers that there is no room, if that is so. Players find room in their own match, however many watch.
    pub(super) fn check_room(
        &self,
        command: &Command,
        is_player: bool,
        reply: Reply,
    ) -> Option<Reply> {
        let has_room = self.subscribers.len() < self.server.settings.followers_max;
        if has_room || is_player || self.follows(command) {
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
    pub(super) fn dismiss(&mut self, command: &Command) -> bool {
        self.subscribers.dismiss(command.connection)
    }

    /// Everybody who follows.
    pub(super) fn followers(&self) -> Vec<(PlayerId, Outbox)> {
        self.subscribers.followers()
    }

    /// Whether anybody follows.
    pub(super) fn has_followers(&self) -> bool {
        self.subscribers.len() > 0 || self.crowd.count > 0
    }

    /// Whether this connection follows.
    pub(super) fn has_connection(&self, id: ConnectionId) -> bool {
        self.subscribers.contains(id)
    }

    /// Whether this player has a connection that follows, on whatever server.
    pub(super) fn has_player(&self, player: PlayerId) -> bool {
        let is_elsewhere = || match self.elsewhere.as_deref() {
            Some(Elsewhere::Added { present, .. }) => present.contains(&player),
            Some(Elsewhere::Total(_)) | None => false,
        };
        self.has_here(player) || is_elsewhere()
    }

    /// Whether this player has a connection that follows here.
    fn has_here(&self, player: PlayerId) -> bool {
        self.crowd.host == Some(player) || self.subscribers.has_player(player)
    }

    /// From now on these are there on other servers.
    pub(super) fn has_elsewhere(&mut self, elsewhere: Option<Elsewhere>) {
        self.elsewhere = elsewhere.map(Box::new);
    }

    /// The match was taken over so often.
    pub(super) const fn is_of_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
    }

    /// Who is there on this server.
    fn here(&self, state: &Match) -> SeatPresence {
        let mut here = self.subscribers.presence(state, &self.server.players);
        here.spectators += self.crowd.count;
        here
    }

    /// Who is connected, as snapshots and lists show it.
    pub(super) fn presence(&self, state: &Match) -> SeatPresence {
        let mut all = self.here(state);
        match self.elsewhere.as_deref() {
            None => {}
            Some(Elsewhere::Total(total)) => {
                // The owner counts those who follow: who has just come to this server does not yet.
                let may_add = Attendance::counts(state) && !self.is_for_strangers;
                let (here, mut seats) = (all.seats, total.seats);
                for (seat, here) in seats.iter_mut().zip(here).filter(|_| may_add) {
                    *seat = seat.map(|there| there || here == Some(true));
                }
                all = SeatPresence { seats, ..*total };
            }
            Some(Elsewhere::Added {
                seats, spectators, ..
            }) => {
                for (seat, there) in all.seats.iter_mut().zip(seats) {
                    *seat = seat.map(|here| here || *there);
                }
                all.spectators += spectators;
            }
        }
        all
    }

    /// Who is there, as `presence` messages say it. Where absence counts these are the players who follow, by
    /// which the owner counts absence, too: so `seats` never contradicts `gone_ms`. A player is connected a moment
    /// before the connection follows, and may be gone a moment before it is dismissed.
    fn attending(&self, state: &Match) -> SeatPresence {
        if let Some(Elsewhere::Total(total)) = self.elsewhere.as_deref() {
            return *total;
        }
        let mut all = self.presence(state);
        if Attendance::counts(state) {
            let player = |seat| state.occupant(seat).player();
            all.seats = Seat::ALL.map(|seat| player(seat).map(|player| self.has_player(player)));
        }
        all
    }

    /// What a copy of the match is told beside its events, but for its time.
    pub(super) fn standing(&self, state: &Match) -> Standing {
        Standing {
            time: None,
            presence: self.attending(state),
            gone_ms: [None; 2],
            rematch: self.rematch.clone(),
        }
    }

    /// Who is there on this server.
    pub(super) fn own_roster(&self, state: &Match) -> Presence {
        Presence {
            present: self.own_players(state),
            presence: self.here(state),
        }
    }

    /// Those of the match's players, its host among them, who follow it here.
    fn own_players(&self, state: &Match) -> Vec<PlayerId> {
        let players = state.holders().chain([state.creation().host]);
        let is_here = |player: &PlayerId| self.has_here(*player);
        players.filter(is_here).collect()
    }

    /// Has snapshots tell who wants a rematch.
    /// Gives whether that is news.
    pub(super) fn keep_rematch(&mut self, rematch: Rematch) -> bool {
        let is_news = self.rematch.as_ref() != Some(&rematch);
        self.rematch = Some(rematch);
        is_news
    }

    fn rematch(&self, state: &Match) -> Option<Frame> {
        let rematch = self.rematch.clone()?;
        let match_id = state.id();
        Some(encode(&ServerMessage::Rematch { match_id, rematch }))
    }

    /// Tells everybody who wants a rematch. It goes out with the next [`flush`](Self::flush).
    pub(super) fn tell_rematch(&mut self, state: &Match) {
        if let Some(told) = self.rematch(state) {
            self.subscribers.tell(&told);
        }
    }

    /// Tells one connection who wants a rematch.
    pub(super) fn show_rematch(&self, state: &Match, outbox: &Outbox) {
        if let Some(told) = self.rematch(state) {
            outbox.send(told);
        }
    }

    /// Something that is said now.
    pub(super) fn new_line(&self, by: PlayerId, among_players: bool, said: Said) -> ChatMessage {
        let last = self.said.back().filter(|last| last.number.0 == self.epoch);
        ChatMessage {
            number: (self.epoch, last.map_or(0, |last| last.number.1 + 1)),
            by,
            among_players,
            said,
        }
    }

    /// Tells what was said to those who may hear it, unless it was told before. It goes out with the next
    /// [`flush`](Self::flush). Gives whether it is new.
    pub(super) fn hear(&mut self, state: &Match, line: &ChatMessage) -> bool {
        let last = self.said.back();
        let is_new = last.is_none_or(|last| last.number < line.number);
        if is_new {
            self.hear_new(state, line);
        }
        is_new
    }

    /// Takes in a line that was not told before.
    pub(super) fn hear_new(&mut self, state: &Match, line: &ChatMessage) {
        if self.said.len() == LINES {
            self.said.pop_front();
        }
        self.said.push_back(line.clone());
        let told = encode(&ServerMessage::Said {
            match_id: state.id(),
            said: line.said.clone(),
        });
        let blocks = &self.server.block_cache;
        let hears = |player| {
            (!line.among_players || state.seat_of(player).is_some())
                && !blocks.are_apart(player, line.by)
        };
        self.subscribers.tell_some(&told, hears);
    }

    /// Forgets what this player has said, who was called so.
    pub(super) fn unsay(&mut self, player: PlayerId, name: &str) {
        self.said
            .retain(|line| line.by != player && line.said.name != name);
    }

    /// What was said last, for a server that knows nothing of it.
    pub(super) fn lines(&self) -> Vec<ChatMessage> {
        self.said.iter().cloned().collect()
    }

    /// What was said last, as far as this player may see it.
    fn said_to(&self, state: &Match, player: PlayerId) -> Vec<Said> {
        let is_seated = state.seat_of(player).is_some();
        let lines = self.said.iter();
        let lines = lines.filter(|line| {
            (is_seated || !line.among_players)
                && !self.server.block_cache.are_apart(player, line.by)
        });
        lines.map(|line| line.said.clone()).collect()
    }

    /// Dismisses those who follow a match that is none of their business, since it has started, and tells
    /// them. To be called before they are told of the start.
    pub(super) fn remove_spectator(&mut self, state: &Match) {
        if state.creation().terms.watch() != WatchedBy::Nobody || !state.has_started() {
            return;
        }
        self.show_out_if(state, |player| state.is_hidden_from(player));
    }

    /// Dismisses the connections of some players that have been shown the match, and tells them.
    pub(super) fn show_out_if(&mut self, state: &Match, is_meant: impl Fn(PlayerId) -> bool) {
        let match_id = state.id();
        let gone = self.subscribers.remove(is_meant, true);
        if gone.is_empty() {
            return;
        }
        let told = encode(&ServerMessage::WatchOver { match_id });
        let ids = gone.iter().map(|(_, outbox)| outbox.connection());
        self.server.connection_registry.match_over(match_id, ids);
        for (_, outbox) in gone {
            outbox.send(told.clone());
        }
    }

    /// Dismisses everybody, since the match is served no longer.
    pub(super) fn dismiss_all(&mut self, id: MatchId) {
        let followers = self.subscribers.dismiss_all();
        self.server.connection_registry.match_over(id, followers);
    }

    /// Answers with the match as it stands. From then on the connection is told everything. If somebody
    /// is gone whose absence counts, that is told next, since a snapshot does not say for how long.
    pub(super) fn tell_snapshot(
        &mut self,
        state: &Match,
        command: &Command,
        beside: Beside,
        reply: Reply,
    ) {
        let outbox = reply.outbox().clone();
        reply.send(|re| self.snapshot(state, re, command.player, beside.time));
        self.tell_last_thought(&outbox);
        let presence = self.presence(state);
        self.subscribers.has_snapshot(command.connection, presence);
        if beside.gone != [false; 2] {
            self.plan_presence(state, beside.gone);
        }
    }

    /// Shows everybody the match as it stands, and then who is gone.
    pub(super) fn tell_snapshots(&mut self, state: &Match, beside: Beside) {
        self.subscribers.resume();
        let presence = self.presence(state);
        for (player, outbox) in self.subscribers.followers() {
            outbox.send(self.snapshot(state, None, player, beside.time));
            self.subscribers.has_snapshot(outbox.connection(), presence);
        }
        if beside.gone != [false; 2] {
            self.plan_presence(state, beside.gone);
        }
    }

    fn snapshot(
        &self,
        state: &Match,
        re: Option<RequestId>,
        player: PlayerId,
        time: Option<TurnTime>,
    ) -> Frame {
        let recipient = (!self.is_for_strangers).then_some(player);
        encode::snapshot(
            state,
            recipient,
            encode::Aside {
                re,
                there: self.presence(state),
                time,
                rematch: self.rematch.clone(),
                changes: self
                    .verdict
                    .as_ref()
                    .filter(|_| matches!(state.stage(), Stage::Ended { .. }))
                    .map(|(verdict, _)| verdict.changes.clone()),
                said: self.said_to(state, player),
                epoch: self.epoch,
            },
        )
    }

    /// Tells everybody how the clock stands. It goes out with the next [`flush`](Self::flush).
    pub(super) fn tell_clock(&mut self, state: &Match, time: TurnTime) {
        if let Some(told) = encode::clock(state, time) {
            self.subscribers.tell(&told);
        }
    }

    /// Measures the line of whoever is to move, with what is told next.
    pub(super) fn measure(&self, state: &Match) {
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        if let Some(player) = player {
            self.subscribers.ask_rtt(player);
        }
    }

    /// Answers with what happened after `since`, or with a snapshot if that is too long ago.
    pub(super) fn resync(
        &self,
        state: &Match,
        command: &Command,
        (since, time): (Seq, Option<TurnTime>),
        reply: Reply,
    ) {
        if !self.follows(command) {
            reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            return;
        }
        let missed = state.seq().0.checked_sub(since.0);
        let missed = missed.and_then(|missed| usize::try_from(missed).ok());
        let known = missed.and_then(|missed| self.history.len().checked_sub(missed));
        reply.send(|re| match known {
            Some(known) => encode::events(re, state.id(), self.history.range(known..)),
            None => self.snapshot(state, re, command.player, time),
        });
    }

    /// Plans to tell those who follow who is there and whose time to be gone runs, if they do not know.
    pub(super) fn plan_presence(&mut self, state: &Match, gone: [bool; 2]) {
        let presence = self.attending(state);
        self.subscribers
            .plan_presence(state, (presence, gone), now());
    }

    /// Who is there now.
    pub(super) fn roster(&self, state: &Match) -> Presence {
        let presence = self.presence(state);
        let players = state.players().chain([state.creation().host]);
        Presence {
            present: players.filter(|player| self.has_player(*player)).collect(),
            presence,
        }
    }

    /// When it is to be told who is there.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.subscribers.presence_due()
    }

    /// Tells who is there, if that is due, and for how long those who are gone may stay so.
    pub(super) fn on_time(
        &mut self,
        state: &Match,
        now: Instant,
        gone_ms: impl FnOnce() -> [Option<u64>; 2],
    ) {
        if self.deadline().is_some_and(|due| due <= now) {
            let presence = self.attending(state);
            self.subscribers
                .tell_presence(state.id(), presence, gone_ms());
        }
    }
}
