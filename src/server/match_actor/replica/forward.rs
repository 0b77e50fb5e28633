//! How a copy of a match asks the match's owner, and what it does if there is none any more.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures::FutureExt;
use plyhouse_bus::RequestError;
use plyhouse_matches::{Action, Timestamp};
use plyhouse_store::NodeId;

use super::{AGAIN, ASKED_AT_ONCE, Asked, Replica, UNKNOWN_MAX, Waiting};
use crate::cluster::{MatchLocation, PacketResponse};
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::match_actor::{End, GOES_ON, LOST, MatchActor, REQUEST_TIMEOUT};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Command, Relayed};

impl MatchActor {
    pub(super) async fn on_asked(&mut self, asked: Asked) -> ControlFlow<End> {
        match asked {
            Asked::Follow(Ok(
                PacketResponse::Accepted
                | PacketResponse::Pong { .. }
                | PacketResponse::ConnectedSessions(_)
                | PacketResponse::MatchAnswer { .. },
            )) => {
                self.afar().unknown_since = None;
                GOES_ON
            }
            Asked::Follow(Ok(PacketResponse::NotOwner)) => {
                self.afar().follow_at = Some(now() + AGAIN);
                let suspected = self.suspected();
                self.look_for_owner(suspected).await
            }
            Asked::Follow(Err(RequestError::Nobody)) => {
                let suspected = self.afar().owner;
                self.look_for_owner(suspected).await
            }
            // What was missed meanwhile is read once the others can be reached again.
            Asked::Follow(Err(RequestError::Away)) => GOES_ON,
            Asked::Follow(Err(RequestError::InTime)) => {
                self.afar().follow_at = Some(now() + AGAIN);
                self.look_for_owner(None).await
            }
            Asked::Command(number, answered) => match self.afar().asking.remove(&number) {
                Some(letter) => self.on_answered(letter, answered).await,
                None => GOES_ON,
            },
        }
    }

    /// The owner has answered what was asked of it, or has not.
    pub(super) async fn on_answered(
        &mut self,
        mut letter: Box<Envelope>,
        answered: Result<PacketResponse, RequestError>,
    ) -> ControlFlow<End> {
        match answered {
            Ok(PacketResponse::MatchAnswer { answer, seq }) => {
                self.afar().answers.push(Waiting {
                    seq,
                    since: now(),
                    letter,
                    answer,
                });
                self.answer_waiting();
                GOES_ON
            }
            Ok(
                PacketResponse::Accepted
                | PacketResponse::Pong { .. }
                | PacketResponse::ConnectedSessions(_),
            ) => {
                letter.reply.ok(None);
                GOES_ON
            }
            Ok(PacketResponse::NotOwner) => {
                letter.reply.note_tried();
                let suspected = self.suspected();
                self.ask_again(letter, suspected).await
            }
            Err(RequestError::Nobody) => {
                let suspected = self.afar().owner;
                self.ask_again(letter, suspected).await
            }
            Err(RequestError::InTime) => {
                letter.reply.note_tried();
                self.ask_again(letter, None).await
            }
            Err(RequestError::Away) => {
                letter.refuse("the other servers cannot be reached now");
                GOES_ON
            }
        }
    }

    /// Asks whoever owns the match by now, who may be this server.
    pub(super) async fn ask_again(
        &mut self,
        letter: Box<Envelope>,
        suspected: Option<NodeId>,
    ) -> ControlFlow<End> {
        let waited = now().saturating_duration_since(letter.command.received_at);
        if waited >= REQUEST_TIMEOUT {
            letter.refuse("the match cannot be reached now");
            return GOES_ON;
        }
        let owner = self.afar().owner;
        let found = self.look_for_owner(suspected).await;
        match &mut self.replica {
            // The owner has not changed: it is given time.
            Some(afar) if afar.owner == owner => afar.later.push_back((now() + AGAIN, letter)),
            Some(_) | None => self.held.push_front(letter),
        }
        found
    }

    /// The owner, if it has not known of the match for so long that it cannot be reading it.
    fn suspected(&mut self) -> Option<NodeId> {
        let afar = self.afar();
        if afar.unknown_since.is_none() {
            // It may have ended, and been let go of.
            afar.doubts_at = Some(now());
        }
        let since = *afar.unknown_since.get_or_insert_with(now);
        let is_long = now().saturating_duration_since(since) >= UNKNOWN_MAX;
        afar.owner.filter(|_| is_long)
    }

    /// Finds out whose the match is. Breaks if it is this server's from now on.
    pub(super) async fn look_for_owner(&mut self, suspected: Option<NodeId>) -> ControlFlow<End> {
        let id = self.state.id();
        let Some(cluster) = &self.server.cluster else {
            return GOES_ON;
        };
        let found = cluster.locate(id, suspected, false).await;
        let afar = self.afar();
        match found {
            Ok(MatchLocation::Local) => return self.take_over().await,
            Ok(MatchLocation::Remote(owner)) => self.owner_is(owner),
            Ok(MatchLocation::Ended) => {
                afar.suspected = suspected;
                afar.owner = None;
                afar.follow_at = None;
                // Nobody tells how it has ended.
                afar.doubts_at = Some(now());
            }
            Ok(MatchLocation::Unknown) => return ControlFlow::Break(End::Over),
            Err(_) => afar.follow_at = Some(now() + AGAIN),
        }
        GOES_ON
    }

    /// The match is decided there. What another was asked before is asked again, and not waited for.
    pub(super) fn owner_is(&mut self, owner: NodeId) {
        let afar = self.afar();
        if afar.owner == Some(owner) {
            return;
        }
        afar.asked.clear();
        let asking = std::mem::take(&mut afar.asking);
        afar.owner = Some(owner);
        afar.unknown_since = None;
        afar.clock_unknown_since = None;
        afar.follow_at = Some(now());
        self.held.extend(tried(asking));
    }

    /// The match is decided here from now on. What the owner was asked and has not answered is asked
    /// again, of this server.
    pub(super) async fn take_over(&mut self) -> ControlFlow<End> {
        self.server.metrics.cluster.takeovers.inc();
        // What the owner has answered counts, and what it has told nobody here is told first.
        if !self.afar().answers.is_empty() {
            let _ = self.read_missed().await;
        }
        if let Some(afar) = self.replica.take() {
            let Replica {
                asking,
                answers,
                later,
                clock_waiters,
                ..
            } = *afar;
            self.held.extend(clock_waiters);
            self.held.extend(tried(asking));
            self.held
                .extend(later.into_iter().map(|(_, letter)| letter));
            self.held
                .extend(answers.into_iter().map(|waiting| waiting.letter));
        }
        self.broadcaster.has_elsewhere(None);
        LOST
    }

    /// Has the owner decide on an action. Who joins follows once that has been done, and not before: it may be
    /// refused, or the match be read anew and shown to all who follow.
    pub(super) async fn act_afar(
        &mut self,
        command: Command,
        action: &Action,
        mut reply: Reply,
    ) -> ControlFlow<End> {
        if matches!(action, Action::Join { .. }) {
            let is_seated = self.state.seat_of(command.player).is_some();
            let at = Timestamp::free(self.server.clock.now_ms());
            let is_player = is_seated || self.state.apply(action, at).is_ok();
            match self.broadcaster.check_room(&command, is_player, reply) {
                Some(checked) => reply = checked,
                None => return GOES_ON,
            }
        }
        self.hand_on(command, reply).await
    }

    /// Asks the owner.
    pub(super) async fn hand_on(&mut self, command: Command, reply: Reply) -> ControlFlow<End> {
        let id = self.state.id();
        let turn_told_at = self.afar().turn_told_at;
        let Some(cluster) = &self.server.cluster else {
            return GOES_ON;
        };
        let turn = command.received_at.saturating_duration_since(turn_told_at);
        let handed = Command {
            relayed: Some(Relayed {
                by: cluster.node,
                turn_us: u64::try_from(turn.as_micros()).ok(),
            }),
            ..command.clone()
        };
        let letter = Box::new(Envelope { command, reply });
        let Some(owner) = self.replica.as_ref().and_then(|afar| afar.owner) else {
            // It has ended, and nobody serves it: whoever wants something of it does.
            self.held.push_front(letter);
            return self.take_ended().await;
        };
        let afar = self.replica.as_mut().expect("it is decided elsewhere");
        if afar.asking.len() >= ASKED_AT_ONCE {
            letter.refuse("too much is asked of this match at the moment");
            return GOES_ON;
        }
        let metrics = Arc::clone(&self.server.metrics);
        metrics.cluster.relayed_requests.inc();
        let (asked_at, answered) = (now(), cluster.relay(owner, id, handed));
        afar.asked_count += 1;
        let number = afar.asked_count;
        let answered = answered.map(move |answered| {
            let took = now().saturating_duration_since(asked_at);
            metrics.cluster.relay_duration.observe(took.as_secs_f64());
            Asked::Command(number, answered)
        });
        afar.asked.push(answered.boxed());
        afar.asking.insert(number, letter);
        GOES_ON
    }

    /// Becomes the owner of a match that has ended and that nobody serves.
    pub(super) async fn take_ended(&mut self) -> ControlFlow<End> {
        let id = self.state.id();
        let Some(cluster) = &self.server.cluster else {
            return GOES_ON;
        };
        let suspected = self.replica.as_ref().and_then(|afar| afar.suspected);
        match cluster.locate(id, suspected, true).await {
            Ok(MatchLocation::Local) => self.take_over().await,
            Ok(MatchLocation::Remote(owner)) => {
                self.afar().owner = Some(owner);
                self.afar().follow_at = Some(now());
                GOES_ON
            }
            Ok(MatchLocation::Ended | MatchLocation::Unknown) | Err(_) => {
                if let Some(letter) = self.held.pop_front() {
                    letter.refuse("the match cannot be reached now");
                }
                GOES_ON
            }
        }
    }
}

/// Letters whose answer does not come any more: each may have been done.
fn tried(asking: BTreeMap<u64, Box<Envelope>>) -> impl Iterator<Item = Box<Envelope>> {
    asking.into_values().map(|mut letter| {
        letter.reply.note_tried();
        letter
    })
}
