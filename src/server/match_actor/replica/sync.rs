//! Keeps a replica up to date with updates from the match's owner and with events from the store.

use std::ops::ControlFlow;

use plyhouse_matches::{Action, EventKind};
use plyhouse_protocol::Seq;

use super::{CATCH_UP_DELAY, PendingAnswer};
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::match_actor::broadcaster::RemotePresence;
use crate::match_actor::{CONTINUE, MatchActor, RELOAD, StopReason};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Command, MatchRequest};
use crate::match_handle::replication_messages::{PublishedEvents, ReplicaUpdate, TransientState};

impl MatchActor {
    /// Applies an update from the server that owns the match.
    pub(super) async fn on_replica_update(
        &mut self,
        update: &ReplicaUpdate,
    ) -> ControlFlow<StopReason> {
        let known_seq = self.state.seq();
        let replica = self.replica_mut();
        if update.epoch < replica.epoch {
            return CONTINUE; // Ignore updates from a previous owner of the match.
        }
        let PublishedEvents { after, events } = &update.published;
        let is_gap = *after > known_seq;
        let is_other_owner = update.epoch > replica.epoch;
        if is_other_owner && after.0 + (events.len() as u64) < known_seq.0 {
            return RELOAD; // The store lacks events that this replica has already received.
        }
        replica.epoch = update.epoch;
        replica.transient_state = Some(update.transient_state.clone());
        replica.transient_state_at = now();
        replica.transient_state_version = (update.epoch, Seq(after.0 + events.len() as u64));
        self.broadcaster.set_epoch(update.epoch);
        if is_gap {
            self.catch_up().await?;
        } else {
            let known_count = usize::try_from(known_seq.0 - after.0).unwrap_or(usize::MAX);
            if let Some(new_events) = events.get(known_count..).filter(|new| !new.is_empty()) {
                let after = self.state.seq();
                let events = new_events.to_vec();
                self.apply_replicated(&PublishedEvents { after, events });
            }
        }
        self.apply_transient_state(
            &update.transient_state,
            update.is_clock_changed || is_other_owner,
        );
        if let Some(thinking) = &update.thinking {
            self.broadcaster.broadcast_thinking(thinking);
        }
        for message in &update.chat_messages {
            if self.broadcaster.broadcast_chat_if_new(&self.state, message)
                && let Some(delayed) = &mut self.delayed_view
            {
                delayed.add_chat(message);
            }
        }
        if is_other_owner {
            self.schedule_snapshots();
        }
        self.update_clock_wait();
        self.send_ready_answers();
        CONTINUE
    }

    /// Applies events to the replica and broadcasts them to its followers.
    pub(super) fn apply_replicated(&mut self, published: &PublishedEvents) {
        let at = now();
        for event in &published.events {
            self.leader.before_event(&self.state, event);
            self.broadcaster.apply_event(&mut self.state, event, at);
            self.leader.summary().update_progress(&self.state);
            let players = &self.server.identity.players;
            match &event.kind {
                EventKind::Seated { occupant, .. } => {
                    if let Some(player) = occupant.player() {
                        match self.state.creation().terms.is_correspondence() {
                            true => players.mark_plays_correspondence(player),
                            false => players.add_seated_match(player, self.state.id()),
                        }
                    }
                }
                EventKind::Ended { .. } => players.on_match_ended(&self.state),
                _ => {}
            }
        }
        self.leader.summary().set_seq(self.state.seq());
        let challenges = &self.server.matchmaking.challenges;
        challenges.on_match_changed(&self.server.identity.players, &self.state);
        self.remove_spectator();
        self.broadcaster.broadcast(published);
        self.broadcaster.broadcast_rating_update(&self.state);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.add_events(published);
        }
        if published
            .events
            .iter()
            .any(|event| event.kind.begins_turn())
        {
            self.replica_mut().turn_sent_at = now();
            if self.leader.match_clock.compensates_lag() {
                self.broadcaster.measure_mover_rtt(&self.state);
            }
        }
    }

    /// Applies the state that cannot be derived from events, and broadcasts the changes.
    pub(super) fn apply_transient_state(
        &mut self,
        transient_state: &TransientState,
        is_clock_changed: bool,
    ) {
        self.broadcaster
            .set_remote_presence(Some(RemotePresence::Total(transient_state.seat_presence)));
        let presence = self.broadcaster.total_presence(&self.state);
        let absent = transient_state
            .absence_left_ms
            .map(|gone_ms| gone_ms.is_some());
        self.broadcaster.schedule_presence(&self.state, absent);
        self.leader.update_summary(&self.state, &presence);
        if let Some(rematch) = &transient_state.rematch
            && self.broadcaster.set_rematch(rematch.clone())
        {
            self.broadcaster.broadcast_rematch(&self.state);
        }
        let is_clock_changed = is_clock_changed || self.replica_mut().clock_pending;
        self.replica_mut().clock_pending = is_clock_changed && self.lacks_clock();
        if is_clock_changed && let Some(time) = self.turn_time() {
            self.broadcaster.broadcast_clock(&self.state, time);
            if let Some(delayed) = &mut self.delayed_view {
                delayed.mark_clock_changed();
            }
        }
    }

    /// Reads the events that the replica has missed from the store.
    pub(super) async fn catch_up(&mut self) -> ControlFlow<StopReason> {
        let (id, journal_position, known_seq) = (
            self.state.id(),
            self.replica_mut().journal_position,
            self.state.seq(),
        );
        self.replica_mut().catch_up_at = None;
        self.server.infra.metrics.cluster.missed_events.inc();
        match self.server.infra.store.tail(id, journal_position).await {
            Ok(Some(tail)) => {
                let skip = usize::try_from(known_seq.0.saturating_sub(journal_position.seq().0));
                let skip = skip.unwrap_or(usize::MAX);
                if tail.position.seq() < known_seq {
                    return RELOAD; // The store lacks events that this replica has applied.
                }
                let events = tail.events.get(skip..).unwrap_or_default().to_vec();
                // A new owner may have written the missed events. In that case, the followers get a
                // snapshot after the new owner's first update.
                if !events.is_empty() {
                    let after = known_seq;
                    self.apply_replicated(&PublishedEvents { after, events });
                }
                self.replica_mut().journal_position = tail.position;
            }
            Ok(None) => return RELOAD,
            Err(error) => {
                tracing::warn!(match_id = %id, %error, "cannot read missed events");
                self.replica_mut().catch_up_at = Some(now() + CATCH_UP_DELAY);
            }
        }
        self.send_ready_answers();
        CONTINUE
    }

    /// Sends the pending answers whose events have been broadcast.
    pub(super) fn send_ready_answers(&mut self) {
        let known_seq = self.state.seq();
        // An answer must be sent after its event, which may be part of a snapshot that has not been
        // sent yet.
        let snapshots_pending = self.replica_mut().snapshots_pending;
        let waits_for_clock = self.waits_for_clock();
        let pending = std::mem::take(&mut self.replica_mut().pending_answers);
        let is_ready = |pending: &PendingAnswer| {
            let sends_snapshot = pending.answer.is_ok() && is_join(&pending.envelope.command);
            pending.seq <= known_seq && !snapshots_pending && !(sends_snapshot && waits_for_clock)
        };
        let (ready, still_pending): (Vec<_>, _) = pending.into_iter().partition(is_ready);
        let replica = self.replica_mut();
        if still_pending.iter().any(|pending| pending.seq > known_seq) {
            replica
                .catch_up_at
                .get_or_insert_with(|| now() + CATCH_UP_DELAY);
        }
        replica.pending_answers = still_pending;
        for PendingAnswer {
            since,
            envelope: letter,
            answer,
            ..
        } in ready
        {
            let waiting_time = now().saturating_duration_since(since);
            let lag = &self.server.infra.metrics.cluster.replica_lag;
            lag.observe(waiting_time.as_secs_f64());
            let Envelope { command, reply } = *letter;
            match (&answer, &command.request) {
                (Ok(_), MatchRequest::Act(Action::Join { .. })) => {
                    if let Some(reply) = self.broadcaster.admit(&command, true, reply) {
                        self.send_replica_snapshot(&command, reply);
                    }
                }
                (Ok(_), MatchRequest::Act(Action::Leave { .. })) => {
                    self.remove_follower_silently(&command);
                    reply.answer(answer);
                }
                (Ok(_) | Err(_), _) => reply.answer(answer),
            }
        }
    }

    pub(super) fn send_replica_snapshot(&mut self, command: &Command, reply: Reply) {
        let extras = self.snapshot_extras();
        (self.broadcaster).send_snapshot(&self.state, command, extras, reply);
    }
}

/// Returns whether a command is a request to join the match, which is answered with a snapshot.
const fn is_join(command: &Command) -> bool {
    matches!(command.request, MatchRequest::Act(Action::Join { .. }))
}
