//! The task that owns one match: it takes what is asked, has it stored, and tells everybody.
//!
//! It never waits for a client. What it waits for is the store, and only there do requests of one
//! match queue up behind each other.

mod audience;
mod bot_turn;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::sleep_until;

use self::audience::Audience;
use self::bot_turn::BotTurn;
use super::clock::now;
use super::match_handle::{Card, Done, Follower, Message, Roster};
use super::peer::PeerId;
use super::reply::Reply;
use super::shared::Shared;
use super::to_protocol;
use crate::game::Seat;
use crate::matches::{Action, Attendance, Event, Match};
use crate::protocol::{self, ErrorCode, PlayerId, Seq, ServerMessage};
use crate::store::WriteError;

/// How many events can be asked for again; who has missed more gets a snapshot.
const HISTORY: usize = 256;

/// How long the match waits before it tries again what the store would not take.
const RETRY: Duration = Duration::from_secs(1);

/// The owner of one match.
#[derive(Debug)]
pub(super) struct MatchActor {
    server: Arc<Shared>,
    state: Match,
    card: Arc<Card>,
    mailbox: mpsc::Receiver<Message>,
    audience: Audience,
    attendance: Attendance,
    history: VecDeque<protocol::Event>,
    bot_turn: Option<BotTurn>,
    /// When the last move was played, or the match was started.
    last_ply_at: Instant,
    /// Nothing is tried by the match itself before this, because the store failed.
    not_before: Option<Instant>,
    /// When the match is forgotten, once it has ended.
    retires_at: Option<Instant>,
}

/// Why the events of an action did not come about.
enum NotStored {
    /// Nothing was written, and the same may succeed later.
    Unavailable,
    /// What the store holds is not what this match believes: it cannot go on.
    Lost,
}

impl MatchActor {
    pub(super) fn new(
        server: Arc<Shared>,
        state: Match,
        mailbox: mpsc::Receiver<Message>,
    ) -> (Self, Arc<Card>) {
        let audience = Audience::default();
        let card = Arc::new(Card::new(
            state.creation(),
            state.ply(),
            roster(&state, &audience),
        ));
        let attendance = Attendance::new(server.settings.abandon_after);
        let actor = Self {
            server,
            state,
            card: Arc::clone(&card),
            mailbox,
            audience,
            attendance,
            history: VecDeque::new(),
            bot_turn: None,
            last_ply_at: now(),
            not_before: None,
            retires_at: None,
        };
        (actor, card)
    }

    /// Serves the match until it is forgotten or the server lets go of it.
    pub(super) async fn run(mut self) {
        self.roster_changed();
        loop {
            self.take_bot_turn();
            let deadline = self.next_deadline();
            let alarm = sleep_until(deadline.unwrap_or_else(now).into());
            let going_on = tokio::select! {
                biased; // A busy mailbox must not delay what time has decided.
                () = alarm, if deadline.is_some() => self.on_time().await,
                found = thought(&mut self.bot_turn), if self.bot_turn.is_some() => {
                    self.on_thought(found);
                    true
                }
                message = self.mailbox.recv() => match message {
                    Some(message) => self.on_message(message).await,
                    None => false, // The lobby has let go, and every session has left.
                },
            };
            if !going_on {
                break;
            }
        }
        let id = self.state.id();
        self.audience.dismiss_all(id);
        self.server.lobby.forget(id);
        self.server.players.match_ended(&self.state);
    }

    fn next_deadline(&self) -> Option<Instant> {
        let own = [
            self.attendance.next_deadline(),
            self.bot_turn.as_ref().and_then(BotTurn::due),
            self.retires_at,
        ];
        let own = own.into_iter().flatten().min();
        let own = own.map(|at| self.not_before.map_or(at, |not_before| at.max(not_before)));
        own.into_iter().chain(self.audience.presence_due()).min()
    }

    /// Does what is due. False when the match is to be forgotten.
    async fn on_time(&mut self) -> bool {
        let now = now();
        if self.audience.presence_due().is_some_and(|due| due <= now) {
            self.audience.tell_presence(&self.state);
        }
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return true;
        }
        self.not_before = None;
        if self.retires_at.is_some_and(|at| at <= now) {
            self.server.store.retire(self.state.id()).await;
            return false;
        }
        let absence = self.attendance.due(&self.state, now);
        let bot = self.bot_turn.as_ref().and_then(|turn| turn.action(now));
        let Some(action) = absence.or(bot) else {
            return true;
        };
        match self.state.apply(&action) {
            Ok(events) => match self.commit(events).await {
                Ok(()) => true,
                Err(NotStored::Unavailable) => {
                    self.not_before = Some(now + RETRY);
                    true
                }
                Err(NotStored::Lost) => false,
            },
            Err(refusal) => {
                // Both kinds of action are derived from the state, which allows them.
                tracing::error!(id = %self.state.id(), ?action, %refusal, "a match refused itself");
                self.bot_turn = None;
                self.not_before = Some(now + RETRY);
                true
            }
        }
    }

    /// Lets a bot think if it is a bot's turn, and no longer if it is not.
    fn take_bot_turn(&mut self) {
        if self
            .bot_turn
            .as_ref()
            .is_some_and(|turn| turn.is_of(&self.state))
        {
            return;
        }
        self.bot_turn = BotTurn::begin(&self.state, &self.server.bots);
    }

    fn on_thought(&mut self, found: Option<String>) {
        if let Some(turn) = &mut self.bot_turn {
            turn.decide(
                found,
                &self.state,
                self.last_ply_at + self.state.creation().pace,
            );
        }
    }

    /// Serves one request. False when the match cannot go on.
    async fn on_message(&mut self, message: Message) -> bool {
        match message {
            Message::Act { action, reply } => self.act(&action, reply).await,
            Message::Join {
                follower,
                name,
                seat,
                reply,
                done,
            } => self.join(&follower, name, seat, reply, done).await,
            Message::Watch {
                follower,
                reply,
                done,
            } => {
                self.watch(&follower, reply, done);
                true
            }
            Message::Leave {
                follower,
                reply,
                done,
            } => self.leave(&follower, reply, done).await,
            Message::Unfollow { peer } => {
                self.dismiss(peer);
                true
            }
            Message::Resync {
                peer,
                player,
                since,
                reply,
            } => {
                self.resync(peer, player, since, reply);
                true
            }
        }
    }

    async fn act(&mut self, action: &Action, reply: Reply) -> bool {
        let mut seq = None;
        if let Action::Play { player, ply, m } = action {
            if let Some(seq) = self.state.repeated(*player, *ply, m) {
                reply.ok(Some(seq));
                return true;
            }
            seq = Some(self.state.seq().next());
        }
        match self.decide(action, reply).await {
            Ok(reply) => {
                reply.ok(seq);
                true
            }
            Err(going_on) => going_on,
        }
    }

    /// Makes an action come about and gives the reply back, or answers why it did not; the error
    /// tells whether the match can go on.
    async fn decide(&mut self, action: &Action, reply: Reply) -> Result<Reply, bool> {
        match self.state.apply(action) {
            Err(refusal) => {
                tracing::debug!(id = %self.state.id(), %refusal, "refused");
                reply.error(to_protocol::refusal(&refusal));
                Err(true)
            }
            Ok(events) => match self.commit(events).await {
                Ok(()) => Ok(reply),
                Err(NotStored::Unavailable) => {
                    reply.refuse(ErrorCode::Overloaded, "the store cannot keep this now");
                    Err(true)
                }
                Err(NotStored::Lost) => {
                    reply.refuse(ErrorCode::Internal, "the match cannot be kept");
                    Err(false)
                }
            },
        }
    }

    async fn join(
        &mut self,
        follower: &Follower,
        name: String,
        seat: Option<Seat>,
        reply: Reply,
        done: Done,
    ) -> bool {
        let is_new = !self.audience.contains(follower.peer.id);
        let Some(reply) = self.admit(follower, reply) else {
            return true;
        };
        let player = follower.player;
        let joined = self
            .decide(&Action::Join { player, name, seat }, reply)
            .await;
        let is_done = joined.is_ok();
        let going_on = match joined {
            Ok(reply) => {
                self.tell_snapshot(follower, reply);
                true
            }
            Err(going_on) => {
                if is_new {
                    self.dismiss(follower.peer.id);
                }
                going_on
            }
        };
        // A session that is gone does not ask.
        let _ = done.send(is_done);
        going_on
    }

    fn watch(&mut self, follower: &Follower, reply: Reply, done: Done) {
        let Some(reply) = self.admit(follower, reply) else {
            return;
        };
        self.roster_changed();
        self.tell_snapshot(follower, reply);
        // A session that is gone does not ask.
        let _ = done.send(true);
    }

    /// Lets a connection in, silently, or answers that there is no room.
    fn admit(&mut self, follower: &Follower, reply: Reply) -> Option<Reply> {
        if follower.peer.is_closed() {
            // Its goodbye has been sent already, so nobody would ever take it out again.
            return None;
        }
        let has_room = self.audience.len() < self.server.settings.followers_max;
        // Players find room in their own match, however many watch.
        let is_seated = self.state.seat_of(follower.player).is_some();
        if !has_room && !is_seated && !self.audience.contains(follower.peer.id) {
            reply.refuse(ErrorCode::Overloaded, "too many follow this match");
            return None;
        }
        self.audience.admit(follower);
        Some(reply)
    }

    fn tell_snapshot(&mut self, follower: &Follower, reply: Reply) {
        reply.tell(|re| self.snapshot(follower.player, re));
        self.audience.has_snapshot(follower.peer.id, &self.state);
    }

    fn snapshot(&self, player: PlayerId, re: Option<protocol::RequestId>) -> ServerMessage {
        let spectators = self.audience.spectators(&self.state);
        let is_connected = |player| self.audience.has_player(player);
        let snapshot = to_protocol::snapshot(&self.state, re, player, is_connected, spectators);
        ServerMessage::Match(Box::new(snapshot))
    }

    async fn leave(&mut self, follower: &Follower, reply: Reply, done: Done) -> bool {
        let left = self
            .decide(
                &Action::Leave {
                    player: follower.player,
                },
                reply,
            )
            .await;
        let is_done = left.is_ok();
        let going_on = match left {
            Ok(reply) => {
                self.dismiss(follower.peer.id);
                reply.ok(None);
                true
            }
            Err(going_on) => going_on,
        };
        // A session that is gone does not ask.
        let _ = done.send(is_done);
        going_on
    }

    fn dismiss(&mut self, peer: PeerId) {
        if self.audience.dismiss(peer) {
            self.roster_changed();
        }
    }

    fn resync(&self, peer: PeerId, player: PlayerId, since: Seq, reply: Reply) {
        if !self.audience.contains(peer) {
            reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            return;
        }
        let missed = self
            .state
            .seq()
            .0
            .checked_sub(since.0)
            .and_then(|n| usize::try_from(n).ok());
        match missed.and_then(|missed| self.history.len().checked_sub(missed)) {
            Some(known) => reply.tell(|re| ServerMessage::Events {
                re,
                match_id: self.state.id(),
                events: self.history.range(known..).cloned().collect(),
            }),
            None => reply.tell(|re| self.snapshot(player, re)),
        }
    }

    /// Stores events, and once they are safe makes them part of the match and tells everybody.
    async fn commit(&mut self, events: Vec<Event>) -> Result<(), NotStored> {
        if events.is_empty() {
            return Ok(());
        }
        let after = self.state.seq();
        let written = self
            .server
            .store
            .append(self.state.id(), after, events.clone())
            .await;
        if let Err(error) = written {
            tracing::error!(id = %self.state.id(), seq = %after, %error, "events not stored");
            self.read_back(after, &events, &error).await?;
        }
        for event in events {
            self.happen(&event);
        }
        Ok(())
    }

    /// Finds out what a failed write has left behind. Fine if the events are there after all.
    async fn read_back(
        &mut self,
        after: Seq,
        events: &[Event],
        error: &WriteError,
    ) -> Result<(), NotStored> {
        if matches!(error, WriteError::Unavailable) {
            return Err(NotStored::Unavailable);
        }
        let record = self.server.store.load(self.state.id()).await;
        let Ok(Some(record)) = record else {
            return Err(NotStored::Lost);
        };
        let known = usize::try_from(after.0)
            .ok()
            .and_then(|known| record.events.get(known..));
        match known {
            Some([]) => Err(NotStored::Unavailable),
            Some(written) if written == events => Ok(()),
            Some(_) | None => Err(NotStored::Lost),
        }
    }

    /// Makes a stored event part of the match, and tells everybody.
    fn happen(&mut self, event: &Event) {
        let before = match event {
            Event::Seated { seat, .. } => self.state.occupant(*seat).player(),
            Event::Started | Event::Moved { .. } | Event::Ended { .. } => None,
        };
        self.state
            .fold(event)
            .expect("the match has just decided on this event");
        let id = self.state.id();
        match event {
            Event::Seated { occupant, .. } => {
                if let Some(player) = before {
                    self.server.players.stood_up(player, id);
                }
                if let Some(player) = occupant.player() {
                    self.server.players.sat_down(player, id);
                }
                self.roster_changed();
            }
            Event::Started => {
                self.last_ply_at = now();
                self.roster_changed();
            }
            Event::Moved { .. } => {
                self.last_ply_at = now();
                self.card.set_ply(self.state.ply());
            }
            Event::Ended {
                winner,
                termination,
            } => {
                tracing::info!(%id, ?winner, ?termination, ply = %self.state.ply(), "match ended");
                self.retires_at = Some(now() + self.server.settings.keep_ended);
                self.server.players.match_ended(&self.state);
                self.roster_changed();
            }
        }
        let is_connected = |player| self.audience.has_player(player);
        let told = to_protocol::event(&self.state, event, is_connected);
        self.audience.tell(&ServerMessage::Event(told.clone()));
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(told);
    }

    /// Keeps everything in step that depends on who is where: to be called when that changes, and
    /// before it is told.
    fn roster_changed(&mut self) {
        let is_present = |player| self.audience.has_player(player);
        self.attendance.update(&self.state, is_present, now());
        let roster = roster(&self.state, &self.audience);
        self.server.lobby.status_changed(&self.card, roster.status);
        self.card.set_roster(roster);
        self.audience.plan_presence(&self.state, now());
    }
}

async fn thought(turn: &mut Option<BotTurn>) -> Option<String> {
    match turn {
        Some(turn) => turn.thought().await,
        None => std::future::pending().await,
    }
}

fn roster(state: &Match, audience: &Audience) -> Roster {
    Roster {
        status: to_protocol::status(state.stage()),
        seats: to_protocol::seats(state, |player| audience.has_player(player)),
        spectators: audience.spectators(state),
    }
}
