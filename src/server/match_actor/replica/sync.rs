//! Keeps a replica up to date with updates from the match's owner and with events from the store.
//!
//! The store holds the events of a match, but not the elapsed time of the current turn. Each update
//! of the owner contains it. Until the owner has sent an update for the last known event, snapshots
//! of a running timed match wait, unless the owner is unreachable.

use std::ops::ControlFlow;

use plyhouse_matches::{Action, Stage};
use plyhouse_protocol::Seq;

use super::{CATCH_UP_DELAY, CLOCK_WAIT_MAX, PendingAnswer, WAITING_REQUESTS_MAX};
use crate::context::clock_and_rng::now;
use crate::context::metrics::observe_since;
use crate::match_actor::{CONTINUE, MatchActor, RELOAD, StopReason};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Command, MatchRequest};
use crate::match_handle::replication_messages::{PublishedEvents, ReceivedState, ReplicaUpdate};

impl MatchActor {
    /// Applies an update from the server that owns the match.
    pub(super) async fn on_replica_update(
        &mut self,
        update: &ReplicaUpdate,
    ) -> ControlFlow<StopReason> {
        let known_seq = self.view.state.seq();
        let lacked_clock = self.lacks_clock();
        let replica = self.replica_mut();
        if update.epoch < replica.epoch {
            return CONTINUE; // Ignore updates from a previous owner of the match.
        }
        let PublishedEvents { after, events } = &update.published;
        let last_seq = Seq(after.0 + events.len() as u64);
        let is_other_owner = update.epoch > replica.epoch;
        if is_other_owner && last_seq < known_seq {
            return RELOAD; // The store lacks events that this replica has already received.
        }
        replica.epoch = update.epoch;
        replica.transient_state = ReceivedState::new(update.transient_state.clone());
        replica.transient_state_version = (update.epoch, last_seq);
        self.view.epoch = update.epoch;
        if *after > known_seq {
            self.catch_up().await?;
        } else {
            let known_count = usize::try_from(known_seq.0 - after.0).unwrap_or(usize::MAX);
            self.apply_published(&PublishedEvents {
                after: known_seq,
                events: events.get(known_count..).unwrap_or_default().to_vec(),
            });
        }
        self.view.apply_transient_state(&update.transient_state);
        let presence = self.view.seat_presence();
        self.leader.update_summary(&self.view.state, presence);
        if update.is_clock_changed || is_other_owner || lacked_clock {
            self.broadcast_clock();
        }
        if let Some(thinking) = &update.thinking {
            self.view.broadcast_thinking(thinking);
        }
        for message in &update.chat_messages {
            self.broadcast_chat(message);
        }
        if is_other_owner {
            self.schedule_snapshots();
        }
        self.retry_waiting_requests(|_| true);
        CONTINUE
    }

    /// Reads the events that the replica has missed from the store.
    pub(super) async fn catch_up(&mut self) -> ControlFlow<StopReason> {
        let (id, known_seq) = (self.view.state.id(), self.view.state.seq());
        let journal_position = self.replica_mut().journal_position;
        self.replica_mut().catch_up_at = None;
        self.server.infra.metrics.cluster.missed_events.inc();
        match self.server.infra.store.tail(id, journal_position).await {
            Ok(Some(tail)) => {
                let skip = usize::try_from(known_seq.0.saturating_sub(journal_position.seq().0));
                let skip = skip.unwrap_or(usize::MAX);
                if tail.position.seq() < known_seq {
                    return RELOAD; // The store lacks events that this replica has applied.
                }
                // A new owner may have written the missed events. In that case, the followers get a
                // snapshot after the new owner's first update.
                self.apply_published(&PublishedEvents {
                    after: known_seq,
                    events: tail.events.get(skip..).unwrap_or_default().to_vec(),
                });
                self.replica_mut().journal_position = tail.position;
            }
            Ok(None) => return RELOAD,
            Err(error) => {
                tracing::warn!(match_id = %id, %error, "cannot read missed events");
                self.replica_mut().catch_up_at = Some(now() + CATCH_UP_DELAY);
            }
        }
        CONTINUE
    }

    /// Returns whether a snapshot sent now would lack the clock of the current turn.
    fn lacks_clock(&self) -> bool {
        self.view.state.stage() == Stage::Running
            && self.view.state.clock().is_some()
            && self.turn_time().is_none()
    }

    /// Returns whether the clock of the current turn is unknown, but the owner may send it soon.
    fn awaits_clock(&self) -> bool {
        self.lacks_clock() && self.is_owner_reachable() == Some(true)
    }

    /// Returns whether a snapshot request must wait for the owner's clock.
    pub(super) fn must_wait_for_clock(&mut self, command: &Command) -> bool {
        let age = now().saturating_duration_since(command.received_at);
        let has_room = self.replica_mut().waiting_requests.len() < WAITING_REQUESTS_MAX;
        // Spectators of a delayed match see an earlier turn, and the owner does not send the clock
        // of that turn.
        let is_delayed = self.delayed_view_for(command.player).is_some();
        age < CLOCK_WAIT_MAX && has_room && !is_delayed && self.awaits_clock()
    }

    /// Schedules a snapshot for all followers, and suppresses broadcasts until it is sent.
    pub(super) fn schedule_snapshots(&mut self) {
        self.replica_mut().snapshots_due_at = Some(now() + CLOCK_WAIT_MAX);
        self.view.pause();
    }

    /// Sends the scheduled snapshots once the owner's clock is known or the wait is over.
    pub(super) fn send_due_snapshots(&mut self) {
        let awaits_clock = self.awaits_clock();
        let due_at = &mut self.replica_mut().snapshots_due_at;
        if due_at.take_if(|at| !awaits_clock || *at <= now()).is_some() {
            let extras = self.snapshot_extras();
            self.view.broadcast_snapshots(extras);
        }
    }

    /// Sends the pending answers whose events have been broadcast.
    pub(super) fn send_ready_answers(&mut self) {
        let known_seq = self.view.state.seq();
        let replica = self.replica_mut();
        if replica.snapshots_due_at.is_some() {
            return; // An answer must be sent after its event, which the snapshots may contain.
        }
        let ready: Vec<_> = replica
            .pending_answers
            .extract_if(.., |pending| pending.seq <= known_seq)
            .collect();
        if !replica.pending_answers.is_empty() {
            replica
                .catch_up_at
                .get_or_insert_with(|| now() + CATCH_UP_DELAY);
        }
        for pending in ready {
            self.send_answer(pending);
        }
    }

    /// Sends an answer of the owner to the client that sent the request.
    fn send_answer(&mut self, pending: PendingAnswer) {
        let answer = pending.answer;
        observe_since(
            &self.server.infra.metrics.cluster.replica_lag,
            pending.since,
        );
        let (mut command, mut reply) = (pending.envelope.command, pending.envelope.reply);
        match (&answer, &command.request) {
            // A player who has joined gets a snapshot.
            (Ok(_), MatchRequest::Act(Action::Join { .. })) => {
                command.request = MatchRequest::Watch;
                reply.mark_possibly_applied();
                self.deferred
                    .push_back(Box::new(Envelope { command, reply }));
            }
            (Ok(_), MatchRequest::Act(Action::Leave { .. })) => {
                self.remove_follower(&command);
                reply.answer(answer);
            }
            (Ok(_) | Err(_), _) => reply.answer(answer),
        }
    }
}
