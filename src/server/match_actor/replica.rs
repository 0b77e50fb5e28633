//! Replica of a match that another server owns. The replica serves the followers on this server.
//!
//! The owner sends updates to the replica. If the replica misses events, it reads them from the
//! store. The replica forwards commands to the owner. If the owner is gone, this server takes over
//! the match, and the actor becomes the match's leader.
//!
//! An update contains events and not the messages that the owner sends to its own followers. The
//! replica needs the match state for the snapshots of its followers, for the delayed view, and to
//! serve the match while the owner is unreachable.

mod forward;
mod sync;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use plyhouse_bus::RequestError;
use plyhouse_matches::{Stage, TurnTime};
use plyhouse_protocol::{ErrorCode, Seq};
use plyhouse_store::{JournalPosition, NodeId};

use super::{CONTINUE, MatchActor, StopReason};
use crate::cluster::PacketResponse;
use crate::context::clock_and_rng::{earliest, now};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Answer, Control, MatchRequest};
use crate::match_handle::replication_messages::{Presence, ReceivedState};

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
/// without the clock, and a `clock` message follows as soon as the clock is known.
const CLOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// Maximum number of requests that wait for the owner's clock or for a retry. Snapshot requests
/// above this limit are answered without the clock.
const WAITING_REQUESTS_MAX: usize = 1024;

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
    /// Transient state in the owner's last update.
    pub(super) transient_state: ReceivedState,
    /// Version of `transient_state`. It consists of the epoch of the owner that sent the state, and
    /// the number of the last event that the state reflects.
    transient_state_version: (u64, Seq),
    /// Time at which all followers get a snapshot, even if the owner's clock is still unknown.
    /// `None` if no snapshot is due. Until then, broadcasts are suppressed and answers wait.
    snapshots_due_at: Option<Instant>,
    /// Presence that was last reported to the owner.
    reported_presence: Option<Presence>,
    /// Time of the next follow request to the owner.
    follow_at: Option<Instant>,
    /// Time of the last follow request.
    last_follow_at: Option<Instant>,
    /// Time at which this replica must read missed events from the store.
    catch_up_at: Option<Instant>,
    /// Server that this replica suspected of having stopped when it found that the match had ended.
    suspected_owner: Option<NodeId>,
    /// Time of the owner's first answer that it does not know the match; `None` if it knows the
    /// match.
    match_unknown_since: Option<Instant>,
    /// Requests that are served again at the given time, or when the owner sends an update. They
    /// are snapshot requests that wait for the owner's clock, and commands that the owner could not
    /// serve.
    waiting_requests: Vec<(Instant, Box<Envelope>)>,
    /// Time since which the replica has not been needed.
    idle_since: Option<Instant>,
}

/// Outcome of a request to the owner.
#[derive(Debug)]
pub(super) enum OwnerResponse {
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
            transient_state: ReceivedState::default(),
            transient_state_version: (0, Seq(0)),
            snapshots_due_at: None,
            reported_presence: None,
            follow_at: owner.map(|_| now()),
            last_follow_at: None,
            catch_up_at: None,
            suspected_owner: None,
            match_unknown_since: None,
            waiting_requests: Vec::new(),
            idle_since: None,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let idle_at = self.idle_since.map(|since| since + IDLE_TIMEOUT);
        let retry_at = self.waiting_requests.iter().map(|(at, _)| *at).min();
        earliest([
            self.follow_at,
            self.catch_up_at,
            self.snapshots_due_at,
            idle_at,
            retry_at,
        ])
    }

    /// Returns the state of the clock after this event, if the owner has sent it.
    pub(super) fn turn_time(&self, seq: Seq) -> Option<TurnTime> {
        let is_current = self.transient_state_version == (self.epoch, seq);
        self.transient_state.turn_time().filter(|_| is_current)
    }
}

/// Waits for the owner's response to a request. Returns `None` if the match is no replica or no
/// request is in flight. This function is cancel safe.
pub(super) async fn next_response(replica: &mut Option<Box<Replica>>) -> Option<OwnerResponse> {
    replica.as_mut()?.in_flight.next().await
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
        self.turn_sent_at = now();
        self.view.set_remote_presence(None);
    }

    /// Returns whether the server that owns the match is reachable; `None` without an owner.
    fn is_owner_reachable(&self) -> Option<bool> {
        let owner = self.replica.as_ref()?.owner?;
        let cluster = self.server.infra.cluster.as_ref()?;
        Some(cluster.is_node_reachable(owner))
    }

    fn replica_mut(&mut self) -> &mut Replica {
        self.replica.as_mut().expect("the match is a replica")
    }

    /// Restarts replication after the match was reloaded from the store, and schedules a snapshot
    /// for all followers. The reloaded events end at `journal_position`.
    pub(super) fn on_replica_reloaded(&mut self, journal_position: JournalPosition) {
        let replica = self.replica_mut();
        replica.journal_position = journal_position;
        replica.epoch = journal_position.epoch();
        replica.follow_at = replica.owner.map(|_| now());
        self.schedule_snapshots();
    }

    /// Prepares the replica for its next wait, and returns its next deadline.
    pub(super) fn prepare_replica(&mut self) -> Option<Instant> {
        self.update_replica_presence();
        self.send_due_snapshots();
        self.send_ready_answers();
        self.replica_mut().deadline()
    }

    /// Schedules a report to the owner if the presence on this server has changed.
    fn update_replica_presence(&mut self) {
        self.update_delayed_followers();
        let presence = self.view.local_presence();
        let has_followers = self.view.has_followers();
        let has_ended = matches!(self.view.state.stage(), Stage::Ended { .. });
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
            let delay = match only_spectators_changed {
                true => SPECTATOR_REPORT_INTERVAL,
                false => Duration::ZERO,
            };
            let at = (replica.last_follow_at).map_or_else(now, |last| now().max(last + delay));
            replica.follow_at = earliest([replica.follow_at, Some(at)]);
        }
    }

    /// Returns whether a seat holder, the host or the invited player is connected to this server.
    fn has_connected_participant(&self) -> bool {
        let state = &self.view.state;
        let mut players = state.participants().chain(state.creation().terms.invited);
        players.any(|player| self.server.identity.players.is_connected(player))
    }

    pub(super) async fn on_replica_timer(&mut self, now: Instant) -> ControlFlow<StopReason> {
        self.retry_waiting_requests(|at| at <= now);
        if self.replica_mut().follow_at.is_some_and(|at| at <= now) {
            self.send_follow();
        }
        if self.replica_mut().catch_up_at.is_some_and(|at| at <= now) {
            self.catch_up().await?;
        }
        let idle_since = self.replica_mut().idle_since;
        if idle_since.is_some_and(|since| since + IDLE_TIMEOUT <= now) {
            let has_waiting = !self.replica_mut().waiting_requests.is_empty();
            let is_idle = || !has_waiting && self.deferred.is_empty() && self.mailbox.is_empty();
            let lobby = &self.server.matches.lobby;
            if lobby.remove_if_idle(self.view.state.id(), is_idle) {
                return ControlFlow::Break(StopReason::Closed);
            }
            self.replica_mut().idle_since = Some(now);
        }
        CONTINUE
    }

    /// Reports the presence on this server to the owner and requests updates.
    fn send_follow(&mut self) {
        let (id, presence) = (self.view.state.id(), self.view.local_presence());
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
    pub(super) fn send_unfollow(&self) {
        let owner = self.replica.as_ref().and_then(|replica| replica.owner);
        if let (Some(owner), Some(cluster)) = (owner, &self.server.infra.cluster) {
            let response = cluster.follow_match(owner, self.view.state.id(), None);
            self.server.infra.spawn(async move {
                // If the message is lost, the owner stops the updates once this server is gone.
                let _ = response.await;
            });
        }
    }

    /// Serves again the waiting requests whose time fulfils the predicate.
    pub(super) fn retry_waiting_requests(&mut self, is_due: impl Fn(Instant) -> bool) {
        if let Some(replica) = &mut self.replica {
            let waiting = replica
                .waiting_requests
                .extract_if(.., |(at, _)| is_due(*at));
            self.deferred.extend(waiting.map(|(_, envelope)| envelope));
        }
    }

    /// Handles the outcome of a request to the owner.
    pub(super) async fn on_owner_response(
        &mut self,
        response: OwnerResponse,
    ) -> ControlFlow<StopReason> {
        match response {
            OwnerResponse::Follow(response) => self.on_follow_response(response).await,
            OwnerResponse::Command(number, response) => {
                match self.replica_mut().forwarded.remove(&number) {
                    Some(envelope) => self.on_forward_response(envelope, response).await,
                    None => CONTINUE,
                }
            }
        }
    }

    /// Serves a message that a replica does not serve in the same way as the match's owner. Returns
    /// any other message to the caller.
    pub(super) async fn on_replica_message(
        &mut self,
        envelope: Box<Envelope>,
    ) -> ControlFlow<StopReason, Option<Box<Envelope>>> {
        let Envelope { command, reply } = *envelope;
        match &command.request {
            // The server that sent the message finds the owner itself.
            MatchRequest::Control(Control::Follow { .. }) => {}
            _ if command.relay.is_some() => {}
            MatchRequest::SendChat { .. } if !self.follows(&command) => {
                reply.refuse(ErrorCode::NotFollowing, "watch the match first");
            }
            MatchRequest::Act(_)
            | MatchRequest::SendChat { .. }
            | MatchRequest::OfferRematch
            | MatchRequest::DeclineRematch
            | MatchRequest::Control(Control::ResignIdleBotGame) => {
                self.forward(command, reply).await?;
            }
            MatchRequest::Watch | MatchRequest::PushSnapshot | MatchRequest::Resync { .. } => {
                let retry_at = command.received_at + CLOCK_WAIT_MAX;
                let must_wait = self.must_wait_for_clock(&command);
                let envelope = Box::new(Envelope { command, reply });
                if must_wait {
                    let waiting = &mut self.replica_mut().waiting_requests;
                    waiting.push((retry_at, envelope));
                } else {
                    if self.is_owner_reachable() == Some(false) {
                        self.catch_up().await?;
                    }
                    return ControlFlow::Continue(Some(envelope));
                }
            }
            MatchRequest::Unfollow
            | MatchRequest::Control(Control::RatingUpdated(_) | Control::EraseName { .. }) => {
                let envelope = Box::new(Envelope { command, reply });
                return ControlFlow::Continue(Some(envelope));
            }
            MatchRequest::Control(control) => {
                reply.ok(None);
                self.on_replica_control(control).await?;
            }
        }
        ControlFlow::Continue(None)
    }

    /// Handles a signal that only concerns replicas.
    async fn on_replica_control(&mut self, control: &Control) -> ControlFlow<StopReason> {
        match control {
            Control::ReplicaUpdate(update) => return self.on_replica_update(update).await,
            Control::CatchUp => {
                let replica = self.replica_mut();
                replica.catch_up_at = Some(now());
                replica.follow_at = replica.owner.map(|_| now());
            }
            Control::NodeUnreachable { node, .. } if self.replica_mut().owner == Some(*node) => {
                return self.locate_owner(Some(*node), false).await;
            }
            Control::OwnerChanged { by: Some(owner) } => self.set_owner(*owner),
            // These signals concern only the owner, or are served before this method.
            Control::OwnerChanged { by: None }
            | Control::NodeUnreachable { .. }
            | Control::NodesChanged
            | Control::CheckTimers
            | Control::StoreUnavailable { .. }
            | Control::StoreAvailable
            | Control::RematchCreated { .. }
            | Control::ResignIdleBotGame
            | Control::Follow { .. }
            | Control::EraseName { .. }
            | Control::RatingUpdated(_) => {}
        }
        CONTINUE
    }
}
