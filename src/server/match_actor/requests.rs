//! What a match does about each request: it decides, tells what happened, and answers.

use std::ops::ControlFlow;
use std::time::Instant;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{End, GOES_ON, LOST, MatchActor, commit::NotStored};
use crate::encode::{self, encode};
use crate::match_handle::{Done, Follower, Message};
use crate::outbox::Frame;
use crate::peer::PeerId;
use crate::reply::Reply;
use crate::to_protocol;
use plyhouse_engine::game::Seat;
use plyhouse_matches::Action;
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, RequestId, Seq};

impl MatchActor {
    /// Serves one request.
    pub(super) async fn on_message(&mut self, message: Message) -> ControlFlow<End> {
        match message {
            Message::Act {
                action,
                received_at,
                reply,
            } => self.act(&action, received_at, reply).await,
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
                GOES_ON
            }
            Message::Show { followers, done } => {
                self.show(&followers);
                // Whoever asked may be gone.
                let _ = done.send(true);
                GOES_ON
            }
            Message::Leave {
                follower,
                reply,
                done,
            } => self.leave(&follower, reply, done).await,
            Message::Unfollow { peer } => {
                self.dismiss(peer);
                GOES_ON
            }
            Message::Resync {
                follower,
                since,
                reply,
                done,
            } => {
                self.resync(&follower, since, reply);
                // A session that is gone does not ask.
                let _ = done.send(true);
                GOES_ON
            }
        }
    }

    async fn act(
        &mut self,
        action: &Action,
        received_at: Instant,
        reply: Reply,
    ) -> ControlFlow<End> {
        let mut seq = None;
        if let Action::Play { player, ply, m } = action {
            if let Some(seq) = self.state.repeated(*player, *ply, m) {
                reply.ok(Some(seq));
                return GOES_ON;
            }
            seq = Some(self.state.seq().next());
        }
        match self.decide(action, reply).await {
            Ok(reply) => {
                reply.ok(seq);
                if seq.is_some() {
                    let took = self.last_ply_at.saturating_duration_since(received_at);
                    self.server.metrics.move_durable.observe(took.as_secs_f64());
                }
                GOES_ON
            }
            Err(going) => going,
        }
    }

    /// Makes an action come about and gives the reply back, or answers why it did not; the error
    /// tells whether the match goes on.
    async fn decide(&mut self, action: &Action, reply: Reply) -> Result<Reply, ControlFlow<End>> {
        match self.state.apply(action) {
            Err(refusal) => {
                let (match_id, connection) = (self.state.id(), reply.connection());
                tracing::debug!(%match_id, %connection, %refusal, "refused");
                reply.error(to_protocol::refusal(&refusal));
                Err(GOES_ON)
            }
            Ok(events) => match self.commit(events).await {
                Ok(()) => Ok(reply),
                Err(NotStored::Unavailable) => {
                    reply.refuse(ErrorCode::Overloaded, "the store cannot keep this now");
                    Err(GOES_ON)
                }
                Err(NotStored::Lost) => {
                    reply.refuse(ErrorCode::Internal, "the match cannot be kept");
                    Err(LOST)
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
    ) -> ControlFlow<End> {
        let is_new = !self.audience.contains(follower.peer.id);
        let player = follower.player;
        let action = Action::Join { player, name, seat };
        let sits = self.state.seat_of(player).is_some() || self.state.apply(&action).is_ok();
        let Some(reply) = self.admit(follower, sits, reply) else {
            return GOES_ON;
        };
        let joined = self.decide(&action, reply).await;
        let is_done = joined.is_ok();
        let going = match joined {
            Ok(reply) => {
                self.tell_snapshot(follower, reply);
                GOES_ON
            }
            Err(going) => {
                if is_new {
                    self.dismiss(follower.peer.id);
                }
                going
            }
        };
        // A session that is gone does not ask.
        let _ = done.send(is_done);
        going
    }

    fn watch(&mut self, follower: &Follower, reply: Reply, done: Done) {
        let is_seated = self.state.seat_of(follower.player).is_some();
        let Some(reply) = self.admit(follower, is_seated, reply) else {
            return;
        };
        self.roster_changed();
        self.tell_snapshot(follower, reply);
        // A session that is gone does not ask.
        let _ = done.send(true);
    }

    /// Lets all in before any of them is told who is there.
    fn show(&mut self, followers: &[Follower]) {
        let mut admitted = Vec::new();
        for follower in followers {
            let reply = Reply::unasked(follower.peer.outbox.clone());
            let is_seated = self.state.seat_of(follower.player).is_some();
            if let Some(reply) = self.admit(follower, is_seated, reply) {
                admitted.push((follower, reply));
            }
        }
        self.roster_changed();
        for (follower, reply) in admitted {
            self.tell_snapshot(follower, reply);
        }
    }

    /// Lets a connection in, silently, or answers that there is no room.
    fn admit(&mut self, follower: &Follower, is_player: bool, reply: Reply) -> Option<Reply> {
        if follower.peer.is_closed() {
            // Its goodbye has been sent already, so nobody would ever take it out again.
            return None;
        }
        let has_room = self.audience.len() < self.server.settings.followers_max;
        // Players find room in their own match, however many watch.
        if !has_room && !is_player && !self.audience.contains(follower.peer.id) {
            reply.refuse(ErrorCode::Overloaded, "too many follow this match");
            return None;
        }
        self.audience.admit(follower);
        Some(reply)
    }

    fn tell_snapshot(&mut self, follower: &Follower, reply: Reply) {
        reply.send(|re| self.snapshot(follower.player, re));
        self.audience
            .has_snapshot(follower.peer.id, self.presence());
    }

    pub(super) fn snapshot(&self, player: PlayerId, re: Option<RequestId>) -> Frame {
        let spectators = self.audience.spectators(&self.state);
        let is_connected = |player| self.server.players.is_connected(player);
        encode::snapshot(&self.state, re, player, is_connected, spectators)
    }

    async fn leave(&mut self, follower: &Follower, reply: Reply, done: Done) -> ControlFlow<End> {
        let left = self
            .decide(
                &Action::Leave {
                    player: follower.player,
                },
                reply,
            )
            .await;
        let is_done = left.is_ok();
        let going = match left {
            Ok(reply) => {
                self.dismiss(follower.peer.id);
                reply.ok(None);
                GOES_ON
            }
            Err(going) => going,
        };
        // A session that is gone does not ask.
        let _ = done.send(is_done);
        going
    }

    fn dismiss(&mut self, peer: PeerId) {
        if self.audience.dismiss(peer) {
            self.roster_changed();
        }
    }

    fn resync(&self, follower: &Follower, since: Seq, reply: Reply) {
        if !self.audience.contains(follower.peer.id) {
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
            Some(known) => reply.send(|re| {
                let events = self
                    .history
                    .range(known..)
                    .map(|frame| serde_json::from_str(frame));
                let events = events
                    .collect::<Result<_, _>>()
                    .expect("what was told is JSON");
                encode(&Events::Events {
                    re,
                    match_id: self.state.id(),
                    events,
                })
            }),
            None => reply.send(|re| self.snapshot(follower.player, re)),
        }
    }
}

/// [`ServerMessage::Events`](plyhouse_protocol::ServerMessage::Events) from events that are written already.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Events<'a> {
    Events {
        #[serde(skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        #[serde(rename = "match")]
        match_id: MatchId,
        events: Vec<&'a RawValue>,
    },
}
