//! Replica of a match that another server owns. The replica serves the followers on this server.
//!
//! The owner sends updates to the replica. If the replica misses events, it reads them from the
//! store. The replica forwards commands to the owner. If the owner is gone, this server takes over
//! the match, and the actor becomes the match's leader.

mod forward;
mod pending_snapshots;
mod sync;

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use plyhouse_bus::RequestError;
use plyhouse_matches::{Stage, TurnTime};
use plyhouse_protocol::{ErrorCode, Seq};
use plyhouse_store::{JournalPosition, NodeId};
use tokio::time::sleep_until;

use super::{CONTINUE, MatchActor, RELOAD, StopReason, next_envelope, refuse_hidden};
use crate::cluster::PacketResponse;
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::match_handle::Envelope;
use crate::match_handle::command::{Answer, Command, Control, MatchRequest};
use crate::match_handle::replication_messages::{Presence, TransientState};

/// Time that a replica waits for missing events before it reads them from the store.
const CATCH_UP_DELAY: Duration = Duration::from_millis(1500);

/// Interval between follow requests to the server that owns the match. The owner responds with an
/// update, which reveals missed events.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(5);

/// Minimum interval between reports to the owner if only spectators have come or gone.
const SPECTATOR_REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// Delay before a request to the owner is repeated after a failure.
const OWNER_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Maximum time for the owner to answer that it does not know the match. An owner may answer so
/// while it loads the match. After that time, this server suspects that the owner no longer serves
/// the match.
const UNKNOWN_MATCH_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of forwarded requests that wait for the owner's answer. This limit equals the
/// capacity of the owner's mailbox.
const FORWARDED_REQUESTS_MAX: usize = 64;

/// Maximum time that a snapshot waits for the owner's clock. After that, the snapshot is sent
/// without the clock.
const CLOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// Maximum number of snapshot requests that wait for the owner's clock. Snapshot requests above
/// this limit are answered without the clock.
const CLOCK_WAITERS_MAX: usize = 1024;

/// An unneeded replica is unloaded after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// State of a match actor whose match is owned by another server.
#[derive(Debug)]
pub(super) struct Replica {
    /// Server that owns the match; `None` if the match has ended and no server serves it.
    owner: Option<NodeId>,
    /// Journal position reached when this replica last read the store. Missed events are read from
    /// this position.
    journal_position: JournalPosition,
    epoch: u64,
    in_flight: FuturesUnordered<BoxFuture<'static, OwnerResponse>>,
    /// Commands that were sent to the owner and are not answered yet, keyed by their number.
    forwarded: BTreeMap<u64, Box<Envelope>>,
    forwarded_count: u64,
    /// Answers that wait until the events that they refer to have been broadcast.
    pending_answers: Vec<PendingAnswer>,
    transient_state: Option<TransientState>,
    /// Time at which `transient_state` was received. The clock and absence times in that state
    /// count from this time.
    transient_state_at: Instant,
    /// Version of `transient_state`. It consists of the epoch of the owner that sent the state, and
    /// the number of the last event that the state reflects.
    transient_state_version: (u64, Seq),
    /// Time at which this replica began to wait for the owner's clock in the current turn. `None`
    /// if this replica does not wait for the clock.
    clock_unknown_since: Option<Instant>,
    /// Snapshot requests that wait for the owner's clock.
    clock_waiters: VecDeque<Box<Envelope>>,
    /// Whether all followers must get a snapshot once the owner's clock is known.
    snapshots_pending: bool,
    /// Whether a snapshot was sent without the clock, so that a `clock` message must follow.
    clock_pending: bool,
    /// Presence that was last reported to the owner.
    reported_presence: Option<Presence>,
    /// Time of the next follow request to the owner.
    follow_at: Option<Instant>,
    /// Time of the last follow request.
    last_follow_at: Option<Instant>,
    /// Time at which this replica must read missed events from the store.
    catch_up_at: Option<Instant>,
    /// Time at which the current turn was sent to the clients of this server.
    turn_sent_at: Instant,
    /// Server that this replica suspected of having stopped when it found that the match had ended.
    suspected_owner: Option<NodeId>,
    /// Time of the owner's first answer that it does not know the match; `None` if it knows the
    /// match.
    match_unknown_since: Option<Instant>,
    /// Commands that must be forwarded again, each with the time of the retry.
    retries: VecDeque<(Instant, Box<Envelope>)>,
    /// Time since which the replica has not been needed.
    idle_since: Option<Instant>,
}

/// Outcome of a request to the owner.
#[derive(Debug)]
enum OwnerResponse {
    Follow(Result<PacketResponse, RequestError>),
    /// Response to the forwarded command with this number.
    Command(u64, Result<PacketResponse, RequestError>),
}

/// An answer that the replica sends after it has broadcast the event with number `seq`.
#[derive(Debug)]
struct PendingAnswer {
    seq: Seq,
    since: Instant,
    envelope: Box<Envelope>,
    answer: Answer,
}

impl Replica {
    /// Creates the state of a replica whose journal was read up to this position.
    pub(super) fn new(owner: Option<NodeId>, journal_position: JournalPosition) -> Box<Self> {
        Box::new(Self {
            owner,
            journal_position,
            epoch: journal_position.epoch(),
            in_flight: FuturesUnordered::new(),
            forwarded: BTreeMap::new(),
            forwarded_count: 0,
            pending_answers: Vec::new(),
            transient_state: None,
            transient_state_at: now(),
            transient_state_version: (0, Seq(0)),
            clock_unknown_since: None,
            clock_waiters: VecDeque::new(),
            snapshots_pending: false,
            clock_pending: false,
            reported_presence: None,
            follow_at: owner.map(|_| now()),
            last_follow_at: None,
            catch_up_at: None,
            turn_sent_at: now(),
            suspected_owner: None,
            match_unknown_since: None,
            retries: VecDeque::new(),
            idle_since: None,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let idle_at = self.idle_since.map(|since| since + IDLE_TIMEOUT);
        let retry_at = self.retries.front().map(|(at, _)| *at);
        let clock_at = self.clock_deadline();
        [
            self.follow_at,
            self.catch_up_at,
            retry_at,
            idle_at,
            clock_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Returns the state of the clock after this event, if the owner has sent it.
    fn turn_time(&self, seq: Seq) -> Option<TurnTime> {
        let elapsed = now().saturating_duration_since(self.transient_state_at);
        let transient_state = self.transient_state.as_ref();
        transient_state
            .filter(|_| self.transient_state_version == (self.epoch, seq))?
            .turn_time_after(elapsed)
    }

    /// Returns the remaining absence time of each seat's player, as reported by the owner, in
    /// milliseconds.
    pub(super) fn absence_left_ms(&self) -> [Option<u64>; 2] {
        let elapsed = now().saturating_duration_since(self.transient_state_at);
        let transient_state = self.transient_state.as_ref();
        transient_state.map_or([None; 2], |standing| {
            standing.absence_left_ms_after(elapsed)
        })
    }

    fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    async fn next_response(&mut self) -> Option<OwnerResponse> {
        poll_fn(|context| match self.in_flight.poll_next_unpin(context) {
            Poll::Ready(None) => Poll::Pending,
            other => other,
        })
        .await
    }
}

impl MatchActor {
    /// Turns this actor into a replica. `owner` is `None` for an ended match that no server serves.
    pub(crate) fn become_replica(
        &mut self,
        owner: Option<NodeId>,
        journal_position: JournalPosition,
    ) {
        self.replica = Some(Replica::new(owner, journal_position));
        self.replicas = None;
        self.broadcaster.set_remote_presence(None);
    }

    fn replica_mut(&mut self) -> &mut Replica {
        self.replica.as_mut().expect("the match is a replica")
    }

    /// Restarts replication after the match was reloaded from the store. The reloaded events end at
    /// `journal_position`.
    pub(super) fn on_replica_reloaded(&mut self, journal_position: JournalPosition) {
        let replica = self.replica_mut();
        replica.journal_position = journal_position;
        replica.epoch = journal_position.epoch();
        replica.follow_at = replica.owner.map(|_| now());
    }

    /// Returns the state of the clock, if it is known on this server.
    pub(super) fn turn_time(&self) -> Option<TurnTime> {
        match &self.replica {
            Some(replica) => replica.turn_time(self.state.seq()),
            None => self.leader.match_clock.turn_time(&self.state),
        }
    }

    /// Serves the followers on this server until this server becomes the owner or the replica is no
    /// longer needed.
    pub(super) async fn serve_replica(&mut self) -> StopReason {
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.update_delayed_view();
            self.update_replica_presence();
            self.update_clock_wait();
            let delayed_deadline = self
                .delayed_view
                .as_ref()
                .and_then(|delayed| delayed.deadline());
            let replica = self.replica.as_mut().expect("the match is a replica");
            let deadline = replica
                .deadline()
                .into_iter()
                .chain(self.broadcaster.deadline())
                .chain(delayed_deadline)
                .min();
            if let Some(deadline) = deadline.map(Into::into)
                && alarm.deadline() != deadline
            {
                alarm.as_mut().reset(deadline);
            }
            let has_in_flight = replica.has_in_flight();
            let flow = tokio::select! {
                biased; // Poll timers first, then responses to earlier requests, then new messages.
                () = &mut alarm, if deadline.is_some() => self.on_replica_timer().await,
                Some(response) = replica.next_response(), if has_in_flight => self.on_owner_response(response).await,
                envelope = next_envelope(&mut self.deferred, &mut self.mailbox) => match envelope {
                    Some(envelope) => self.on_replica_message(envelope).await,
                    None => ControlFlow::Break(StopReason::Closed),
                },
            };
            self.flush();
            if let ControlFlow::Break(end) = flow {
                if end != StopReason::Reload {
                    self.send_unfollow();
                }
                return end;
            }
        }
    }

    /// Reads missed events from the store while the owner is unreachable and cannot send them.
    async fn catch_up_if_owner_unreachable(&mut self) -> ControlFlow<StopReason> {
        let owner = self.replica_mut().owner;
        let cluster = self.server.infra.cluster.as_ref();
        match (owner, cluster) {
            (Some(owner), Some(cluster)) if !cluster.is_node_reachable(owner) => {
                self.catch_up().await
            }
            _ => CONTINUE,
        }
    }

    /// Schedules a report to the owner if the presence on this server has changed.
    fn update_replica_presence(&mut self) {
        self.update_delayed_followers();
        let presence = self.broadcaster.local_presence(&self.state);
        let has_followers = self.broadcaster.has_followers();
        let has_ended = matches!(self.state.stage(), Stage::Ended { .. });
        let is_needed = has_followers || (!has_ended && self.has_connected_participant());
        let replica = self.replica_mut();
        replica.idle_since = match is_needed {
            true => None,
            false => Some(replica.idle_since.unwrap_or_else(now)),
        };
        let reported = replica.reported_presence.as_ref();
        let is_changed = reported != Some(&presence);
        if is_changed && replica.owner.is_some() {
            // Spectators often come and go in large numbers, so changes that affect only spectators
            // are reported at intervals.
            let only_spectators_changed =
                reported.is_some_and(|reported| reported.equals_except_spectators(&presence));
            let delay = if only_spectators_changed {
                SPECTATOR_REPORT_INTERVAL
            } else {
                Duration::ZERO
            };
            let at = replica
                .last_follow_at
                .map_or_else(now, |last_follow_at| now().max(last_follow_at + delay));
            replica.follow_at = Some(replica.follow_at.map_or(at, |current| current.min(at)));
        }
    }

    /// Returns whether a seat holder, the host or the invited player is connected to this server.
    fn has_connected_participant(&self) -> bool {
        let players = self
            .state
            .seat_holders()
            .chain([self.state.creation().host]);
        let mut players = players.chain(self.state.creation().terms.invited);
        players.any(|player| self.server.identity.players.is_connected(player))
    }

    async fn on_replica_timer(&mut self) -> ControlFlow<StopReason> {
        let now = now();
        let absence_left_ms = self.replica_mut().absence_left_ms();
        self.broadcaster
            .on_timer(&self.state, now, || absence_left_ms);
        self.broadcast_delayed(now);
        while let Some((_, envelope)) = self
            .replica_mut()
            .retries
            .pop_front_if(|(at, _)| *at <= now)
        {
            self.deferred.push_back(envelope);
        }
        if self.replica_mut().follow_at.is_some_and(|at| at <= now) {
            self.send_follow();
        }
        if self.replica_mut().catch_up_at.is_some_and(|at| at <= now) {
            self.catch_up().await?;
        }
        let idle_since = self.replica_mut().idle_since;
        if idle_since.is_some_and(|since| since + IDLE_TIMEOUT <= now) {
            let has_waiters = self.has_snapshot_waiters();
            let is_idle = || !has_waiters && self.deferred.is_empty() && self.mailbox.is_empty();
            if self
                .server
                .matches
                .lobby
                .remove_if_idle(self.state.id(), is_idle)
            {
                return ControlFlow::Break(StopReason::Closed);
            }
            self.replica_mut().idle_since = Some(now);
        }
        CONTINUE
    }

    /// Reports the presence on this server to the owner and requests updates.
    fn send_follow(&mut self) {
        let (id, presence) = (
            self.state.id(),
            self.broadcaster.local_presence(&self.state),
        );
        let Some(replica) = self.replica.as_mut() else {
            return;
        };
        let (Some(owner), Some(cluster)) = (replica.owner, &self.server.infra.cluster) else {
            replica.follow_at = None;
            return;
        };
        replica.reported_presence = Some(presence.clone());
        replica.follow_at = Some(now() + FOLLOW_INTERVAL);
        replica.last_follow_at = Some(now());
        let response = cluster.follow_match(owner, id, Some(presence));
        replica
            .in_flight
            .push(response.map(OwnerResponse::Follow).boxed());
    }

    /// Cancels the subscription to the owner's updates.
    fn send_unfollow(&mut self) {
        let (id, owner) = (self.state.id(), self.replica_mut().owner);
        if let (Some(owner), Some(cluster)) = (owner, &self.server.infra.cluster) {
            let response = cluster.follow_match(owner, id, None);
            self.server.infra.spawn(async move {
                // If the message is lost, the owner stops the updates once this server is gone.
                let _ = response.await;
            });
        }
    }

    async fn on_replica_message(&mut self, envelope: Box<Envelope>) -> ControlFlow<StopReason> {
        let Envelope { command, reply } = *envelope;
        if self.is_hidden_from(&command) {
            refuse_hidden(&command, reply);
            return CONTINUE;
        }
        if command.relay.is_some() {
            return CONTINUE; // The server that relayed the command resends it to the owner.
        }
        let Some(Envelope { command, reply }) = self.wait_for_clock(Envelope { command, reply })
        else {
            return CONTINUE;
        };
        match &command.request {
            MatchRequest::Act(action) => {
                return self.forward_action(command.clone(), action, reply).await;
            }
            MatchRequest::SendChat { .. } if !self.follows(&command) => {
                reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            }
            MatchRequest::SendChat { .. }
            | MatchRequest::OfferRematch
            | MatchRequest::DeclineRematch
            | MatchRequest::Control(Control::ResignIdleBotGame) => {
                return self.forward(command, reply).await;
            }
            MatchRequest::Watch | MatchRequest::PushSnapshot => {
                self.catch_up_if_owner_unreachable().await?;
                let Some(reply) = self.watch_delayed(&command, reply) else {
                    return CONTINUE;
                };
                let is_seated = self.state.seat_of(command.player).is_some();
                if let Some(reply) = self.broadcaster.admit(&command, is_seated, reply) {
                    self.send_replica_snapshot(&command, reply);
                }
            }
            MatchRequest::Resync { since } => {
                self.catch_up_if_owner_unreachable().await?;
                let Some(reply) = self.resync_delayed(&command, *since, reply) else {
                    return CONTINUE;
                };
                let resync = (*since, self.snapshot_extras().turn_time);
                self.broadcaster
                    .resync(&self.state, &command, resync, reply);
            }
            MatchRequest::Unfollow => self.remove_follower_silently(&command),
            MatchRequest::Control(control) => {
                return self.on_replica_control(&command, control, reply).await;
            }
        }
        CONTINUE
    }

    /// Handles a signal that a server has sent to the replica.
    async fn on_replica_control(
        &mut self,
        command: &Command,
        control: &Control,
        reply: Reply,
    ) -> ControlFlow<StopReason> {
        match control {
            Control::ReplicaUpdate(update) => return self.on_replica_update(update).await,
            Control::ResignIdleBotGame => return self.forward(command.clone(), reply).await,
            Control::NotifyTurn => {
                self.notify_turn();
                reply.ok(None);
            }
            Control::RatingUpdated(rating_update) => {
                self.set_rating_update(rating_update);
                reply.ok(None);
            }
            Control::EraseName { player, name } => {
                let may_contain_name = self.erase_name(*player, name);
                reply.ok(None);
                if may_contain_name {
                    return RELOAD;
                }
            }
            Control::CatchUp => {
                self.replica_mut().catch_up_at = Some(now());
                self.replica_mut().follow_at = self.replica_mut().owner.map(|_| now());
                reply.ok(None);
            }
            Control::NodeUnreachable { node, .. } => {
                reply.ok(None);
                if self.replica_mut().owner == Some(*node) {
                    return self.locate_owner(Some(*node)).await;
                }
            }
            Control::Follow { .. } => {} // The server that sent the request finds the owner itself.
            Control::OwnerChanged { by } => {
                if let Some(owner) = by {
                    self.set_owner(*owner);
                }
                reply.ok(None);
            }
            Control::NodesChanged
            | Control::CheckTimers
            | Control::StoreUnavailable { .. }
            | Control::StoreAvailable
            | Control::RematchCreated { .. } => reply.ok(None),
        }
        CONTINUE
    }
}
