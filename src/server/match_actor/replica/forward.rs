//! Forwards commands from a replica to the server that owns the match, and takes over the match
//! when that server is gone.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures::FutureExt;
use plyhouse_bus::RequestError;
use plyhouse_matches::Action;
use plyhouse_store::NodeId;

use super::{
    FORWARDED_REQUESTS_MAX, OWNER_RETRY_DELAY, OwnerResponse, PendingAnswer, UNKNOWN_MATCH_TIMEOUT,
};
use crate::cluster::{MatchLocation, PacketResponse};
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::context::metrics::observe_since;
use crate::match_actor::{CONTINUE, MatchActor, RELOAD, REQUEST_TIMEOUT, StopReason};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Command, MatchRequest, RelayInfo};

impl MatchActor {
    pub(super) async fn on_follow_response(
        &mut self,
        response: Result<PacketResponse, RequestError>,
    ) -> ControlFlow<StopReason> {
        let suspected = match response {
            Ok(PacketResponse::NotOwner) => self.suspect_owner(),
            Ok(_) => {
                self.replica_mut().match_unknown_since = None;
                return CONTINUE;
            }
            // Take no action while the other servers are unreachable. When they are reachable
            // again, the replica reads the missed events from the store.
            Err(RequestError::Disconnected) => return CONTINUE,
            Err(RequestError::NoReceiver) => self.replica_mut().owner,
            Err(RequestError::Timeout) => None,
        };
        self.replica_mut().follow_at = Some(now() + OWNER_RETRY_DELAY);
        self.locate_owner(suspected, false).await
    }

    /// Handles the owner's response to a forwarded command, or the failure of the request.
    pub(super) async fn on_forward_response(
        &mut self,
        mut envelope: Box<Envelope>,
        response: Result<PacketResponse, RequestError>,
    ) -> ControlFlow<StopReason> {
        let suspected = match response {
            Ok(PacketResponse::MatchAnswer { answer, seq }) => {
                self.replica_mut().pending_answers.push(PendingAnswer {
                    seq,
                    since: now(),
                    envelope,
                    answer,
                });
                return CONTINUE;
            }
            Ok(_) => {
                envelope.reply.mark_possibly_applied();
                self.suspect_owner()
            }
            Err(RequestError::NoReceiver) => self.replica_mut().owner,
            Err(RequestError::Timeout) => {
                envelope.reply.mark_possibly_applied();
                None
            }
            Err(RequestError::Disconnected) => {
                envelope.refuse("cannot reach the other servers; try again shortly");
                return CONTINUE;
            }
        };
        self.retry_forward(envelope, suspected).await
    }

    /// Forwards a command again to the current owner, which may be this server.
    async fn retry_forward(
        &mut self,
        envelope: Box<Envelope>,
        suspected: Option<NodeId>,
    ) -> ControlFlow<StopReason> {
        let age = now().saturating_duration_since(envelope.command.received_at);
        if age >= REQUEST_TIMEOUT {
            envelope.refuse("the match is temporarily unavailable; try again shortly");
            return CONTINUE;
        }
        let owner = self.replica_mut().owner;
        let flow = self.locate_owner(suspected, owner.is_none()).await;
        match &mut self.replica {
            // The owner has not changed, so it gets some time before the retry.
            Some(replica) if replica.owner == owner => replica
                .waiting_requests
                .push((now() + OWNER_RETRY_DELAY, envelope)),
            Some(_) | None => self.deferred.push_front(envelope),
        }
        flow
    }

    /// Returns the owner if it is suspected to no longer serve the match. That is the case if it
    /// has not known the match for [`UNKNOWN_MATCH_TIMEOUT`].
    fn suspect_owner(&mut self) -> Option<NodeId> {
        let replica = self.replica_mut();
        if replica.match_unknown_since.is_none() {
            // The owner may have unloaded the match after its end. The replica therefore reads
            // missed events from the store.
            replica.catch_up_at = Some(now());
        }
        let since = *replica.match_unknown_since.get_or_insert_with(now);
        let is_timed_out = now().saturating_duration_since(since) >= UNKNOWN_MATCH_TIMEOUT;
        replica.owner.filter(|_| is_timed_out)
    }

    /// Determines which server owns the match. Returns `Break` if this server becomes the owner or
    /// the match is unknown. This server takes over an ended match only if `include_ended` is set.
    pub(super) async fn locate_owner(
        &mut self,
        suspected: Option<NodeId>,
        include_ended: bool,
    ) -> ControlFlow<StopReason> {
        let id = self.view.state.id();
        let Some(cluster) = &self.server.infra.cluster else {
            return CONTINUE;
        };
        let location = cluster.locate(id, suspected, include_ended).await;
        let replica = self.replica_mut();
        match location {
            Ok(MatchLocation::Local) => return self.take_over().await,
            Ok(MatchLocation::Remote(owner)) => self.set_owner(owner),
            Ok(MatchLocation::Ended) => {
                replica.suspected_owner = suspected;
                replica.owner = None;
                replica.follow_at = None;
                // The match has ended and has no owner, so the replica reads the missed events from
                // the store.
                replica.catch_up_at = Some(now());
            }
            Ok(MatchLocation::Unknown) => return ControlFlow::Break(StopReason::Closed),
            Err(_) => replica.follow_at = Some(now() + OWNER_RETRY_DELAY),
        }
        CONTINUE
    }

    /// Sets a new owner. Commands forwarded to the previous owner are forwarded again, and
    /// responses of the previous owner are ignored.
    pub(super) fn set_owner(&mut self, owner: NodeId) {
        let replica = self.replica_mut();
        if replica.owner == Some(owner) {
            return;
        }
        replica.in_flight.clear();
        let forwarded = std::mem::take(&mut replica.forwarded);
        replica.owner = Some(owner);
        replica.match_unknown_since = None;
        replica.follow_at = Some(now());
        self.deferred.extend(mark_possibly_applied(forwarded));
    }

    /// Makes this server the owner of the match. This server then serves the commands that the
    /// previous owner has not answered.
    pub(super) async fn take_over(&mut self) -> ControlFlow<StopReason> {
        self.server.infra.metrics.cluster.takeovers.inc();
        // The previous owner's answers are final. Each answer must be sent after its event, so the
        // missing events are read and broadcast first.
        if !self.replica_mut().pending_answers.is_empty() {
            let _ = self.catch_up().await;
            self.send_ready_answers();
        }
        self.retry_waiting_requests(|_| true);
        if let Some(replica) = self.replica.take() {
            self.deferred
                .extend(mark_possibly_applied(replica.forwarded));
            let pending_answers = replica.pending_answers.into_iter();
            self.deferred
                .extend(pending_answers.map(|pending| pending.envelope));
        }
        self.view.set_remote_presence(None);
        RELOAD
    }

    /// Forwards a command to the owner. A joining player follows the match only after the owner has
    /// accepted the action. Otherwise, a reload could send the match to a player whose request is
    /// then refused.
    pub(super) async fn forward(
        &mut self,
        command: Command,
        mut reply: Reply,
    ) -> ControlFlow<StopReason> {
        if let MatchRequest::Act(action @ Action::Join { .. }) = &command.request {
            let is_player = self.may_take_seat(command.player, action);
            match self.view.check_capacity(&command, is_player, reply) {
                Some(checked) => reply = checked,
                None => return CONTINUE,
            }
        }
        let id = self.view.state.id();
        let Some(cluster) = &self.server.infra.cluster else {
            return CONTINUE;
        };
        let turn_elapsed = command
            .received_at
            .saturating_duration_since(self.turn_sent_at);
        let relayed_command = Command {
            relay: Some(RelayInfo {
                node: cluster.node,
                turn_elapsed_us: u64::try_from(turn_elapsed.as_micros()).ok(),
            }),
            ..command.clone()
        };
        let envelope = Box::new(Envelope { command, reply });
        let replica = self.replica.as_mut().expect("the match is a replica");
        let Some(owner) = replica.owner else {
            // The match has ended and has no owner, so this server becomes the owner to serve the
            // command.
            let suspected = replica.suspected_owner;
            return self.retry_forward(envelope, suspected).await;
        };
        if replica.forwarded.len() >= FORWARDED_REQUESTS_MAX {
            envelope.refuse("too many requests for this match; try again shortly");
            return CONTINUE;
        }
        let metrics = Arc::clone(&self.server.infra.metrics);
        metrics.cluster.relayed_requests.inc();
        let (sent_at, response) = (now(), cluster.relay(owner, id, relayed_command));
        replica.forwarded_count += 1;
        let number = replica.forwarded_count;
        let response = response.map(move |answered| {
            observe_since(&metrics.cluster.relay_duration, sent_at);
            OwnerResponse::Command(number, answered)
        });
        replica.in_flight.push(response.boxed());
        replica.forwarded.insert(number, envelope);
        CONTINUE
    }
}

/// Marks the forwarded commands as possibly applied and returns them. The previous owner may have
/// applied a command but not answered it.
fn mark_possibly_applied(
    forwarded: BTreeMap<u64, Box<Envelope>>,
) -> impl Iterator<Item = Box<Envelope>> {
    forwarded.into_values().map(|mut envelope| {
        envelope.reply.mark_possibly_applied();
        envelope
    })
}
